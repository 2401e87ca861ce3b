"""Which adapters read what is set, as it is set: the content of ``npu-config compat``."""

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.catalogue import ALL_OPTIONS, InvalidValue
from npu_config.core.diagnostics import Place
from npu_config.core.settings import UNKNOWN, Setting, Settings
from npu_config.core.versions import SNAPSHOTS

READ, NOT_READ = "read", "not-read"
OTHER_FIELD, VALUE_NOT_KNOWN = "other-field", "value-not-known"


class OptionUse(NamedTuple):
    """One place where an option is set, and what each adapter makes of it.

    ``counts`` is False for options that no adapter has ever read: they keep nothing from running.
    """

    option: str
    place: Place
    verdicts: Tuple[str, ...]
    counts: bool

    def to_dict(self, versions: Sequence[int]) -> Dict[str, Any]:
        """The object of the JSON output."""
        return {
            "option": self.option,
            "path": self.place.path,
            "line": self.place.line,
            "adapters": [
                {
                    "adapter": SNAPSHOTS[version].adapter,
                    "cann": SNAPSHOTS[version].cann,
                    "about": SNAPSHOTS[version].about,
                    "verdict": verdict,
                }
                for version, verdict in zip(versions, self.verdicts)
            ],
        }


def verdict(name: str, setting: Setting, version: int) -> str:
    """What the adapter of a version makes of a setting."""
    option = ALL_OPTIONS.get(name)
    if option is None or not option.is_read or not option.versions.has(version):
        return NOT_READ
    if setting.wire is not None and setting.wire != option.wire_in(version):
        return OTHER_FIELD
    if setting.value is not UNKNOWN:
        try:
            option.parse_in(setting.value, version)
        except InvalidValue:
            return VALUE_NOT_KNOWN
    return READ


def uses(settings: Iterable[Settings], versions: Sequence[int]) -> List[OptionUse]:
    """Every setting, each place once, in order of place."""
    found: Dict[Tuple[str, Place], OptionUse] = {}
    for each in settings:
        for name, setting in each.entries.items():
            if isinstance(name, str):
                option = ALL_OPTIONS.get(name)
                verdicts = tuple(verdict(name, setting, version) for version in versions)
                found.setdefault(
                    (name, setting.place),
                    OptionUse(
                        name,
                        setting.place_of_name,
                        verdicts,
                        option is None or option.is_read,
                    ),
                )
    return sorted(found.values(), key=lambda use: (use.place.line or 0, use.place.column or 0))


def oldest(found: Iterable[OptionUse], versions: Sequence[int]) -> Optional[int]:
    """The oldest of the versions that reads everything as it is; None when there is none."""
    counted = [use for use in found if use.counts]
    for index, version in enumerate(versions):
        if all(use.verdicts[index] == READ for use in counted):
            return version
    return None
