"""From a training script to one configuration: what is certain, and remarks on the rest."""

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import attr

from npu_config.core.message import join, localized
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.rules.reading import Reading
from npu_config.writers.run_config import changed_by_defaults

MARKS = {"yaml": "# ", "toml": "# ", "pbtxt": "# ", "python": "# ", "env": "# "}
"""Formats that have comments, and how one begins."""


class Certain(NamedTuple):
    """What a script sets, unknown where no one value is certain; and the unknown in words."""

    reading: Reading
    remarks: Tuple[str, ...]


def certain(reading: Reading) -> Certain:
    """What a script certainly configures."""
    ways = [
        _with_defaults(variant.settings)
        for variant in getattr(reading, "variants", ())
        if variant.shadowed_by is None and variant.settings.entries
    ]
    entries: Dict[str, Setting] = {}
    remarks: List[str] = []
    for name in dict.fromkeys(name for way in ways for name in way.entries):
        found = [way.entries.get(name) for way in ways]
        setting = _agreed(found)
        if setting is not None:
            entries[name] = setting
        else:
            entries[name] = next(s for s in found if s is not None)._replace(value=UNKNOWN)
            remarks.append("{}: {}".format(name, join("; ", _ways(found))))
    is_open = any(way.open for way in ways)
    if is_open:
        remarks.append("the script may set more options, whose names are known at run time only")
    settings = (Settings(entries, SourceKind.FILE, is_open),) if ways else ()
    return Certain(attr.evolve(reading, settings=settings), tuple(remarks))


def _with_defaults(way: Settings) -> Settings:
    """The settings, with what NPURunConfig sets by itself and a session does not."""
    if way.source_kind is not SourceKind.RUN_CONFIG or way.open:
        return way
    absent = changed_by_defaults(way.entries)
    defaults = {name: Setting(default, None, way.place) for name, _, default in absent}
    return way._replace(entries={**way.entries, **defaults})


def _agreed(found: List[Optional[Setting]]) -> Optional[Setting]:
    """The setting that all ways through the script have; None when they differ."""
    first = found[0]
    if first is None or first.value is UNKNOWN:
        return None
    same = all(s is not None and _same(s.value, first.value) for s in found)
    return first if same else None


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _ways(found: List[Optional[Setting]]) -> Iterator[str]:
    """What the ways through the script set, each once."""
    words = []
    for setting in found:
        if setting is None:
            words.append("not set on some paths")
            continue
        line = "" if setting.place.line is None else localized(" (line {})", setting.place.line)
        if setting.value is UNKNOWN:
            words.append(localized("known at run time only{}", line))
        else:
            words.append("{!r}{}".format(setting.value, line))
    return iter(dict.fromkeys(words))


def remarks_for(to: str, remarks: Tuple[str, ...]) -> str:
    """Remarks as the comments of a format; empty for a format without comments."""
    mark = MARKS.get(to)
    if mark is None or not remarks:
        return ""
    lines = ["Not certain from the script alone:", *remarks]
    return "\n" + "".join("{}{}\n".format(mark, line) for line in lines)
