"""JSON side files by their declaration: a schema, and the code that only one of them needs."""

import json
from typing import Any, Callable, Dict, Generic, Iterable, List, Optional, Tuple, TypeVar

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Severity
from npu_config.core.target import Target
from npu_config.sidefiles.format import (
    Format,
    Parsed,
    Sample,
    finish_parse,
    first_value,
    reject_path_argument,
)
from npu_config.sidefiles.schema.kinds import Schema
from npu_config.sidefiles.schema.reading import FileFindings, Reader, Rules
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Places

M = TypeVar("M")


def no_checks(*_: Any) -> Tuple[()]:
    """Nothing to report."""
    return ()


@attr.s(frozen=True, slots=True, auto_attribs=True, eq=False)
class JsonFormat(Generic[M]):
    """One JSON format.

    Args:
        form: what a file of it is called in messages.
        schema: the keys of its top level.
        rules: what a file breaks by what is wrong with it.
        build: the model of a value in which nothing is wrong.
        judge: notes what the schema does not say about a value that may be wrong.
        one_value: whether the runtime does not look at what follows the first value.
    """

    form: str
    schema: Schema
    rules: Rules
    build: Callable[[Any], M]
    judge: Callable[[Any, FileFindings], Any] = no_checks
    one_value: bool = False

    def faults(
        self, value: Any, places: Places = ANYWHERE, complete: bool = True
    ) -> List[Diagnostic]:
        """What is wrong with a plain value; what is missing only where it is complete."""
        findings = FileFindings()
        Reader(findings, self.rules, self.form, complete).read(value, self.schema)
        self.judge(value, findings)
        return findings.diagnostics(places)

    def refuse(self, value: Any, least: Severity = Severity.ERROR) -> None:
        """Raise what is wrong with the value that a model would be written as.

        Raises:
            NpuConfigError: with every finding, when one of them is of that severity.
        """
        found = self.faults(value)
        if any(d.severity >= least for d in found):
            raise NpuConfigError(found)

    def parse(
        self,
        text: str,
        path: Optional[str],
        check: Callable[[M, Places], Iterable[Diagnostic]] = no_checks,
    ) -> Parsed[M]:
        """Read a text; ``check`` says what is worth knowing about a right model."""
        found: List[Diagnostic] = []
        if self.one_value:
            text, found = first_value(text, path)
        reading = _json.read(text, path)
        own = self.faults(reading.value, reading, reading.complete)
        wrong = not reading.complete or any(d.severity is Severity.ERROR for d in own)
        return finish_parse(
            (*found, *reading.diagnostics, *own),
            reading,
            None if wrong else lambda: self.build(reading.value),
            lambda model: check(model, reading),
        )


@attr.s(frozen=True, slots=True, auto_attribs=True)
class RawDocument:
    """The model of a format without fields of its own: its canonical text."""

    text: str

    @classmethod
    def of(cls, **keys: Any) -> "RawDocument":
        """The object with these keys; it is judged when it is read."""
        return cls(_json.write(keys))

    @property
    def value(self) -> Dict[str, Any]:
        """The JSON object."""
        value: Dict[str, Any] = json.loads(self.text)
        return value


def content(value: Any) -> RawDocument:
    """A JSON object as a model."""
    return RawDocument(_json.write(value))


def raw_format(
    declared: JsonFormat[RawDocument],
    name: str,
    title: str,
    default_name: str,
    options: Tuple[str, ...],
    looks_like: Callable[[Sample], bool],
    check: Callable[[RawDocument, Target, Places], Iterable[Diagnostic]] = no_checks,
    marks: Optional[str] = None,
) -> Format[RawDocument]:
    """A format whose model is its content.

    Args:
        declared: its declaration.
        name: see :class:`Format`.
        title: see :class:`Format`.
        default_name: see :class:`Format`.
        options: see :class:`Format`.
        looks_like: see :class:`Format`.
        check: what is worth knowing about a right object.
        marks: see :class:`Format`.
    """

    @reject_path_argument
    def parser(text: str, path: Optional[str], target: Target) -> Parsed[RawDocument]:
        return declared.parse(text, path, lambda model, places: check(model, target, places))

    return Format(
        name=name,
        title=title,
        default_name=default_name,
        options=options,
        parser=parser,
        render=lambda model: model.text,
        looks_like=looks_like,
        marks=marks,
        schema=declared.schema,
    )


__all__ = ["RawDocument", "JsonFormat", "content", "raw_format", "no_checks"]
