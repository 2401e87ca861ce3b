"""What was seen of a session: what it is configured with, what it ran and how often."""

from dataclasses import replace
from typing import Any, Callable, Dict, Optional, Tuple

import attr

from npu_config.core.calls import script_place
from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import language
from npu_config.core.settings import UNKNOWN
from npu_config.proto import decode
from npu_config.rules.case import judge
from npu_config.runner.calls import Calls
from npu_config.runner.conclusions import conclude
from npu_config.runner.doings import Doings
from npu_config.tf1.purpose import OTHER, TRAINS


@attr.s(slots=True, auto_attribs=True)
class SeenSession:
    """A session that the script made.

    Args:
        place: where the script made it.
        options: option name to value, as the session carries them.
        findings: what the rules find in its configuration.
        calls: what it ran.
        loops: runs of the script that were loops of several runs of TensorFlow.
        rounds: how many runs of TensorFlow these were.
        trains: whether a run of it trained, or was to train when the script was stopped.
    """

    place: Place
    options: Dict[str, Any]
    findings: Tuple[Diagnostic, ...]
    calls: Calls
    loops: int = 0
    rounds: int = 0
    trains: bool = False

    @property
    def runs(self) -> int:
        """How often the script ran it, without initialisation."""
        return self.loops - self.rounds + self._times(lambda purpose: purpose != OTHER)

    @property
    def steps(self) -> int:
        """How many training steps that was: a loop makes several in one run."""
        return self._times(lambda purpose: purpose == TRAINS)

    def _times(self, counts: Callable[[str], bool]) -> int:
        return sum(each.times for each in list(self.calls.seen) if counts(each.purpose))

    @property
    def lacks_optimizer(self) -> bool:
        """Whether nothing of it runs on the NPU."""
        return any(each.rule == "NPU801" for each in self.findings)

    @property
    def of_the_npu(self) -> Tuple[Diagnostic, ...]:
        """The findings, but for those of a session that is meant for the CPU.

        A session without NpuOptimizer that trains lacks it, and nothing else matters; one that
        does not train may be there to read data, or to evaluate.
        """
        if not self.lacks_optimizer:
            calls = self.calls
            return (*self.findings, *calls.grown, *conclude(self.options, list(calls.seen)))
        missing = (each for each in self.findings if each.rule == "NPU801")
        return tuple(missing) if self.trains else ()

    def to_dict(self) -> Dict[str, Any]:
        """The object of a report."""
        return {
            "path": self.place.path,
            "line": self.place.line,
            "options": {name: _plain(value) for name, value in self.options.items()},
            "findings": [each.localized(language()).to_dict() for each in self.findings],
            "runs": self.runs,
            "steps": self.steps,
            "not_looked_at": [
                {"path": place.path, "line": place.line, "why": str(why)}
                for why, place in list(self.calls.unseen.items())
            ],
            "calls": [each.to_dict() for each in list(self.calls.seen)[:_MOST_CALLS]],
        }


_MOST_CALLS = 100


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def see(
    session: Any, is_mine: Callable[[str], bool], doings: Optional[Doings] = None
) -> SeenSession:
    """What there is to see of a session that the script makes now.

    Args:
        session: the session.
        is_mine: whether a file is the script, or a module beside it.
        doings: what this rank does; None for a job of one.
    """
    place = script_place()
    config = getattr(session, "_config", None)
    if config is None:
        return SeenSession(place, {}, (), Calls(None, is_mine))
    settings = decode(config)
    options = {
        name: None if setting.value is UNKNOWN else setting.value
        for name, setting in settings.entries.items()
    }
    where = place._asdict()
    findings = tuple(replace(each, **where) for each in judge(settings))
    is_for_npu = all(each.rule != "NPU801" for each in findings)
    is_strict = not getattr(config, "allow_soft_placement", True)
    calls = Calls(options if is_for_npu else None, is_mine, doings, is_strict)
    return SeenSession(place, options, findings, calls)
