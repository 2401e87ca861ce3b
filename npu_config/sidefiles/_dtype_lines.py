"""The lines of customize_dtypes.cfg as the graph engine reads them."""

from contextlib import suppress
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import NOWHERE, Diagnostic, Fix, Place, Severity
from npu_config.core.message import listed, phrase
from npu_config.sidefiles import _dtype_rules as rules
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.lines import BLANKS, MARK, Line, lines, marked
from npu_config.text.source import PlaceTable, Source
from npu_config.text.words import near, shown

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


class Entered(NamedTuple):
    """What the lines hold: data types by name and by type, where each is, what is wrong."""

    entries: Entries
    places: PlaceTable
    log: FaultLog


def read_lines(text: str, path: Optional[str]) -> Entered:
    """Read the lines of a text; the graph engine takes no more than MAX_LINE bytes of one."""
    source = Source(text, path)
    log, places = (
        FaultLog(source, rules.customize_dtypes_line),
        PlaceTable(source.place(0, len(text))),
    )
    read = Entered({"by_name": {}, "by_type": {}}, places, log)
    with suppress(StopReading):
        for line in lines(text, path):
            if len(line.text.encode("utf-8", "surrogatepass")) > MAX_LINE:
                message = "the line has more than {} bytes; it and all after it are not read"
                log.add(_doubt(phrase(message, MAX_LINE), line.content()))
                break
            log.add_all(_read(line, read))
    return read


def _doubt(
    message: str, place: Place, help: Optional[str] = None, fix: Optional[Fix] = None
) -> Diagnostic:
    """What the graph engine reads otherwise than it looks."""
    return rules.customize_dtypes_line.diagnostic(
        message, place, None, help, Severity.WARNING, fix
    )


def unknown(dtype: Any, place: Place = NOWHERE) -> Diagnostic:
    """What to say of a data type that there is not, and what to do."""
    message = phrase("unknown data type {}; legal: {}", shown(dtype), listed(DTYPES))
    name = str(dtype).lower()
    full = name[:-1] + "," if name[:-1] in DTYPES and name[-1:] in ":;" else _SHORT.get(name)
    return rules.customize_dtypes_dtype.diagnostic(
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
        return rules.customize_dtypes_comment.diagnostic(
            phrase(
                "{}: the graph engine refuses the whole file over it",
                "a comment" if content else "a blank line",
            ),
            line.content(),
            help='remove the line; "--fix" or "npu-config format" does it',
            fix=line.removal(),
        )
    return rules.customize_dtypes_line.diagnostic(
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


def _read(line: Line, read: Entered) -> Iterator[Diagnostic]:
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
        yield marked(line, rules.customize_dtypes_line)
        return
    if name.startswith("#"):
        message = "the line is read as an entry of the node {}; there are no comments"
        fix = line.removal()
        yield _doubt(phrase(message, shown(name)), line.content(), "remove the line", fix)
        return
    if (name == "OpType" and not by_type) or hides_keyword(name, any(sides[0])):
        message = phrase("the line is read as an entry of the node {}", shown(name))
        yield _doubt(message, line.content(), "write OpType::<type>:InputDtype:...")
        return
    kind = "by_type" if by_type else "by_name"
    key = line.place(*line.trimmed(start, colon))
    if name in read.entries[kind]:
        message = phrase(
            "{} is on line {} already; this entry is ignored",
            shown(name),
            read.places.key_place((kind, name)).line,
        )
        yield rules.customize_dtypes_repeated.diagnostic(message, key)
        return
    read.places.put((kind, name), key, line.content())
    read.entries[kind][name] = (sides[0], sides[1])


def _line_help(content: str) -> str:
    if "OutputDtype" in content and content.find("OutputDtype") < content.find("InputDtype"):
        return "write InputDtype before OutputDtype"
    if "Dtype" not in content:
        return "name the types with InputDtype: or OutputDtype:"
    if content.lower().startswith("optype"):
        return "write OpType::<type>:InputDtype:..."
    return "begin with the name and a colon"
