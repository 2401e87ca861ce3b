"""NPURunConfig: the arguments that carry a configuration."""

from typing import Any, Dict, Iterator, Mapping, Optional

from npu_config.catalogue import ALL_OPTIONS, OPTIONS
from npu_config.catalogue.api import ARGUMENT_VERSIONS, PARTS, changed_by_defaults
from npu_config.core.diagnostics import Diagnostic, NpuConfigError
from npu_config.rules.value import ConfigValue
from npu_config.text.plain_text import is_utf8
from npu_config.text.words import spelled
from npu_config.writers.shared import Notes, lost_in_output, quoted

_CLASSES = {path.rpartition(".")[2]: name for path, name in PARTS.items()}
"""The arguments that take an object, and its class."""

_IN_SESSION_CONFIG = "pass it in the ConfigProto of session_config"
_NEEDS = {
    "work_path": "aoe_mode",
    "distribute_config": "aoe_mode",
    "profiling_options": "profiling_mode",
}
_DYNAMIC_INPUT = ("input_shape", "dynamic_dims", "dynamic_node_type")
_AS_BYTES = ("insert_op_file",)


def to_run_config_kwargs(config: ConfigValue) -> Dict[str, Any]:
    """The arguments of NPURunConfig; those that take an object hold a dict of its arguments.

    ``jit_compile`` is a bool for the versions of the adapter whose field was one.

    Raises:
        NpuConfigError: naming each option that NPURunConfig cannot carry.
    """
    lost = list(losses(config))
    if lost:
        raise NpuConfigError(lost)
    values = config.to_dict()
    if "input_shape" in values:
        values.setdefault("compile_hybrid_mode", OPTIONS["compile_hybrid_mode"].default)
    for name, (wire, other) in config.wire_values().items():
        if wire != ALL_OPTIONS[name].wire:
            values[name] = other
    arguments: Dict[str, Any] = {}
    for name in ALL_OPTIONS:
        argument = _argument(name, config.target.version)
        if name not in values or argument is None:
            continue
        *parents, last = argument.split(".")
        place = arguments
        for parent in parents:
            place = place.setdefault(parent, {})
        value: Any = values[name]
        if name in _AS_BYTES and isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape")
        place[last] = value
    return arguments


def _argument(name: str, version: Optional[int]) -> Optional[str]:
    """The argument of NPURunConfig that carries an option; some had one of its name once."""
    versions = ARGUMENT_VERSIONS.get(name)
    former = version is not None and versions is not None and versions.has(version)
    return ALL_OPTIONS[name].run_config or (name if former else None)


def losses(config: ConfigValue) -> Iterator[Diagnostic]:
    """One error for each option that would be lost on the way through NPURunConfig."""
    options, texts = config.options, config.to_dict()
    for name, value in options.items():
        option, argument = ALL_OPTIONS[name], _argument(name, config.target.version)
        reason: Optional[str] = None
        if not option.is_read or (name == "use_off_line" and value is True):
            continue
        if argument is None:
            reason = "NPURunConfig has no argument for it"
        elif name not in _AS_BYTES and not is_utf8(str(texts[name])):
            reason = "NPURunConfig takes text, and these bytes are not UTF-8"
        elif name == "compress_weight_conf":
            reason = (
                "NPUEstimator always writes enable_compress_weight beside it: the adapter aborts"
            )
        elif name in _NEEDS and not options.get(_NEEDS[name]):
            reason = "NPURunConfig passes it on only together with {}".format(_NEEDS[name])
        elif argument.startswith("dynamic_input_config."):
            missing = [other for other in _DYNAMIC_INPUT if other not in options]
            if missing:
                reason = "NPURunConfig passes it on only together with {}".format(
                    ", ".join(missing)
                )
        if reason is not None:
            yield lost_in_output.diagnostic(
                '"{}" is lost in NPURunConfig: {}'.format(name, reason),
                option=name,
                help=_IN_SESSION_CONFIG,
            )


def to_call(config: ConfigValue, notes: Notes, _: Any) -> str:
    """The call of NPURunConfig, with the imports that it needs.

    Raises:
        NpuConfigError: as :func:`to_run_config_kwargs`.
    """
    arguments = to_run_config_kwargs(config)
    classes = ["NPURunConfig", *_classes(arguments)]
    lines = [
        "from npu_bridge.estimator.npu.npu_config import {}".format(name)
        for name in sorted(classes)
    ]
    lines.append("")
    lines.extend(notes.comments(config.options))
    for name, value in config.to_dict().items():
        if _argument(name, config.target.version) is None:
            lines.append("# {}: {} needs no argument.".format(name, spelled(value)))
    for name, default, other in changed_by_defaults(config.options):
        lines.append(
            "# NPURunConfig sets {0}={2} unless given (a session: {1}).".format(
                name, default, other
            )
        )
    lines.append("run_config = {}".format(_call("NPURunConfig", arguments, 0)))
    return "\n".join(lines) + "\n"


def _classes(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if isinstance(value, dict):
            yield _CLASSES[name]
            yield from _classes(value)


def _call(name: str, arguments: Mapping[str, Any], depth: int) -> str:
    if not arguments:
        return "{}()".format(name)
    indent = "    " * (depth + 1)
    lines = [
        "{}{}={},\n".format(indent, argument, _literal(argument, value, depth + 1))
        for argument, value in arguments.items()
    ]
    return "{}(\n{}{})".format(name, "".join(lines), "    " * depth)


def _literal(name: str, value: Any, depth: int) -> str:
    if isinstance(value, dict):
        return _call(_CLASSES[name], value, depth)
    return quoted(value) if isinstance(value, str) else repr(value)
