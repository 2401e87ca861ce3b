"""The layout of a configuration file: its version, its target, its groups of options."""

from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple

from npu_config.catalogue import PAGES

VERSION = 1
RECORD_VERSION = 1
"""Of the record of a job."""

EXTENDS = "extends"
HEADER_KEYS = ("version", EXTENDS, "target")
TARGET_KEYS = ("product", "mode", "cann", "adapter")


class OptionGroup(NamedTuple):
    """The options of one page of the vendor's documentation, under the key that files use.

    ``aliases`` are other keys that are accepted; ``title`` is the name of the page.
    """

    key: str
    aliases: Tuple[str, ...]
    title: str
    options: Tuple[str, ...]


_KEYS = {"accuracy_tuning": "precision", "accuracy_comparison": "dump", "exception": "timeouts"}


def _groups() -> Tuple[OptionGroup, ...]:
    groups = []
    for page in PAGES:
        key = _KEYS.get(page.name, page.name)
        aliases = () if key == page.name else (page.name,)
        groups.append(OptionGroup(key, aliases, page.title, tuple(page.options)))
    return tuple(groups)


GROUPS: Tuple[OptionGroup, ...] = _groups()
"""In the order of the catalogue."""

GROUP_OF_KEY: Mapping[str, OptionGroup] = {
    key: group for group in GROUPS for key in (group.key, *group.aliases)
}
GROUP_OF_OPTION: Mapping[str, OptionGroup] = {
    name: group for group in GROUPS for name in group.options
}


def grouped(names: Sequence[str]) -> List[Tuple[OptionGroup, List[str]]]:
    """The groups that have one of the names, each with its names, in catalogue order."""
    given = set(names)
    found: Dict[str, List[str]] = {
        group.key: [name for name in group.options if name in given] for group in GROUPS
    }
    return [(group, found[group.key]) for group in GROUPS if found[group.key]]
