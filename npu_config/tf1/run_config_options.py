"""From the arguments of NPURunConfig to the options of NpuOptimizer, and back.

The catalogue says which argument (or field of a configuration object in it) carries which
option and what its default is; this module has what the vendor's NPUEstimator makes of them
beyond that.  No TensorFlow is imported.
"""

from __future__ import annotations

import functools
import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue import OPTIONS, InvalidValue, Option
from npu_config.catalogue.api import WRITTEN_AS_TEXT, WRITTEN_WITHOUT_PART
from npu_config.core.settings import Setting, Settings, SourceKind
from npu_config.rules.case import Case, judge, judge_case
from npu_config.tf1 import vendor
from npu_config.tf1.run_config_parts import PARTS, fields_of

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

_EARLY_ENVIRONMENT = {"TF_CONFIG"}
_EARLY_RULES = {"NPU619", "NPU824"}
"""What of the environment counts already while the configuration is made."""

_NONE_LEAVES_OUT = {
    "all_tensor_not_empty",
    "buffer_optimize",
    "compile_hybrid_mode",
    "dump_data",
    "dump_mode",
    "dynamic_dims",
    "dynamic_graph_execute_mode",
    "dynamic_node_type",
    "experimental_logical_device_cluster_deploy_mode",
    "export_compile_stat",
    "graph_max_parallel_model_num",
    "input_batch_cpy",
    "input_shape",
    "oo_constant_folding",
    "oo_level",
    "shape_generalization_mode",
    "static_memory_policy",
    "variable_use_1g_huge_page",
}
_DYNAMIC_INPUT = ("input_shape", "dynamic_dims", "dynamic_node_type", "compile_hybrid_mode")
_OF_TUNING = ("work_path", "distribute_config")
_ABSENT = object()


class Choices(NamedTuple):
    """What a set of arguments comes to.

    Attributes:
        written: option name to the value that goes into the session.
        given: option name to the value that the user chose, also where nothing comes of it.
        extra: arguments that are not options, and fields by dotted name.
    """

    written: Dict[str, Any]
    given: Dict[str, Any]
    extra: Dict[str, Any]


@functools.lru_cache(maxsize=None)
def carried() -> Tuple[Option, ...]:
    """The options that NPURunConfig carries and something at run time reads."""
    return tuple(o for o in OPTIONS.values() if o.run_config is not None and o.is_read)


def _is_part(value: Any, argument: str) -> bool:
    """True for a configuration object of the right class, ours or the vendor's."""
    return PARTS[argument].__name__ in [base.__name__ for base in type(value).__mro__]


def _flat(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """Arguments and fields of configuration objects, by dotted name."""
    flat = dict(arguments)
    for argument in PARTS:
        part = arguments.get(argument)
        if part is not None and _is_part(part, argument):
            for name, value in fields_of(part).items():
                flat["{}.{}".format(argument, name)] = value
                if name == "graph_memory_optimize_config" and value is not None:
                    for inner, content in fields_of(value).items():
                        flat["{}.{}.{}".format(argument, name, inner)] = content
    return flat


def choose(arguments: Mapping[str, Any]) -> Choices:
    """What the arguments of NPURunConfig come to.

    Args:
        arguments: every argument by name, defaults included.
    """
    flat = _flat(arguments)
    written: Dict[str, Any] = {}
    given: Dict[str, Any] = {}
    for option in carried():
        value = flat.get(option.run_config or "", _ABSENT)
        if value is _ABSENT:
            if option.name in WRITTEN_WITHOUT_PART:
                written[option.name] = option.run_config_default
            continue
        default = option.run_config_default
        if value is None and (default is None or option.name in _NONE_LEAVES_OUT):
            continue
        value = _as_text(option, value)
        written[option.name] = value
        is_default = value == default and type(value) is type(default)
        if not is_default or option.name in _DYNAMIC_INPUT:  # None is not the default there
            given[option.name] = value
    _leave_out(written, given, flat)
    carriers = {option.run_config for option in carried()}
    extra = {name: value for name, value in flat.items() if name not in carriers}
    extra["dump_config.dump_mode"] = flat.get("dump_config.dump_mode", "output")
    return Choices(written, given, extra)


def _as_text(option: Option, value: Any) -> Any:
    """Sizes as text, as the vendor writes them; bytes, which the vendor wants for one option."""
    if isinstance(value, bytes) and option.wire == "s":
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value
    if option.name in WRITTEN_AS_TEXT and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _leave_out(written: Dict[str, Any], given: Dict[str, Any], flat: Mapping[str, Any]) -> None:
    """What depends on another argument."""
    if not all(name in written for name in _DYNAMIC_INPUT):
        for name in _DYNAMIC_INPUT:
            written.pop(name, None)
    if flat.get("aoe_mode") is None:
        for name in _OF_TUNING:
            written.pop(name, None)
    else:
        written.setdefault("work_path", "./")
    if not flat.get("profiling_config.enable_profiling"):
        written.pop("profiling_options", None)
    else:
        written.setdefault("profiling_options", "")
    if "dump_config.dump_mode" in flat and flat["dump_config.dump_mode"] is None:
        dropped = written.pop("dump_debug_mode", None)
        if flat.get("dump_config.enable_dump_debug") is True and dropped is not None:
            given["dump_debug_mode"] = dropped


def findings_of(choices: Choices, base: Mapping[str, Setting]) -> List[Diagnostic]:
    """Everything that the rules say of the choices.

    On the NPU host paths are looked at, too; of the environment, only ``TF_CONFIG`` counts so
    early.

    Args:
        choices: what the user chose.
        base: options that the given session_config sets.
    """
    entries = dict(base)
    entries.update((name, Setting(value)) for name, value in choices.given.items())
    settings = Settings(
        entries,
        SourceKind.RUN_CONFIG,
        extra={name: Setting(value) for name, value in choices.extra.items()},
    )
    case = Case(settings, on_host=vendor.is_available())
    findings = judge_case(case)
    early = {name: os.environ[name] for name in _EARLY_ENVIRONMENT if name in os.environ}
    if early:
        findings += [d for d in judge(settings, environ=early) if d.rule in _EARLY_RULES]
    return findings


def wire_values(written: Mapping[str, Any]) -> Dict[str, Tuple[str, Any]]:
    """Option name to the AttrValue field and the value for it; text stays as it is written."""
    values = {}
    for name, value in written.items():
        kind = OPTIONS[name].kind
        if not isinstance(value, str):
            try:
                canonical = kind.parse(value)
                value = canonical if kind.plain else kind.to_wire(canonical)
            except InvalidValue:
                pass  # a value that only drew a warning goes on as it is
        values[name] = (kind.wire, value)
    return values


def task_of(environ: Optional[Mapping[str, str]] = None) -> Tuple[str, int]:
    """The job and the index of this task: from ``TF_CONFIG``, else ``localhost`` and 0."""
    environ = os.environ if environ is None else environ
    try:
        task = json.loads(environ.get("TF_CONFIG") or "{}").get("task") or {}
        return str(task.get("type", "localhost")), int(task.get("index", 0))
    except (ValueError, AttributeError, TypeError):
        return "localhost", 0
