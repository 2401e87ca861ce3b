"""customize_dtypes.cfg, the file of ``customize_dtypes``: data types of single operators.

Source: docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md.
"""

import re
from contextlib import suppress
from typing import Any, Collection, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles import _dtype_rules as rules
from npu_config.sidefiles._convert import texts
from npu_config.sidefiles._frozen import Table
from npu_config.sidefiles._shape import is_wrong, refuse
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude
from npu_config.sidefiles.library import OperatorLibrary, canonical_dtype
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.lines import Line, lines, name_fault
from npu_config.text.source import ANYWHERE, Places, PlaceTable, Source
from npu_config.text.words import did_you_mean, listed, shown

DTYPES = (
    "float16", "float", "float32", "bfloat16", "double", "int2", "int4", "int8", "int16", "int32",
    "int64", "uint1", "uint2", "uint8", "uint16", "uint32", "uint64", "bool", "complex32",
    "complex64", "complex128", "qint8", "qint16", "qint32", "quint8", "quint16", "hifloat8",
    "hifloat4", "float8_e5m2", "float8_e4m3fn", "float8_e8m0", "float6_e3m2", "float6_e2m3",
    "float4_e2m1", "float4_e1m2", "string", "string_ref", "resource", "variant", "dual",
    "dual_sub_int8", "dual_sub_uint8",
)  # fmt: skip
MAX_LINE = 1023

_SHORT = {
    "bf16": "bfloat16", "fp16": "float16", "half": "float16", "f16": "float16", "fp32": "float32",
    "f32": "float32", "float64": "double", "fp64": "double", "hif8": "hifloat8", "int": "int32",
    "long": "int64", "str": "string", "boolean": "bool",
}  # fmt: skip
_TYPE = "OpType::"
_KEYWORDS = ("InputDtype", "OutputDtype")


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


def _entries(value: Mapping[str, Dtypes]) -> Mapping[str, Dtypes]:
    return Table(value) if isinstance(value, Mapping) else value


@attr.s(frozen=True, slots=True, auto_attribs=True)
class CustomizeDtypes:
    """The content of customize_dtypes.cfg.

    Args:
        by_name: node name to data types; beats ``by_type``.
        by_type: operator type to data types.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    by_name: Mapping[str, Dtypes] = attr.ib(factory=Table, converter=_entries)
    by_type: Mapping[str, Dtypes] = attr.ib(factory=Table, converter=_entries)

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


def _unknown(dtype: Any) -> Tuple[str, Optional[str]]:
    message = "unknown data type {}; legal: {}".format(shown(dtype), listed(DTYPES))
    name = str(dtype).lower()
    if name in _SHORT:
        return message, 'write "{}"'.format(_SHORT[name])
    return message, did_you_mean(name, DTYPES)


def _faults(model: CustomizeDtypes) -> Iterator[Diagnostic]:
    """What keeps a model from being written."""
    both: Tuple[Tuple[str, Any], ...] = (("node", model.by_name), ("operator type", model.by_type))
    for what, entries in both:
        if not isinstance(entries, Mapping):
            yield rules.LINE.diagnostic("the data types must be a mapping by {}".format(what))
            continue
        for name, dtypes in entries.items():
            fault = name_fault(name, ":")
            if fault is None and name.startswith("#"):
                fault = "would be taken for a comment"
            if fault is None and name == "OpType":
                fault = "would be taken for the mark of an operator type"
            if fault is not None:
                yield rules.LINE.diagnostic("the {} {} {}".format(what, shown(name), fault))
                continue
            wrong = list(_entry_faults(name, dtypes))
            yield from wrong
            if not wrong and len(_written(what != "node", name, dtypes)) > MAX_LINE:
                message = "the line of the {} {} has more than {} characters"
                yield rules.LINE.diagnostic(message.format(what, shown(name), MAX_LINE))


def _entry_faults(name: str, dtypes: Any) -> Iterator[Diagnostic]:
    if not isinstance(dtypes, Dtypes):
        message = "the data types of {} must be a pair, inputs and outputs"
        yield rules.LINE.diagnostic(message.format(shown(name)))
        return
    sides: Tuple[Any, ...] = (dtypes.inputs, dtypes.outputs)
    for side in sides:
        if not isinstance(side, tuple):
            message = "the data types of {} must be a list, not {}"
            yield rules.DTYPE.diagnostic(message.format(shown(name), shown(side)))
            continue
        for dtype in side:
            if dtype not in ("", *DTYPES):
                message, help = _unknown(dtype)
                yield rules.DTYPE.diagnostic(message, help=help)


class _Reader:
    """Reads line after line; one that the graph engine refuses makes the file useless."""

    def __init__(self, source: Source) -> None:
        self.log = FaultLog(source, rules.LINE)
        self.places = PlaceTable(source.place(0, len(source.text)))
        self.entries: Dict[str, Dict[str, Dtypes]] = {"by_name": {}, "by_type": {}}

    def _refuse(self, line: Line) -> None:
        content = line.text.strip()
        if not content or content.startswith(("#", "//", ";")):
            what = "a comment" if content else "a blank line"
            message = "{}: the graph engine refuses the whole file over it".format(what)
            self.log.add(
                rules.COMMENT.diagnostic(
                    message,
                    line.content(),
                    help='remove the line; "--fix" or "npu-config format" does it',
                    fix=line.removal("remove the line"),
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
            dtype = part.strip().lower()
            if dtype and dtype not in DTYPES:
                message, help = _unknown(part.strip())
                place = line.place(*line.trimmed(start, start + len(part)))
                self.log.add(rules.DTYPE.diagnostic(message, place, help=help))
            found.append(dtype)
            start += len(part) + 1
        return found

    def read(self, line: Line) -> None:
        """Take one line, as the graph engine splits it.

        The first colon (after ``OpType::`` in the first column) ends the name; the keywords are
        searched anywhere in the line, and the one character after each is not looked at.
        """
        by_type = line.text.startswith(_TYPE)
        start = len(_TYPE) if by_type else 0
        colon = line.text.find(":", start)
        name = line.text[start : max(colon, start)].strip()
        first = line.text.find(_KEYWORDS[0])
        last = line.text.find(_KEYWORDS[1])
        if 0 <= first < last:  # the character after the first keyword is skipped
            last = line.text.find(_KEYWORDS[1], first + len(_KEYWORDS[0]) + 1)
        ends = [line.text.rstrip().endswith(word) for word in _KEYWORDS]
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
        if name.startswith("#") or (name == "OpType" and not by_type):
            self._check_name(line, name)
            return
        kind = "by_type" if by_type else "by_name"
        key = line.place(*line.trimmed(start, colon))
        if name in self.entries[kind]:
            message = "{} is on line {} already; this entry is ignored".format(
                shown(name), self.places.key_place((kind, name)).line
            )
            self.log.add(rules.REPEATED.diagnostic(message, key))
            return
        self.places.put((kind, name), key, line.content())
        self.entries[kind][name] = Dtypes(*sides)

    def _check_name(self, line: Line, name: str) -> None:
        """Report a name that is not what it seems; such an entry is left out of the model."""
        self.log.add(
            rules.LINE.diagnostic(
                "the line is read as an entry of the node {}{}".format(
                    shown(name), "; there are no comments" if name.startswith("#") else ""
                ),
                line.content(),
                help="remove the line"
                if name.startswith("#")
                else "write OpType::<type>:InputDtype:...",
                severity=Severity.WARNING,
                fix=line.removal("remove the line") if name.startswith("#") else None,
            )
        )

    def _check_marks(self, line: Line, marks: List[int], found: Tuple[int, int]) -> None:
        """Report what is read otherwise than it looks."""
        for mark, keyword in zip(marks, found):
            if keyword >= 0 and line.text[mark : mark + 1] != ":":
                message = 'the character {} after the keyword is read as ":"'
                self.log.add(
                    rules.LINE.diagnostic(
                        message.format(shown(line.text[mark : mark + 1])),
                        line.place(mark, mark + 1),
                        help='write ":"',
                        severity=Severity.WARNING,
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


def parse(
    text: str, path: Optional[str] = None, target: Target = ANY_TARGET
) -> Parsed[CustomizeDtypes]:
    """Read customize_dtypes.cfg.

    Args:
        text: anything.
        path: the file it came from.
        target: not needed here; no finding depends on it.
    """
    reader = _Reader(Source(text, path))
    with suppress(StopReading):
        for line in lines(text, path):
            if len(line.text.encode("utf-8", "surrogatepass")) > MAX_LINE:
                message = "the line has more than {} bytes; it and all after it are not read"
                place = line.content()
                reader.log.add(
                    rules.LINE.diagnostic(
                        message.format(MAX_LINE), place, severity=Severity.WARNING
                    )
                )
                break
            reader.read(line)
    found = reader.log.diagnostics
    understood = not is_wrong(d for d in found if d.rule != rules.COMMENT.id)
    return conclude(
        reader.log,
        reader.places,
        (lambda: CustomizeDtypes(**reader.entries)) if understood else None,
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
    for name in model.by_name if nodes is not None else ():
        if name not in (nodes or ()):
            found.append(
                rules.NAME_LOST.diagnostic(
                    "no node of the compiled graph is called {}; the entry does not apply".format(
                        shown(name)
                    ),
                    places.key_place(("by_name", name)),
                    help=did_you_mean(name, nodes or ()),
                )
            )
    for name, dtypes in model.by_type.items() if library is not None else ():
        found.extend(_unsupported(name, dtypes, library, places.place(("by_type", name))))
    return tuple(found)


def _unsupported(
    name: str, dtypes: Dtypes, library: Optional[OperatorLibrary], place: Place
) -> Iterator[Diagnostic]:
    operators = library.operators if library is not None else {}
    known = operators.get(name)
    if known is None:
        message = "the operator library has no operator type {}".format(shown(name))
        yield rules.UNSUPPORTED.diagnostic(message, place, help=did_you_mean(name, operators))
        return
    for side, wanted, legal in (
        ("input", dtypes.inputs, known.inputs),
        ("output", dtypes.outputs, known.outputs),
    ):
        for index, (dtype, names) in enumerate(zip(wanted, legal)):
            if dtype and names and canonical_dtype(dtype) not in names:
                message = "{} {} of {} cannot be {}; legal: {}"
                yield rules.UNSUPPORTED.diagnostic(
                    message.format(side, index, shown(name), dtype, listed(sorted(names))), place
                )


def _written(by_type: bool, name: str, dtypes: Dtypes) -> str:
    parts = []
    if dtypes.inputs or not dtypes.outputs:
        parts.append("InputDtype:" + ",".join(dtypes.inputs))
    if dtypes.outputs:
        parts.append("OutputDtype:" + ",".join(dtypes.outputs))
    head = "{}{}:".format(_TYPE, name) if by_type else "{}::".format(name)
    return head + ",".join(parts)


def render(model: CustomizeDtypes) -> str:
    """The canonical text of the file."""
    rows = [_written(False, name, dtypes) for name, dtypes in model.by_name.items()]
    rows += [_written(True, name, dtypes) for name, dtypes in model.by_type.items()]
    return "".join(row + "\n" for row in rows)


def _looks_like(sample: Sample) -> bool:
    return re.search(r"(?i)\b(in|out)put_?dtypes?\s*:", sample.text) is not None


FORMAT: Format[CustomizeDtypes] = Format(
    name="customize_dtypes",
    title="data types of single operators",
    default_name="customize_dtypes.cfg",
    options=("customize_dtypes",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
)
load = FORMAT.load
save = FORMAT.save

__all__ = ["DTYPES", "FORMAT", "CustomizeDtypes", "Dtypes", "check", "load", "parse", "render",
           "save"]  # fmt: skip
