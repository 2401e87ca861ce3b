"""The rules applied to settings.

:func:`judge` reads every value by its kind, runs every rule that concerns an option that is
set, and returns all findings.
"""

import functools
import importlib
import os
import pkgutil
from typing import Callable, FrozenSet, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.rule import REGISTRY, Rule
from npu_config.core.settings import Settings, SourceKind
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.core.versions import NEWEST
from npu_config.rules.case import Case


class _Plan(NamedTuple):
    """What is there to be judged; the rules to run follow from it."""

    names: Tuple[str, ...]
    products: FrozenSet[Product]
    about: Tuple[str, ...]
    look_around: bool


@functools.lru_cache(maxsize=1)
def case_rules() -> Tuple[Rule, ...]:
    """Every rule about options, in order of id: those of the modules beside this one."""
    package = __name__.rpartition(".")[0]
    for found in pkgutil.iter_modules([os.path.dirname(__file__)]):
        importlib.import_module("{}.{}".format(package, found.name))
    rules = (rule for rule in REGISTRY.values() if rule.check is not None)
    return tuple(sorted(rules, key=lambda rule: rule.id))


@functools.lru_cache(maxsize=512)
def _rules_for(plan: _Plan) -> Tuple[Tuple[Rule, Callable[[Case], None]], ...]:
    """The rules that concern such settings, in order of id, each with its function."""
    given = frozenset(plan.names)
    return tuple(
        (rule, rule.check)
        for rule in case_rules()
        if rule.check is not None
        and (rule.name if rule.about == "faults" else rule.about) in plan.about
        and (not rule.options or not given.isdisjoint(rule.options))
        and (rule.products is None or plan.products <= rule.products)
        and (plan.look_around or not rule.on_host)
    )


def _about(case: Case) -> Tuple[str, ...]:
    """What there is to judge, in the words of ``Rule.about``; of faults the rules they break."""
    settings = case.settings
    subjects = ["options"]
    if case.target.cann is not None and case.version in (0, NEWEST):
        subjects.append("version")
    if case.target.product is not None or case.target.mode is not None:
        subjects.append("target")
    subjects.extend({fault.rule: None for fault in case.faults})
    if settings.session is not None:
        subjects.append("session")
    if settings.extra or settings.source_kind is SourceKind.RUN_CONFIG:
        subjects.append("run_config")
    return tuple(subjects)


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
