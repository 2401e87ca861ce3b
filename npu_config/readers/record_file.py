"""Records of jobs: what a job really ran with, as ``npu_config.record`` writes it, with places."""

from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from npu_config.catalogue.layout import RECORD_VERSION as VERSION
from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase
from npu_config.core.settings import Setting, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.readers._rules import record_not_read
from npu_config.rules.origin import Origin
from npu_config.rules.reading import Reading
from npu_config.text import json

__all__ = ["PARTS", "document", "is_record", "read", "record_not_read"]

PARTS: Mapping[str, Tuple[type, ...]] = {
    "tool": (str,),
    "time": (str,),
    "target": (dict, type(None)),
    "adapter": (str, type(None)),
    "tensorflow": (str, type(None)),
    "rank": (int,),
    "options": (dict,),
    "defaults": (dict,),
    "origins": (dict,),
    "environment": (dict,),
    "side_files": (dict,),
    "rank_table": (dict, type(None)),
    "script": (dict, type(None)),
    "end": (dict, type(None)),
}
"""The keys of a record beside its version, in their order, and what each holds."""

_HEAD = lazy_pattern(r'\ufeff?\s*\{\s*"version"\s*:\s*[\d."]+\s*,\s*"tool"\s*:\s*"npu_config')
_SCALARS = (bool, int, float, str)


def is_record(text: str) -> bool:
    """Whether a text begins as a record does."""
    return _HEAD.match(text[:400]) is not None


def read(text: str, path: Optional[str] = None) -> Reading:
    """Read a record; any text gives a reading."""
    found, value, places = _parsed(text, path)
    entries: Dict[str, Setting] = {}
    origins = value.get("origins", {})
    for name, content in value.get("options", {}).items():
        where: Any = ("options", name)
        place = places.place(where)
        if not isinstance(content, _SCALARS):
            message = phrase('"{}" is neither a number, a boolean nor text', name)
            found.append(record_not_read.diagnostic(message, place, option=name))
            continue
        origin = origins.get(name)
        said = (
            Origin.of(origin) if isinstance(origin, dict) else Origin("record", path, place.line)
        )
        written = _written(value.get("side_files", {}), content)
        name_place = places.key_place(where)
        entries[name] = Setting(content, None, place, name_place, content=written, origin=said)
    whole = Place(path)
    broken = any(each.rule == record_not_read.id for each in found)
    settings = Settings(entries, SourceKind.FILE, open=broken, place=whole)
    return Reading(
        "record",
        path,
        () if broken and not entries else (settings,),
        tuple(found),
        _target(value.get("target")),
        text,
        fixable=False,
    )


def _written(files: Mapping[str, Any], path: Any) -> Optional[str]:
    """The content of a side file that came with the configuration; None for other files."""
    file = files.get(path) if isinstance(path, str) else None
    text = file.get("text") if isinstance(file, dict) and file.get("written") is True else None
    return text if isinstance(text, str) else None


def document(text: str, path: Optional[str] = None) -> Tuple[List[Diagnostic], Dict[str, Any]]:
    """What is wrong with a record, and its parts; those that are wrong are left out."""
    found, value, _ = _parsed(text, path)
    return found, value


def _parsed(text: str, path: Optional[str]) -> Tuple[List[Diagnostic], Dict[str, Any], Any]:
    read = json.read(text, path)
    found = list(read.diagnostics)
    value = read.value if isinstance(read.value, dict) else {}
    faults = list(_faults(value, read.complete and not read.diagnostics))
    for key, message in faults:
        found.append(
            record_not_read.diagnostic(message, read.place((key,) if key in value else ()))
        )
    wrong = {key for key, _ in faults}
    if "version" in wrong:
        return found, {}, read
    return found, {key: value[key] for key in value if key in PARTS and key not in wrong}, read


def _faults(value: Mapping[str, Any], is_whole: bool) -> Iterator[Tuple[str, str]]:
    """The keys that are wrong, and how."""
    version = value.get("version")
    if "version" in value and (type(version) is not int or version != VERSION):
        message = "the record has version {}; the installed npu_config reads only version {}"
        yield "version", phrase(message, str(version)[:20], VERSION)
        return
    for key, types in PARTS.items():
        if key not in value:
            if is_whole and key in ("options", "defaults"):
                yield key, phrase('the record has no "{}"', key)
        elif not isinstance(value[key], types) or (types == (int,) and type(value[key]) is bool):
            yield key, phrase('"{}" of the record does not have the expected content', key)


def _target(value: Any) -> Optional[Target]:
    parts = value if isinstance(value, dict) else {}
    known = {key: parts[key] for key in ("product", "mode", "cann", "adapter") if parts.get(key)}
    try:
        return Target.named(**known) if known else None
    except (TypeError, ValueError):
        return None
