"""The JSON text of ``profiling_options`` (and of PROFILING_OPTIONS): what is profiled, and how.

Source: cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md,
docs/en/tfadapter_1/apiref/session_config/Profiling.md.
"""

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Tuple

import attr

from npu_config.catalogue.kinds import Choice, Int
from npu_config.core.diagnostics import Diagnostic, Report
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.sidefiles import _profiling_rules as rules
from npu_config.sidefiles.declared import Content, Declared
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude
from npu_config.sidefiles.profiling_keys import (
    EXCLUDED_BY_INSTR,
    KEYS,
    METRICS_NOT_ON,
    PRODUCTS,
    SCHEMA,
    Size,
    names,
)
from npu_config.sidefiles.schema.findings import Findings
from npu_config.sidefiles.schema.reading import Rules
from npu_config.text.json import JsonReading
from npu_config.text.source import ANYWHERE, Places, Source
from npu_config.text.words import joined, shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from npu_config.catalogue.option_types import ProfilingArguments

_NUMBER = re.compile(r"[0-9]{1,18}\Z")
_OLD = re.compile(r"\s*(?:training_trace|(?:task|op)_trace)(?:\s*:\s*[a-z_]+)*\s*\Z")
MAX_BYTES = 2047


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _written(name: str, given: Any) -> Any:
    """An argument as the JSON value of its key; None for a key that is left out."""
    kind = KEYS[name].kind if name in KEYS else None
    if isinstance(given, bool) and isinstance(kind, Choice):
        off = None if "off" not in kind.values else "off"
        return "on" if given else off
    if isinstance(kind, Int) and isinstance(given, str) and _NUMBER.match(given):
        return int(given)
    if isinstance(kind, Size) and type(given) is int:
        return "{}MB".format(given)
    if isinstance(given, Iterable) and not isinstance(given, (str, dict)):
        given = list(given)
        return ",".join(given) if all(isinstance(part, str) for part in given) else given
    return given


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ProfilingOptions(Content):
    """Profiling options; what is left out, the tool takes by its default."""

    @classmethod
    def of(  # type: ignore[override]  # of fewer keys than any content
        cls, output: Optional[str] = None, **options: "Unpack[ProfilingArguments]"
    ) -> "ProfilingOptions":
        """The options of these keys.

        Switches take ``"on"``, ``"off"`` or a bool; numbers an int or its text; lists a sequence
        or text with commas; None leaves a key out.

        Args:
            output: directory for the results, absolute or relative to the run directory.
            storage_limit: most space for the results, in MB (an int, or e.g. ``"500MB"``).
            training_trace: step trace with forward and backward pass; not for online inference.
            task_trace: the same switch as ``task_time``.
            task_time: times of operators: ``"l0"``, ``"l1"``, on (``"l1"``) or off.
            ge_api: times of the graph engine's own calls: ``"l0"``, ``"l1"`` or off.
            hccl: communication (to be retired; ``task_time`` has it).
            aicpu: AI CPU operators.
            fp_point: node at the start of the forward pass; ``""``: found automatically.
            bp_point: node at the end of the backward pass; ``""``: found automatically.
            aic_metrics: the AI Core figures, e.g. ``"PipeUtilization"``, or ``"Custom:<regs>"``
                with at most 8 registers of 0x1 to 0x6E.
            l2: L2 cache.
            msproftx: marks that the script sets through mstx/msproftx.
            runtime_api: calls of the runtime.
            task_tsfw: task scheduler.
            task_memory: memory of operators.
            task_block: blocks of operators.
            optype: types of operators.
            sys_mem_serviceflow: memory of services.
            sys_cpu_freq: CPU of the device, 1 to 50 Hz.
            sys_lp_freq: low-power figures.
            sys_hardware_mem_freq: on-chip memory, 1 to 100 Hz (ascend_950: to 10000).
            llc_profiling: last-level cache, ``"read"`` or ``"write"``.
            sys_io_sampling_freq: NIC and RoCE, 1 to 100 Hz.
            sys_interconnection_freq: links between devices, 1 to 50 Hz.
            dvpp_freq: media preprocessing, 1 to 100 Hz.
            instr_profiling: instruction level, ascend_950.
            instr_profiling_freq: instruction level, 300 to 30000 Hz, atlas_a2 and atlas_a3.
            host_sys: of ``cpu``, ``mem``, ``disk``, ``network``, ``osrt``, ``numa``; disk needs
                iotop, osrt needs perf and ltrace on the host.
            host_sys_usage: of ``cpu``, ``mem``.
            host_sys_usage_freq: 1 to 50 Hz.

        Raises:
            NpuConfigError: with everything that is wrong, unknown keys among it.
        """
        keys: Dict[str, Any] = {"output": output, **options}
        written = {name: _written(name, given) for name, given in keys.items()}
        value = {name: given for name, given in written.items() if given is not None}
        PROFILING.refuse(value)
        return _build(value)


def _build(value: Dict[str, Any]) -> ProfilingOptions:
    return ProfilingOptions(_one_line({name: value[name] for name in KEYS if name in value}))


def _judge(value: Any, findings: Findings) -> None:
    """Note what does not go together, whatever the target."""
    top = value if isinstance(value, dict) else {}
    excluded = [name for name in EXCLUDED_BY_INSTR if top.get(name, "") not in ("", "off")]
    if "instr_profiling_freq" in top and excluded:
        message = phrase("instr_profiling_freq excludes {}", joined(excluded))
        help = "collect them in another run"
        findings.add(
            rules.profiling_instr_exclusive, ("instr_profiling_freq",), message, help, at_key=True
        )
    tasks = [top.get("task_trace") or None, top.get("task_time") or None]
    if len({"l1" if task == "on" else task for task in tasks if isinstance(task, str)}) == 2:
        findings.add(
            rules.profiling_same_switch,
            ("task_trace",),
            phrase(
                "task_trace ({}) and task_time ({}) are one switch, and disagree",
                *map(shown, tasks),
            ),
            "leave task_trace out",
        )


PROFILING: "Declared[ProfilingOptions]" = Declared(
    "profiling_options",
    SCHEMA,
    Rules(rules.profiling_key, rules.profiling_key, rules.profiling_value, rules.profiling_value),
    _build,
    _judge,
)


def _about_target(
    value: Any, target: Target, places: Places, dynamic: bool = False
) -> List[Diagnostic]:
    """What a target does not have, or needs."""
    findings = Findings()
    if isinstance(value, dict):
        _judge_products(value, findings, target.products)
        _judge_mode(value, findings, target.mode, dynamic)
    return findings.diagnostics(places)


def _judge_products(top: Dict[str, Any], findings: Findings, products: Any) -> None:
    for name, having in PRODUCTS.items():
        if name in top and not products & having:
            message = '"{}" does not exist on {}; legal on: {}'
            message = phrase(message, name, names(products), names(having))
            findings.add(rules.profiling_product, (name,), message, at_key=True)
    frequency = top.get("sys_hardware_mem_freq")
    others = products - {Product.ASCEND_950}
    if others and type(frequency) is int and 100 < frequency <= 10000:
        message = '"sys_hardware_mem_freq" is {}, out of range on {}; legal: 1 to 100'
        path = ("sys_hardware_mem_freq",)
        findings.add(rules.profiling_range, path, phrase(message, frequency, names(others)))
    metrics, kind = top.get("aic_metrics"), KEYS["aic_metrics"].kind
    refused = {name for name, others in METRICS_NOT_ON.items() if products <= others}
    if isinstance(metrics, str) and metrics in refused and isinstance(kind, Choice):
        message = '"aic_metrics" cannot be {} on {}; legal there: {}'
        legal = listed(name for name in kind.values if name and name not in refused)
        message = phrase(message, shown(metrics), names(products), legal)
        findings.add(rules.profiling_product, ("aic_metrics",), message)


def _judge_mode(
    top: Dict[str, Any], findings: Findings, mode: Optional[str], dynamic: bool
) -> None:
    traced = top.get("training_trace") == "on"
    trace = partial(findings.add, path=("training_trace",), at_key=True)
    if mode == "training" and top.get("task_trace") in ("on", "l1") and not traced:
        message = "task_trace is on without training_trace, which training needs with it"
        help = 'add "training_trace": "on"'
        findings.add(rules.profiling_task_trace_alone, ("task_trace",), message, help, at_key=True)
    if mode == "online_inference" and traced:
        message = (
            "training_trace cannot be used in online inference; legal there: task_trace, aicpu"
        )
        trace(rules.profiling_training_trace_inference, message=message, help="leave it out")
    unnamed = [name for name in ("fp_point", "bp_point") if not top.get(name)]
    if dynamic and traced and unnamed:
        message = "training_trace of a network with dynamic shapes needs {} named by hand"
        trace(rules.profiling_points_unnamed, message=phrase(message, joined(unnamed)))


def check(
    model: ProfilingOptions,
    target: Target = ANY_TARGET,
    places: Places = ANYWHERE,
    dynamic: bool = False,
) -> Tuple[Diagnostic, ...]:
    """What does not work on a target.

    Args:
        model: the options.
        target: the product and the mode that they are meant for.
        places: where the parts stand (``Parsed.places``).
        dynamic: True when the network has dynamic shapes.
    """
    value = model.value
    return (*PROFILING.faults(value, places), *_about_target(value, target, places, dynamic))


def parse(
    text: str, path: Optional[str] = None, target: Target = ANY_TARGET
) -> Parsed[ProfilingOptions]:
    """Read profiling options.

    Args:
        text: anything; for an empty text the adapter takes :data:`ADAPTER_DEFAULT`.
        path: the file it came from.
        target: what :func:`check` is to know.
    """
    if not text:
        return conclude((), ANYWHERE, lambda: ADAPTER_DEFAULT, lambda _: ())
    return _parse(text, path, target)


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[ProfilingOptions]:
    if _OLD.match(text):
        words = dict.fromkeys(word.strip() for word in text.split(":"))
        meant = {"output": "./", **{word: "on" for word in words if word in KEYS}}
        message = "this is the syntax of old releases; the graph engine reads a JSON object only"
        place = Source(text, path).place(0, len(text.rstrip()))
        help = phrase("write {}", _one_line(meant))
        return Parsed(None, Report([rules.profiling_key.diagnostic(message, place, help=help)]))
    parsed = PROFILING.parse(text, path, _without_output)
    places = parsed.places
    assert isinstance(places, JsonReading)
    found = _about_target(places.value, target, places)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = "the text has more than {} bytes; the graph engine cuts it off"
        found.append(
            rules.profiling_too_long.diagnostic(phrase(message, MAX_BYTES), places.place())
        )
    return attr.evolve(parsed, diagnostics=Report((*parsed.diagnostics, *found)))


def _without_output(model: ProfilingOptions, places: Places) -> Iterator[Diagnostic]:
    if not model.value.get("output"):
        message = (
            "there is no output directory; without ASCEND_WORK_PATH the profiler refuses this"
        )
        yield rules.profiling_without_output.diagnostic(
            message, places.place(), help='add "output"'
        )


def render(model: ProfilingOptions) -> str:
    """The canonical text: one line, as an option value or in the environment."""
    return model.text


def _looks_like(sample: Sample) -> bool:
    keys = [str(key) for key in sample.top]
    known = [key for key in keys if key in KEYS]
    return bool(known) and 2 * len(known) > len(keys)


ADAPTER_DEFAULT = ProfilingOptions.of(
    output="./",
    training_trace=True,
    task_time=True,
    hccl=True,
    aicpu=True,
    aic_metrics="PipeUtilization",
    msproftx=False,
)
"""What the adapter takes when profiling is on and ``profiling_options`` is absent or empty.

Source: tf_adapter/util/npu_attrs.cc:2127.
"""

FORMAT: Format[ProfilingOptions] = Format(
    name="profiling",
    title="profiling options",
    default_name="profiling_options.json",
    options=("profiling_options", "PROFILING_OPTIONS"),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    layout=_one_line,
)
load, save = FORMAT.load, FORMAT.save

__all__ = ["ADAPTER_DEFAULT", "FORMAT", "KEYS", "ProfilingOptions", "check", "load", "parse",
           "render", "save"]  # fmt: skip
