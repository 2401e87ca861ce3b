"""What was seen of a session: what it is configured with, and how often it was run."""

from typing import Any, Dict, Tuple

import attr

from npu_config.core.caller import caller_place
from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.settings import UNKNOWN
from npu_config.proto import decode
from npu_config.rules.engine import judge

_NOT_OF_THE_SCRIPT = (
    *("tensorflow", "tensorflow_core", "tensorflow_estimator", "keras"),
    "contextlib",  # a session that a context manager makes, such as that of a Supervisor
)


@attr.s(slots=True, auto_attribs=True)
class SeenSession:
    """A session that the script made.

    Args:
        place: where the script made it.
        options: option name to value, as the session carries them.
        findings: what the rules find in its configuration.
        runs: how often it was run, without initialisation.
        steps: how many training steps that was: a loop makes several in one run.
    """

    place: Place
    options: Dict[str, Any]
    findings: Tuple[Diagnostic, ...]
    runs: int = 0
    steps: int = 0

    def to_dict(self) -> Dict[str, Any]:
        """The object of a report."""
        return {
            "path": self.place.path,
            "line": self.place.line,
            "options": {name: _plain(value) for name, value in self.options.items()},
            "findings": [diagnostic.to_dict() for diagnostic in self.findings],
            "runs": self.runs,
            "steps": self.steps,
        }


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def see(session: Any) -> SeenSession:
    """What there is to see of a session that the script makes now."""
    place = caller_place(*_NOT_OF_THE_SCRIPT)
    config = getattr(session, "_config", None)
    if config is None:
        return SeenSession(place, {}, ())
    settings = decode(config)
    options = {
        name: None if setting.value is UNKNOWN else setting.value
        for name, setting in settings.entries.items()
    }
    where = place._asdict()
    findings = tuple(attr.evolve(each, **where) for each in judge(settings))
    return SeenSession(place, options, findings)
