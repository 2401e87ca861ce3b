"""Sessions: how they are made and closed, references to their class, fields of a ConfigProto."""

import ast
import re
from typing import Collection, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.message import phrase
from npu_config.migration.resolve import Binding
from npu_config.migration.work import Rules, Work, called, is_wrapped, of_calls
from npu_config.python_flow.module import Site, sites
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    argument,
    dotted_parts,
    is_open,
    keyword_of,
    last_line,
    literal,
    literal_text,
    name_of,
    number_of,
    parameters,
)
from npu_config.script.vocabulary import SESSIONS

__all__ = ["AMP_NOTE", "RULES", "STAR_NOTE", "after", "check_given", "wrap_config"]


def check_close(work: Work, site: Site, always: bool) -> None:
    """Say where the end of a session matters: outside of a with statement.

    ``always``: where nothing holds the session, too, and where something closes it.
    """
    holder = _holder(site)
    if isinstance(holder, ast.Return):
        _check_callers(work, site, always)
        return
    line = site.line
    targets = _targets(site, holder)
    if not targets:
        is_dropped = isinstance(holder, (ast.Attribute, ast.Expr))
        if always and is_dropped and getattr(holder, "attr", "") != "close":
            text = "the session is never closed: use with, or close it"
            work.manual(line, "session-close", text)
        return
    names = [name_of(target) for target in targets]
    if "" in names:
        return
    target, name = targets[0], names[0]
    function = site.function if isinstance(target, ast.Name) else None
    if function is not None and name in _returned(work, function):
        _check_callers(work, site, always)
        return
    closes = any(
        _is_closed(work, site, name_of(one), isinstance(one, ast.Attribute))
        for one in [*targets, *_aliases(work, site, names)]
    )
    if closes and not always:
        return
    if isinstance(target, ast.Attribute):
        said = (
            "the session is an attribute of an object: the script must call close() (it does)"
            if closes
            else "the session is an attribute of an object: the script must call close()"
        )
        work.manual(line, "session-close", said, False if closes else None)
    elif any(_is_entered(work, name) for name in names):
        return
    elif not closes:
        owner = site.scope.node if site.scope.is_class else None
        name = "{}.{}".format(owner.name, name) if isinstance(owner, ast.ClassDef) else name
        work.manual(
            line, "session-close", phrase('the session is never closed: add "{}.close()"', name)
        )
    elif site.function is not None and work.script.calls_of("tensorflow.app.run"):
        work.manual(
            line,
            "session-close",
            "app.run ends with SystemExit: a session that is not closed before main returns "
            "is never closed",
            False,
        )
    elif site.call is not None and _is_configured_graph(work, site.call):
        work.manual(
            line,
            "session-close",
            phrase(
                (
                    'this session is opened without "with": the script closes it with '
                    '"{}.close()", keep this call'
                ),
                name,
            ),
            False,
        )


def _check_callers(work: Work, site: Site, always: bool) -> None:
    """Look at the end of a session where the function that returns it is called, once each."""
    function = site.function
    key = "callers" + str(id(function))
    if not isinstance(function, FUNCTIONS) or key in work.script.cache:
        return
    work.script.cache[key] = True
    is_called = False
    owner = site.parents[site.parents.index(function) - 1]
    lines = work.script.source.mentions(function.name)
    for found in sites(work.script.module, lines, (ast.Name, ast.Attribute)):
        node = found.node
        is_method = isinstance(node, ast.Attribute) and name_of(node.value) == "self"
        is_same = is_method if isinstance(owner, ast.ClassDef) else isinstance(node, ast.Name)
        is_call = is_same and name_of(node) == function.name and found.call is not None
        is_called = is_called or is_call
        if is_call and not _is_collected(work, _targets(found, _holder(found))):
            check_close(work, found, always)
    if not is_called and isinstance(owner, ast.Module):
        work.makers.append(function.name)


def check_given(work: Work, makers: Collection[str]) -> None:
    """Look at the end of sessions that functions of other files give."""
    script = work.script
    lines = script.source.lines_of(*makers)
    for site in sites(script.module, lines, (ast.Name, ast.Attribute)):
        if site.call is None or name_of(site.node) not in makers:
            continue
        (first, *_) = dotted_parts(site.node) or [""]
        bindings = script.bindings(first, site.scope)
        if bindings and all(binding.kind == "import" for binding in bindings):
            check_close(work, site, True)


def _is_collected(work: Work, targets: Sequence[ast.expr]) -> bool:
    """True for a session that is put among others, by which something may close it."""
    names = {name_of(target) for target in targets}
    lines = work.script.source.lines_of(*names)
    return any(
        name_of(found.node) in names
        and isinstance(getattr(found.node, "ctx", None), ast.Load)
        and isinstance(found.parents[-1], (ast.List, ast.Tuple, ast.Set, ast.Dict))
        for found in sites(work.script.module, lines, (ast.Name, ast.Attribute))
    )


def _returned(work: Work, function: ast.AST) -> Set[str]:
    """The variables that a function returns."""
    returns = (node.value for node in ast.walk(function) if isinstance(node, ast.Return))
    return work.script.kept(
        "returned" + str(id(function)),
        lambda: {
            name_of(one) for value in returns if value for one in getattr(value, "elts", [value])
        },
    )


def _aliases(work: Work, site: Site, names: Sequence[str]) -> List[ast.expr]:
    """The variables that names of the same scope are assigned to."""
    key = "aliases" + str(id(site.scope))
    found: Optional[Dict[str, Set[str]]] = work.script.cache.get(key)
    if found is None:
        found = work.script.cache[key] = {}
        for name, stores in site.scope.stores.items():
            for one in stores:
                if isinstance(one.node, ast.Name):
                    found.setdefault(one.node.id, set()).add(name)
    aliases = sorted({alias for name in names for alias in found.get(name, ())})
    return [ast.Name(alias, ast.Store()) for alias in aliases]


def _is_configured_graph(work: Work, call: ast.Call) -> bool:
    """True for a session of a graph that is given, with a configuration that has a name."""
    config = argument(call, "config", 2)
    return isinstance(config, ast.Name) and argument(call, "graph", 1) is not None


def _holder(site: Site) -> Optional[ast.AST]:
    """What takes a session, choices between several values passed over."""
    inside = (ast.IfExp, ast.BoolOp, ast.Starred)
    return next((node for node in site.parents[-2::-1] if not isinstance(node, inside)), None)


def _targets(site: Site, holder: Optional[ast.AST]) -> List[ast.expr]:
    """What a session is bound to by an assignment, one of several values included."""
    outer = holder
    if isinstance(holder, ast.Tuple):
        outer = site.parents[site.parents.index(holder) - 1]
    if isinstance(outer, ast.AnnAssign):
        return [outer.target]
    if not isinstance(outer, ast.Assign):
        return []
    if isinstance(holder, ast.Tuple):
        return [
            next(
                (part for part, value in zip(target.elts, holder.elts) if value is site.call),
                target,
            )
            if isinstance(target, ast.Tuple)
            else target
            for target in outer.targets
        ]
    return outer.targets


_GAP = r"(?:[ \t\f\\{}]|\r?\n|#[^\r\n]*[\r\n])*"
_BEFORE, _BEHIND = _GAP.format("("), _GAP.format(")")
_CLOSED = re.compile(r"\b(?P<name>\w+){}\.{}(?P<word>close)\b".format(_BEHIND, _GAP.format("")))
_LEFT = re.compile(_CLOSED.pattern.replace("close", "__exit__"))
_ENTERED = re.compile(r"\b(?P<word>with)\b{}(?P<name>\w+){}(?::|as\b)".format(_BEFORE, _BEHIND))
_NEAR = 4
"""How many lines a name can stand away from the word that it belongs to."""


def _names_around(work: Work, word: str, pattern: "re.Pattern[str]") -> Dict[str, List[int]]:
    """The names that a pattern finds with a word, with the lines of the word, found once."""
    script = work.script
    found: Optional[Dict[str, List[int]]] = script.cache.get(word)
    if found is None:
        found = script.cache[word] = {}
        for line in script.source.mentions(word):
            first, last = script.line_start(max(1, line - _NEAR)), script.line_end(line + _NEAR)
            for match in pattern.finditer(script.text, first, last):
                if script.position(match.start("word"))[0] == line:
                    found.setdefault(match.group("name"), []).append(line)
    return found


def _is_closed(work: Work, site: Site, name: str, is_member: bool) -> bool:
    """True when something closes a session in the function, or class, that makes it."""
    closing = _names_around(work, "close", _CLOSED)
    leaving = _names_around(work, "__exit__", _LEFT)
    lines = [*closing.get(name, ()), *leaving.get(name, ())]
    if not lines:
        return False
    kinds = (ast.ClassDef,) if is_member else FUNCTIONS
    owner = next((node for node in reversed(site.parents) if isinstance(node, kinds)), None)
    if name in work.script.global_names:
        return True
    if owner is not None:
        last = last_line(owner)
        return any(owner.lineno <= line <= last for line in lines)
    script = work.script
    binding = [
        (node.lineno, last_line(node))
        for scope, node in script.functions
        if name in scope.child(node).stores or name in parameters(node.args)
    ]
    return any(not any(first <= line <= last for first, last in binding) for line in lines)


def _is_entered(work: Work, name: str) -> bool:
    """True when a variable is entered by a with statement, which closes it at the end."""
    return name in _names_around(work, "with", _ENTERED)


_PROTO = "npu_config_proto"
STAR_NOTE = (
    "* or ** may contain a config: call left unchanged; at run time, npu_init "
    "configures its sessions"
)


class _Maker(NamedTuple):
    """Where a function that makes a session takes its configuration and its master."""

    config: str
    position: int
    master: str
    master_position: int


_MAKERS: Mapping[str, _Maker] = {
    **{
        "tensorflow." + name: _Maker("config", SESSIONS[name.split(".")[-1]], master, position)
        for name, master, position in (
            ("Session", "target", 0),
            ("InteractiveSession", "target", 0),
            ("train.MonitoredTrainingSession", "master", 0),
            ("train.ChiefSessionCreator", "master", 1),
            ("train.WorkerSessionCreator", "master", 1),
            ("train.SingularMonitoredSession", "master", 2),
        )
    },
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
    ("tensorflow.train." + owner, name): _Maker("config", SESSIONS[name], "master", 0)
    for owner, names in (
        ("Supervisor", ("managed_session", "prepare_or_wait_for_session")),
        ("SessionManager", ("prepare_session", "recover_session", "wait_for_session")),
    )
    for name in names
}
_CLASSES = ("tensorflow.Session", "tensorflow.InteractiveSession")
_MONITORED = (
    "tensorflow.train.MonitoredTrainingSession",
    "tensorflow.train.SingularMonitoredSession",
)


def wrap_config(
    work: Work, call: ast.Call, keyword: str, position: int, function: str, parameter: str
) -> Optional[str]:
    """Give a call a configuration made for the NPU; what was done, None when it is so already."""
    given = argument(call, keyword, position)
    name = work.name(function)
    if given is None:
        work.append(call, "{}={}()".format(keyword, name))
        return phrase("no {0}: {1}() added", keyword, name)
    if is_wrapped(given):
        return None
    work.wrap(given, "{}({}=".format(name, parameter))
    return phrase("the existing {} is wrapped", keyword)


def _has_own_master(work: Work, call: ast.Call, maker: _Maker) -> bool:
    master = argument(call, maker.master, maker.master_position)
    if master is None or literal_text(master) == "":
        return False
    return getattr(master, "value", 0) is not None or literal_text(master) is not None


def _make(work: Work, site: Site, maker: _Maker) -> None:
    call = site.call
    assert call is not None
    given = argument(call, maker.config, maker.position)
    if given is not None and is_wrapped(given):
        return
    work.needs_patch(site)
    if is_open(call):
        work.manual(
            site.line,
            "session-star",
            STAR_NOTE,
        )
    elif _has_own_master(work, call, maker):
        master = argument(call, maker.master, maker.master_position)
        work.manual(site.line, "session-config", _MASTER if literal_text(master) else _ANY_MASTER)
    else:
        done = wrap_config(work, call, maker.config, maker.position, _PROTO, "config_proto")
        work.changed(site.line, "session-config", done or "")


_MASTER = (
    "this session has its own master: left unchanged; parameter servers and remote masters "
    "do not exist on the NPU"
)
_ANY_MASTER = (
    "the master of this session is not known: left unchanged; at run time, npu_init "
    "configures the session; on the NPU the master must be empty, because remote "
    "masters are not supported"
)


def session(work: Work, site: Site, name: str) -> None:
    """A session class, or a function that makes a session."""
    if site.call is None:
        if name in _CLASSES:
            _reference(work, site)
        return
    if _is_stored(work, site):
        return
    _make(work, site, _MAKERS[name])
    if name in _CLASSES or name in _MONITORED:
        check_close(work, site, name in _CLASSES)


def _is_stored(work: Work, site: Site) -> bool:
    """True for a call through a variable that holds the function: reported where it is stored."""
    return (
        isinstance(site.node, ast.Name)
        and work.script.look_up(site.node, site.scope).binding is Binding.VALUE
    )


_NO_USES = (ast.Attribute, ast.arg, ast.AnnAssign, ast.ExceptHandler, ast.Compare)


def _reference(work: Work, site: Site) -> None:
    """A session class that is not called."""
    if _is_stored(work, site):
        return
    around = (one for one in site.parents[::-1] if type(one).__name__ not in ("Tuple", "Index"))
    parent = next(around)
    is_test = isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "isinstance"
    if isinstance(parent, ast.Subscript):
        return  # of a type
    if is_test or isinstance(parent, _NO_USES) or getattr(parent, "returns", 0) is site.node:
        return
    if isinstance(parent, ast.ClassDef):
        text = (
            "this is a subclass: npu_init patches the __init__ of its base class, so the "
            "session is configured"
        )
    else:
        text = (
            "the class is stored or passed on: left unchanged; at run time, npu_init "
            "configures its sessions"
        )
    work.needs_patch(site)
    work.manual(site.line, "session-reference", text)


_supervisor = of_calls(
    "graph-frozen",
    "this call finalizes the graph: for iterations_per_loop and broadcasts, change the "
    "graph before this call (util.IterationPerLoop().create_iteration_per_loop_var)",
    needs_patch=True,
)
_monitored = of_calls(
    "session-reference",
    "this session accepts no config; its default creator uses the session class that "
    "npu_init patches",
    unless=lambda work, site, call: argument(call, "session_creator", 0) is not None,
    needs_patch=True,
)


_inside = of_calls(
    "session-reference",
    "TensorFlow creates this session internally: at run time, npu_init configures the session",
    needs_patch=True,
)
_INSIDE = (
    *("tensorflow.contrib.gan." + name for name in ("gan_train", "estimator.GANEstimator")),
    *("tensorflow.contrib.gan.estimator." + name for name in ("StarGANEstimator",)),
    *("tensorflow.contrib.learn." + name for name in ("Experiment", "SVM", "KMeansClustering")),
    *("tensorflow.contrib.factorization." + n for n in ("KMeansClustering", "GMM", "WALSMatrix")),
    *(
        "tensorflow.contrib.timeseries." + n
        for n in ("ARRegressor", "StructuralEnsembleRegressor")
    ),
    *("tensorflow.estimator.experimental." + n for n in ("KMeans", "LinearSDCA", "RNNEstimator")),
    *("tensorflow.estimator." + name for name in ("RNNClassifier", "RNNEstimator")),
    "tensorflow.contrib.tensor_forest.client.random_forest.TensorForestEstimator",
)
"""What makes sessions inside of TensorFlow, without a configuration that could be wrapped."""


_ENDS = ("Estimator", "Classifier", "Regressor")


def _others(work: Work) -> None:
    """Estimators of TensorFlow that have no rule, by what they are called."""
    script = work.script
    names = {word for word in script.words if word.endswith(_ENDS)}
    for alias in (alias for site in script.imports for alias in site.node.names if names):
        if alias.asname and alias.name.endswith(_ENDS):
            names.add(alias.asname)
    lines = {line for name in names for line in script.source.mentions(name)}
    for site in sites(script.module, sorted(lines), (ast.Name, ast.Attribute)):
        if site.call is not None and name_of(site.node) in names:
            name = script.resolve(site.node, site.scope) or ""
            is_other = name.startswith("tensorflow.") and name not in script.interest.known
            if is_other and name.endswith(_ENDS):
                _inside(work, site, name)


def after(work: Work) -> None:
    """What is recognised by the object or the field that an attribute belongs to."""
    _others(work)
    fields = []
    for site in work.script.sites:
        node = site.node
        if not isinstance(node, ast.Attribute):
            continue
        name = node.attr
        if site.call is None:
            fields.append((site, node))
            continue
        maker = _method_of(work, site, node)
        if maker is not None:
            _make(work, site, maker)
        elif name in _SUPERVISED and not _is_of_own_class(work, site, node.value):
            work.needs_patch(site)
            work.manual(site.line, "session-config", _UNKNOWN_OWNER)
        elif name in ("test_session", "cached_session", "session"):
            _test_session(work, site, node)
        elif name == "finalize" and _is_graph(work, site, node.value):
            text = "the graph is finalized: nothing can be added to the graph after this line"
            work.manual(site.line, "graph-frozen", text)
    for site, node in fields:
        _field(work, site, node)


def _method_of(work: Work, site: Site, node: ast.Attribute) -> Optional[_Maker]:
    if not any(node.attr == method for _, method in _METHODS):
        return None
    owner = work.script.constructed(node.value, site.scope)
    return _METHODS.get((owner or "", node.attr))


def _is_of_own_class(work: Work, site: Site, node: ast.expr) -> bool:
    """True for an object of a class of the script that is derived from nothing of TensorFlow."""
    values = [node] if isinstance(node, ast.Call) else work.script.values(node, site.scope)
    classes = [
        binding.node
        for value in values
        for binding in (
            work.script.bindings(value.func.id, site.scope)
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
            else ()
        )
    ]
    return len(classes) == len(values) > 0 and all(
        isinstance(one, ast.ClassDef)
        and not any(work.script.resolve(base, work.script.module) for base in one.bases)
        for one in classes
    )


_SUPERVISED = ("managed_session", "prepare_or_wait_for_session")
_UNKNOWN_OWNER = (
    "this may not be a TensorFlow Supervisor: left unchanged; at run time, npu_init "
    "configures the session"
)
_GRAPHS = ("tensorflow.Graph", "tensorflow.get_default_graph")


def _is_graph(work: Work, site: Site, node: ast.AST) -> bool:
    """True for a graph of TensorFlow: one that is made, entered, or that of a session."""
    if isinstance(node, ast.Attribute) and node.attr == "graph":
        return True
    if work.script.constructed(node, site.scope) in _GRAPHS:
        return True
    values = work.script.values(node, site.scope)
    return bool(values) and all(
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "as_default"
        and work.script.constructed(value.func.value, site.scope) in _GRAPHS
        for value in values
    )


def _test_session(work: Work, site: Site, node: ast.Attribute) -> None:
    if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
        return
    for parent in site.parents:
        if isinstance(parent, ast.ClassDef):
            bases = [work.script.resolve(base, work.script.module) for base in parent.bases]
            if any(base and base.endswith("test.TestCase") for base in bases):
                work.manual(
                    site.line,
                    "session-reference",
                    "tests are left unchanged; the session of TestCase is a subclass of "
                    "the patched session",
                )


# The fields of a ConfigProto: remapping, memory optimization, XLA, GPUs, mixed precision


@called
def _config_proto(work: Work, site: Site, call: ast.Call, name: str) -> None:
    counts = keyword_of(call, "device_count")
    if counts is not None and _counts_no_gpu(counts.value):
        work.manual(counts.value.lineno, "cpu-only-session", _CPU_ONLY)
    options = keyword_of(call, "gpu_options")
    if options is not None and isinstance(options.value, ast.Dict):
        work.manual(options.value.lineno, "gpu-options", _NO_EFFECT)


_CPU_ONLY = (
    "device_count GPU 0 selects the CPU on purpose, but once npu_init is imported, this "
    "session runs on the NPU of the host"
)


def _counts_no_gpu(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return any(k.arg == "GPU" and number_of(k.value) == 0 for k in node.keywords)
    return isinstance(node, ast.Dict) and any(
        literal_text(key) == "GPU" and number_of(value) == 0
        for key, value in zip(node.keys, node.values)
    )


_NO_EFFECT = (
    "this has no effect on the NPU host, where TensorFlow is the CPU version; the line can "
    "be deleted"
)


_gpu_options = of_calls("gpu-options", _NO_EFFECT)


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


def _switch_off(work: Work, site: Site, field: str, value: ast.expr, line: int) -> None:
    """Set remapping or memory optimization to what the NPU needs, where a constant is given."""
    id, wanted, number, good = _SWITCHES[field]
    plain = number_of(value)
    stands_for = work.script.resolve(value, site.scope) or ""
    if isinstance(value, ast.Name) and stands_for.rsplit(".", 1)[-1] in good:
        return
    if isinstance(value, ast.Attribute) and value.attr.isupper():
        if value.attr not in good:
            end = work.script.span(value)[1]
            work.replace(end - len(value.attr), end, wanted)
            work.changed(line, id, phrase("{} must be {} on the NPU", field, wanted))
    elif plain is not None:
        if plain not in [_NUMBERS[name] for name in good]:
            work.replace_node(value, number)
            work.changed(line, id, phrase("{} must be {} ({}) on the NPU", field, wanted, number))
    else:
        work.manual(
            line, id, phrase("{} must be {} on the NPU, but is not a constant here", field, wanted)
        )


@called
def _rewriter_config(work: Work, site: Site, call: ast.Call, name: str) -> None:
    for field in _SWITCHES:
        keyword = keyword_of(call, field)
        if keyword is not None:
            _switch_off(work, site, field, keyword.value, keyword.value.lineno)
    amp = keyword_of(call, "auto_mixed_precision")
    if amp is not None:
        work.manual(amp.value.lineno, "precision-mode", AMP_NOTE)


AMP_NOTE = (
    "this has no effect on the NPU: use precision_mode allow_mix_precision in the session "
    "instead, npu_config.NpuConfigBuilder().mixed_precision(...)"
)


@called
def _optimizer_options(work: Work, site: Site, call: ast.Call, name: str) -> None:
    level = keyword_of(call, "global_jit_level")
    if level is not None:
        _jit_level(work, site, level.value, level.value.lineno)


_UNDER_FLAG = (
    "this is set under a condition: left unchanged; npu_config_proto switches XLA off in "
    "the session, so the line can be deleted"
)


def _jit_level(work: Work, site: Site, value: ast.expr, line: int) -> None:
    is_name = isinstance(value, ast.Attribute) and value.attr in ("ON_1", "ON_2", "DEFAULT", "OFF")
    number = number_of(value)
    if (is_name and value.attr == "OFF") or number == -1:  # type: ignore[attr-defined]
        return
    if site.is_conditional or not (is_name or number is not None):
        work.manual(line, "xla-off", _UNDER_FLAG)
    else:
        if is_name:
            end = work.script.span(value)[1]
            work.replace(end - len(value.attr), end, "OFF")  # type: ignore[attr-defined]
        else:
            work.replace_node(value, "-1")
        work.changed(line, "xla-off", _NO_XLA)


def _xla_switch(work: Work, site: Site, name: str) -> None:
    """A function or scope that takes whether XLA is on: off, where a constant says otherwise."""
    call, switch = site.call, _SWITCH_OF[name]
    if call is None and isinstance(site.parents[-1], (ast.Assign, ast.Call, ast.Dict)):
        text = "the function is stored or passed on: {} must be False where the function is called"
        work.manual(site.line, "xla-off", phrase(text, switch))
    value = argument(call, switch, 0) if call is not None else None
    constant = literal(value)
    if call is None or constant is False or (value is None and switch == "enabled"):
        return
    is_constant = isinstance(constant, bool if switch == "enabled" else (bool, int))
    if site.is_conditional or is_open(call) or not (value is None or is_constant):
        work.manual(site.line, "xla-off", _UNDER_FLAG)
        return
    if value is None:
        work.append(call, switch + "=False")
    else:
        work.replace_node(value, "False")
    work.changed(site.line, "xla-off", _NO_XLA)


_NO_XLA = "XLA is not used on the NPU"
_SWITCH_OF: Mapping[str, str] = {
    "tensorflow.config.optimizer.set_jit": "enabled",
    "tensorflow.contrib.compiler.jit.experimental_jit_scope": "compile_ops",
    "tensorflow.xla.experimental.jit_scope": "compile_ops",
}
_xla_compile = of_calls("xla-off", "XLA is not used on the NPU: call the function itself")


@called
def _experimental_options(work: Work, site: Site, call: ast.Call, name: str) -> None:
    value = argument(call, "options", 0)
    if value is None or is_open(call):
        return
    if "auto_mixed_precision" in work.script.written(value):
        work.manual(site.line, "precision-mode", AMP_NOTE)
    work.replace_node(value, work.name("experimental_options"))
    work.changed(
        site.line, "experimental-options", "replaced by options that are suitable for the NPU"
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
        _alias_of_gpu_options(work, parent)
        return
    if node.attr == "device_count" and isinstance(parent, ast.Subscript):
        outer = site.parents[-2]
        key = parent.slice
        text = literal_text(getattr(key, "value", None)) or literal_text(key)
        if isinstance(outer, ast.Assign) and text == "GPU" and number_of(outer.value) == 0:
            work.manual(site.line, "cpu-only-session", _CPU_ONLY)
        return
    if not (isinstance(parent, ast.Assign) and node in parent.targets):
        return
    if node.attr in _SWITCHES:
        if _is_rewriter(work, site, node, parent.value):
            _switch_off(work, site, node.attr, parent.value, site.line)
    elif node.attr == "global_jit_level":
        _jit_level(work, site, parent.value, site.line)
    elif node.attr == "auto_mixed_precision" and _is_rewriter(work, site, node, parent.value):
        work.manual(site.line, "precision-mode", AMP_NOTE)


_GPU_FIELDS = ("allow_growth", "per_process_gpu_memory_fraction", "visible_device_list")


def _alias_of_gpu_options(work: Work, assignment: ast.Assign) -> None:
    """The fields that are set through a variable that holds the options of the GPU."""
    name = getattr(assignment.targets[0], "id", None)
    source = work.script.source
    for field in _GPU_FIELDS if name else ():
        is_set = re.compile(r"\b{}\s*\.\s*{}\s*=(?!=)".format(name, field)).search
        for line in source.mentions(field):
            if is_set(source.lines[line - 1]):
                work.manual(line, "gpu-options", _NO_EFFECT)


def _is_rewriter(work: Work, site: Site, node: ast.Attribute, value: ast.expr) -> bool:
    """True when a field that is set is certainly one of TensorFlow's RewriterConfig."""
    owner = node.value
    if isinstance(owner, ast.Attribute) and owner.attr == "rewrite_options":
        return True
    if work.script.constructed(owner, site.scope) == _REWRITER:
        return True
    if isinstance(owner, ast.Name):
        values = work.script.values(owner, site.scope)
        if values and all(
            isinstance(value, ast.Attribute) and value.attr == "rewrite_options"
            for value in values
        ):
            return True
    resolved = work.script.resolve(value, site.scope)
    return resolved is not None and resolved.startswith(_REWRITER)


RULES: Rules = {
    **dict.fromkeys(_MAKERS, session),
    **dict.fromkeys(_INSIDE, _inside),
    "tensorflow.train.MonitoredSession": _monitored,
    "tensorflow.train.Supervisor": _supervisor,
    "tensorflow.ConfigProto": _config_proto,
    "tensorflow.GPUOptions": _gpu_options,
    "tensorflow.config.experimental.set_memory_growth": _gpu_options,
    _REWRITER: _rewriter_config,
    "tensorflow.OptimizerOptions": _optimizer_options,
    **dict.fromkeys(_SWITCH_OF, _xla_switch),
    "tensorflow.config.optimizer.set_experimental_options": _experimental_options,
    "tensorflow.contrib.compiler.xla.compile": _xla_compile,
    "tensorflow.xla.experimental.compile": _xla_compile,
}
