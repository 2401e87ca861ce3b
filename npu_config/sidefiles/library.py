"""aic-<soc>-ops-info*.json: the operator library of a machine, read to check other files with.

It is the vendor's file, so it is only read.  It lies under
``<CANN>/opp/built-in/op_impl/ai_core/tbe/config/<soc>/``; the user names the file or the
directory.
"""

import os
from typing import Any, Dict, FrozenSet, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike
from npu_config.sidefiles.format import (
    JsonFormat,
    Parsed,
    Table,
    parsed_text,
    read_text,
    side_file_unreadable,
)
from npu_config.sidefiles.schema.kinds import Schema
from npu_config.sidefiles.schema.reading import FileFindings, one_rule, shown
from npu_config.text.json import BROKEN
from npu_config.text.words import shown as quoted


@declare(
    "NPU716",
    Severity.ERROR,
    source=("<CANN>/opp/built-in/op_impl/ai_core/tbe/config/<soc>/aic-<soc>-ops-info.json",),
)
def operator_library_structure() -> None:
    """The file of an operator library has the wrong format.

    The library is a JSON object with one object for each operator type.  This object contains,
    among other things, the legal data types of the inputs and outputs, and whether the precision
    may be reduced.  Without the library npu_config cannot check the names, lists and data types of
    operators.

    Wrong: `["Abs", "Add"]`

    Right: `{"Abs": {"input0": {"dtype": "float16,float"}, "precision_reduce": {"flag": "true"}}}`
    """


_LIST_OF_FLAG = {"true": "white-list", "false": "black-list"}


@attr.s(frozen=True, slots=True, auto_attribs=True)
class LibraryOperator:
    """One operator type.

    Args:
        list: the precision list that it is in as delivered.
        inputs: for each input the data types it may have; empty where that is not known.
        outputs: the same for the outputs.
    """

    list: str = "gray-list"
    inputs: Tuple[FrozenSet[str], ...] = ()
    outputs: Tuple[FrozenSet[str], ...] = ()


def _table(operators: Mapping[str, LibraryOperator]) -> Table[str, LibraryOperator]:
    return Table(operators)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OperatorLibrary:
    """The operator types of a machine.

    Args:
        operators: operator type to what is known of it.
    """

    operators: Mapping[str, LibraryOperator] = attr.ib(converter=_table)


def canonical_dtype(name: str) -> str:
    """A data type by one name: lower case, and ``float`` for ``float32``."""
    lower = name.strip().lower()
    return "float" if lower == "float32" else lower


def _ports(entry: Dict[str, Any], side: str) -> Tuple[FrozenSet[str], ...]:
    """The data types of ``input0``, ``input1`` ... up to the first of variable number."""
    found: List[FrozenSet[str]] = []
    while True:
        port = entry.get("{}{}".format(side, len(found)))
        if not isinstance(port, dict) or port.get("paramType") == "dynamic":
            return tuple(found)
        dtypes = port.get("dtype")
        names = dtypes.split(",") if isinstance(dtypes, str) else []
        found.append(frozenset(canonical_dtype(name) for name in names if name.strip()))


def _operator(entry: Dict[str, Any]) -> LibraryOperator:
    reduce = entry.get("precision_reduce")
    flag = reduce.get("flag") if isinstance(reduce, dict) else None
    return LibraryOperator(
        _LIST_OF_FLAG.get(str(flag).lower(), "gray-list"),
        _ports(entry, "input"),
        _ports(entry, "output"),
    )


def _build(value: Mapping[str, Dict[str, Any]]) -> OperatorLibrary:
    return OperatorLibrary({name: _operator(entry) for name, entry in value.items()})


def _judge(value: Any, findings: FileFindings) -> None:
    for name, entry in value.items() if isinstance(value, dict) else ():
        if not isinstance(entry, dict) and entry is not BROKEN:
            message = "the operator {} is {}; it must be an object"
            findings.add(
                operator_library_structure, (name,), phrase(message, quoted(name), shown(entry))
            )


LIBRARY: "JsonFormat[OperatorLibrary]" = JsonFormat(
    "the operator library", Schema({}), one_rule(operator_library_structure), _build, _judge
)


def parse(text: str, path: Optional[str] = None) -> Parsed[OperatorLibrary]:
    """Read one file of the operator library.

    Args:
        text: anything.
        path: the file it came from.
    """
    return parsed_text(LIBRARY.parse, text, path)


def load(*paths: PathLike) -> Parsed[OperatorLibrary]:
    """Read the operator library of a machine.

    Args:
        paths: files, or directories with ``aic-*-ops-info*.json`` files in them.

    Returns:
        All operators together; the model is None when a file could not be read.
    """
    operators: Dict[str, LibraryOperator] = {}
    found: List[Diagnostic] = []
    for path in paths:
        for name in _files(os.fspath(path), found):
            text, refused = read_text(name)
            found.extend(refused)
            if text is not None:
                parsed = parse(text, name)
                found.extend(parsed.diagnostics)
                operators.update(parsed.model.operators if parsed.model else {})
    report = Report(found)
    return Parsed(OperatorLibrary(operators) if report.ok else None, report)


def _files(path: str, found: List[Diagnostic]) -> List[str]:
    if not os.path.isdir(path):
        return [path]
    try:
        present = sorted(os.listdir(path))
    except OSError as error:
        reason = phrase("the directory cannot be listed: {}", error.strerror)
        found.append(side_file_unreadable.diagnostic(reason, Place(path)))
        return []
    names = [
        os.path.join(path, name)
        for name in present
        if name.startswith("aic-") and "-ops-info" in name and name.endswith(".json")
    ]
    if not names:
        message = "the directory has no file aic-*-ops-info*.json"
        found.append(side_file_unreadable.diagnostic(message, Place(path)))
    return names


__all__ = ["LibraryOperator", "OperatorLibrary", "canonical_dtype", "load", "parse"]
