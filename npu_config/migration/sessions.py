"""Sessions: their configuration, references to their class, their end, and their options."""

import ast
from typing import Callable, Dict, Mapping, NamedTuple, Optional, Tuple

from npu_config.migration.script import Site, is_open, text_of
from npu_config.migration.work import Work, is_wrapped

__all__ = ["RULES", "after"]

_PROTO = "npu_config_proto"


class _Maker(NamedTuple):
    """Where a function that makes a session takes its configuration and its master."""

    config: str
    position: int
    master: str
    master_position: int


_MAKERS: Mapping[str, _Maker] = {
    "tensorflow.Session": _Maker("config", 2, "target", 0),
    "tensorflow.InteractiveSession": _Maker("config", 2, "target", 0),
    "tensorflow.train.MonitoredTrainingSession": _Maker("config", 9, "master", 0),
    "tensorflow.train.ChiefSessionCreator": _Maker("config", 2, "master", 1),
    "tensorflow.train.WorkerSessionCreator": _Maker("config", 2, "master", 1),
    "tensorflow.train.SingularMonitoredSession": _Maker("config", 3, "master", 2),
    "tensorflow.contrib.slim.learning.train": _Maker("session_config", 22, "master", 6),
    "tensorflow.contrib.slim.evaluation.evaluate_once": _Maker("session_config", 13, "master", 0),
    "tensorflow.contrib.slim.evaluation.evaluation_loop": _Maker(
        "session_config", 16, "master", 0
    ),
    "tensorflow.contrib.training.train": _Maker("config", 9, "master", 2),
    "tensorflow.contrib.training.evaluate_once": _Maker("config", 8, "master", 1),
    "tensorflow.contrib.training.evaluate_repeatedly": _Maker("config", 9, "master", 1),
}
_METHODS: Mapping[Tuple[str, str], _Maker] = {
    ("tensorflow.train.Supervisor", "managed_session"): _Maker("config", 1, "master", 0),
    ("tensorflow.train.Supervisor", "prepare_or_wait_for_session"): _Maker(
        "config", 1, "master", 0
    ),
    ("tensorflow.train.SessionManager", "prepare_session"): _Maker("config", 7, "master", 0),
    ("tensorflow.train.SessionManager", "recover_session"): _Maker("config", 6, "master", 0),
    ("tensorflow.train.SessionManager", "wait_for_session"): _Maker("config", 1, "master", 0),
}
_CLASSES = ("tensorflow.Session", "tensorflow.InteractiveSession")


def wrap_config(
    work: Work, call: ast.Call, keyword: str, position: int, function: str, parameter: str
) -> Optional[str]:
    """Give a call a configuration made for the NPU; what was done, None when it is so already."""
    given = work.script.argument(call, keyword, position)
    name = work.name(function)
    if given is None:
        work.append(call, "{}={}()".format(keyword, name))
        return "no {0}: {1}() added".format(keyword, name)
    if is_wrapped(given):
        return None
    work.wrap(given, "{}({}=".format(name, parameter))
    return "the existing {} is wrapped".format(keyword)


def _has_own_master(work: Work, call: ast.Call, maker: _Maker) -> bool:
    master = work.script.argument(call, maker.master, maker.master_position)
    if master is None or text_of(master) == "":
        return False
    return getattr(master, "value", 0) is not None or text_of(master) is not None


def _make(work: Work, site: Site, maker: _Maker, id: str = "session-config") -> None:
    call = site.call
    assert call is not None
    given = work.script.argument(call, maker.config, maker.position)
    if given is not None and is_wrapped(given):
        return
    work.needs_patch = True
    if is_open(call):
        work.manual(
            site.line,
            "session-star",
            "* or ** may hold a config already: left as it is, the patch of npu_init configures it",
        )
    elif _has_own_master(work, call, maker):
        work.manual(
            site.line,
            "session-config",
            "a session with a master of its own: left as it is; parameter servers and remote "
            "masters do not exist on the NPU",
        )
    else:
        done = wrap_config(work, call, maker.config, maker.position, _PROTO, "config_proto")
        work.changed(site.line, id, done or "")


def session(work: Work, site: Site, name: str) -> None:
    """A session class, or a function that makes a session."""
    if site.call is None:
        if name in _CLASSES:
            _reference(work, site)
        return
    if _is_stored(work, site):
        return
    direct = _argument_of(work, site) == "tensorflow.keras.backend.set_session"
    _make(work, site, _MAKERS[name], "keras-set-session" if direct else "session-config")
    if name in _CLASSES:
        _check_close(work, site)


def _is_stored(work: Work, site: Site) -> bool:
    """True for a call through a variable that holds the function: reported where it is stored."""
    from npu_config.migration.resolve import Binding

    return (
        isinstance(site.node, ast.Name)
        and work.script.resolver.look_up(site.node, site.frames).binding is Binding.VALUE
    )


def _argument_of(work: Work, site: Site) -> Optional[str]:
    """The function that a call is a direct argument of."""
    outer = site.parents[-2] if len(site.parents) > 1 else None
    if isinstance(outer, ast.Call):
        return work.script.resolver.resolve(outer.func, site.frames)
    return None


def _reference(work: Work, site: Site) -> None:
    """A session class that is not called."""
    if _is_stored(work, site):
        return
    parent = site.parents[-1]
    if isinstance(parent, ast.ClassDef):
        text = "subclass: the __init__ of its base is patched by npu_init, so it is configured"
    elif isinstance(parent, (ast.Attribute, ast.arg, ast.AnnAssign, ast.ExceptHandler)):
        return
    elif isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "isinstance":
        return
    else:
        text = "stored or passed on: not edited, the patch of npu_init configures what it makes"
    work.needs_patch = True
    work.manual(site.line, "session-reference", text)


def _monitored(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None or work.script.argument(call, "session_creator", 0) is not None:
        return
    work.needs_patch = True
    work.manual(
        site.line,
        "session-reference",
        "takes no config; its default creator makes a session that npu_init has patched",
    )


def _supervisor(work: Work, site: Site, name: str) -> None:
    if site.call is not None:
        work.needs_patch = True
        work.manual(
            site.line,
            "graph-frozen",
            "finalizes the graph: for iterations_per_loop and for broadcasts, change the graph "
            "before it (util.IterationPerLoop().create_iteration_per_loop_var)",
        )


def _check_close(work: Work, site: Site) -> None:
    """Say where the end of a session matters: outside of a with statement."""
    call = site.call
    holder = site.parents[-2] if len(site.parents) > 1 else None
    if isinstance(holder, ast.withitem):
        return
    if isinstance(holder, ast.Call):
        called = getattr(holder.func, "attr", None) or getattr(holder.func, "id", None)
        if called in ("closing", "enter_context", "set_session"):
            return
    if isinstance(holder, ast.Return):
        return
    line = site.line
    if not (isinstance(holder, ast.Assign) and holder.value is call):
        work.manual(line, "session-close", "the session is never closed: use with, or close it")
        return
    target = holder.targets[0]
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", None)
    if name is None:
        return
    closes = _mentions_method(work, name, "close")
    if isinstance(target, ast.Attribute):
        end = "the script must call close()" + (" (it does)" if closes else "")
        work.manual(line, "session-close", "the session is a member: " + end)
    elif _is_entered(work, name):
        return
    elif not closes:
        work.manual(line, "session-close", 'nothing closes it: add "{}.close()"'.format(name))
    elif _runs_app(work) and site.function is not None:
        work.manual(
            line,
            "session-close",
            "app.run ends in SystemExit: a session that is not closed before main returns is "
            "never closed",
        )
    elif isinstance(work.script.argument(call, "config", 2), ast.Name):  # type: ignore[arg-type]
        work.manual(
            line,
            "session-close",
            'a session without "with": "{}.close()" is there, keep it'.format(name),
        )


def _mentions_method(work: Work, name: str, method: str) -> bool:
    source = work.script.source
    wanted = "{}.{}(".format(name, method)
    return any(
        wanted in source.lines[line - 1].replace(" ", "")
        for line in source.mentions(method)
        if name in source.lines[line - 1]
    )


def _is_entered(work: Work, name: str) -> bool:
    """True when a variable is entered by a with statement, which closes it at the end."""
    source = work.script.source
    return any(
        "with{}:".format(name) in source.lines[line - 1].replace(" ", "")
        or "with{}as".format(name) in source.lines[line - 1].replace(" ", "")
        for line in source.mentions("with")
        if name in source.lines[line - 1]
    )


def _runs_app(work: Work) -> bool:
    return any(
        work.script.resolved(site) == "tensorflow.app.run"
        for site in work.script.sites_of(["run"])
    )


# Options of the configuration


def _config_proto(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        return
    counts = work.script.keyword(call, "device_count")
    if counts is not None and _counts_no_gpu(counts.value):
        work.manual(counts.value.lineno, "cpu-only-session", _CPU_ONLY)


_CPU_ONLY = (
    'device_count GPU 0 says "CPU on purpose": on the NPU host this session runs on the NPU once '
    "npu_init is imported"
)


def _counts_no_gpu(node: ast.AST) -> bool:
    if not isinstance(node, ast.Dict):
        return False
    return any(
        text_of(key) == "GPU" and _number(value) == 0 for key, value in zip(node.keys, node.values)
    )


def _number(node: ast.AST) -> object:
    value = getattr(node, "value", getattr(node, "n", None))
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


_NO_EFFECT = "no effect on the NPU host, where TensorFlow is the one for CPUs; may be deleted"


def _gpu_options(work: Work, site: Site, name: str) -> None:
    if site.call is not None:
        work.manual(site.line, "gpu-options", _NO_EFFECT)


_REWRITER = "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig"
_SWITCHES: Mapping[str, Tuple[str, str, str, Tuple[str, ...]]] = {
    "remapping": ("remapping-off", "OFF", "2", ("OFF",)),
    "memory_optimization": (
        "memory-optimization-off",
        "NO_MEM_OPT",
        "1",
        ("OFF", "NO_MEM_OPT", "MANUAL"),
    ),
}
_NUMBERS = {"OFF": 2, "NO_MEM_OPT": 1, "MANUAL": 2}


def _switch_off(work: Work, field: str, value: ast.expr, frames: object, line: int) -> None:
    """Set remapping or memory optimization to what the NPU needs, where a constant is given."""
    id, wanted, number, good = _SWITCHES[field]
    plain = _number(value)
    if isinstance(value, ast.Attribute) and value.attr.isupper():
        if value.attr not in good:
            end = work.script.span(value)[1]
            work.replace(end - len(value.attr), end, wanted)
            work.changed(line, id, "{} must be {} on the NPU".format(field, wanted))
    elif plain is not None:
        if plain not in [_NUMBERS[name] for name in good]:
            work.replace_node(value, number)
            work.changed(line, id, "{} must be {} ({}) on the NPU".format(field, wanted, number))
    else:
        work.manual(line, id, "{} must be {} on the NPU: not a constant".format(field, wanted))


def _rewriter_config(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        return
    for field in _SWITCHES:
        keyword = work.script.keyword(call, field)
        if keyword is not None:
            _switch_off(work, field, keyword.value, site.frames, keyword.value.lineno)
    amp = work.script.keyword(call, "auto_mixed_precision")
    if amp is not None:
        work.manual(amp.value.lineno, "precision-mode", AMP_NOTE)


AMP_NOTE = (
    "has no effect on the NPU: precision_mode allow_mix_precision in the session does it, "
    "npu_config.NpuConfigBuilder().mixed_precision(...)"
)


def _optimizer_options(work: Work, site: Site, name: str) -> None:
    call = site.call
    level = work.script.keyword(call, "global_jit_level") if call is not None else None
    if level is not None:
        _jit_level(work, site, level.value, level.value.lineno)


_UNDER_FLAG = (
    "under a flag: left as it is, npu_config_proto switches it off at the session; drop the flag"
)


def _jit_level(work: Work, site: Site, value: ast.expr, line: int) -> None:
    is_name = isinstance(value, ast.Attribute) and value.attr in ("ON_1", "ON_2", "DEFAULT", "OFF")
    number = _number(value)
    if (is_name and value.attr == "OFF") or number == -1:  # type: ignore[attr-defined]
        return
    if isinstance(value, ast.UnaryOp):
        return
    if site.is_conditional or not (is_name or number is not None):
        work.manual(line, "xla-off", _UNDER_FLAG)
    else:
        if is_name:
            end = work.script.span(value)[1]
            work.replace(end - len(value.attr), end, "OFF")  # type: ignore[attr-defined]
        else:
            work.replace_node(value, "-1")
        work.changed(line, "xla-off", "XLA is not used on the NPU")


def _set_jit(work: Work, site: Site, name: str) -> None:
    call = site.call
    value = work.script.argument(call, "enabled", 0) if call is not None else None
    if value is None or getattr(value, "value", None) is False:
        return
    if site.is_conditional or getattr(value, "value", None) is not True:
        work.manual(site.line, "xla-off", _UNDER_FLAG)
    else:
        work.replace_node(value, "False")
        work.changed(site.line, "xla-off", "XLA is not used on the NPU")


def _jit_scope(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        return
    value = work.script.argument(call, "compile_ops", 0)
    if getattr(value, "value", None) is False:
        return
    if site.is_conditional or is_open(call) or (value is not None and _constant(value) is None):
        work.manual(site.line, "xla-off", _UNDER_FLAG)
    elif value is None:
        work.append(call, "compile_ops=False")
        work.changed(site.line, "xla-off", "XLA is not used on the NPU")
    else:
        work.replace_node(value, "False")
        work.changed(site.line, "xla-off", "XLA is not used on the NPU")


def _constant(node: ast.AST) -> object:
    value = getattr(node, "value", None)
    return value if isinstance(value, (bool, int)) else None


def _xla_compile(work: Work, site: Site, name: str) -> None:
    if site.call is not None:
        work.manual(site.line, "xla-off", "XLA is not used on the NPU: call the function itself")


def _experimental_options(work: Work, site: Site, name: str) -> None:
    call = site.call
    value = work.script.argument(call, "options", 0) if call is not None else None
    if call is None or value is None or is_open(call):
        return
    if "auto_mixed_precision" in work.script.text[slice(*work.script.span(value))]:
        work.manual(site.line, "precision-mode", AMP_NOTE)
    work.replace_node(value, work.name("experimental_options"))
    work.changed(site.line, "experimental-options", "the options that suit the NPU")


RULES: Dict[str, Callable[[Work, Site, str], None]] = {
    **{name: session for name in _MAKERS},
    "tensorflow.train.MonitoredSession": _monitored,
    "tensorflow.train.Supervisor": _supervisor,
    "tensorflow.ConfigProto": _config_proto,
    "tensorflow.GPUOptions": _gpu_options,
    "tensorflow.config.experimental.set_memory_growth": _gpu_options,
    _REWRITER: _rewriter_config,
    "tensorflow.OptimizerOptions": _optimizer_options,
    "tensorflow.config.optimizer.set_jit": _set_jit,
    "tensorflow.config.optimizer.set_experimental_options": _experimental_options,
    "tensorflow.contrib.compiler.jit.experimental_jit_scope": _jit_scope,
    "tensorflow.xla.experimental.jit_scope": _jit_scope,
    "tensorflow.contrib.compiler.xla.compile": _xla_compile,
    "tensorflow.xla.experimental.compile": _xla_compile,
}


def after(work: Work) -> None:
    """What is recognised by the object or the field that an attribute belongs to."""
    for site in work.script.sites:
        node = site.node
        if not isinstance(node, ast.Attribute):
            continue
        name = node.attr
        if site.call is not None:
            maker = _method_of(work, site, node)
            if maker is not None:
                _make(work, site, maker)
            elif name in ("test_session", "cached_session", "session"):
                _test_session(work, site, node)
            elif name == "finalize" and _is_graph(work, site, node.value):
                work.manual(site.line, "graph-frozen", "nothing can be added behind this line")
            continue
        _field(work, site, node)


def _method_of(work: Work, site: Site, node: ast.Attribute) -> Optional[_Maker]:
    if not any(node.attr == method for _, method in _METHODS):
        return None
    owner = work.script.constructed(node.value, site.frames)
    return _METHODS.get((owner or "", node.attr))


def _is_graph(work: Work, site: Site, node: ast.AST) -> bool:
    return work.script.constructed(node, site.frames) in (
        "tensorflow.Graph",
        "tensorflow.get_default_graph",
    )


def _test_session(work: Work, site: Site, node: ast.Attribute) -> None:
    if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
        return
    for parent in site.parents:
        if isinstance(parent, ast.ClassDef):
            bases = [work.script.resolver.resolve(base, site.frames[:1]) for base in parent.bases]
            if any(base and base.endswith("test.TestCase") for base in bases):
                work.manual(
                    site.line,
                    "session-reference",
                    "tests are left alone; the session of TestCase is a subclass of the patched "
                    "one",
                )


def _field(work: Work, site: Site, node: ast.Attribute) -> None:
    """An assignment to a field of a ConfigProto, or a message that is copied into one."""
    parent = site.parents[-1]
    if node.attr == "gpu_options" and isinstance(parent, ast.Attribute):
        outer = site.parents[-2]
        is_set = isinstance(outer, (ast.Assign, ast.AugAssign)) or (
            isinstance(outer, ast.Call) and outer.func is parent
        )
        if is_set:
            work.manual(site.line, "gpu-options", _NO_EFFECT)
        return
    if node.attr == "gpu_options" and isinstance(parent, ast.Assign) and node is parent.value:
        return
    if node.attr == "device_count" and isinstance(parent, ast.Subscript):
        outer = site.parents[-2]
        key = parent.slice
        text = text_of(getattr(key, "value", None)) or text_of(key)
        if isinstance(outer, ast.Assign) and text == "GPU" and _number(outer.value) == 0:
            work.manual(site.line, "cpu-only-session", _CPU_ONLY)
        return
    if not (isinstance(parent, ast.Assign) and node in parent.targets):
        return
    if node.attr in _SWITCHES:
        if _is_rewriter(work, site, node):
            _switch_off(work, node.attr, parent.value, site.frames, site.line)
    elif node.attr == "global_jit_level":
        _jit_level(work, site, parent.value, site.line)
    elif node.attr == "auto_mixed_precision" and _is_rewriter(work, site, node):
        work.manual(site.line, "precision-mode", AMP_NOTE)


def _is_rewriter(work: Work, site: Site, node: ast.Attribute) -> bool:
    """True when a field is certainly one of TensorFlow's RewriterConfig."""
    owner = node.value
    if isinstance(owner, ast.Attribute) and owner.attr == "rewrite_options":
        return True
    if work.script.constructed(owner, site.frames) == _REWRITER:
        return True
    if isinstance(owner, ast.Name):
        values = work.script.stores(owner.id, site.frames)
        if values and all(
            isinstance(value, ast.Attribute) and value.attr == "rewrite_options"
            for value in values
        ):
            return True
    parent = site.parents[-1]
    value = getattr(parent, "value", None)
    resolved = work.script.resolver.resolve(value, site.frames) if value is not None else None
    return resolved is not None and resolved.startswith(_REWRITER)
