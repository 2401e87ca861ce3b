"""What a record holds: options with their origins, defaults, and what is around a job."""

import hashlib
import json
import os
import sys
from datetime import datetime, timezone
from typing import Any, Dict, Mapping, Optional

from npu_config.catalogue import OPTIONS, known_to
from npu_config.catalogue.kinds import FilePath
from npu_config.catalogue.layout import RECORD_VERSION
from npu_config.core.message import phrase
from npu_config.core.paths import path_name, reading
from npu_config.core.settings import UNKNOWN, Settings
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.version import __version__
from npu_config.launch.environment.variables import VARIABLES
from npu_config.rules.origin import Origin
from npu_config.rules.overrides import overrides_in
from npu_config.rules.toolkit import on_this_host
from npu_config.rules.value import ConfigValue

__all__ = ["content_of", "hash_of", "options_of", "rank_of", "render"]

_LONGEST = 64 * 1024
_LARGEST = 64 * 1024 * 1024
_FILES = tuple(
    name
    for name, option in OPTIONS.items()
    if isinstance(option.kind, FilePath) and option.kind.what == "file"
)
"""The options that name a file which the job reads."""


def content_of(
    source: Any,
    script: Optional[str] = None,
    environ: Optional[Mapping[str, str]] = None,
    now: Optional[datetime] = None,
) -> Dict[str, Any]:
    """The record of a configuration in this process.

    Args:
        source: a NpuConfig, a ConfigProto or Settings.
        script: the script of the job; None: the one that Python was started with.
        environ: its environment; None: that of this process.
        now: the time; None: the present.

    Raises:
        TypeError: ``source`` is none of these.
    """
    environ = os.environ if environ is None else environ
    script = _main() if script is None else path_name(script)
    target, options, origins = options_of(source, script)
    texts = {file.path: file.text for file in getattr(source, "side_files", {}).values()}
    tensorflow = getattr(sys.modules.get("tensorflow"), "__version__", None)
    snapshot = on_this_host(target, environ).snapshot
    table = environ.get("RANK_TABLE_FILE")
    return {
        "version": RECORD_VERSION,
        "tool": "npu_config " + __version__,
        "time": stamp(now),
        "target": target_of(target),
        "adapter": None if snapshot is None else snapshot.adapter,
        "tensorflow": None if tensorflow is None else str(tensorflow),
        "rank": rank_of(environ),
        "options": options,
        "defaults": defaults_of(target, options),
        "origins": {name: origin._asdict() for name, origin in origins.items()},
        "environment": {name: environ[name] for name in VARIABLES if name in environ},
        "side_files": _side_files(options, texts),
        "rank_table": _digest(table) if table else None,
        "script": None if script is None else _digest(script),
        "end": None,
    }


def stamp(now: Optional[datetime] = None) -> str:
    """A time in UTC, to the second."""
    now = datetime.now(timezone.utc) if now is None else now
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def rank_of(environ: Mapping[str, str]) -> int:
    """The rank of this process; 0 where nothing says another one."""
    text = environ.get("RANK_ID", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0


def options_of(source: Any, script: Optional[str] = None) -> Any:
    """The target of a configuration, its options as they go on the wire, and their origins."""
    if isinstance(source, ConfigValue):
        return source.target, source.to_dict(), dict(source.origins)
    if isinstance(source, Settings):
        from npu_config.rules.origin import effective, origin_of

        options = {
            each.option: each.value if each.given is None else each.given
            for each in effective(source)
        }
        origins = {name: origin_of(each, source) for name, each in source.entries.items()}
        return ANY_TARGET, {n: v for n, v in options.items() if n in origins}, origins
    if getattr(getattr(source, "DESCRIPTOR", None), "name", None) != "ConfigProto":
        text = "expected a NpuConfig or a ConfigProto, got {}"
        raise TypeError(phrase(text, type(source).__name__))
    from npu_config.proto import decode

    entries = decode(source).entries
    options = {n: each.value for n, each in entries.items() if each.value is not UNKNOWN}
    origins = dict.fromkeys(options, Origin("script", script, None, "ConfigProto"))
    for override in overrides_in(os.environ):
        if override.name in origins:
            origins[override.name] = Origin("set", by=override.text)
    return ANY_TARGET, options, origins


def defaults_of(target: Target, options: Mapping[str, Any]) -> Dict[str, Any]:
    """The defaults of the version, of the options that are not set."""
    return {
        name: known.to_wire(known.option.default)
        for name, known in known_to(target.version).items()
        if name not in options and known.option.is_read and known.option.default is not None
    }


def target_of(target: Target) -> Optional[Dict[str, Optional[str]]]:
    """A target as a record and ``show`` have it; None: any."""
    parts = {
        "product": None if target.product is None else target.product.value,
        "mode": target.mode,
        "cann": target.cann,
        "adapter": target.adapter,
    }
    return parts if any(parts.values()) else None


def _main() -> Optional[str]:
    """The script that Python was started with."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return path if isinstance(path, str) and os.path.isfile(path) else None


def _side_files(options: Mapping[str, Any], texts: Mapping[str, str]) -> Dict[str, Any]:
    """The files that options name: those that are there, and those that come with a builder."""
    found: Dict[str, Any] = {}
    for name in _FILES:
        path = options.get(name)
        if not isinstance(path, str) or not path:
            continue
        written = path in texts
        data = texts[path].encode("utf-8", "surrogateescape") if written else _read(path)
        if data is not None:
            found[path] = {
                "sha256": hashlib.sha256(data).hexdigest(),
                "text": _text(data),
                **({"written": True} if written else {}),
            }
    return found


def _text(data: bytes) -> Optional[str]:
    try:
        return data.decode("utf-8") if len(data) <= _LONGEST else None
    except UnicodeDecodeError:
        return None


def _digest(path: str) -> Optional[Dict[str, Optional[str]]]:
    data = _read(path)
    digest = None if data is None else hashlib.sha256(data).hexdigest()
    return {"path": os.path.abspath(path), "sha256": digest}


def _read(path: str) -> Optional[bytes]:
    try:
        with open(path, "rb", opener=reading) as stream:
            return stream.read(_LARGEST)
    except (OSError, ValueError):
        return None


def hash_of(options: Mapping[str, Any]) -> str:
    """A short name of a set of options: equal ones have the same."""
    text = json.dumps(dict(options), sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def render(content: Mapping[str, Any]) -> str:
    """The text of a record."""
    return json.dumps(content, indent=1) + "\n"
