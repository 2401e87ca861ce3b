"""The lines of customize_dtypes.cfg as the graph engine reads them."""

from contextlib import suppress
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import NOWHERE, Diagnostic, Fix, Place, Severity
from npu_config.core.message import listed, phrase
from npu_config.sidefiles import _dtype_rules as rules
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.lines import BLANKS, Line, lines
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
    reader = _Reader(Source(text, path))
    with suppress(StopReading):
        for line in lines(text, path):
            if len(line.text.encode("utf-8", "surrogatepass")) > MAX_LINE:
                message = "the line has more than {} bytes; it and all after it are not read"
                reader.log.add(
                    rules.LINE.diagnostic(
                        phrase(message, MAX_LINE), line.content(), severity=Severity.WARNING
                    )
                )
                break
            reader.read(line)
    return Entered(reader.entries, reader.places, reader.log)


def unknown(dtype: Any, place: Place = NOWHERE) -> Diagnostic:
    """What to say of a data type that there is not, and what to do."""
    message = phrase("unknown data type {}; legal: {}", shown(dtype), listed(DTYPES))
    name = str(dtype).lower()
    full = name[:-1] + "," if name[:-1] in DTYPES and name[-1:] in ":;" else _SHORT.get(name)
    return rules.DTYPE.diagnostic(
        message,
        place,
        help=None if full is None else phrase("write {}", full),
        fix=Fix.writing(place, full),
        meant=full or near(name, DTYPES),
    )


class _Reader:
    """Reads line after line; one that the graph engine refuses makes the file useless."""

    def __init__(self, source: Source) -> None:
        self.log = FaultLog(source, rules.LINE)
        self.places = PlaceTable(source.place(0, len(source.text)))
        self.entries: Entries = {"by_name": {}, "by_type": {}}

    def _refuse(self, line: Line) -> None:
        content = line.text.strip(BLANKS)
        if not content or content.startswith(("#", "//", ";")):
            what = "a comment" if content else "a blank line"
            self.log.add(
                rules.COMMENT.diagnostic(
                    phrase("{}: the graph engine refuses the whole file over it", what),
                    line.content(),
                    help='remove the line; "--fix" or "npu-config format" does it',
                    fix=line.removal(),
                )
            )
            return
        self.log.add(
            rules.LINE.diagnostic(
                "a line must be <node name>::InputDtype:<dtype>,...,OutputDtype:<dtype>,... or "
                "OpType::<type>:InputDtype:<dtype>,...,OutputDtype:<dtype>,...",
                line.content(),
                help=_line_help(content),
            )
        )

    def _side(self, line: Line, span: Tuple[int, int]) -> List[str]:
        """The data types between two offsets."""
        start, end = span
        found = []
        for part in line.text[start:end].split(","):
            dtype = part.strip(BLANKS).lower()
            if dtype and dtype not in DTYPES:
                place = line.place(*line.trimmed(start, start + len(part)))
                self.log.add(unknown(part.strip(BLANKS), place))
            found.append(dtype)
            start += len(part) + 1
        return found

    def read(self, line: Line) -> None:
        """Take one line, as the graph engine splits it.

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
            self._refuse(line)
            return
        spans = [
            (first + len("InputDtype") + 1, len(line.text) if last < 0 else last),
            (last + len("OutputDtype") + 1, len(line.text)),
        ]
        sides = [
            self._side(line, span) if found >= 0 else []
            for span, found in zip(spans, (first, last))
        ]
        self._check_marks(line, [span[0] - 1 for span in spans], (first, last))
        odd = name.startswith("#") or (name == "OpType" and not by_type)
        if odd or hides_keyword(name, any(sides[0])):
            self._check_name(line, name)
            return
        kind = "by_type" if by_type else "by_name"
        key = line.place(*line.trimmed(start, colon))
        if name in self.entries[kind]:
            message = phrase(
                "{} is on line {} already; this entry is ignored",
                shown(name),
                self.places.key_place((kind, name)).line,
            )
            self.log.add(rules.REPEATED.diagnostic(message, key))
            return
        self.places.put((kind, name), key, line.content())
        self.entries[kind][name] = (sides[0], sides[1])

    def _check_name(self, line: Line, name: str) -> None:
        """Report a name that is not what it seems; such an entry is left out of the model."""
        self.log.add(
            rules.LINE.diagnostic(
                phrase(
                    "the line is read as an entry of the node {}; there are no comments"
                    if name.startswith("#")
                    else "the line is read as an entry of the node {}",
                    shown(name),
                ),
                line.content(),
                help="remove the line"
                if name.startswith("#")
                else "write OpType::<type>:InputDtype:...",
                severity=Severity.WARNING,
                fix=line.removal() if name.startswith("#") else None,
            )
        )

    def _check_marks(self, line: Line, marks: List[int], found: Tuple[int, int]) -> None:
        """Report what is read otherwise than it looks."""
        for mark, keyword in zip(marks, found):
            if keyword >= 0 and line.text[mark : mark + 1] != ":":
                message = 'the character {} after the keyword is read as ":"'
                place = line.place(mark, mark + 1)
                self.log.add(
                    rules.LINE.diagnostic(
                        phrase(message, shown(line.text[mark : mark + 1])),
                        place,
                        help='write ":"',
                        severity=Severity.WARNING,
                        fix=Fix.writing(place, ":"),
                    )
                )


def _line_help(content: str) -> str:
    if "OutputDtype" in content and content.find("OutputDtype") < content.find("InputDtype"):
        return "write InputDtype before OutputDtype"
    if "Dtype" not in content:
        return "name the types with InputDtype: or OutputDtype:"
    if content.lower().startswith("optype"):
        return "write OpType::<type>:InputDtype:..."
    return "begin with the name and a colon"
