"""The JSON text of ``profiling_options`` (and of PROFILING_OPTIONS): what is profiled, and how.

Source: cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md,
docs/en/tfadapter_1/apiref/session_config/Profiling.md.
"""

import json
import re
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
)

import attr

from npu_config.catalogue.kinds import Choice, Int, Kind, Text
from npu_config.core.diagnostics import Diagnostic, Report, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import ALL_PRODUCTS, Product
from npu_config.sidefiles.format import (
    Format,
    JsonFormat,
    Parsed,
    RawDocument,
    Sample,
    finish_parse,
    object_at,
)
from npu_config.sidefiles.schema.kinds import BadValueError, Key, Schema
from npu_config.sidefiles.schema.kinds import JsonKind as FileKind
from npu_config.sidefiles.schema.kinds import LimitedText as AnyText
from npu_config.sidefiles.schema.reading import FileFindings, Rules
from npu_config.text.json import JsonReading
from npu_config.text.source import ANYWHERE, Places, Source
from npu_config.text.words import joined, near, shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from npu_config.catalogue.option_types import ProfilingArguments

__all__ = [
    "ADAPTER_DEFAULT", "FORMAT", "KEYS", "ProfilingOptions", "check", "load", "parse", "render",
    "save",
]  # fmt: skip

_DOC = "docs/en/tfadapter_1/apiref/session_config/Profiling.md"
_TOOL = "cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md"

_rule = partial(declare, options=("profiling_options",), source=(_TOOL,))


@_rule(
    "NPU746",
    Severity.ERROR,
    facts=("profiling-options-json",),
    source=(_DOC, _TOOL),
    help='write a JSON object with these keys, e.g. {"output": "/tmp/profiling"}',
)
def profiling_key() -> None:
    """The profiling options are not a JSON object, or have a key that does not exist.

    The adapter does not parse the text and passes it to the graph engine; with wrong content the
    graph engine fails to initialise, and the adapter aborts the process.

    Wrong: `{"output": "/data/prof", "traning_trace": "on"}`

    Right: `{"output": "/data/prof", "training_trace": "on"}`
    """


@_rule(
    "NPU747",
    Severity.ERROR,
    facts=("profiling-options-json",),
    source=(_DOC, _TOOL),
    help="write a legal value, or leave the key out",
)
def profiling_value() -> None:
    """A profiling option has an invalid value.

    All values must be text, even switches (`"on"`, not `true`), except for the keys that end in
    `_freq`: for these the profiler needs JSON integers (`50`) and rejects text, although the
    documentation shows text.  `training_trace` must be `on`, empty or absent: the graph engine
    rejects `off`.  If one value is wrong, the graph engine rejects all options, and the adapter
    aborts the process.

    Wrong: `{"training_trace": true, "aic_metrics": "Pipe", "dvpp_freq": "50"}`

    Right: `{"training_trace": "on", "aic_metrics": "PipeUtilization", "dvpp_freq": 50}`
    """


@_rule(
    "NPU748",
    Severity.ERROR,
    facts=("profiling-ranges",),
    help="write a value within the range, or leave the key out",
)
def profiling_range() -> None:
    """A number in the profiling options is out of range.

    `storage_limit` must be 200MB to 4294967295MB; `sys_hardware_mem_freq`, `sys_io_sampling_freq`
    and `dvpp_freq` 1 to 100 Hz; `sys_interconnection_freq` and `host_sys_usage_freq` 1 to 50 Hz;
    `instr_profiling_freq` 300 to 30000 Hz.  On ascend_950 the maximum of `sys_hardware_mem_freq`
    is 10000 Hz.  The profiler rejects other values, except for `storage_limit`: a wrong limit is
    reported in its log and ignored (a warning).

    Wrong: `{"dvpp_freq": 500}`

    Right: `{"dvpp_freq": 100}`
    """


@_rule(
    "NPU749",
    Severity.ERROR,
    facts=("profiling-options-json",),
    help="remove the key for this product",
)
def profiling_product() -> None:
    """A profiling option is not supported on this product.

    `instr_profiling` is supported only on ascend_950, and `instr_profiling_freq` only on atlas_a2
    and atlas_a3.  `sys_io_sampling_freq` is not supported on atlas_inference.  The `aic_metrics`
    value `L2Cache` is not supported on atlas_inference and atlas_training, and `MemoryAccess` is
    not supported on these two and on ascend_950.

    Wrong on atlas_training: `{"aic_metrics": "L2Cache"}`

    Right there: `{"aic_metrics": "PipeUtilization"}`
    """


@_rule(
    "NPU750",
    Severity.ERROR,
    products=(Product.ATLAS_A2, Product.ATLAS_A3),
    facts=("profiling-instr-exclusive",),
)
def profiling_instr_exclusive() -> None:
    """`instr_profiling_freq` is combined with options that cannot be used with it.

    `instr_profiling_freq` cannot be combined with `training_trace`, `task_trace`, `task_time`,
    `hccl`, `aicpu`, `fp_point`, `bp_point`, `aic_metrics`, `l2` and `runtime_api`.

    Wrong: `{"instr_profiling_freq": 1000, "aicpu": "on"}`

    Right: `{"instr_profiling_freq": 1000}`
    """


@_rule("NPU751", Severity.WARNING, facts=("profiling-task-trace-needs-training-trace",))
def profiling_task_trace_alone() -> None:
    """`task_trace` is collected in training without `training_trace`.

    For training, the documentation requires `training_trace` to be on together with `task_trace`.

    Wrong in training: `{"task_trace": "on"}`

    Right: `{"task_trace": "on", "training_trace": "on"}`
    """


@_rule(
    "NPU752",
    Severity.WARNING,
    facts=("profiling-training-trace-points",),
    source=(
        "docs/en/tfadapter_1/migration/common_operation/fpbp_point_determination.md",
        _TOOL,
    ),
    help="set fp_point and bp_point (msprof shows the names), or remove training_trace",
)
def profiling_points_unnamed() -> None:
    """`training_trace` of a dynamic-shape network needs `fp_point` and `bp_point`.

    With static shapes the profiler finds the start of the forward pass and the end of the backward
    pass automatically; with dynamic shapes you must set `fp_point` and `bp_point`.

    Wrong with dynamic shapes: `{"training_trace": "on", "fp_point": "", "bp_point": ""}`

    Right:

    ```json
    {"training_trace": "on", "fp_point": "net/conv1", "bp_point": "gradients/AddN_70"}
    ```
    """


@_rule(
    "NPU753",
    Severity.WARNING,
    options=("profiling_options", "graph_run_mode"),
    facts=("profiling-inference",),
)
def profiling_training_trace_inference() -> None:
    """`training_trace` is collected in online inference.

    In online inference `task_trace` and `aicpu` can be used, but `training_trace` cannot.

    Wrong in online inference: `{"training_trace": "on"}`

    Right: `{"task_trace": "on", "aicpu": "on"}`
    """


@_rule(
    "NPU754",
    Severity.ERROR,
    facts=("profiling-output-dir",),
    source=(_TOOL, "runtime:src/dfx/msprof/collector/dvvp/common/utils/utils.cpp:1625-1638"),
    help="use a path without these characters",
)
def profiling_output_characters() -> None:
    r"""The output path of the profiling options has a character that the profiler rejects.

    Not allowed are `\n`, `\f`, `\r`, `\b`, `\t`, `\v`, `\u007F`, any of `" ' \ % > < | & $ ;`, and
    the backquote.  In JSON and in Python, a single backslash starts a control character.

    Wrong: `{"output": "C:\temp"}`

    Right: `{"output": "/data/temp"}`
    """


@_rule(
    "NPU788",
    Severity.WARNING,
    facts=("profiling-output-dir",),
    source=("runtime:src/dfx/msprof/collector/dvvp/msprof/engine/src/prof_acl_mgr.cpp:2196-2240",),
)
def profiling_without_output() -> None:
    """The profiling options name no `output` directory.

    The profiler then uses the directory in ASCEND_WORK_PATH; if this variable is not set either,
    the profiler rejects the options, and the process ends.

    Wrong: `{"training_trace": "on"}`

    Right: `{"output": "/data/prof", "training_trace": "on"}`
    """


@_rule(
    "NPU789",
    Severity.ERROR,
    facts=("profiling-options-json",),
    source=("runtime:pkg_inc/profiling/aprof_pub.h:177",),
)
def profiling_too_long() -> None:
    """The text of the profiling options has more than 2047 bytes.

    The graph engine truncates the text at this length, and the rest is not valid JSON.

    Wrong: a text of 3,000 bytes

    Right: a shorter `output` path, and only the keys whose value differs from the default
    """


@_rule("NPU755", Severity.WARNING)
def profiling_same_switch() -> None:
    """`task_trace` and `task_time` have different values.

    `task_trace` and `task_time` are two names of one switch (`on` means `l1`); it is not
    documented which of the two is used.

    Wrong: `{"task_trace": "on", "task_time": "off"}`

    Right: `{"task_time": "on"}`
    """


CUSTOM = "Custom:"
MAX_REGISTERS = 8
MAX_REGISTER = 0x6E
MEMORY_950 = 10000
_PAGE = "cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md"


class _MemoryFrequency(Int):
    def parse(self, value: Any) -> int:
        """The number; whether the product has the larger ones is asked later."""
        return Int(self.minimum, MEMORY_950).parse(value)

    def describe(self) -> str:
        """Legal values."""
        return phrase("{} (on ascend_950: up to {})", super().describe(), MEMORY_950)


class _On(Choice):
    def describe(self) -> str:
        """Legal values."""
        return '"on", or leave the key out: the graph engine rejects "off"'


class Words(Choice):
    """Some of a few words, with commas between."""

    def parse(self, value: Any) -> str:
        """The text as it is."""
        for word in value.split(","):
            if word not in self.values:
                message = phrase("{} is not one of {}", shown(word), super().describe())
                raise BadValueError(message, meant=near(word, self.values))
        return str(value)

    def describe(self) -> str:
        """Legal values."""
        return phrase('one or more of {}, joined by ","', super().describe())


class AicMetrics(Choice):
    """One of a few words, or registers."""

    def parse(self, value: Any) -> str:
        """The text as it is."""
        if not value.startswith(CUSTOM):
            return super().parse(value)
        if registers(value[len(CUSTOM) :]) is None:
            message = (
                'legal after "{}": at most {} registers from 0x1 to 0x6E, separated by commas '
                "without spaces"
            )
            raise BadValueError(phrase(message, CUSTOM, MAX_REGISTERS))
        return str(value)

    def describe(self) -> str:
        """Legal values."""
        return phrase('{}, "{}<registers>"', super().describe(), CUSTOM)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Size(FileKind):
    """A number of megabytes with its unit; the profiler passes over anything else."""

    least: int
    most: int

    def parse(self, value: Any) -> str:
        """The text as it is."""
        match = re.match(r"([0-9]{1,18})(MB)?\Z", value)
        legal = match is not None and self.least <= int(match.group(1)) <= self.most
        if match is not None and match.group(2) and legal:
            return str(value)
        meant = '"{}MB"'.format(value) if legal else None
        raise BadValueError(
            phrase(
                "legal: {}MB to {}MB; the profiler ignores other values", self.least, self.most
            ),
            meant and phrase("write {}", meant),
            meant,
            read_as="",
        )


def _key(kind: Kind) -> Key:
    return Key(kind, source=_PAGE, rule=profiling_range if isinstance(kind, (Int, Size)) else None)


_SWITCH = _key(Choice(("on", "off", "")))
_TIME = _key(Choice(("on", "off", "l0", "l1", "l2", "l3", "")))
_ANY = _key(AnyText(0))
KEYS: Mapping[str, Key] = {
    "output": Key(
        Text(
            r"[^\n\f\r\b\t\v\x7f\"'\\%><|&$;`]*\Z",
            "a path without control characters, quotes and \\ % > < | & $ ; `",
        ),
        source=_PAGE,
        rule=profiling_output_characters,
    ),
    "storage_limit": _key(Size(200, 4294967295)),
    "training_trace": _key(_On(("on", ""))),
    "task_trace": _TIME,
    "task_time": _TIME,
    "ge_api": _key(Choice(("off", "l0", "l1", ""))),
    "hccl": _SWITCH,
    "aicpu": _SWITCH,
    "fp_point": _ANY,
    "bp_point": _ANY,
    "aic_metrics": _key(
        AicMetrics(
            (
                "ArithmeticUtilization",
                "PipeUtilization",
                "Memory",
                "MemoryL0",
                "MemoryUB",
                "ResourceConflictRatio",
                "L2Cache",
                "MemoryAccess",
                "",
            )
        )
    ),
    "l2": _SWITCH,
    "msproftx": _SWITCH,
    "runtime_api": _SWITCH,
    "task_tsfw": _SWITCH,
    "task_memory": _SWITCH,
    "task_block": _ANY,
    "optype": _ANY,
    "sys_mem_serviceflow": _ANY,
    "sys_cpu_freq": _key(Int(1, 50)),
    "sys_lp_freq": _key(Int(1, 4294967295)),
    "sys_hardware_mem_freq": _key(_MemoryFrequency(1, 100)),
    "llc_profiling": _key(Choice(("read", "write"))),
    "sys_io_sampling_freq": _key(Int(1, 100)),
    "sys_interconnection_freq": _key(Int(1, 50)),
    "dvpp_freq": _key(Int(1, 100)),
    "instr_profiling": _SWITCH,
    "instr_profiling_freq": _key(Int(300, 30000)),
    "host_sys": _key(Words(("cpu", "mem", "disk", "network", "osrt", "numa"))),
    "host_sys_usage": _key(Words(("cpu", "mem"))),
    "host_sys_usage_freq": _key(Int(1, 50)),
}
SCHEMA = Schema(KEYS, closed=True)

_OLD_KEYS = frozenset({Product.ATLAS_INFERENCE, Product.ATLAS_TRAINING})
PRODUCTS: Mapping[str, FrozenSet[Product]] = {
    "sys_io_sampling_freq": ALL_PRODUCTS - {Product.ATLAS_INFERENCE},
    "instr_profiling": frozenset({Product.ASCEND_950}),
    "instr_profiling_freq": frozenset({Product.ATLAS_A2, Product.ATLAS_A3}),
}
"""The products that have a key which not all have."""

METRICS_NOT_ON: Mapping[str, FrozenSet[Product]] = {
    "L2Cache": _OLD_KEYS,
    "MemoryAccess": _OLD_KEYS | {Product.ASCEND_950},
}

EXCLUDED_BY_INSTR = (
    "training_trace",
    "task_trace",
    "task_time",
    "hccl",
    "aicpu",
    "fp_point",
    "bp_point",
    "aic_metrics",
    "l2",
    "runtime_api",
)


def names(products: Iterable[Product]) -> str:
    """Products for a message, in the order of the vendor's tables."""
    given = frozenset(products)
    return listed(product.value for product in Product if product in given)


def registers(text: str) -> Optional[List[int]]:
    """The registers of ``Custom:<regs>``; None when they are not legal.

    Args:
        text: what follows the colon, e.g. ``"0x49,73"``.
    """
    found = []
    for part in text.lower().split(","):
        match = re.match(r"(?:0x([0-9a-f]{1,9})|([0-9]{1,9}))\Z", part)
        if match is None:
            return None
        found.append(int(match.group(1), 16) if match.group(1) else int(match.group(2)))
    legal = len(found) <= MAX_REGISTERS and all(0 < number <= MAX_REGISTER for number in found)
    return found if legal else None


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
class ProfilingOptions(RawDocument):
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


def _judge(value: Any, findings: FileFindings) -> None:
    """Note what does not go together, whatever the target."""
    top = object_at(value)
    excluded = [name for name in EXCLUDED_BY_INSTR if top.get(name, "") not in ("", "off")]
    if "instr_profiling_freq" in top and excluded:
        message = phrase("instr_profiling_freq cannot be combined with {}", joined(excluded))
        help = "collect the data of instr_profiling_freq in a separate run"
        findings.add(
            profiling_instr_exclusive, ("instr_profiling_freq",), message, help, at_key=True
        )
    tasks = [top.get("task_trace") or None, top.get("task_time") or None]
    if len({"l1" if task == "on" else task for task in tasks if isinstance(task, str)}) == 2:
        findings.add(
            profiling_same_switch,
            ("task_trace",),
            phrase(
                "task_trace ({}) and task_time ({}) set the same switch, but have different "
                "values",
                *map(shown, tasks),
            ),
            "leave task_trace out",
        )


PROFILING: "JsonFormat[ProfilingOptions]" = JsonFormat(
    "profiling_options",
    SCHEMA,
    Rules(profiling_key, profiling_key, profiling_value, profiling_value),
    _build,
    _judge,
)


def _about_target(
    value: Any, target: Target, places: Places, dynamic: bool = False
) -> List[Diagnostic]:
    """What a target does not have, or needs."""
    findings = FileFindings()
    if isinstance(value, dict):
        _judge_products(value, findings, target.products)
        _judge_mode(value, findings, target.mode, dynamic)
    return findings.diagnostics(places)


def _judge_products(top: Dict[str, Any], findings: FileFindings, products: Any) -> None:
    for name, having in PRODUCTS.items():
        if name in top and not products & having:
            message = '"{}" does not exist on {}; products that have it: {}'
            message = phrase(message, name, names(products), names(having))
            findings.add(profiling_product, (name,), message, at_key=True)
    frequency = top.get("sys_hardware_mem_freq")
    others = products - {Product.ASCEND_950}
    if others and type(frequency) is int and 100 < frequency <= 10000:
        message = '"sys_hardware_mem_freq" is {}, out of range on {}; legal: 1 to 100'
        path = ("sys_hardware_mem_freq",)
        findings.add(profiling_range, path, phrase(message, frequency, names(others)))
    metrics, kind = top.get("aic_metrics"), KEYS["aic_metrics"].kind
    refused = {name for name, others in METRICS_NOT_ON.items() if products <= others}
    if isinstance(metrics, str) and metrics in refused and isinstance(kind, Choice):
        message = '"aic_metrics" cannot be {} on {}; legal there: {}'
        legal = listed(name for name in kind.values if name and name not in refused)
        message = phrase(message, shown(metrics), names(products), legal)
        findings.add(profiling_product, ("aic_metrics",), message)


def _judge_mode(
    top: Dict[str, Any], findings: FileFindings, mode: Optional[str], dynamic: bool
) -> None:
    traced = top.get("training_trace") == "on"
    trace = partial(findings.add, path=("training_trace",), at_key=True)
    if mode == "training" and top.get("task_trace") in ("on", "l1") and not traced:
        message = "task_trace is on without training_trace; training needs both"
        help = 'add "training_trace": "on"'
        findings.add(profiling_task_trace_alone, ("task_trace",), message, help, at_key=True)
    if mode == "online_inference" and traced:
        message = (
            "training_trace cannot be used in online inference; legal there: task_trace, aicpu"
        )
        trace(profiling_training_trace_inference, message=message, help="remove training_trace")
    unnamed = [name for name in ("fp_point", "bp_point") if not top.get(name)]
    if dynamic and traced and unnamed:
        message = "for training_trace of a network with dynamic shapes, {} must be set explicitly"
        trace(profiling_points_unnamed, message=phrase(message, joined(unnamed)))


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
        return finish_parse((), ANYWHERE, lambda: ADAPTER_DEFAULT, lambda _: ())
    return _parse(text, path, target)


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[ProfilingOptions]:
    if _OLD.match(text):
        words = dict.fromkeys(word.strip() for word in text.split(":"))
        meant = {"output": "./", **{word: "on" for word in words if word in KEYS}}
        message = "this is the syntax of old releases; the graph engine reads only a JSON object"
        place = Source(text, path).place(0, len(text.rstrip()))
        help = phrase("write {}", _one_line(meant))
        return Parsed(None, Report([profiling_key.diagnostic(message, place, help=help)]))
    parsed = PROFILING.parse(text, path, _without_output)
    places = parsed.places
    assert isinstance(places, JsonReading)
    found = _about_target(places.value, target, places)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = "the text has more than {} bytes; the graph engine truncates it"
        found.append(profiling_too_long.diagnostic(phrase(message, MAX_BYTES), places.place()))
    return attr.evolve(parsed, diagnostics=Report((*parsed.diagnostics, *found)))


def _without_output(model: ProfilingOptions, places: Places) -> Iterator[Diagnostic]:
    if not model.value.get("output"):
        message = (
            "no output directory is set; without ASCEND_WORK_PATH the profiler rejects these "
            "options"
        )
        yield profiling_without_output.diagnostic(message, places.place(), help='add "output"')


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
    marks=r"(?:training|task)_trac|aic_metrics",
    schema=SCHEMA,
)
load, save = FORMAT.load, FORMAT.save
