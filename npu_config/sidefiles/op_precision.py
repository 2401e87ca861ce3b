"""op_precision.ini, the file of ``op_precision_mode``: precision or speed of single operators.

Source: docs/en/tfadapter_1/apiref/session_config/performance_tuning.md.
"""

from functools import partial
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import Product
from npu_config.sidefiles.format import (
    Format,
    Parsed,
    Sample,
    Table,
    finish_parse,
    frozen,
    logged,
    refuse,
)
from npu_config.text.lines import MARK, Item, items, marked, name_fault
from npu_config.text.source import ANYWHERE, Places, PlaceTable
from npu_config.text.words import did_you_mean, near, shown

BY_TYPE = "[ByOpType]"
BY_NAME = "[ByNodeName]"
FP32_PRODUCTS = (Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2)
MODES = (
    "high_precision",
    "high_performance",
    "enable_float_32_execution",
    "support_out_of_bound_index",
    "keep_fp16",
    "super_performance",
)
_HIFLOAT = "enable_hi_float_32_execution"
_NO_NAME = ("#", ";", "//")
_ACCEPTED = (*MODES, _HIFLOAT, "norm_class")

_DOC = "docs/en/tfadapter_1/apiref/session_config/performance_tuning.md"
_PARSER = (
    "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/op_impl_mode_config_parser.cc"
)

_rule = partial(declare, options=("op_precision_mode",), facts=("op-precision-file",))


@_rule(
    "NPU731",
    Severity.WARNING,
    source=(_DOC, _PARSER),
    help="write name=mode, one operator per line, or remove the line",
)
def op_precision_line() -> None:
    """A line of the operator precision file has invalid syntax.

    A line is `[ByOpType]`, `[ByNodeName]`, `name=mode`, empty, or a comment with `#` as its first
    character.  The graph engine skips any other line and writes a warning to its log.

    Wrong:

    ```
    [ByOpType]
    Pooling: high_performance
      # the head needs precision
    ```

    Right:

    ```
    [ByOpType]
    Pooling=high_performance
    # the head needs precision
    ```
    """


@_rule(
    "NPU732",
    Severity.WARNING,
    source=(_DOC, _PARSER),
    help="write one of these modes, or remove the line",
)
def op_precision_mode_word() -> None:
    """The operator precision file has an unknown mode.

    The graph engine skips the line and writes a warning to its log; the operator keeps its default
    mode.

    Wrong: `Pooling=highperformance`

    Right: `Pooling=high_performance`
    """


@_rule("NPU733", Severity.WARNING, source=(_PARSER,), help="keep one of the two lines")
def op_precision_repeated() -> None:
    """A name occurs twice in one section of the operator precision file.

    The first entry is used; the later one is ignored without any message.

    Wrong:

    ```
    [ByOpType]
    Pooling=high_performance
    Pooling=high_precision
    ```

    Right:

    ```
    [ByOpType]
    Pooling=high_precision
    ```
    """


@_rule(
    "NPU734",
    Severity.ERROR,
    facts=("op-precision-fp32-products",),
    source=(_DOC,),
    help="write another mode, or remove the line",
)
def op_precision_unsupported_mode() -> None:
    """A mode of the operator precision file is not supported.

    `enable_float_32_execution` is supported only on ascend_950, atlas_a3 and atlas_a2.
    `enable_hi_float_32_execution` is accepted, but according to the documentation no version
    supports it at present (a warning).

    Wrong on atlas_training: `Conv2D=enable_float_32_execution`

    Right there: `Conv2D=high_precision`
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OpPrecision:
    """The content of op_precision.ini.

    Args:
        by_type: operator type to mode.
        by_name: node name to mode; beats ``by_type``.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    by_type: Mapping[str, str] = attr.ib(factory=Table, converter=frozen)
    by_name: Mapping[str, str] = attr.ib(factory=Table, converter=frozen)

    def __attrs_post_init__(self) -> None:
        refuse(_faults(self))

    @classmethod
    def of(
        cls,
        by_type: Optional[Mapping[str, str]] = None,
        by_name: Optional[Mapping[str, str]] = None,
    ) -> "OpPrecision":
        """The file that gives these modes.

        Args:
            by_type: operator type to mode, e.g. ``{"Pooling": "high_performance"}``.
            by_name: node name to mode, e.g. ``{"resnet/conv1": "high_precision"}``.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls(by_type or {}, by_name or {})


def _unknown_mode(mode: str) -> str:
    return phrase("unknown mode {}; legal: {}", shown(mode), listed(MODES))


def _faults(model: OpPrecision) -> Iterator[Diagnostic]:
    """What keeps a model from being written."""
    both: Tuple[Tuple[str, Any], ...] = (("type", model.by_type), ("node", model.by_name))
    for what, modes in both:
        if not isinstance(modes, Mapping):
            message = phrase("the modes must be a mapping from each {} name to its mode", what)
            yield op_precision_line.diagnostic(message, severity=Severity.ERROR)
            continue
        for name, mode in modes.items():
            fault = name_fault(name, "=")
            if fault is None and name.startswith(_NO_NAME):
                fault = "would be read as a comment"
            if fault is not None:
                message = phrase("the {} {} {}", what, shown(name), fault)
                yield op_precision_line.diagnostic(message, severity=Severity.ERROR)
            if mode not in _ACCEPTED:
                yield op_precision_mode_word.diagnostic(
                    _unknown_mode(mode),
                    meant=near(mode, MODES) if isinstance(mode, str) else None,
                    severity=Severity.ERROR,
                )


def _skipped(item: Item) -> Diagnostic:
    """A line that the graph engine skips."""
    meant = None
    if item.content.startswith(_NO_NAME):
        message = (
            'the graph engine does not treat this as a comment; a comment must have "#" '
            "in the first column"
        )
    elif item.content.startswith("["):
        meant = near(item.content, (BY_TYPE, BY_NAME))
        message = phrase(
            "unknown section {}, the line is skipped; legal: {}, {}",
            shown(item.content),
            BY_TYPE,
            BY_NAME,
        )
    else:
        message = "a line must be name=mode; this line is skipped"
    return op_precision_line.diagnostic(message, item.line.content(), meant=meant)


def _read(
    lines: Iterable[Item], places: PlaceTable, modes: Mapping[str, Dict[str, str]]
) -> Iterator[Diagnostic]:
    """What is wrong with the lines; ``modes`` gets what the graph engine takes, by section."""
    section = BY_TYPE
    for item in lines:
        name, mode, path = item.key, item.value, (section, item.key)
        if item.content in modes:
            section = item.content
        elif item.content.startswith(MARK):
            yield marked(item.line, op_precision_line)
        elif not (name and mode) or item.content.startswith(_NO_NAME):
            yield _skipped(item)
        elif mode not in _ACCEPTED:
            message = phrase("{}; the line is skipped", _unknown_mode(mode))
            yield op_precision_mode_word.diagnostic(
                message, item.value_place, meant=near(mode, MODES)
            )
        elif name in modes[section]:
            message = phrase(
                "{} is already on line {}; the first entry is used",
                shown(name),
                places.key_place(path).line,
            )
            yield op_precision_repeated.diagnostic(message, item.key_place)
        else:
            places.put(path, item.key_place, item.value_place)
            modes[section][name] = mode


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[OpPrecision]:
    modes: Dict[str, Dict[str, str]] = {BY_TYPE: {}, BY_NAME: {}}
    lines = items(text, path, ("#",), indented=False)
    log, places = logged(text, path, op_precision_line, lambda found: _read(lines, found, modes))
    return finish_parse(
        log,
        places,
        lambda: OpPrecision(modes[BY_TYPE], modes[BY_NAME]),
        lambda model: check(model, target, places),
    )


def check(
    model: OpPrecision, target: Target = ANY_TARGET, places: Places = ANYWHERE
) -> Tuple[Diagnostic, ...]:
    """Modes that the machine does not support.

    Args:
        model: the modes.
        target: the product that they are meant for.
        places: where the parts stand (``Parsed.places``).
    """
    found = []
    for section, modes in ((BY_TYPE, model.by_type), (BY_NAME, model.by_name)):
        for name, mode in modes.items():
            message, severity = None, None
            if mode == _HIFLOAT:
                message = phrase(
                    "according to the documentation, no version supports {} at present", mode
                )
                severity = Severity.WARNING
            elif mode == "enable_float_32_execution" and not (
                target.products & frozenset(FP32_PRODUCTS)
            ):
                message = phrase(
                    "{} is not supported on {}; legal there: {}",
                    mode,
                    listed(sorted(product.value for product in target.products)),
                    listed(name for name in MODES if name != mode),
                )
            if message is not None:
                place = places.place((section, name))
                found.append(
                    op_precision_unsupported_mode.diagnostic(message, place, severity=severity)
                )
    return tuple(found)


def render(model: OpPrecision) -> str:
    """The canonical text of the file."""
    parts = []
    for section, modes in ((BY_TYPE, model.by_type), (BY_NAME, model.by_name)):
        if modes:
            parts.append(section)
            parts.extend("{}={}".format(name, mode) for name, mode in modes.items())
    return "".join(part + "\n" for part in parts)


def _looks_like(sample: Sample) -> bool:
    content = sample.lines()
    heads = [line.lower() for line in content if line.startswith("[")]
    if any(did_you_mean(head, (BY_TYPE, BY_NAME)) for head in heads):
        return True
    modes = [line.partition("=")[2].strip() for line in content]
    return not heads and any(mode in _ACCEPTED for mode in modes)


FORMAT: Format[OpPrecision] = Format(
    name="op_precision",
    title="precision modes of single operators",
    default_name="op_precision.ini",
    options=("op_precision_mode",),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    marks=r"by(?:optype|nodename)|=\s?(?:(?:high|super)_p|enable_(?:hi_)?float|support_o|norm_c|keep_f)",
    names=r"op_precision[\w.-]*\.ini",
    any_bytes=True,
)
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save

__all__ = ["BY_NAME", "BY_TYPE", "FORMAT", "MODES", "OpPrecision", "check", "load", "parse",
           "render", "save"]  # fmt: skip
