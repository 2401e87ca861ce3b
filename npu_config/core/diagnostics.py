"""Findings, the rules that they break, and the error that carries them.

A :class:`Diagnostic` names the rule that was broken, the place, what is wrong, and what to do.  A
:class:`Report` is an ordered sequence of them, :class:`NpuConfigError` carries them out of a call.

A :class:`Rule` makes them, and is entered once in :data:`REGISTRY` by its id, with a name, a
severity, a page and a source: one that judges options is a function of a ``Case`` (``rules/``,
:func:`rule`); one that a parser of files applies while it reads is declared (``sidefiles/``,
``rank_table/``, ``readers/``, :func:`declare`).  Nothing here knows options, files or protos.
"""

from __future__ import annotations

import enum
import functools
import inspect
from dataclasses import dataclass, field, fields, replace
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

from npu_config.core.findings import tell
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import Message, catalogue, harmless, phrase, printable, translate
from npu_config.core.versions import Product

if TYPE_CHECKING:
    _Sequence = Sequence["Diagnostic"]
else:  # that of typing makes instances slowly on 3.7
    from collections.abc import Sequence as _Sequence

DOCS_URL = "https://npu-config.readthedocs.io/en/latest"


class Severity(enum.Enum):
    """How much a finding matters.

    ``ERROR``: the runtime rejects it or dies, or the vendor's documentation says
    must or cannot.  ``WARNING``: silently ignored, without effect, or a risk.
    ``INFO``: behaviour worth knowing.
    """

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    rank: int
    """0 for info, 1 for warning, 2 for error."""

    def __ge__(self, other: Severity) -> bool:
        return self.rank >= other.rank

    def __lt__(self, other: Severity) -> bool:
        return self.rank < other.rank


for _rank, _severity in enumerate(Severity):
    _severity.rank = _rank


class Place(NamedTuple):
    """Where something is: lines and columns count from 1, the end is exclusive."""

    path: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    end_line: Optional[int] = None
    end_column: Optional[int] = None

    def __str__(self) -> str:
        parts = [self.path or "<input>", self.line, self.column]
        return ":".join(str(part) for part in parts if part is not None)


NOWHERE = Place()


class Edit(NamedTuple):
    """One replacement of exactly these characters (same counting as :class:`Place`)."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(NamedTuple):
    """A mechanical correction: an imperative title and the edits that do it.

    ``safe`` says that nothing but what the finding is about changes; a fix that is not safe is
    shown, and applied only when it is asked for.  ``value`` is what is written, where that is the
    value of an option: a script writes it in its own way.
    """

    title: str
    edits: Tuple[Edit, ...]
    safe: bool = True
    value: Union[bool, int, float, str, None] = None

    @classmethod
    def writing(
        cls,
        place: Optional[Place],
        text: Optional[str],
        title: Optional[str] = None,
        value: Union[bool, int, float, str, None] = None,
    ) -> Optional[Fix]:
        """The fix that puts ``text`` at ``place``; None without a text or an exact place."""
        if text is None or place is None:
            return None
        line, column, end_line, end_column = place[1:]
        if line is None or column is None or end_line is None or end_column is None:
            return None
        edit = Edit(line, column, end_line, end_column, text)
        return cls(title or phrase("write {}", text), (edit,), value=value)

    def to_dict(self) -> Dict[str, Any]:
        """The object of the JSON output."""
        return {"edits": [edit._asdict() for edit in self.edits], "safe": self.safe}


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    Args:
        rule: id of the rule, ``NPU`` and three or four digits.
        name: its name in kebab-case.
        severity: see :class:`Severity`.
        message: what is wrong, in the user's words, with what is legal.
        option: the option it is about, if it is about one.
        path: the file it is in; None for values that came from no file.
        line: first line, from 1.
        column: first column, from 1 (characters, not bytes).
        end_line: last line.
        end_column: the column after the last character.
        help: what to do.
        url: the page that explains the rule.
        fix: the correction that ``--fix`` applies, where one is mechanical.
        meant: the word that was probably meant in place of the user's.
        consequence: what the runtime does, when that is known; the message ends with it.
        legal: the legal values, where there are a few; the message holds them.
        situation: the documented trouble that it is (``situations/``), if it is one.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    option: Optional[str] = None
    path: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    end_line: Optional[int] = None
    end_column: Optional[int] = None
    help: Optional[str] = None
    url: Optional[str] = None
    fix: Optional[Fix] = field(default=None, compare=False)
    meant: Optional[str] = None
    consequence: Optional[str] = None
    legal: Tuple[str, ...] = ()
    situation: Optional[str] = None

    def but(self, consequence: str, severity: Severity) -> Diagnostic:
        """The finding with another consequence and severity; it cannot be fixed mechanically."""
        return replace(
            self,
            severity=severity,
            message=with_end(_without_end(self.message, self.consequence), consequence),
            consequence=consequence,
            fix=None,
        )

    def in_option(self, name: str, place: Place) -> Diagnostic:
        """A finding inside of what an option holds, at the place of the option.

        Args:
            name: the option.
            place: where the option is set.
        """
        message = phrase('in "{}": {}', name, self.message)
        where: Any = place._asdict()
        return replace(self, option=name, message=message, fix=None, **where)

    def localized(self, language: str) -> Diagnostic:
        """The finding with its sentences in a language; names, values and places are as they were.

        Args:
            language: ``"en"`` or ``"zh"``; English where a sentence has no translation.
        """
        look_up = catalogue(language)
        fix = self.fix
        return replace(
            self,
            message=translate(self.message, look_up),
            help=None if self.help is None else translate(self.help, look_up),
            consequence=None if self.consequence is None else translate(self.consequence, look_up),
            fix=None if fix is None else fix._replace(title=translate(fix.title, look_up)),
        )

    @property
    def place(self) -> Place:
        """The five location fields as one value."""
        return Place(self.path, self.line, self.column, self.end_line, self.end_column)

    def to_dict(self) -> Dict[str, Any]:
        """The object of the JSON output (see docs/reference on ``--format json``)."""
        return {
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "rule": self.rule,
            "name": self.name,
            "severity": self.severity.value,
            "option": self.option,
            "message": self.message,
            "help": self.help,
            "url": self.url,
            "fix": None if self.fix is None else self.fix.to_dict(),
            "meant": self.meant,
            "consequence": self.consequence,
            "situation": self.situation,
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Diagnostic:
        """The finding of an object of the JSON output; without its fix, which is for its file."""
        known = {each.name: found.get(each.name) for each in fields(cls)}
        given = {name: value for name, value in known.items() if value is not None}
        return cls(**{**given, "severity": Severity(found["severity"]), "fix": None})

    def __str__(self) -> str:
        where = (
            ""
            if self.path is None and self.line is None
            else "{}: ".format(Place(self.path, self.line, self.column))
        )
        text = "{}{}: {} [{} {}]".format(
            where, self.severity.value, self.message, self.rule, self.name
        )
        lines = [text] if self.help is None else [text, "    help: {}".format(self.help)]
        return harmless("\n".join(map(printable, lines)))


def with_end(message: str, consequence: Optional[str]) -> str:
    """A message that ends with its consequence, where that is known."""
    if consequence is None:
        return message
    parts = (
        each if isinstance(each, Message) else phrase(each) for each in (message, consequence)
    )
    return phrase("{}; {}", *parts)


def _without_end(message: str, consequence: Optional[str]) -> str:
    """A message of :func:`with_end` without what follows, also inside of another message."""
    if consequence is None:
        return message
    last = message.arguments[-1] if isinstance(message, Message) and message.arguments else None
    if isinstance(message, Message) and last == consequence:
        return str(message.arguments[0])
    if isinstance(message, Message) and isinstance(last, Message):
        ahead = message.arguments[:-1]
        return phrase(message.template, *ahead, _without_end(last, consequence))
    return message[: -len(consequence) - 2]


@functools.lru_cache(maxsize=None)
def rule_url(rule: str) -> str:
    """The page of a rule in the published documentation."""
    return "{}/rules/{}.html".format(DOCS_URL, rule)


def _order(diagnostic: Diagnostic) -> Tuple[str, int, int, int, str, str, str]:
    return (
        diagnostic.path or "",
        diagnostic.line or 0,
        diagnostic.column or 0,
        -diagnostic.severity.rank,
        diagnostic.rule,
        diagnostic.option or "",
        diagnostic.message,
    )


class Report(_Sequence):
    """Findings in order of place, each once."""

    __slots__ = ("_diagnostics",)

    def __init__(self, diagnostics: Iterable[Diagnostic] = ()) -> None:
        found = tuple(diagnostics)
        self._diagnostics: Tuple[Diagnostic, ...] = (
            found if len(found) < 2 else tuple(dict.fromkeys(sorted(found, key=_order)))
        )

    @property
    def ok(self) -> bool:
        """True when nothing is an error."""
        return not self.errors

    @property
    def errors(self) -> List[Diagnostic]:
        """The findings with severity error."""
        return [d for d in self._diagnostics if d.severity is Severity.ERROR]

    @property
    def warnings(self) -> List[Diagnostic]:
        """The findings with severity warning."""
        return [d for d in self._diagnostics if d.severity is Severity.WARNING]

    @property
    def infos(self) -> List[Diagnostic]:
        """The findings with severity info."""
        return [d for d in self._diagnostics if d.severity is Severity.INFO]

    @overload
    def __getitem__(self, index: int) -> Diagnostic: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Diagnostic]: ...

    def __getitem__(self, index: Any) -> Any:
        return self._diagnostics[index]

    def localized(self, language: str) -> Report:
        """The findings with their sentences in a language, see :meth:`Diagnostic.localized`."""
        if language == "en":
            return self
        return Report(found.localized(language) for found in self)

    def __len__(self) -> int:
        return len(self._diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._diagnostics)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Report):
            return NotImplemented
        return self._diagnostics == other._diagnostics

    def __hash__(self) -> int:
        return hash(self._diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(d) for d in self._diagnostics)

    def __repr__(self) -> str:
        return "Report({!r})".format(list(self._diagnostics))


class NpuConfigError(ValueError):
    """A configuration is wrong; ``diagnostics`` holds every fault, and so does the text."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: Report = Report(diagnostics)
        super().__init__(str(self))

    def __str__(self) -> str:
        count = len(self.diagnostics.errors)
        head = phrase(
            "{} error in the configuration" if count == 1 else "{} errors in the configuration",
            count,
        )
        return "{}\n{}".format(head, self.diagnostics)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (type(self), (list(self.diagnostics),))


Check = TypeVar("Check", bound=Callable[[Any], None])

_ID = lazy_pattern(r"NPU[1-9]\d{2,3}\Z")
_BAND, _THREE = len("NPU8"), len("NPU802")
_MANY = 30
NO_PAGE = "{}: Python was started with -OO, which removes the docstring that contains this page."


def selects(word: str, id: str) -> bool:
    """True for an id itself, and for a word that selects it as the beginning of ids.

    ``NPU8`` is the whole band; a longer beginning selects ids of three digits only, so that
    ``NPU802`` is one rule.
    """
    return id == word or (id.startswith(word) and (len(word) <= _BAND or len(id) == _THREE))


def _set(products: Optional[Iterable[Product]]) -> Optional[FrozenSet[Product]]:
    return None if products is None else frozenset(products)


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """One constraint.

    Args:
        id: ``NPU`` and three or four digits, never reused; the first one is its band.
        name: kebab-case, names the pattern that is wrong.
        severity: of its findings, unless a finding says otherwise.
        docstring: what, why (what the runtime does), a wrong example, the right one.
        options: the options it reads; it runs when at least one of them is set.
            Empty for rules that do not depend on options.
        products: the products it holds for; None for all.
        facts: the entries of the fact file that it covers.
        source: where the facts are from.
        check: the function that judges a case; None where a parser applies the rule.
        on_host: True when it looks at the file system or the environment, and so runs
            only when asked.
        about: what it looks at, and so needs: ``"options"``, ``"faults"`` (settings that
            are wrong in themselves), ``"target"`` (its product or mode), ``"version"`` (its),
            ``"session"`` (what the input says beside the options), or
            ``"run_config"`` (arguments of NPURunConfig).
        also: further options that its findings name, or are about.
        help: what to do, where a finding (notes excepted) does not say it more exactly.
        situation: the documented trouble that it finds (``situations/``), if it is one.
        shows: where that can be seen: ``"text"``, ``"graph"``, ``"run"``, ``"ranks"``.
        beside: options of which one must be set as well; empty: it runs without.
    """

    id: str
    name: str
    severity: Severity
    docstring: str
    options: Tuple[str, ...] = ()
    products: Optional[FrozenSet[Product]] = None
    facts: Tuple[str, ...] = ()
    source: Tuple[str, ...] = ()
    check: Optional[Callable[[Any], None]] = None
    on_host: bool = False
    about: str = "options"
    also: Tuple[str, ...] = ()
    help: Optional[str] = None
    situation: Optional[str] = None
    shows: Tuple[str, ...] = ()
    beside: Tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "<{} {} {}>".format(type(self).__name__, self.id, self.name)

    @property
    def named(self) -> Tuple[str, ...]:
        """The options that it is about; none for a rule that is about most of them."""
        return (*self.options, *self.also, *self.beside) if len(self.options) < _MANY else ()

    @property
    def page(self) -> str:
        """The docstring as Markdown, without the indentation of the code."""
        return inspect.cleandoc(self.docstring)

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.docstring.strip().split("\n", 1)[0]

    def diagnostic(
        self,
        message: str,
        place: Place = NOWHERE,
        option: Optional[str] = None,
        help: Optional[str] = None,
        severity: Optional[Severity] = None,
        fix: Optional[Fix] = None,
        meant: Optional[str] = None,
        consequence: Optional[str] = None,
        legal: Tuple[str, ...] = (),
    ) -> Diagnostic:
        """A finding of this rule at ``place``; see :class:`Diagnostic`.

        The consequence is added to the message; without ``help``, the help asks whether ``meant``
        was meant, or is that of the rule.
        """
        if not help and meant is not None:
            help = phrase('did you mean "{}"?', meant)
        elif not help and (severity or self.severity) is not Severity.INFO:
            help = self.help
        path, line, column, end_line, end_column = place
        found: Diagnostic = object.__new__(Diagnostic)
        vars(found).update(  # the constructor of a frozen dataclass takes twice as long
            rule=self.id,
            name=self.name,
            severity=severity or self.severity,
            message=with_end(message, consequence),
            option=option,
            path=path,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            help=help,
            url=rule_url(self.id),
            fix=fix,
            meant=meant,
            consequence=consequence,
            legal=legal,
            situation=self.situation,
        )
        return found

    def error(
        self,
        message: str,
        place: Place = NOWHERE,
        option: Optional[str] = None,
        help: Optional[str] = None,
        kind: Type[NpuConfigError] = NpuConfigError,
    ) -> NpuConfigError:
        """An exception with one finding of this rule, to be raised: listeners are told of it.

        Args:
            message: what is wrong.
            place: where.
            option: the option that it is about.
            help: what to do.
            kind: the class of the exception.
        """
        finding = self.diagnostic(message, place, option, help)
        tell(finding)
        return kind([finding])


REGISTRY: Dict[str, Rule] = {}
_PLACES: Dict[str, str] = {}


def _enter(function: Callable[..., None], id: str, severity: Severity, *facts: Any) -> Rule:
    name = function.__name__.replace("_", "-")
    place = "{0.co_filename}:{0.co_firstlineno}".format(function.__code__)
    if not _ID.match(id):
        raise ValueError(phrase("{}: {} is not a valid rule id (such as NPU1001)", place, id))
    for key in (id, name):
        if key in _PLACES:
            raise ValueError(
                phrase("{}: the rule {} exists already: {}", place, key, _PLACES[key])
            )
    _PLACES.update({id: place, name: place})
    doc = function.__doc__ or phrase(NO_PAGE, name)
    REGISTRY[id] = Rule(id, name, severity, doc, *facts)
    return REGISTRY[id]


def rule(
    id: str,
    severity: Severity,
    options: Tuple[str, ...] = (),
    products: Optional[Iterable[Product]] = None,
    facts: Tuple[str, ...] = (),
    source: Tuple[str, ...] = (),
    on_host: bool = False,
    about: str = "options",
    also: Tuple[str, ...] = (),
    help: Optional[str] = None,
    situation: Optional[str] = None,
    beside: Tuple[str, ...] = (),
) -> Callable[[Check], Check]:
    """Enter the decorated function as a rule: its name is the rule's, its docstring the page."""

    def enter(check: Check) -> Check:
        said = options, _set(products), facts, source, check, on_host, about, also, help
        _enter(check, id, severity, *said, situation, (), beside)
        return check

    return enter


def declare(
    id: str,
    severity: Severity,
    facts: Tuple[str, ...] = (),
    source: Tuple[str, ...] = (),
    products: Optional[Iterable[Product]] = None,
    options: Tuple[str, ...] = (),
    also: Tuple[str, ...] = (),
    help: Optional[str] = None,
    situation: Optional[str] = None,
    shows: Tuple[str, ...] = (),
) -> Callable[[Callable[..., None]], Rule]:
    """Enter a rule that a parser applies, and give it the function's name, to make findings with.

    The function is never called: its name is the rule's, its docstring the page.
    """

    def enter(page: Callable[..., None]) -> Rule:
        said = options, _set(products), facts, source, None, False, "options", also, help
        return _enter(page, id, severity, *said, situation, shows)

    return enter
