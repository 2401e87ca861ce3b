"""Readers: from a file to settings, whatever its format.

A reader never raises for any content: what is wrong is a diagnostic.
"""

import importlib
import os
from typing import Optional, Tuple, Union

from npu_config.diagnostics import Diagnostic, Place
from npu_config.files import PathLike
from npu_config.readers import _rules as rules
from npu_config.readers._files import decode, load, too_large
from npu_config.readers._formats import (
    FORMATS,
    LARGEST,
    Format,
    is_ours,
    kind_by_content,
    kind_by_suffix,
)
from npu_config.readers._reading import Reading

__all__ = ["KINDS", "LARGEST", "Reading", "read", "read_if_ours"]

KINDS: Tuple[str, ...] = tuple(FORMATS)
"""What a file can be read as."""


def read(
    path: PathLike, as_kind: Optional[str] = None, content: Union[bytes, str, None] = None
) -> Reading:
    """Read one file.

    Args:
        path: the file; with ``content``, only its name in diagnostics.
        as_kind: one of :data:`KINDS`; None: by the suffix, else by the content.
        content: what to read in place of the file.

    Raises:
        ValueError: ``as_kind`` is none of :data:`KINDS`.
    """
    name = os.fspath(path)
    if as_kind is not None and as_kind not in FORMATS:
        raise ValueError('unknown kind "{}"; legal: {}'.format(as_kind, ", ".join(KINDS)))
    kind = as_kind or kind_by_suffix(name)
    limit = LARGEST if kind is None else FORMATS[kind].limit
    if content is None:
        loaded = load(name, limit)
        if isinstance(loaded, Diagnostic):
            return _nothing(kind, name, loaded)
        content = loaded
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    if kind is None:
        kind = _kind_of(data)
        if kind is None:
            return _nothing(None, name, _unknown(name))
    entry = FORMATS[kind]
    if len(data) > entry.limit:
        return _nothing(kind, name, too_large(name, entry.limit))
    return _read_as(entry, data, name)


def read_if_ours(
    path: PathLike, as_kind: Optional[str] = None, content: Optional[bytes] = None
) -> Optional[Reading]:
    """Read a file that nobody named, found in a directory; None when it is not for us.

    A configuration is ours when it has a version and sets an option, a ConfigProto when it
    names NpuOptimizer.  A file that cannot be read is None, too, unless its name promises a
    ConfigProto.

    Args:
        path: the file.
        as_kind: as in :func:`read`.
        content: as in :func:`read`.
    """
    name = os.fspath(path)
    kind = as_kind or kind_by_suffix(name)
    if kind is None:
        return None
    if content is None:
        loaded = load(name, FORMATS[kind].limit)
        if isinstance(loaded, Diagnostic):
            return None
        content = loaded
    return read(name, kind, content) if is_ours(kind, content) else None


def _read_as(entry: Format, data: bytes, path: str) -> Reading:
    read_content = importlib.import_module("npu_config.readers." + entry.module).read
    if entry.binary:
        reading: Reading = read_content(data, path)
        return reading
    text, fault = decode(data, path)
    if fault is not None:
        return _nothing(entry.kind, path, fault)
    reading = read_content(text, path)
    return reading


def _kind_of(data: bytes) -> Optional[str]:
    text, _ = decode(data, None)
    if text is None or "\0" in text:
        return "pb" if b"NpuOptimizer" in data else None
    return kind_by_content(text)


def _unknown(path: str) -> Diagnostic:
    return rules.UNKNOWN_KIND.diagnostic(
        "neither the name nor the content says what this is",
        Place(path),
        help="say it with --as {}".format("|".join(KINDS)),
    )


def _nothing(kind: Optional[str], path: str, diagnostic: Diagnostic) -> Reading:
    return Reading(kind or "", path, diagnostics=(diagnostic,), skipped=True)
