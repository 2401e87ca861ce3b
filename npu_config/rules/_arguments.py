"""Arguments of NPURunConfig and NPUEstimator that are not options."""

from typing import Any, Optional

from npu_config.core.diagnostics import Severity
from npu_config.core.settings import UNKNOWN
from npu_config.rules.case import Case


def argument(case: Case, name: str) -> Any:
    """The known value of an argument that is not an option; None when there is none."""
    setting = case.settings.extra.get(name)
    return None if setting is None or setting.value is UNKNOWN else setting.value


def number(case: Case, name: str) -> Optional[int]:
    """The argument when it is an integer, else None."""
    value = argument(case, name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def report(
    case: Case, name: str, message: str, help: str, severity: Optional[Severity] = None
) -> None:
    """Report a finding at the place of the argument."""
    setting = case.settings.extra.get(name)
    place = case.settings.place if setting is None else setting.place
    case.report(None, message, help, place=place, severity=severity)


def is_none(case: Case, name: str) -> bool:
    """True when the argument was given as None, which is also its default."""
    setting = case.settings.extra.get(name)
    return setting is not None and setting.value is None
