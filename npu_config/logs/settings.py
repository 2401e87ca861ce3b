"""Where the options stand that a cause leads to: in a configuration, or in a script."""

from typing import Dict, Optional

import attr

from npu_config.catalogue import OPTIONS
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN, Setting
from npu_config.logs.causes import Cause, CausePlace
from npu_config.logs.report import LogReport
from npu_config.rules.reading import Reading

__all__ = ["with_places"]


def with_places(report: LogReport, reading: Reading) -> LogReport:
    """A report whose causes know the values and places of their options.

    Args:
        report: what logs tell.
        reading: the configuration or the script that the job ran with.
    """
    found = _settings(reading)
    is_open = not reading.lasting or any(settings.open for settings in reading.lasting)
    path = reading.path or "-"

    def placed(cause: Optional[Cause]) -> Optional[Cause]:
        if cause is None:
            return None
        places = [
            _place(name, found.get(name), path, is_open) for name in cause.leads_to["options"]
        ]
        commands = [each.replace("SCRIPT", path) for each in cause.leads_to["commands"]]
        leads = {**cause.leads_to, "commands": commands}
        return attr.evolve(cause, places=[*cause.places, *places], leads_to=leads)

    return attr.evolve(
        report,
        first_cause=placed(report.first_cause),
        others=[cause for cause in map(placed, report.others) if cause is not None],
    )


def _settings(reading: Reading) -> Dict[str, Setting]:
    found: Dict[str, Setting] = {}
    for settings in reading.lasting:
        for name, setting in settings.entries.items():
            found[name] = setting
    return found


def _place(name: str, setting: Optional[Setting], path: str, is_open: bool) -> CausePlace:
    if setting is not None:
        where = setting.place_of_name
        if setting.value is UNKNOWN:
            text = phrase("sets {} to a value that is known at run time only", name)
        else:
            text = phrase("sets {} to {}", name, _short(setting.value))
        return CausePlace(where.path or path, where.line, name, text)
    option = OPTIONS.get(name)
    if is_open:
        return CausePlace(
            path,
            None,
            name,
            phrase(("no setting of {} was found; it may be set nevertheless"), name),
        )
    if option is None or option.default is None:
        return CausePlace(path, None, name, phrase("{} is not set", name))
    return CausePlace(
        path, None, name, phrase("{} is not set; its default is {}", name, _short(option.default))
    )


def _short(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = str(value)
    return text if len(text) <= 80 else text[:80] + "..."
