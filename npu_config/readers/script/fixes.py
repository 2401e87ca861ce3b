"""Corrections of assignments that are mechanical and safe: exactly which characters change."""

from typing import Optional, Sequence

import attr

from npu_config.catalogue import OPTIONS, Refused
from npu_config.diagnostics import Diagnostic, Edit, Fix, Place
from npu_config.readers.script import constants
from npu_config.readers.script.constants import is_known
from npu_config.readers.script.objects import Block, Entry, Fails
from npu_config.readers.script.paths import Path
from npu_config.readers.script.source import Source
from npu_config.rules.values import FORMER_NAMES


def with_fix(diagnostic: Diagnostic, path: Path, source: Source) -> Diagnostic:
    """The finding with a fix where one is safe, and without one that is not."""
    entry = _entry_at(diagnostic, path)
    fix = diagnostic.fix
    if entry is not None and diagnostic.name == "wrong-field":
        fix = _other_field(entry)
    elif entry is not None and diagnostic.name == "unknown-option":
        fix = _rename(entry, fix, path.outcome.blocks, source)
    if fix is not None and not _is_exact(fix, source):
        fix = None
    return diagnostic if fix is diagnostic.fix else attr.evolve(diagnostic, fix=fix)


def replacement(place: Place, text: str, title: str) -> Fix:
    """A fix that puts ``text`` at ``place``."""
    return Fix(title, (_edit(place, text),))


def _edit(place: Place, text: str) -> Edit:
    return Edit(
        place.line or 1, place.column or 1, place.end_line or 1, place.end_column or 1, text
    )


def _entry_at(diagnostic: Diagnostic, path: Path) -> Optional[Entry]:
    """The assignment that a finding is about."""
    for block in path.outcome.blocks:
        entries = list(block.entries.values()) + block.shadowed
        for entry in entries:
            if entry.name == diagnostic.option and diagnostic.place in (
                entry.place,
                entry.name_place,
            ):
                found: Entry = entry
                return found
    return None


def _other_field(entry: Entry) -> Optional[Fix]:
    """Write the field that the adapter reads, where the value fits it as it stands."""
    option = OPTIONS[entry.name]
    if not is_known(entry.raw) or entry.built_in:
        return None
    value = constants.stored(entry.raw, option.wire)
    if isinstance(value, Fails):
        return None
    if option.wire == "b" and type(entry.raw) is int and entry.raw not in (0, 1):
        return None
    try:
        option.kind.read(value)
    except Refused:
        return None
    title = "write .{} in place of .{}".format(option.wire, entry.wire)
    return replacement(entry.field_place, option.wire, title)


def _rename(
    entry: Entry, fix: Optional[Fix], blocks: Sequence[Block], source: Source
) -> Optional[Fix]:
    """Rename an option; only a plain literal that holds the name alone is changed."""
    if entry.built_in or source.at(entry.name_place) != entry.name:
        return None
    if fix is not None:
        name = fix.edits[0].text
        if any(name in block.entries for block in blocks if entry.name in block.entries):
            return None
        return replacement(entry.name_place, name, fix.title)
    name = "experimental_" + entry.name
    option = OPTIONS.get(name) if entry.name in FORMER_NAMES else None
    if option is None or option.wire != entry.wire:
        return None
    return replacement(entry.name_place, name, 'rename to "{}"'.format(name))


def _is_exact(fix: Fix, source: Source) -> bool:
    """True when the edits count lines as every editor does, and stay within one line each."""
    return not source.has_odd_newlines and all(edit.line == edit.end_line for edit in fix.edits)
