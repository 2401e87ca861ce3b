"""customize_dtypes.cfg, the file of ``customize_dtypes``: data types of single operators.

Source: docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md.
"""

import re
from typing import Any, Collection, Iterable, Iterator, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Report
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles import _dtype_rules as rules
from npu_config.sidefiles._convert import texts
from npu_config.sidefiles._dtype_lines import (
    DTYPES,
    KEYWORDS,
    MAX_LINE,
    TYPE,
    hides_keyword,
    own_keyword,
    read_lines,
    unknown,
)
from npu_config.sidefiles._frozen import Table
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude, refuse, takes_text
from npu_config.sidefiles.library import OperatorLibrary, canonical_dtype
from npu_config.text.lines import name_fault
from npu_config.text.source import ANYWHERE, Places
from npu_config.text.words import near, shown


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


def _faults(model: CustomizeDtypes) -> Iterator[Diagnostic]:
    """What keeps a model from being written."""
    both: Tuple[Tuple[str, Any], ...] = (("node", model.by_name), ("operator type", model.by_type))
    for what, entries in both:
        if not isinstance(entries, Mapping):
            yield rules.customize_dtypes_line.diagnostic(
                phrase("the data types must be a mapping by {}", what)
            )
            continue
        for name, dtypes in entries.items():
            fault = name_fault(name, ":")
            if fault is None and name.startswith("#"):
                fault = "would be taken for a comment"
            if fault is None and name == "OpType" and what == "node":
                fault = "would be taken for the mark of an operator type"
            if fault is None and hides_keyword(name, bool(getattr(dtypes, "inputs", ()))):
                fault = "has one of the keywords InputDtype and OutputDtype in it"
            if fault is not None:
                yield rules.customize_dtypes_line.diagnostic(
                    phrase("the {} {} {}", what, shown(name), fault)
                )
                continue
            wrong = list(_entry_faults(name, dtypes))
            yield from wrong
            if not wrong and _size(_written(what != "node", name, dtypes)) > MAX_LINE:
                message = "the line of the {} {} has more than {} bytes"
                yield rules.customize_dtypes_line.diagnostic(
                    phrase(message, what, shown(name), MAX_LINE)
                )


def _entry_faults(name: str, dtypes: Any) -> Iterator[Diagnostic]:
    if not isinstance(dtypes, Dtypes):
        message = "the data types of {} must be a pair, inputs and outputs"
        yield rules.customize_dtypes_line.diagnostic(phrase(message, shown(name)))
        return
    sides: Tuple[Any, ...] = (dtypes.inputs, dtypes.outputs)
    for side in sides:
        if not isinstance(side, tuple):
            message = "the data types of {} must be a list, not {}"
            yield rules.customize_dtypes_dtype.diagnostic(
                phrase(message, shown(name), shown(side))
            )
            continue
        for dtype in side:
            if dtype not in ("", *DTYPES):
                yield unknown(dtype)


@takes_text
def parse(
    text: str, path: Optional[str] = None, target: Target = ANY_TARGET
) -> Parsed[CustomizeDtypes]:
    """Read customize_dtypes.cfg.

    Args:
        text: anything.
        path: the file it came from.
        target: not needed here; no finding depends on it.
    """
    entries, places, log = read_lines(text, path)
    understood = Report(d for d in log if d.rule != rules.customize_dtypes_comment.id).ok
    return conclude(
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
    for name in model.by_name if nodes is not None else ():
        if name not in (nodes or ()):
            message = "no node of the compiled graph is called {}; the entry does not apply"
            place, meant = places.key_place(("by_name", name)), near(name, nodes or ())
            message = phrase(message, shown(name))
            found.append(rules.customize_dtypes_name_lost.diagnostic(message, place, meant=meant))
    for name, dtypes in model.by_type.items() if library is not None else ():
        found.extend(_unsupported(name, dtypes, library, places.place(("by_type", name))))
    return tuple(found)


def _unsupported(
    name: str, dtypes: Dtypes, library: Optional[OperatorLibrary], place: Place
) -> Iterator[Diagnostic]:
    operators = library.operators if library is not None else {}
    known = operators.get(name)
    if known is None:
        message = phrase("the operator library has no operator type {}", shown(name))
        yield rules.customize_dtypes_unsupported.diagnostic(
            message, place, meant=near(name, operators)
        )
        return
    for side, wanted, legal in (
        ("input", dtypes.inputs, known.inputs),
        ("output", dtypes.outputs, known.outputs),
    ):
        for index, (dtype, names) in enumerate(zip(wanted, legal)):
            if dtype and names and canonical_dtype(dtype) not in names:
                message = "{} {} of {} cannot be {}; legal: {}"
                yield rules.customize_dtypes_unsupported.diagnostic(
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
    parser=parse,
    render=render,
    looks_like=_looks_like,
    marks=r"(?:in|out)putdtype|op(?:type|name)::",
    names=r"customize_dtypes[\w.-]*\.(?:cfg|txt)",
)
load, save = FORMAT.load, FORMAT.save

__all__ = ["DTYPES", "FORMAT", "CustomizeDtypes", "Dtypes", "check", "load", "parse", "render",
           "save"]  # fmt: skip
