"""What side-file formats share: parsing, rendering, recognising, loading, saving, frozen values.

A JSON format is declared: :class:`JsonFormat` is a schema, and the code that only it needs.
"""

import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import (
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    TypeVar,
    Union,
)

import attr

from npu_config.core.calls import checked_text
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report, Rule, Severity, declare
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, names_file, path_name
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles.schema.kinds import Schema
from npu_config.sidefiles.schema.reading import FileFindings, Reader, Rules
from npu_config.text import json as _json
from npu_config.text.files import write_atomic
from npu_config.text.source import (
    ANYWHERE,
    BYTES,
    FaultLog,
    Places,
    PlaceTable,
    Source,
    StopReading,
    apply_edits,
    attempted,
    decode,
)
from npu_config.text.source import load as load_bytes
from npu_config.text.words import shown

K = TypeVar("K")
V = TypeVar("V")


class Table(Mapping[K, V]):
    """A mapping that keeps its order and never changes; equal to any mapping with its items."""

    __slots__ = ("_items",)

    def __init__(self, items: Union[Mapping[K, V], Iterable[Tuple[K, V]]] = ()) -> None:
        self._items: Dict[K, V] = dict(items)

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return "Table({!r})".format(self._items)

    def __reduce__(self) -> Tuple[object, ...]:
        return (type(self), (self._items,))


def texts(value: Iterable[str]) -> Tuple[str, ...]:
    """A sequence as a tuple."""
    given: Any = value
    sequence = isinstance(given, Iterable) and not isinstance(given, str)
    found: Tuple[str, ...] = tuple(given) if sequence else given
    return found


def frozen(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A mapping as a frozen one."""
    return Table(value) if isinstance(value, Mapping) else value


M = TypeVar("M")

_PARSERS = "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/"

LARGEST = 256 * 1024 * 1024
"""How many bytes a side file or rank table may have."""


@declare(
    "NPU715",
    Severity.ERROR,
    facts=("ge-file-checks-abort",),
    source=("cann/ge:compiler/engines/nn_engine/utils/common/configuration.cc:300-345",),
)
def side_file_unreadable() -> None:
    """A side file (a file that an option names) cannot be read, or is not UTF-8 text.

    The graph engine loads these files during initialisation; if a file is missing or unreadable,
    the initialisation fails, and the adapter then aborts the process.

    Wrong: `modify_mixlist` points to a file that does not exist, or to a directory.

    Right: the file exists before the session is created, and is UTF-8 text.
    """


@declare(
    "NPU786",
    Severity.WARNING,
    facts=("modify-mixlist-file", "fusion-switch-file", "rank-table-file"),
    source=(_PARSERS + "modify_mixlist_config_parser.cc",),
)
def json_text_after_value() -> None:
    """A JSON file has more content after the end of its value.

    The graph engine reads only one JSON value from a rank table, a mixed-precision list or a
    fusion switch file, and ignores everything after this value, such as a second object or a
    comment.

    Wrong: `{"Switch": {}} {"Priority": {}}`

    Right: `{"Switch": {}, "Priority": {}}`
    """


@declare("NPU787", Severity.INFO, source=("npu_config",))
def side_file_template() -> None:
    """A side file (which an option names) or a rank table has placeholders that a script fills in.

    A template is not checked, and counts as not checked; without its values filled in, the runtime
    rejects it.  Letters in place of an address (`X.X.X.X`, `192.168.x.x`) and names of addresses
    (`DEVICE_IP_0`) are placeholders.

    Wrong, as the file of a job: `{"server_count": "${SERVERS}", ...}`

    Right: `{"server_count": "2", ...}`
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Parsed(Generic[M]):
    """What came of a text.

    Args:
        model: the content as far as it was understood, also of a text that the runtime refuses
            (see ``ok``) over a comment or a comma; None when it was not.
        diagnostics: everything that is wrong with the text, in order of place.
        places: where the parts of the model stand, for ``check``.
    """

    model: Optional[M]
    diagnostics: Report
    places: Places = attr.ib(default=ANYWHERE, eq=False, repr=False)

    @property
    def ok(self) -> bool:
        """True when nothing is an error."""
        return self.diagnostics.ok


class Sample:
    """A text as the recognisers see it: only its beginning is looked at.

    Attributes:
        text: the first 64 K characters.
    """

    __slots__ = ("_top", "text")

    def __init__(self, text: str) -> None:
        self.text = text[:65536]
        self._top: Any = None

    @property
    def top(self) -> Any:
        """The JSON value, as far as it can be made out; an empty object if there is none."""
        if self._top is None:
            value = _json.read(self.text).value if self.is_json else {}
            self._top = value if isinstance(value, dict) else {}
        return self._top

    @property
    def is_json(self) -> bool:
        """True when the text begins as a JSON object, perhaps after comments."""
        for line in self.text.lstrip("\ufeff").splitlines():
            content = line.strip()
            if content and not content.startswith(("//", "/*", "*", "#")):
                return content.startswith("{")
        return False

    def lines(self) -> List[str]:
        """The lines without the blanks around them, empty ones left out."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]


_PLACEHOLDER = lazy_pattern(
    r"\$\{\w+\}|\$[a-z_]\w*|\{\{(?:[^{}\n]{0,60}\}\})?|\{[ \t]*[a-z_]\w*[ \t]*\}"
    r'|(?:(?<=[":,.\[{])|(?<=[:,\[{] ))<[a-z_][\w .-]*>'
    r'|(?<=")(?:__[a-z]\w*__|%[a-z_]\w*%|@[a-z_]\w*@)(?=")'
    r'|(?<=")(?=[\d.]*[^\d.])(?!(?:[\d.]|[lio](?![a-z]))*")'
    r'(?:\d{1,3}|([a-z*])\1{0,2})(?:\.(?:\d{1,3}|([a-z*])\2{0,2})){3}(?=")'
    r'|(?<=_ip")[ \t]*:[ \t]*"(?=[\w-]*(?:ip|addr))[a-z_][\w-]*"',
    re.IGNORECASE,
)
"""What a script fills in; letters in place of the numbers of an address, unless they look like
numbers; a name in place of an address; <name>, but not in the middle of a sentence."""


def _placeholder(text: str) -> "Optional[re.Match[str]]":
    """Where a text of JSON has something that a script fills in."""
    is_json = text[:4096].lstrip("\ufeff \t\r\n").startswith(("{", "["))
    return _PLACEHOLDER.search(text) if is_json else None


def parsed_text(
    parser: Callable[..., Parsed[M]], text: str, path: Optional[str] = None, *rest: Any
) -> Parsed[M]:
    """What came of the content of a file, or that the path of one was given in its place.

    A fault of the parser itself is a finding, too.
    """
    checked_text(text, "load(path)")
    found: List[Diagnostic] = []
    parsed = attempted(found, path, parser, text, path, *rest)
    if parsed is None:
        return Parsed(None, Report(found))
    refused = Report() if parsed.ok else path_given(text, path, "load(path)")
    return Parsed(None, refused) if refused else parsed


@attr.s(frozen=True, slots=True, auto_attribs=True, eq=False)
class Format(Generic[M]):
    """One format of side files.

    Args:
        name: the KIND of ``npu-config check --as KIND``.
        title: what it is, in a few words.
        default_name: the file name that the vendor's documentation uses.
        options: the options, variables or arguments that point to such a file.
        parser: text, path and target to :class:`Parsed`.
        render: the canonical text of a model.
        looks_like: whether a text is meant to be of this format, though it may be broken.
        layout: the canonical text of a JSON value, with all its keys in their order.
        marks: what a file of the format holds, as a regular expression in lower case; files
            in directories are looked at only where one of all marks is in them,
            whatever its case.
        names: the usual file names, as a regular expression for names in lower case.
        any_bytes: whether the runtime takes bytes that are not UTF-8, e.g. a comment in GBK.
        schema: its keys, where a file of it is made of keys and values.
    """

    name: str
    title: str
    default_name: str
    options: Tuple[str, ...]
    parser: Callable[[str, Optional[str], Target], Parsed[M]]
    render: Callable[[M], str]
    looks_like: Callable[[Sample], bool]
    layout: Callable[[Any], str] = _json.write
    marks: Optional[str] = None
    names: Optional[str] = None
    any_bytes: bool = False
    schema: Optional[Schema] = None

    def parse(
        self, text: str, path: Optional[str] = None, target: Target = ANY_TARGET
    ) -> Parsed[M]:
        """The content of a text, with every fault.

        Args:
            text: the content of the file.
            path: its name, for the diagnostics.
            target: the product narrows what is checked.

        Returns:
            The model as far as the text was understood (comments and commas that strict JSON
            refuses are no hindrance), and the diagnostics.

        Raises:
            TypeError: ``text`` is no text.
        """
        parsed = parsed_text(self.parser, text, path, target)
        placeholder = None if parsed.ok else _placeholder(text)
        if placeholder is None:
            return parsed
        place = Source(text, path).place(*placeholder.span())
        message = phrase(
            "this is a template: {} is a placeholder that a script fills in",
            placeholder.group().lstrip(': \t"').rstrip('"'),
        )
        note = side_file_template.diagnostic(
            message, place, None, "pass the file that the script makes"
        )
        return Parsed(None, Report([note]))

    def is_template(self, text: str) -> bool:
        """Whether a text is one that a script fills in, which :meth:`parse` does not judge."""
        return (
            _placeholder(text) is not None
            and not parsed_text(self.parser, text, None, ANY_TARGET).ok
        )

    def load(self, path: PathLike, target: Target = ANY_TARGET) -> Parsed[M]:
        """The content of a file; one that cannot be read is a diagnostic.

        Args:
            path: the file.
            target: narrows product-limited findings.
        """
        text, found = read_text(path, self.any_bytes)
        if text is None:
            return Parsed(None, Report(found))
        return self.parse(text, path_name(path), target)

    def save(self, model: M, path: PathLike, overwrite: bool = False) -> None:
        """Write the canonical text of a model, all of it or nothing.

        Args:
            model: the content.
            path: the file; its directory must exist.
            overwrite: replace a file that exists.

        Raises:
            FileExistsError: the file exists and ``overwrite`` is False.
            OSError: it cannot be written; nothing is left behind.
        """
        write_atomic(path, self.render(model), overwrite)

    def canonical(self, text: str) -> Optional[str]:
        """A right text in its canonical layout, with every key; None where one would be lost.

        That is so where an object has a key twice, or text follows the JSON value.  A text that
        is not JSON stays as it is.
        """
        if not text.lstrip("\ufeff \t\r\n").startswith("{"):
            return text
        if any(
            d.rule in ("NPU712", json_text_after_value.id) for d in self.parse(text).diagnostics
        ):
            return None
        try:
            return self.layout(json.loads(text.lstrip("\ufeff")))
        except ValueError:
            return text

    def clean(self, text: str) -> str:
        """The text with every mechanical correction done and nothing else changed."""
        edits = [
            edit
            for diagnostic in self.parse(text).diagnostics
            if diagnostic.fix is not None
            for edit in diagnostic.fix.edits
        ]
        return apply_edits(text, edits)


def path_given(text: str, path: Optional[str], call: str) -> Report:
    """What is wrong with the path of a file in the place of its text; nothing with a text.

    Args:
        text: what was given as the text.
        path: the name of the file; None: the text came without one.
        call: how the text of a file is read, for the help.

    Raises:
        TypeError: ``text`` is no text.
    """
    checked_text(text, call)
    if path is not None or not names_file(text):
        return Report()
    message = phrase("{} is the path of a file; pass the text of the file", shown(text))
    return Report([side_file_unreadable.diagnostic(message, help=phrase("{} reads a file", call))])


def read_text(
    path: PathLike, any_bytes: bool = False
) -> Tuple[Optional[str], Tuple[Diagnostic, ...]]:
    """The text of a file, or why there is none; of any bytes where that is asked for."""
    name = path_name(path)
    data = load_bytes(name, LARGEST)
    text, found = (None, data) if isinstance(data, Diagnostic) else decode(data, name)
    if found is None:
        return text, ()
    if any_bytes and isinstance(data, bytes):
        return data.decode(BYTES), ()
    return None, (side_file_unreadable.diagnostic(found.message, found.place, help=found.help),)


def refuse(found: Iterable[Diagnostic]) -> None:
    """Raise what is wrong with the arguments of a model.

    Raises:
        NpuConfigError: with every finding, when one of them is an error.
    """
    report = Report(found)
    if not report.ok:
        raise NpuConfigError(report)


_DECODER = json.JSONDecoder()
_BLANK = lazy_pattern(r"[ \t\r\n]*")


def first_value(text: str, path: Optional[str]) -> Tuple[str, List[Diagnostic]]:
    """The part of a JSON text that is read where only its first value is, and what follows it.

    The graph engine reads one value from the stream and does not look at what comes after.
    """
    start = 1 if text.startswith("\ufeff") else 0
    blank = _BLANK.match(text, start)
    try:
        end = _DECODER.raw_decode(text, blank.end() if blank else start)[1]
    except (ValueError, RecursionError):
        return text, []
    rest = text[end:].strip(" \t\r\n")
    if not rest:
        return text, []
    offset = text.index(rest, end)
    place = Source(text, path).place(offset, offset + len(rest))
    message = "the text after the end of the JSON value is not read"
    return text[:end], [json_text_after_value.diagnostic(message, place, help="remove it")]


def logged(
    text: str,
    path: Optional[str],
    rule: Rule,
    read: Callable[[PlaceTable], Iterable[Diagnostic]],
) -> Tuple[FaultLog, PlaceTable]:
    """What a reader of lines finds wrong with a text, as far as a log takes it, and the places.

    Args:
        text: the text.
        path: the file it came from.
        rule: that of the log.
        read: the reader; it gets the table of places to fill in.
    """
    source = Source(text, path)
    log, places = FaultLog(source, rule), PlaceTable(source.place(0, len(text)))
    with suppress(StopReading):
        log.add_all(read(places))
    return log, places


def finish_parse(
    found: Iterable[Diagnostic],
    places: Places,
    build: Optional[Callable[[], M]],
    check: Callable[[M], Iterable[Diagnostic]],
) -> Parsed[M]:
    """Build the model and check what can only be checked on it.

    Args:
        found: what is wrong with the text; a log that is not complete gives no model.
        places: where its parts are.
        build: makes the model; None when the text was not understood.
        check: findings about the model that ``found`` does not have.
    """
    if build is None or (isinstance(found, FaultLog) and not found.complete):
        return Parsed(None, Report(found), places)
    try:
        model = build()
    except NpuConfigError as error:
        place: Any = places.place()._asdict()
        refused = [replace(d, **place) for d in error.diagnostics]
        return Parsed(None, Report((*found, *refused)), places)
    return Parsed(model, Report((*found, *check(model))), places)


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


def object_at(value: Any, *path: str) -> Dict[str, Any]:
    """The object at a path of keys, in a value that may be wrong; empty where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def content(value: Any) -> RawDocument:
    """A JSON object as a model."""
    return RawDocument(_json.write(value))


def raw_format(
    declared: JsonFormat[RawDocument],
    check: Callable[[RawDocument, Target, Places], Iterable[Diagnostic]] = no_checks,
    **named: Any,
) -> Format[RawDocument]:
    """A format whose model is its content.

    Args:
        declared: its declaration.
        check: what is worth knowing about a right object.
        named: the other arguments of :class:`Format`.
    """

    def parser(text: str, path: Optional[str], target: Target) -> Parsed[RawDocument]:
        return declared.parse(text, path, lambda model, places: check(model, target, places))

    return Format(parser=parser, render=lambda model: model.text, schema=declared.schema, **named)
