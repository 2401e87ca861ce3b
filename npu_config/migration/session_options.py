"""The fields of a ConfigProto: remapping, memory optimization, XLA, GPUs, mixed precision."""

import ast
import re
from typing import Mapping, Tuple

from npu_config.core.message import phrase
from npu_config.migration.work import Rules, Work, of_calls
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import (
    argument,
    is_open,
    keyword_of,
    literal_text,
    number_of,
)

__all__ = ["AMP_NOTE", "RULES", "after"]


def _config_proto(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        return
    counts = keyword_of(call, "device_count")
    if counts is not None and _counts_no_gpu(counts.value):
        work.manual(counts.value.lineno, "cpu-only-session", _CPU_ONLY)
    options = keyword_of(call, "gpu_options")
    if options is not None and isinstance(options.value, ast.Dict):
        work.manual(options.value.lineno, "gpu-options", _NO_EFFECT)


_CPU_ONLY = (
    'device_count GPU 0 says "CPU on purpose": on the NPU host this session runs on the NPU once '
    "npu_init is imported"
)


def _counts_no_gpu(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return any(k.arg == "GPU" and number_of(k.value) == 0 for k in node.keywords)
    return isinstance(node, ast.Dict) and any(
        literal_text(key) == "GPU" and number_of(value) == 0
        for key, value in zip(node.keys, node.values)
    )


_NO_EFFECT = "no effect on the NPU host, where TensorFlow is the one for CPUs; may be deleted"


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
        work.manual(line, id, phrase("{} must be {} on the NPU: not a constant", field, wanted))


def _rewriter_config(work: Work, site: Site, name: str) -> None:
    call = site.call
    if call is None:
        return
    for field in _SWITCHES:
        keyword = keyword_of(call, field)
        if keyword is not None:
            _switch_off(work, site, field, keyword.value, keyword.value.lineno)
    amp = keyword_of(call, "auto_mixed_precision")
    if amp is not None:
        work.manual(amp.value.lineno, "precision-mode", AMP_NOTE)


AMP_NOTE = (
    "has no effect on the NPU: precision_mode allow_mix_precision in the session does it, "
    "npu_config.NpuConfigBuilder().mixed_precision(...)"
)


def _optimizer_options(work: Work, site: Site, name: str) -> None:
    call = site.call
    level = keyword_of(call, "global_jit_level") if call is not None else None
    if level is not None:
        _jit_level(work, site, level.value, level.value.lineno)


_UNDER_FLAG = (
    "set under a condition: not edited; npu_config_proto switches XLA off in the session, "
    "so the line can be deleted"
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
        text = "stored or passed on: where it is called, {} must be False"
        work.manual(site.line, "xla-off", phrase(text, switch))
    value = argument(call, switch, 0) if call is not None else None
    constant = getattr(value, "value", None)
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


def _experimental_options(work: Work, site: Site, name: str) -> None:
    call = site.call
    value = argument(call, "options", 0) if call is not None else None
    if call is None or value is None or is_open(call):
        return
    if "auto_mixed_precision" in work.script.written(value):
        work.manual(site.line, "precision-mode", AMP_NOTE)
    work.replace_node(value, work.name("experimental_options"))
    work.changed(site.line, "experimental-options", "the options that suit the NPU")


RULES: Rules = {
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


def after(work: Work) -> None:
    """Assignments to fields, wherever the message comes from."""
    for site in work.script.sites:
        if isinstance(site.node, ast.Attribute) and site.call is None:
            _field(work, site, site.node)


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
        if _is_rewriter(work, site, node):
            _switch_off(work, site, node.attr, parent.value, site.line)
    elif node.attr == "global_jit_level":
        _jit_level(work, site, parent.value, site.line)
    elif node.attr == "auto_mixed_precision" and _is_rewriter(work, site, node):
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


def _is_rewriter(work: Work, site: Site, node: ast.Attribute) -> bool:
    """True when a field is certainly one of TensorFlow's RewriterConfig."""
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
    parent = site.parents[-1]
    value = getattr(parent, "value", None)
    resolved = work.script.resolve(value, site.scope) if value is not None else None
    return resolved is not None and resolved.startswith(_REWRITER)
