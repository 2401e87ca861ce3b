"""The JSON text of ``profiling_options`` (and of PROFILING_OPTIONS): what is profiled, and how.

Source: cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md,
docs/en/tfadapter_1/apiref/session_config/Profiling.md.
"""

import json
import re
from typing import Any, Dict, Iterable, Iterator, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Report
from npu_config.core.message import phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles import _profiling_rules as rules
from npu_config.sidefiles._profiling_values import faults
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude, refuse
from npu_config.sidefiles.profiling_keys import (
    KEYS,
    METRICS_NOT_ON,
    SWITCH,
    names,
)
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Places, Source
from npu_config.text.words import joined, listed, shown

Switch = Union[str, bool]
Number = Union[str, int]
Words = Union[str, Iterable[str]]

_NUMBER = re.compile(r"[0-9]{1,18}\Z")
_OLD = re.compile(r"\s*(?:training_trace|(?:task|op)_trace)(?:\s*:\s*[a-z_]+)*\s*\Z")
MAX_BYTES = 2047


def _switch(value: Optional[Switch]) -> Optional[str]:
    return ("on" if value else "off") if isinstance(value, bool) else value


def _number(value: Optional[Number]) -> Optional[int]:
    given: Any = value
    return int(given) if isinstance(given, str) and _NUMBER.match(given) else given


def _trace(value: Optional[Switch]) -> Optional[str]:
    """A switch that has no ``off``: it is left out."""
    return None if value is False else _switch(value)


def _size(value: Optional[Number]) -> Optional[str]:
    given: Any = value
    return "{}MB".format(value) if type(value) is int else given


def _words(value: Optional[Words]) -> Optional[str]:
    given: Any = value
    if isinstance(given, Iterable) and not isinstance(given, str):
        given = list(given)
        if all(isinstance(part, str) for part in given):
            return ",".join(given)
    found: Optional[str] = given
    return found


@attr.s(frozen=True, slots=True, auto_attribs=True, kw_only=True)
class ProfilingOptions:
    """Profiling options; what is None is left out, and the tool takes its default.

    Switches take ``"on"``, ``"off"`` or a bool; numbers an int or its text; lists a sequence
    or text with commas.  They are kept as the values of the JSON object.

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
        aic_metrics: the AI Core figures, e.g. ``"PipeUtilization"``, or ``"Custom:<regs>"`` with
            at most 8 registers of 0x1 to 0x6E.
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
        host_sys: of ``cpu``, ``mem``, ``disk``, ``network``, ``osrt``, ``numa``; disk needs iotop,
            osrt needs perf and ltrace on the host.
        host_sys_usage: of ``cpu``, ``mem``.
        host_sys_usage_freq: 1 to 50 Hz.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    output: Optional[str] = None
    storage_limit: Optional[str] = attr.ib(default=None, converter=_size)
    training_trace: Optional[str] = attr.ib(default=None, converter=_trace)
    task_trace: Optional[str] = attr.ib(default=None, converter=_switch)
    task_time: Optional[str] = attr.ib(default=None, converter=_switch)
    ge_api: Optional[str] = attr.ib(default=None, converter=_switch)
    hccl: Optional[str] = attr.ib(default=None, converter=_switch)
    aicpu: Optional[str] = attr.ib(default=None, converter=_switch)
    fp_point: Optional[str] = None
    bp_point: Optional[str] = None
    aic_metrics: Optional[str] = None
    l2: Optional[str] = attr.ib(default=None, converter=_switch)
    msproftx: Optional[str] = attr.ib(default=None, converter=_switch)
    runtime_api: Optional[str] = attr.ib(default=None, converter=_switch)
    task_tsfw: Optional[str] = attr.ib(default=None, converter=_switch)
    task_memory: Optional[str] = attr.ib(default=None, converter=_switch)
    task_block: Optional[str] = None
    optype: Optional[str] = None
    sys_mem_serviceflow: Optional[str] = None
    sys_cpu_freq: Optional[int] = attr.ib(default=None, converter=_number)
    sys_lp_freq: Optional[int] = attr.ib(default=None, converter=_number)
    sys_hardware_mem_freq: Optional[int] = attr.ib(default=None, converter=_number)
    llc_profiling: Optional[str] = None
    sys_io_sampling_freq: Optional[int] = attr.ib(default=None, converter=_number)
    sys_interconnection_freq: Optional[int] = attr.ib(default=None, converter=_number)
    dvpp_freq: Optional[int] = attr.ib(default=None, converter=_number)
    instr_profiling: Optional[str] = attr.ib(default=None, converter=_switch)
    instr_profiling_freq: Optional[int] = attr.ib(default=None, converter=_number)
    host_sys: Optional[str] = attr.ib(default=None, converter=_words)
    host_sys_usage: Optional[str] = attr.ib(default=None, converter=_words)
    host_sys_usage_freq: Optional[int] = attr.ib(default=None, converter=_number)

    def __attrs_post_init__(self) -> None:
        refuse(faults(_plain(self), ANYWHERE))

    @classmethod
    def of(cls, **options: Any) -> "ProfilingOptions":
        """The options of these keys; see the class.

        Raises:
            NpuConfigError: with everything that is wrong, unknown keys among it.
        """
        known = {key: value for key, value in options.items() if key in KEYS}
        unknown = {key: "" for key in options if key not in KEYS}
        found = faults(unknown, ANYWHERE)
        if found:
            converted = {
                field.name: field.converter(known[field.name])
                if callable(field.converter)
                else known[field.name]
                for field in attr.fields(cls)
                if known.get(field.name) is not None
            }
            refuse((*found, *faults(converted, ANYWHERE)))
        return cls(**known)


def _plain(model: ProfilingOptions) -> Dict[str, Any]:
    values = ((key, getattr(model, key)) for key in KEYS)
    return {key: value for key, value in values if value is not None}


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
    plain = _plain(model)
    return (*faults(plain, places), *_about_target(plain, target, places, dynamic))


def _about_target(
    plain: Dict[str, Any], target: Target, places: Places, dynamic: bool
) -> Iterator[Diagnostic]:
    products = target.products
    for name in plain:
        key = KEYS[name]
        if not products & key.products:
            message = '"{}" does not exist on {}; legal on: {}'
            message = phrase(message, name, names(products), names(key.products))
            yield rules.PRODUCT.diagnostic(message, places.key_place((name,)))
        elif not products & key.wide[0] and key.range[1] < _number_of(plain[name]) <= key.wide[1]:
            message = '"{}" is {}, out of range on {}; legal: {} to {}'
            message = phrase(message, name, shown(plain[name]), names(products), *key.range)
            yield rules.RANGE.diagnostic(message, places.place((name,)))
    metrics = plain.get("aic_metrics", "")
    refused = METRICS_NOT_ON.get(metrics, frozenset())
    if products <= refused:
        legal = [
            name
            for name in KEYS["aic_metrics"].allowed
            if not products & METRICS_NOT_ON.get(name, frozenset())
        ]
        message = '"aic_metrics" cannot be {} on {}; legal there: {}'
        message = phrase(message, shown(metrics), names(products), listed(legal))
        yield rules.PRODUCT.diagnostic(message, places.place(("aic_metrics",)))
    yield from _about_mode(plain, target.mode, places, dynamic)


def _number_of(value: Any) -> int:
    return value if type(value) is int else 0


def _about_mode(
    plain: Dict[str, Any], mode: Optional[str], places: Places, dynamic: bool
) -> Iterator[Diagnostic]:
    traced = plain.get("training_trace") == "on"
    if mode == "training" and plain.get("task_trace") in ("on", "l1") and not traced:
        yield rules.TASK_ALONE.diagnostic(
            "task_trace is on without training_trace, which training needs with it",
            places.key_place(("task_trace",)),
            help='add "training_trace": "on"',
        )
    if mode == "online_inference" and traced:
        yield rules.INFERENCE.diagnostic(
            "training_trace cannot be used in online inference; legal there: task_trace, aicpu",
            places.key_place(("training_trace",)),
            help="leave it out",
        )
    unnamed = [name for name in ("fp_point", "bp_point") if not plain.get(name)]
    if dynamic and traced and unnamed:
        yield rules.POINTS.diagnostic(
            phrase(
                "training_trace of a network with dynamic shapes needs {} named by hand",
                joined(unnamed),
            ),
            places.key_place(("training_trace",)),
        )


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
        return Parsed(None, Report([rules.KEY.diagnostic(message, place, help=help)]))
    reading = _json.read(text, path)
    found = faults(reading.value, reading)
    understood = reading.complete and Report(found).ok
    value = reading.value if isinstance(reading.value, dict) else {}
    known = {key: value[key] for key in KEYS if isinstance(value.get(key), (str, int))}
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = phrase(
            "the text has more than {} bytes; the graph engine cuts it off", MAX_BYTES
        )
        found.append(rules.TOO_LONG.diagnostic(message, reading.place()))
    if understood and not value.get("output"):
        message = (
            "there is no output directory; without ASCEND_WORK_PATH the profiler refuses this"
        )
        help = 'add "output"'
        found.append(rules.NO_OUTPUT.diagnostic(message, reading.place(), help=help))
    return conclude(
        (*reading.diagnostics, *found, *_about_target(known, target, reading, False)),
        reading,
        (lambda: ProfilingOptions(**reading.value)) if understood else None,
        lambda _: (),
    )


def render(model: ProfilingOptions) -> str:
    """The canonical text: one line, as an option value or in the environment."""
    return _one_line(_plain(model))


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _looks_like(sample: Sample) -> bool:
    keys = [str(key) for key in sample.top]
    known = [key for key in keys if key in KEYS]
    return bool(known) and 2 * len(known) > len(keys)


ADAPTER_DEFAULT = ProfilingOptions(
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

__all__ = ["ADAPTER_DEFAULT", "FORMAT", "KEYS", "SWITCH", "ProfilingOptions", "check", "load",
           "parse", "render", "save"]  # fmt: skip
