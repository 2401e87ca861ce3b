"""The rules applied to settings.

:func:`judge` reads every value by its kind, runs every rule that concerns an option that is
set, and returns all findings.
"""

import functools
from typing import Callable, FrozenSet, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.rule import Rule
from npu_config.core.settings import Settings, SourceKind
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.core.versions import NEWEST
from npu_config.rules.case import Case


class _Plan(NamedTuple):
    """What is there to be judged; the rules to run follow from it."""

    names: Tuple[str, ...]
    products: FrozenSet[Product]
    about: FrozenSet[str]
    look_around: bool


@functools.lru_cache(maxsize=512)
def _rules_for(plan: _Plan) -> Tuple[Tuple[Rule, Callable[[Case], None]], ...]:
    """The rules that concern such settings, in order of id, each with its function."""
    from npu_config.rules.bands import CASE_RULES

    given = frozenset(plan.names)
    return tuple(
        (rule, rule.check)
        for rule in CASE_RULES
        if rule.check is not None
        and rule.about in plan.about
        and (not rule.options or not given.isdisjoint(rule.options))
        and (rule.products is None or plan.products <= rule.products)
        and (plan.look_around or not rule.on_host)
    )


_OPTIONS_ONLY = frozenset(("options",))


def _about(case: Case) -> FrozenSet[str]:
    settings = case.settings
    run_config = bool(settings.extra) or settings.source_kind is SourceKind.RUN_CONFIG
    if (
        not case.faults
        and settings.session is None
        and not run_config
        and not _may_be_unmeasured(case)
    ):
        return _OPTIONS_ONLY
    subjects = {"options"}
    if _may_be_unmeasured(case):
        subjects.add("version")
    if case.faults:
        subjects.add("faults")
    if settings.session is not None:
        subjects.add("session")
    if run_config:
        subjects.add("run_config")
    return frozenset(subjects)


def _may_be_unmeasured(case: Case) -> bool:
    """True for a version of CANN that may be newer or older than every measured one."""
    return case.target.cann is not None and case.version in (0, NEWEST)


def judge_case(case: Case) -> List[Diagnostic]:
    """Every finding about one case: by rule id, then those inside files and texts."""
    plan = _Plan(
        tuple(case.entries),
        case.products,
        _about(case),
        case.on_host or case.environ is not None,
    )
    for rule, check in _rules_for(plan):
        case.rule = rule
        check(case)
    if plan.look_around or "profiling_options" in case.known:
        from npu_config.rules.contents import contents

        case.diagnostics.extend(contents(case))
    return case.diagnostics


def judge(
    settings: Settings,
    target: Optional[Target] = None,
    environ: Optional[Mapping[str, str]] = None,
    on_host: bool = False,
) -> List[Diagnostic]:
    """Every finding about ``settings``.

    Args:
        settings: what to judge.
        target: narrows product-limited rules; None: any target.
        environ: environment variables to judge with; None: they are not looked at.
        on_host: look at the file system (paths must exist and be usable).
    """
    return judge_case(Case(settings, target or ANY_TARGET, environ, on_host))
