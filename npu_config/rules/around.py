"""What an input is judged for, and what is known around it."""

from typing import AbstractSet, Any, List, Mapping, Optional

import attr

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import phrase
from npu_config.core.settings import Settings
from npu_config.core.target import Target, layered
from npu_config.rules.engine import judge


def _is_target(_: object, __: object, value: Any) -> None:
    if value is not None and not isinstance(value, Target):
        raise TypeError(
            phrase('target must be a Target, e.g. Target(product="atlas_a2"), not {!r}', value)
        )


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Around:
    """What a caller knows of an input that the input does not say itself.

    Args:
        target: replaces what the input says of its target, part by part.
        default: holds where neither ``target`` nor the input says anything.
        environ: environment variables to judge with; None: they are not looked at.
        on_host: look at the file system, too: paths must exist and be usable.
    """

    target: Optional[Target] = attr.ib(default=None, validator=_is_target)
    default: Optional[Target] = attr.ib(default=None, validator=_is_target)
    environ: Optional[Mapping[str, str]] = None
    on_host: bool = False

    def target_of(
        self, own: Optional[Target] = None, unknown: AbstractSet[str] = frozenset()
    ) -> Target:
        """What an input is for that says ``own``, and says ``unknown`` parts unreadably."""
        return layered(self.target, own, self.default, unknown)

    def judge(self, settings: Settings, own: Optional[Target] = None) -> List[Diagnostic]:
        """What the rules find in settings whose source says ``own`` of its target."""
        return judge(settings, self.target_of(own), self.environ, self.on_host)


ALONE = Around()
"""Nothing is known."""

__all__ = ["ALONE", "Around"]
