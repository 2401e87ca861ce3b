"""What is known of a job before it is checked, and what a check comes to."""

import ast
import enum
import functools
from typing import Any, Callable, FrozenSet, List, Mapping, NamedTuple, Optional, Pattern, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.settings import UNKNOWN, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.judging import Around, Judgement
from npu_config.rules.case import Case
from npu_config.rules.reading import Reading
from npu_config.script.neighbours import any_import_has


class CheckOutcome(enum.Enum):
    """How a check ended; advice is what ``npu-config check`` reports below an error."""

    PASSED = "passed"
    ADVICE = "advice"
    FAILED = "failed"
    UNKNOWN = "cannot be checked here"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DoctorCheck:
    """One check.

    Args:
        name: in kebab-case.
        outcome: how it ended.
        reason: why.
        help: what to do, for a check that failed; else "".
        source: the page that asks for it.
    """

    name: str
    outcome: CheckOutcome
    reason: str
    help: str = ""
    source: str = ""


class CheckResult(NamedTuple):
    """What a check comes to: how it ended, why, and what to do."""

    outcome: CheckOutcome
    reason: str
    help: str = ""


passed = functools.partial(CheckResult, CheckOutcome.PASSED)
advice = functools.partial(CheckResult, CheckOutcome.ADVICE)
failed = functools.partial(CheckResult, CheckOutcome.FAILED)
unknown = functools.partial(CheckResult, CheckOutcome.UNKNOWN)


def check(name: str, source: str = "") -> Callable[[Callable[[Any], CheckResult]], Any]:
    """Make a check of a function from the facts to a verdict.

    Args:
        name: in kebab-case.
        source: the page that asks for it.
    """

    def named(judge: Callable[[Any], CheckResult]) -> Callable[[Any], DoctorCheck]:
        return lambda facts: DoctorCheck(name, *judge(facts), source)

    return named


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Checkup:
    """All checks, and what is to be said of the source; None where there is none."""

    checks: Tuple[DoctorCheck, ...]
    judgement: Optional[Judgement] = None

    @property
    def ok(self) -> bool:
        """True when nothing failed."""
        return not self.failed

    @property
    def failed(self) -> Tuple[DoctorCheck, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome is CheckOutcome.FAILED)

    def __getitem__(self, name: str) -> DoctorCheck:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)


Environ = Mapping[str, str]

_OURS = (SourceKind.BUILDER, SourceKind.FILE)
"""Sources from which npu_config makes the ConfigProto."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class TrainingScript:
    """A training script.

    Args:
        path: where it is.
        names: every name that it uses; None when it is not Python 3.
    """

    path: Optional[str]
    names: Optional[FrozenSet[str]]

    @classmethod
    def of(cls, text: Optional[str], path: Optional[str]) -> "Optional[TrainingScript]":
        """The script with this text; None without one."""
        return None if text is None else cls(path, _names(text))

    def uses(self, pattern: Pattern[str]) -> Optional[str]:
        """A name that it uses and that a pattern finds."""
        return min(filter(pattern.search, self.names or ()), default=None)

    def imports(self, *words: str) -> bool:
        """Whether a file that it imports, itself or through others, holds one of the words."""
        return any_import_has(self.path, words)


def _names(text: str) -> Optional[FrozenSet[str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg and _may_be_true(node.value):
            found.add(node.arg)
    return frozenset(found)


def _may_be_true(node: ast.expr) -> bool:
    """False for the constants False and None."""
    return getattr(node, "value", node) not in (False, None)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Facts:
    """What is known.

    Args:
        given: True when there is a source at all.
        settings: one per path through a script, one for anything else, none when nothing could
            be read.
        diagnostics: what is wrong with it.
        unchecked: why it was not checked; None: it was.
        script: a training script.
        writes_session: True for a source from which npu_config makes the ConfigProto, and
            so sets what stands around the options.
        target: product and mode.
        environ: the environment of the job.
        on_host: True when this is the training host.
    """

    given: bool
    settings: Tuple[Settings, ...]
    diagnostics: Tuple[Diagnostic, ...]
    unchecked: Optional[str]
    script: Optional[TrainingScript]
    writes_session: bool
    target: Target
    environ: Environ
    on_host: bool

    def each(self, look: Callable[[Settings], Any]) -> List[Any]:
        """What ``look`` sees in each of the settings, without repetition."""
        return list(dict.fromkeys(look(settings) for settings in self.settings))

    def values(self, name: str) -> List[Any]:
        """The values of an option, as its kind reads them.

        None where it is absent, UNKNOWN where the value is not known or not legal.
        """

        def value(settings: Settings) -> Any:
            if name not in settings.entries:
                return UNKNOWN if settings.open else None
            return Case(settings).known.get(name, UNKNOWN)

        return self.each(value)


def facts_of(
    judged: Optional[Judgement], around: Around, environ: Environ, on_host: bool
) -> Facts:
    """What the judgement of a source shows.

    Args:
        judged: what is to be said of the source; None: there is none.
        around: what it was judged for.
        environ: the environment of the job.
        on_host: this is the training host.
    """
    reading = Reading("", None) if judged is None else judged.reading
    assert reading is not None
    settings = reading.lasting
    return Facts(
        judged is not None,
        settings,
        () if judged is None else judged.found,
        None if judged is None else judged.unchecked,
        TrainingScript.of(reading.text, reading.path) if reading.kind == "script" else None,
        all(each.source_kind in _OURS for each in settings),
        around.target_of(reading.target, reading.unreadable),
        environ,
        on_host,
    )
