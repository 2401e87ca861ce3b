"""What a rule is, and the registry that every rule is entered in once.

Rules that judge options are functions of a ``Case``
(``rules/``); rules that a parser of files applies while it reads are entered with
:func:`declare` (``sidefiles/``, ``rank_table/``, ``readers/``).  Both have an id, a
name, a severity, a page and a source, and both are found in :data:`REGISTRY`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable, Dict, FrozenSet, Iterable, Optional, Tuple, Type, TypeVar

from npu_config.core.diagnostics import (
    NOWHERE,
    Diagnostic,
    Fix,
    NpuConfigError,
    Place,
    Severity,
    rule_url,
    with_end,
)
from npu_config.core.findings import tell
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase
from npu_config.core.target import Product

Check = TypeVar("Check", bound=Callable[[Any], None])

_ID = lazy_pattern(r"NPU[1-9]\d{2,3}\Z")
_BAND, _THREE = len("NPU8"), len("NPU802")
_MANY = 30
NO_PAGE = "{}: Python was started with -OO, which removes the docstring that is this page."


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
        raise ValueError(phrase("{}: {} is not the id of a rule (NPU1001)", place, id))
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
