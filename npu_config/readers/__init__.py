"""Readers: from a file to settings, whatever its format.

A reader never raises for any content: what is wrong is a diagnostic.
"""

import importlib
import re
from typing import Optional, Tuple, Union

import attr

from npu_config.core.arguments import path_name
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.files import PathLike
from npu_config.core.message import listed, phrase
from npu_config.readers import _rules as rules
from npu_config.readers.evidence import KINDS as CONFIGURATIONS
from npu_config.readers.evidence import Signs, signs
from npu_config.readers.formats import (
    FORMATS,
    LARGEST,
    SIDE_FILES,
    Format,
    kind_by_content,
    kind_by_suffix,
    other_kind,
    placeholder,
    searched,
)
from npu_config.readers.ours import Decision, is_ours
from npu_config.rules.reading import ANOTHER_PROGRAM, CANNOT_BE_READ, TEMPLATE, Reading
from npu_config.text.guard import guarded
from npu_config.text.loading import BYTES, decode, load, too_large
from npu_config.text.source import Source
from npu_config.text.words import shown

__all__ = ["KINDS", "LARGEST", "Decision", "Reading", "read", "read_found", "read_if_ours"]

KINDS: Tuple[str, ...] = tuple(FORMATS)
"""What a file can be read as."""

_TOP = 65536


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
    name = path_name(path)
    if as_kind is not None and as_kind not in FORMATS:
        raise ValueError(phrase('unknown kind "{}"; legal: {}', as_kind, listed(KINDS)))
    try:
        with guarded(name):
            return _read(name, as_kind or kind_by_suffix(name), content, as_kind is None)
    except NpuConfigError as error:
        return _nothing(as_kind, name, *error.diagnostics)


def _read(
    name: str, kind: Optional[str], content: Union[bytes, str, None], guess: bool
) -> Reading:
    if content is None:
        loaded = load(name, LARGEST if kind is None else FORMATS[kind].limit)
        if isinstance(loaded, Diagnostic):
            return _nothing(kind, name, loaded)
        content = loaded
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    text: Optional[str] = None
    if guess and kind not in ("script", "shell"):
        other = other_kind(decode(data[:_TOP], name)[0], data, name)
        if other is not None:
            message = phrase("this is {}, which is not checked here", other.what)
            rule = rules.file_of_another_kind if other.is_mistake else rules.not_checked_here
            diagnostic = rule.diagnostic(message, Place(name), help=other.help)
            return _nothing(None, name, diagnostic, why=other.what)
    if kind is None or not FORMATS[kind].binary:
        text, fault = decode(data, name)
        if kind is None:
            kind = _kind_of(text, data, name)
        if fault is not None and kind is not None and _takes_any_bytes(kind):
            reading = _read_as(FORMATS[kind], data.decode(BYTES), data, name)
            return attr.evolve(reading, encoding=BYTES)
        if kind is None or (fault is not None and not FORMATS[kind].binary):
            if fault is None:
                return _nothing(kind, name, _unknown(name), why="of no kind that is checked")
            return _nothing(kind, name, fault)
    entry = FORMATS[kind]
    if len(data) > entry.limit:
        return _nothing(kind, name, too_large(name, entry.limit))
    if text is not None and (kind == "json" or (entry.one_of_several and _is_object(text))):
        hole = _template(text)
        if hole is not None:
            message = "a template: {} is filled in later; what comes of it can be checked"
            place = Source(text, name).place(*hole.span())
            note = rules.template.diagnostic(phrase(message, shown(hole.group())), place)
            return Reading(kind, name, diagnostics=(note,), text=text, unchecked=TEMPLATE)
    if guess and text is not None and kind in CONFIGURATIONS:
        found = signs(text, kind, name, named=True)
        if found.is_foreign:
            return _nothing(kind, name, _foreign(found, name), why=ANOTHER_PROGRAM)
        reading = _read_as(entry, text, data, name)
        return attr.evolve(reading, fixable=bool(found.evidence) or not found.foreign)
    return _read_as(entry, text, data, name)


def read_found(
    path: PathLike, as_kind: Optional[str] = None, content: Optional[bytes] = None
) -> Union[Reading, Decision]:
    """Read a file that nobody named, found in a directory; or say why it is passed over.

    Args:
        path: the file.
        as_kind: as in :func:`read`.
        content: as in :func:`read`.
    """
    name = path_name(path)
    largest = searched(name)
    if content is None and largest:
        loaded = load(name, largest)
        if isinstance(loaded, Diagnostic):
            return Decision(False, loaded.message, nearly=largest == LARGEST)
        content = loaded
    decision = is_ours(name, content or b"")
    return read(name, as_kind, content) if decision else decision


def read_if_ours(
    path: PathLike, as_kind: Optional[str] = None, content: Optional[bytes] = None
) -> Optional[Reading]:
    """As :func:`read_found`; None for what is passed over."""
    found = read_found(path, as_kind, content)
    return found if isinstance(found, Reading) else None


def _is_object(text: str) -> bool:
    from npu_config.sidefiles.format import Sample

    return Sample(text).is_json


def _template(text: str) -> "Optional[re.Match[str]]":
    """A placeholder in a text that is not JSON because of it."""
    hole = placeholder(text)
    if hole is not None:
        import json

        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return hole
    return None


def _read_as(entry: Format, text: Optional[str], data: bytes, path: str) -> Reading:
    reader = importlib.import_module(entry.module)
    content = data if entry.binary else text
    reading: Reading = (
        reader.read(content, path, entry.kind)
        if entry.one_of_several
        else reader.read(content, path)
    )
    return reading


def _kind_of(text: Optional[str], data: bytes, path: str) -> Optional[str]:
    """The kind of a file whose name does not say it."""
    if text is not None and "\0" not in text:
        return kind_by_content(text, path)
    if b"NpuOptimizer" in data or b"\0" in data:
        return "pb" if b"NpuOptimizer" in data else None
    kind = kind_by_content(data.decode(BYTES), path)
    return kind if kind is not None and _takes_any_bytes(kind) else None


def _takes_any_bytes(kind: str) -> bool:
    """Whether the runtime reads files of this kind byte by byte."""
    from npu_config.readers.side_file import format_of

    return kind in SIDE_FILES and format_of(kind).any_bytes


def _unknown(path: str) -> Diagnostic:
    return rules.unknown_file_kind.diagnostic(
        "neither the name nor the content says what this is",
        Place(path),
        help=phrase("say it with --as {}", "|".join(KINDS)),
    )


def _foreign(found: Signs, path: str) -> Diagnostic:
    """What is said of a file that is named and looks like one of another program."""
    first = listed(map(shown, found.foreign[:3]))
    ours = (*found.options, *found.common)
    if found.misplaced is not None and not ours:
        message = phrase(
            "this is a file of another program, or the options under {}, which is no group of "
            "options, are at the wrong place",
            shown(found.misplaced),
        )
        help = phrase("move the options under {} to a file of their own", shown(found.misplaced))
        return rules.foreign_file.diagnostic(message, Place(path), help=help)
    if ours:
        message = phrase(
            "this is a file of another program: at its top only {} can be an option, "
            "others are {}",
            listed(map(shown, ours[:3])),
            first,
        )
    else:
        message = phrase(
            "this is a file of another program: none of its keys at the top is an option or a "
            "group of options ({})",
            first,
        )
    return rules.foreign_file.diagnostic(message, Place(path))


def _nothing(
    kind: Optional[str], path: str, *diagnostics: Diagnostic, why: str = CANNOT_BE_READ
) -> Reading:
    return Reading(kind or "", path, diagnostics=diagnostics, unchecked=why)
