"""customize_dtypes.cfg, the file of ``customize_dtypes``: data types of single operators.

Source: docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md.
"""

import re
from functools import partial
from typing import Any, Collection, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import NOWHERE, Diagnostic, Fix, Place, Report, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles.format import (
    Format,
    Parsed,
    Sample,
    Table,
    finish_parse,
    frozen,
    logged,
    refuse,
    texts,
)
from npu_config.sidefiles.library import LibraryOperator, OperatorLibrary, canonical_dtype
from npu_config.text.lines import BLANKS, MARK, Line, lines, marked, name_fault
from npu_config.text.source import ANYWHERE, Places, PlaceTable
from npu_config.text.words import near, shown

__all__ = [
    "DTYPES", "FORMAT", "CustomizeDtypes", "Dtypes", "check", "load", "parse", "render", "save",
]  # fmt: skip

_DOC = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"
_PARSER = (
    "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/op_cust_dtypes_config_parser.cc"
)

_rule = partial(declare, options=("customize_dtypes",), facts=("customize-dtypes-file",))


@_rule(
    "NPU735",
    Severity.ERROR,
    facts=("customize-dtypes-file", "ge-file-checks-abort"),
    source=(_DOC, _PARSER),
    help="write one operator per line, with at most 1023 bytes",
)
def customize_dtypes_line() -> None:
    """A line of the data type file has invalid syntax.

    A line contains one operator, followed by `InputDtype`, `OutputDtype` or both in this order.
    The name of the operator ends at the first colon; one or two colons may follow the name.
    `OpType::` at the start of the line means an operator type.  After a line of more than 1023
    bytes the graph engine reads no further lines (a warning).  If it cannot read one line, the
    graph engine fails to initialise ("The content format of the customization file is incorrect"),
    and the adapter then aborts the process.

    Wrong:

    ```
    net/block1/Relu:OutputDtype:float16,InputDtype:float16
    ```

    Right:

    ```
    net/block1/Relu::InputDtype:float16,OutputDtype:float16
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```
    """


@_rule("NPU736", Severity.ERROR, source=(_PARSER,))
def customize_dtypes_comment() -> None:
    """The data type file has a comment or a blank line.

    The sample in the documentation has lines that begin with `#`, but the graph engine rejects a
    whole file if it contains such a line or a blank line.  `--fix` and `npu-config format` remove
    these lines.

    Wrong:

    ```
    # the head
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```

    Right:

    ```
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```
    """


@_rule(
    "NPU737",
    Severity.ERROR,
    source=(_DOC, _PARSER, "cann/ge:graph_metadef/base/utils/type_utils_inner.cc:80-125"),
)
def customize_dtypes_dtype() -> None:
    """A data type in the data type file does not exist.

    The data types must have the names of the graph engine, in upper or lower case: `bfloat16`, not
    `bf16`.  An empty position keeps the data type.  An unknown name makes the line unreadable, and
    therefore the whole file.

    Wrong: `OpType::Softmax:InputDtype:bf16,OutputDtype:fp32`

    Right: `OpType::Softmax:InputDtype:bfloat16,OutputDtype:float32`
    """


@_rule("NPU738", Severity.WARNING, source=(_PARSER,), help="keep one of the two lines")
def customize_dtypes_repeated() -> None:
    """The data type file names an operator twice.

    The graph engine ignores the second entry for a name or a type and writes a warning to its log.

    Wrong:

    ```
    OpType::Softmax:InputDtype:float
    OpType::Softmax:OutputDtype:float
    ```

    Right:

    ```
    OpType::Softmax:InputDtype:float,OutputDtype:float
    ```
    """


@_rule("NPU739", Severity.WARNING, facts=("customize-dtypes-name-lost",), source=(_DOC,))
def customize_dtypes_name_lost() -> None:
    """The data type file names a node that the compiled graph does not have.

    When operators are fused or split, their names may disappear; the entry then has no effect,
    without any message.  This is checked only if the node names of the compiled graph are passed
    (`check(model, nodes=...)`).  An entry by operator type does not depend on names.

    Wrong, if net/Relu was fused into net/Conv2D: `net/Relu::InputDtype:float16`

    Right: `OpType::Relu:InputDtype:float16`
    """


@_rule("NPU740", Severity.ERROR, facts=("customize-dtypes-supported",), source=(_DOC,))
def customize_dtypes_unsupported() -> None:
    """An operator does not support its data type in the data type file.

    The compilation fails.  The operator library contains the data types that each operator
    supports; this is checked only if a library file (aic-<soc>-ops-info) is specified.

    Wrong, if Softmax supports float16 and float: `OpType::Softmax:InputDtype:int8`

    Right: `OpType::Softmax:InputDtype:float16`
    """


DTYPES = (
    "float16", "float", "float32", "bfloat16", "double", "int2", "int4", "int8", "int16", "int32",
    "int64", "uint1", "uint2", "uint8", "uint16", "uint32", "uint64", "bool", "complex32",
    "complex64", "complex128", "qint8", "qint16", "qint32", "quint8", "quint16", "hifloat8",
    "hifloat4", "float8_e5m2", "float8_e4m3fn", "float8_e8m0", "float6_e3m2", "float6_e2m3",
    "float4_e2m1", "float4_e1m2", "string", "string_ref", "resource", "variant", "dual",
    "dual_sub_int8", "dual_sub_uint8",
)  # fmt: skip
MAX_LINE = 1023
TYPE = "OpType::"

KEYWORDS = ("InputDtype", "OutputDtype")
_SHORT = {
    "bf16": "bfloat16", "fp16": "float16", "half": "float16", "f16": "float16", "fp32": "float32",
    "f32": "float32", "float64": "double", "fp64": "double", "hif8": "hifloat8", "int": "int32",
    "long": "int64", "str": "string", "boolean": "bool",
}  # fmt: skip

Entries = Dict[str, Dict[str, Tuple[List[str], List[str]]]]


def own_keyword(name: str) -> str:
    """The keyword that a name ends with, which is then that of the line; or nothing."""
    return next((word for word in KEYWORDS if name.endswith(word)), "")


def hides_keyword(name: str, inputs: bool) -> bool:
    """Whether a keyword in the name keeps the line from being written in another way.

    Args:
        name: of the node or type.
        inputs: whether the entry has data types of inputs.
    """
    own = own_keyword(name)
    rest = name[: len(name) - len(own)]
    return any(word in rest for word in KEYWORDS) or (own == KEYWORDS[1] and inputs)


def _read_lines(
    text: str, path: Optional[str], entries: Entries, places: PlaceTable
) -> Iterator[Diagnostic]:
    """Enter the lines of a text; the graph engine takes no more than MAX_LINE bytes of one."""
    for line in lines(text, path):
        if _size(line.text) > MAX_LINE:
            message = (
                "the line has more than {} bytes; this line and all lines after it are not read"
            )
            yield _doubt(phrase(message, MAX_LINE), line.content())
            return
        yield from _read(line, entries, places)


def _doubt(
    message: str, place: Place, help: Optional[str] = None, fix: Optional[Fix] = None
) -> Diagnostic:
    """What the graph engine reads otherwise than it looks."""
    return customize_dtypes_line.diagnostic(message, place, None, help, Severity.WARNING, fix)


def unknown(dtype: Any, place: Place = NOWHERE) -> Diagnostic:
    """What to say of a data type that there is not, and what to do."""
    message = phrase("unknown data type {}; legal: {}", shown(dtype), listed(DTYPES))
    name = str(dtype).lower()
    full = name[:-1] + "," if name[:-1] in DTYPES and name[-1:] in ":;" else _SHORT.get(name)
    return customize_dtypes_dtype.diagnostic(
        message,
        place,
        help=None if full is None else phrase("write {}", full),
        fix=Fix.writing(place, full),
        meant=full or near(name, DTYPES),
    )


def _refused(line: Line) -> Diagnostic:
    """A line that makes the file useless: the graph engine refuses it."""
    content = line.text.strip(BLANKS)
    if not content or content.startswith(("#", "//", ";")):
        return customize_dtypes_comment.diagnostic(
            phrase(
                "{}: the graph engine therefore rejects the whole file",
                phrase("a comment" if content else "a blank line"),
            ),
            line.content(),
            help='remove the line, e.g. with "--fix" or "npu-config format"',
            fix=line.removal(),
        )
    return customize_dtypes_line.diagnostic(
        "a line must be <node name>::InputDtype:<dtype>,...,OutputDtype:<dtype>,... or "
        "OpType::<type>:InputDtype:<dtype>,...,OutputDtype:<dtype>,...",
        line.content(),
        help=_line_help(content),
    )


def _side(line: Line, start: int, end: int) -> Iterator[Tuple[str, Optional[Diagnostic]]]:
    """The data types between two offsets, each with what is wrong with it."""
    for part in line.text[start:end].split(","):
        dtype, wrong = part.strip(BLANKS).lower(), None
        if dtype and dtype not in DTYPES:
            place = line.place(*line.trimmed(start, start + len(part)))
            wrong = unknown(part.strip(BLANKS), place)
        yield dtype, wrong
        start += len(part) + 1


def _read(line: Line, entries: Entries, places: PlaceTable) -> Iterator[Diagnostic]:
    """Take one line, as the graph engine splits it; what is wrong with it.

    The first colon (after ``OpType::`` in the first column) ends the name; the keywords are
    searched anywhere in the line, and the one character after each is not looked at.
    """
    by_type = line.text.startswith(TYPE)
    start = len(TYPE) if by_type else 0
    colon = line.text.find(":", start)
    name = line.text[start : max(colon, start)].strip(BLANKS)
    first = line.text.find(KEYWORDS[0])
    last = line.text.find(KEYWORDS[1])
    if 0 <= first < last:  # the character after the first keyword is skipped
        last = line.text.find(KEYWORDS[1], first + len(KEYWORDS[0]) + 1)
    ends = [line.text.rstrip(BLANKS).endswith(word) for word in KEYWORDS]
    if not name or max(first, last) < 0 or -1 < last < first or any(ends):
        yield _refused(line)
        return
    spans = (
        (first, first + len("InputDtype") + 1, len(line.text) if last < 0 else last),
        (last, last + len("OutputDtype") + 1, len(line.text)),
    )
    sides: List[List[str]] = []
    for keyword, begin, end in spans:
        found = list(_side(line, begin, end)) if keyword >= 0 else []
        sides.append([dtype for dtype, _ in found])
        yield from (wrong for _, wrong in found if wrong is not None)
        mark = line.text[begin - 1 : begin]
        if keyword >= 0 and mark != ":":
            place = line.place(begin - 1, begin)
            message = phrase('the character {} after the keyword is read as ":"', shown(mark))
            yield _doubt(message, place, 'write ":"', Fix.writing(place, ":"))
    if name.startswith(MARK):
        yield marked(line, customize_dtypes_line)
        return
    if name.startswith("#"):
        message = "the line is read as an entry of the node {}; this file cannot contain comments"
        fix = line.removal()
        yield _doubt(phrase(message, shown(name)), line.content(), "remove the line", fix)
        return
    if (name == "OpType" and not by_type) or hides_keyword(name, any(sides[0])):
        message = phrase("the line is read as an entry of the node {}", shown(name))
        yield _doubt(message, line.content(), "write OpType::<type>:InputDtype:...")
        return
    kind = "by_type" if by_type else "by_name"
    key = line.place(*line.trimmed(start, colon))
    if name in entries[kind]:
        message = phrase(
            "{} is already on line {}; this entry is ignored",
            shown(name),
            places.key_place((kind, name)).line,
        )
        yield customize_dtypes_repeated.diagnostic(message, key)
        return
    places.put((kind, name), key, line.content())
    entries[kind][name] = (sides[0], sides[1])


def _line_help(content: str) -> str:
    if "OutputDtype" in content and content.find("OutputDtype") < content.find("InputDtype"):
        return "write InputDtype before OutputDtype"
    if "Dtype" not in content:
        return "write InputDtype: or OutputDtype: before the data types"
    if content.lower().startswith("optype"):
        return "write OpType::<type>:InputDtype:..."
    return "start the line with the name and a colon"


def _dtypes(value: Iterable[str]) -> Tuple[str, ...]:
    """Names in lower case; positions at the end that keep their type are left out."""
    found: Any = texts(value)
    if isinstance(found, tuple):
        names = [item.strip().lower() if isinstance(item, str) else item for item in found]
        while names and names[-1] == "":
            names.pop()
        return tuple(names)
    return value  # type: ignore[return-value]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Dtypes:
    """The data types of one operator.

    Args:
        inputs: one data type for each input, ``""`` to keep one; inputs after the last
            keep theirs.
        outputs: the same for the outputs.
    """

    inputs: Tuple[str, ...] = attr.ib(default=(), converter=_dtypes)
    outputs: Tuple[str, ...] = attr.ib(default=(), converter=_dtypes)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class CustomizeDtypes:
    """The content of customize_dtypes.cfg.

    Args:
        by_name: node name to data types; beats ``by_type``.
        by_type: operator type to data types.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    by_name: Mapping[str, Dtypes] = attr.ib(factory=Table, converter=frozen)
    by_type: Mapping[str, Dtypes] = attr.ib(factory=Table, converter=frozen)

    def __attrs_post_init__(self) -> None:
        refuse(_faults(self))

    @classmethod
    def of(
        cls,
        by_name: Optional[Mapping[str, Tuple[Iterable[str], Iterable[str]]]] = None,
        by_type: Optional[Mapping[str, Tuple[Iterable[str], Iterable[str]]]] = None,
    ) -> "CustomizeDtypes":
        """The file that gives these data types.

        Args:
            by_name: node name to a pair, data types of the inputs and of the outputs, e.g.
                ``{"net/Relu": (["float16"], ["float16"])}``.
            by_type: operator type to such a pair.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls(_pairs(by_name or {}), _pairs(by_type or {}))


def _pairs(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {
        name: Dtypes(*pair) if isinstance(pair, (list, tuple)) and len(pair) == 2 else pair
        for name, pair in value.items()
    }


def _faults(model: CustomizeDtypes) -> Iterator[Diagnostic]:
    """What keeps a model from being written."""
    both: Tuple[Tuple[str, Any], ...] = (("node", model.by_name), ("operator type", model.by_type))
    for what, entries in both:
        if not isinstance(entries, Mapping):
            yield customize_dtypes_line.diagnostic(
                phrase(
                    "the data types must be a mapping from each {} name to its data types", what
                )
            )
            continue
        for name, dtypes in entries.items():
            fault = name_fault(name, ":")
            if fault is None and name.startswith("#"):
                fault = "would be read as a comment"
            if fault is None and name == "OpType" and what == "node":
                fault = "would be read as the prefix of an operator type"
            if fault is None and hides_keyword(name, bool(getattr(dtypes, "inputs", ()))):
                fault = "contains the keyword InputDtype or OutputDtype"
            if fault is not None:
                yield customize_dtypes_line.diagnostic(
                    phrase("the {} {} {}", what, shown(name), fault)
                )
                continue
            wrong = list(_entry_faults(name, dtypes))
            yield from wrong
            if not wrong and _size(_written(what != "node", name, dtypes)) > MAX_LINE:
                message = "the line of the {} {} has more than {} bytes"
                yield customize_dtypes_line.diagnostic(
                    phrase(message, what, shown(name), MAX_LINE)
                )


def _entry_faults(name: str, dtypes: Any) -> Iterator[Diagnostic]:
    if not isinstance(dtypes, Dtypes):
        message = (
            "the data types of {} must be a pair: those of the inputs and those of the outputs"
        )
        yield customize_dtypes_line.diagnostic(phrase(message, shown(name)))
        return
    sides: Tuple[Any, ...] = (dtypes.inputs, dtypes.outputs)
    for side in sides:
        if not isinstance(side, tuple):
            message = "the data types of {} must be a list, not {}"
            yield customize_dtypes_dtype.diagnostic(phrase(message, shown(name), shown(side)))
            continue
        for dtype in side:
            if dtype not in ("", *DTYPES):
                yield unknown(dtype)


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[CustomizeDtypes]:
    entries: Entries = {"by_name": {}, "by_type": {}}
    log, places = logged(
        text, path, customize_dtypes_line, lambda table: _read_lines(text, path, entries, table)
    )
    understood = Report(d for d in log if d.rule != customize_dtypes_comment.id).ok
    return finish_parse(
        log,
        places,
        (lambda: CustomizeDtypes.of(**entries)) if understood else None,
        lambda _: (),
    )


def check(
    model: CustomizeDtypes,
    target: Target = ANY_TARGET,
    places: Places = ANYWHERE,
    library: Optional[OperatorLibrary] = None,
    nodes: Optional[Collection[str]] = None,
) -> Tuple[Diagnostic, ...]:
    """What will not work though the file is well formed.

    Args:
        model: the data types.
        target: not needed here; no finding depends on it.
        places: where the parts stand (``Parsed.places``).
        library: the operators of the machine, to check data types with.
        nodes: the node names of the compiled graph, to check names with.
    """
    found: List[Diagnostic] = []
    known = model.by_name if nodes is None else nodes
    for name in (each for each in model.by_name if each not in known):
        message = "no node of the compiled graph is named {}; this entry of the file has no effect"
        place, meant = places.key_place(("by_name", name)), near(name, known)
        message = phrase(message, shown(name))
        found.append(customize_dtypes_name_lost.diagnostic(message, place, meant=meant))
    if library is not None:
        for name, dtypes in model.by_type.items():
            place = places.place(("by_type", name))
            found.extend(_unsupported(name, dtypes, library.operators, place))
    return tuple(found)


def _unsupported(
    name: str, dtypes: Dtypes, operators: Mapping[str, LibraryOperator], place: Place
) -> Iterator[Diagnostic]:
    known = operators.get(name)
    if known is None:
        message = phrase("the operator library has no operator type {}", shown(name))
        yield customize_dtypes_unsupported.diagnostic(message, place, meant=near(name, operators))
        return
    for side, wanted, legal in (
        ("input", dtypes.inputs, known.inputs),
        ("output", dtypes.outputs, known.outputs),
    ):
        for index, (dtype, names) in enumerate(zip(wanted, legal)):
            if dtype and names and canonical_dtype(dtype) not in names:
                message = "{} {} of {} cannot be {}; legal: {}"
                yield customize_dtypes_unsupported.diagnostic(
                    phrase(message, side, index, shown(name), dtype, listed(sorted(names))), place
                )


def _written(by_type: bool, name: str, dtypes: Dtypes) -> str:
    own = own_keyword(name)
    sides = zip(KEYWORDS, (dtypes.inputs, dtypes.outputs))
    parts = [word + ":" + ",".join(side) for word, side in sides if side or word == own]
    entry = ",".join(parts) or KEYWORDS[0] + ":"
    if own:
        return "{}{}{}".format(TYPE if by_type else "", name[: -len(own)], entry)
    usual = "{}{}{}".format(TYPE if by_type else "", name + (":" if by_type else "::"), entry)
    return usual if by_type or _size(usual) <= MAX_LINE else usual.replace("::", ":", 1)


def _size(line: str) -> int:
    """The bytes of a line, which the graph engine counts."""
    return len(line.encode("utf-8", "surrogatepass"))


def render(model: CustomizeDtypes) -> str:
    """The canonical text of the file."""
    rows = [_written(False, name, dtypes) for name, dtypes in model.by_name.items()]
    rows += [_written(True, name, dtypes) for name, dtypes in model.by_type.items()]
    return "".join(row + "\n" for row in rows)


def _looks_like(sample: Sample) -> bool:
    lines = [line for line in sample.lines() if not line.startswith("#")]
    entries = [line for line in lines if re.search(r"(?i)\b(in|out)put_?dtypes?\s*:", line)]
    return bool(entries) and 2 * len(entries) >= len(lines)


FORMAT: Format[CustomizeDtypes] = Format(
    name="customize_dtypes",
    title="data types of single operators",
    default_name="customize_dtypes.cfg",
    options=("customize_dtypes",),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    marks=r"(?:in|out)putdtype|op(?:type|name)::",
    names=r"customize_dtypes[\w.-]*\.(?:cfg|txt)",
)
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save
