"""Corrections of assignments that are mechanical and safe: exactly which characters change."""

import re
from typing import Optional, Sequence, Union

import attr

from npu_config.catalogue import OPTIONS, InvalidValue, Option
from npu_config.core.diagnostics import Diagnostic, Fix, Place
from npu_config.core.message import phrase
from npu_config.rules.names import FORMER_NAMES
from npu_config.script import constants
from npu_config.script.constants import is_known
from npu_config.script.objects import Block, Entry, Fails
from npu_config.script.paths import Path
from npu_config.script.source import ScriptSource
from npu_config.script.state import Run
from npu_config.text.words import near

Value = Union[bool, int, float, str]
_DIGITS = re.compile("[0-9]+")


def with_fix(diagnostic: Diagnostic, path: Path, source: ScriptSource) -> Diagnostic:
    """The finding with a fix where one is safe, and without one that is not."""
    entry = _entry_at(diagnostic, path.outcome)
    fix = diagnostic.fix
    if diagnostic.option is None and fix is not None:
        fix = _member(diagnostic.place, fix, source) if fix.value is not None else None
    elif fix is not None and fix.value is not None and diagnostic.name != "wrong-field":
        fix = written(diagnostic.place, fix.value, path.outcome, source)
    elif entry is not None and diagnostic.name == "wrong-field":
        fix = _other_field(entry, fix, path.outcome, source)
    elif entry is not None and diagnostic.name == "unknown-option":
        fix = _rename(entry, fix, path.outcome.blocks, source)
    elif fix is not None and diagnostic.name == "unknown-option":
        fix = fix if source.at(diagnostic.place) == diagnostic.option else None
    if fix is not None and not _is_exact(fix, source):
        fix = None
    return diagnostic if fix is diagnostic.fix else attr.evolve(diagnostic, fix=fix)


def _entry_at(diagnostic: Diagnostic, run: Run) -> Optional[Entry]:
    """The assignment that a finding is about."""
    place = diagnostic.place
    return next(
        (
            entry
            for entry in run.entries_at(place)
            if entry.name == diagnostic.option and place in (entry.place, entry.name_place)
        ),
        None,
    )


def _member(place: Place, fix: Fix, source: ScriptSource) -> Optional[Fix]:
    """Write another member of the enumeration that is named at a place."""
    owner, dot, _ = source.at(place).rpartition(".")
    if not dot or not all(name.isidentifier() for name in owner.split(".")):
        return None
    text = "{}.{}".format(owner, fix.value)
    return Fix.writing(place, text)


def written(place: Place, value: Value, run: Run, source: ScriptSource) -> Optional[Fix]:
    """Write a value where a literal is that is the value of one option alone."""
    entries = [entry for entry in run.entries_at(place) if entry.place == place]
    if len({entry.name for entry in entries}) > 1 or any(entry.built_in for entry in entries):
        return None
    return Fix.writing(place, _as_in_script(source.at(place), value, in_field=bool(entries)))


_LITERAL = r"""[bBuU]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_IN_CALL = re.compile(r"((?:\w+\.)*as_bytes\(\s*){}(\s*\))\Z".format(_LITERAL))
_PLAIN = re.compile(r"(?:{}|True|False|-?[0-9]+(?:\.[0-9]*)?)\Z".format(_LITERAL))


def _as_in_script(before: str, value: Value, in_field: bool) -> Optional[str]:
    """A value in the form of the literal that it takes the place of; None for what is none."""
    call, plain = _IN_CALL.match(before), _PLAIN.match(before)
    if not call and not plain:
        return None
    if not isinstance(value, str):
        return repr(value)
    if not value.isascii() or not value.isprintable() or "\\" in value or '"' in value:
        return None
    if call:
        return '{}"{}"{}'.format(call.group(1), value, call.group(2))
    return '{}"{}"'.format("b" if in_field else "", value)


def _other_field(
    entry: Entry, fix: Optional[Fix], run: Run, source: ScriptSource
) -> Optional[Fix]:
    """Write the field that the adapter reads, and the value as it takes it.

    The option is named where the field is: otherwise the field may be that of other options, too.
    A value that is no literal stays as it is, where everything that comes to it fits.
    """
    option = OPTIONS[entry.name]
    if entry.built_in or not _names_field(entry, source):
        return None
    if source.at(entry.name_place) != entry.name:
        return None
    field = Fix.writing(
        entry.field_place,
        option.wire,
        phrase("write .{} in place of .{}", option.wire, entry.wire),
    )
    is_number = type(entry.raw) is int and entry.raw not in (0, 1)
    if fix is not None and fix.value is not None and not (entry.wire == "b" and is_number):
        value = written(entry.place, fix.value, run, source)
        if value is not None and field is not None:
            title = phrase("write .{} = {}", option.wire, value.edits[0].text)
            return Fix(title, field.edits + value.edits)
    for other in run.entries_at(entry.field_place):
        if other.field_place == entry.field_place and (
            not is_known(other.raw)
            or isinstance(constants.stored(other.raw, option.wire), Fails)
            or not _fits(other, option)
        ):
            return None
    return field


def _names_field(entry: Entry, source: ScriptSource) -> bool:
    """True when an assignment writes its field after a dot, and not as text or as an argument."""
    place = entry.field_place
    if source.at(place) != entry.wire:
        return False
    before = source.lines[(place.line or 1) - 1][: (place.column or 1) - 1].rstrip()
    if not before and place.line and place.line > 1:
        before = source.lines[place.line - 2].rstrip().rstrip("\\").rstrip()
    return before.endswith(".")


def _fits(entry: Entry, option: Option) -> bool:
    """True when the value of an assignment is legal for an option, as far as it is known."""
    if not is_known(entry.raw):
        return option.wire == entry.wire
    value = constants.stored(entry.raw, option.wire)
    if isinstance(value, Fails):
        if not isinstance(entry.raw, str) or option.wire != "s":
            return False
        value = entry.raw
    if option.wire == "b" and type(entry.raw) is int and entry.raw not in (0, 1):
        return False
    try:
        option.kind.parse(value)
    except InvalidValue:
        return False
    return True


def _rename(
    entry: Entry, fix: Optional[Fix], blocks: Sequence[Block], source: ScriptSource
) -> Optional[Fix]:
    """Rename an option; only a plain literal that holds the name alone is changed.

    What nothing read before counts from then on: the value must be legal there, and the name must
    be the only one that can be meant.
    """
    if entry.built_in or source.at(entry.name_place) != entry.name:
        return None
    if fix is not None:
        name = fix.edits[0].text
        own = [block.entries for block in blocks if entry.name in block.entries]
        if any(_is_meant(name, other) for names in own for other in names if other != entry.name):
            return None
        if _DIGITS.findall(name) != _DIGITS.findall(entry.name):
            return None
        return (
            Fix.writing(entry.name_place, name, fix.title) if _fits(entry, OPTIONS[name]) else None
        )
    name = "experimental_" + entry.name
    option = OPTIONS.get(name) if entry.name in FORMER_NAMES else None
    if option is None or option.wire != entry.wire or not _fits(entry, option):
        return None
    return Fix.writing(entry.name_place, name, phrase('rename to "{}"', name))


def _is_meant(name: str, other: str) -> bool:
    """True when another entry is the option already, or may be a slip for it, too."""
    return other == name or (other not in OPTIONS and near(other, list(OPTIONS)) == name)


def _is_exact(fix: Fix, source: ScriptSource) -> bool:
    """True when the edits count lines as every editor does, and stay within one line each."""
    return not source.has_odd_newlines and all(edit.line == edit.end_line for edit in fix.edits)
