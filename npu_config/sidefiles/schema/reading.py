"""Reading a document by its schema: which keys are missing, which unknown, which values wrong."""

import re
from functools import partial
from itertools import chain
from typing import Any, Dict, NamedTuple, Optional, Sequence

from npu_config.catalogue.kinds import Choice, Int, InvalidValue
from npu_config.core.diagnostics import Severity
from npu_config.core.message import listed, phrase
from npu_config.core.rule import Rule
from npu_config.sidefiles.schema.findings import Findings, dotted, shown
from npu_config.sidefiles.schema.kinds import (
    NOTHING,
    AnyKind,
    Anything,
    BadValueError,
    Items,
    Key,
    Kind,
    Names,
    Object,
    Objects,
    Schema,
    python_of,
)
from npu_config.sidefiles.schema.levels import HOLE, NO_COLUMN, Column, Level, Node, Path
from npu_config.sidefiles.schema.numbers import NumberText
from npu_config.text.json import BROKEN
from npu_config.text.lines import BLANKS
from npu_config.text.words import SLIP, near

_DIGITS = re.compile("[0-9]+")
_WORDS = {str: "text", int: "a whole number", list: "an array", dict: "an object"}


class Rules(NamedTuple):
    """What a document breaks by what is wrong with it."""

    missing: Rule
    unknown: Rule
    type: Rule
    value: Rule


def one_rule(rule: Rule) -> Rules:
    """The rules of a format that has one for its whole structure."""
    return Rules(rule, rule, rule, rule)


class Reader:
    """Reads documents by their schema.

    Args:
        findings: where faults are noted.
        rules: what they break.
        form: what the document is, for the messages: ``"version 1.0"``.
        complete: False when parts were not understood; what is missing may then be there.
    """

    __slots__ = ("complete", "findings", "form", "rules")

    def __init__(self, findings: Findings, rules: Rules, form: str, complete: bool = True) -> None:
        self.findings = findings
        self.rules = rules
        self.form = form
        self.complete = complete

    def read(self, document: Any, schema: Schema) -> Node:
        """Read a document; what could not be read in it before is ``BROKEN``."""
        return self.objects(Level([document]), schema)

    def objects(self, level: Level, schema: Schema) -> Node:
        """Read the objects of one level, and all that is below them."""
        columns = level.uniform_columns()
        if columns is None:
            self._punch_holes(level)
            columns = level.columns()
        self._keys(level, schema, columns)
        node = Node(level, {}, {})
        for name, column in columns.items():
            known = schema.keys.get(name.strip(BLANKS) if schema.trimmed else name)
            if known is None:
                continue
            if name in schema.keys or not isinstance(known.kind, Items):
                self._column(node, name, known, column)
            else:
                self._containers(level, name, known, column)
        return node

    def _punch_holes(self, level: Level) -> None:
        """Note the items that are not objects, and pass over them from now on."""
        for index, item in enumerate(level.items):
            if type(item) is not dict:
                self._wrong_type(level.path(index), item)
                level.items[index] = HOLE

    def _keys(self, level: Level, schema: Schema, columns: Dict[str, Column]) -> None:
        """Note keys that are missing and keys that are not known."""
        unknown = [name for name in columns if name not in schema.keys]
        meant: Dict[str, str] = {}
        for name, key in schema.keys.items():
            if len(columns.get(name, NO_COLUMN).values) == len(level.items) or not self.complete:
                continue
            close = near(name, unknown, SLIP) if unknown else None
            if close is not None:
                meant[close] = name
            if key.required:
                self._missing(level, name, key, close)
        for name in unknown:
            column = columns[name]
            self.findings.keys += len(column.values)
            for value in column.values:
                self.findings.count(value)
            self._unknown(level, schema, name, column, meant.get(name))

    def _missing(self, level: Level, name: str, key: Key, close: Optional[str]) -> None:
        lacking = [
            index
            for index, item in enumerate(level.items)
            if name not in item and item is not HOLE and close not in item
        ]
        if not lacking:
            return
        together = len(lacking) == len(level.items)
        for index in lacking[:1] if together else lacking:
            self.findings.wrong_at(
                self.rules.missing,
                level.path(index),
                '{}{} has no "{}"{}',
                phrase(" (and {:,} more)", len(lacking) - 1)
                if together and len(lacking) > 1
                else "",
                name,
                phrase("; {}", phrase(key.needed_by)) if key.needed_by else "",
                help=phrase('add "{}"', name),
            )

    def _unknown(
        self, level: Level, schema: Schema, name: str, column: Column, meant: Optional[str]
    ) -> None:
        path, *others = [(*level.path(owner), name) for owner in column.owners]
        more = len(others)
        where = phrase("{} (and {:,} more)", dotted(path), more) if more else dotted(path)
        instead: Optional[str] = None
        if meant is not None and all(meant not in level.items[owner] for owner in column.owners):
            instead = '"{}"'.format(meant)
        note = partial(self.findings.add, at_key=True, instead=instead, also=others)
        say = partial(note, self.rules.unknown, path)
        if meant is not None and schema.keys[meant].required:
            words = phrase(" (and {:,} more)", more) if more else ""
            message = phrase('{}{} has no "{}" but "{}"', dotted(path[:-1]), words, meant, name)
            note(self.rules.missing, path, message, phrase('write "{}"', meant))
        elif schema.trimmed and name.strip(BLANKS) in schema.keys:
            message = phrase("{} has blanks around it: it is accepted and not read", shown(name))
            say(message, "remove the blanks", Severity.WARNING)
        elif schema.closed:
            message = phrase("unknown key {}; legal: {}", where, listed(schema.keys))
            say(message, meant=meant or near(name, schema.keys))
        elif meant is not None:
            message = "{} is not read; {} has the keys {}"
            message = phrase(message, where, self.form, listed(schema.keys))
            say(message, severity=Severity.WARNING, meant=meant)
        elif name in schema.elsewhere:
            message = phrase("{} is not read here; {} has it", where, schema.elsewhere[name])
            say(message, severity=Severity.INFO)

    def _column(self, node: Node, name: str, key: Key, column: Column) -> None:
        """Read the values of one key."""
        self.findings.keys += len(column.values)
        kind = key.kind
        if isinstance(kind, Anything):
            for value in column.values:
                self.findings.count(value)
            node.columns[name] = column
            return
        if python_of(kind) is str:
            self.findings.texts += len(column.values)
        if not isinstance(kind, (Object, Objects, Items, Names)):
            node.columns[name] = self.plain(node.level, name, key, column)
            return
        column = self._containers(node.level, name, key, column)
        if isinstance(kind, (Object, Objects)):
            level = node.level.children(name, column, isinstance(kind, Object))
            node.nodes[name] = self.objects(level, kind.schema)
            return
        node.columns[name] = column
        if isinstance(kind, Items):
            self._items(node.level, name, key, kind, column)
        elif isinstance(kind, Names):
            self._names(node.level, name, key, kind, column)

    def _containers(self, level: Level, name: str, key: Key, column: Column) -> Column:
        """The objects or arrays of a column, without what is not one or has a wrong length."""
        kind = key.kind
        python: Any = python_of(kind)
        fewest, most = 0, None
        if isinstance(kind, (Objects, Items)):
            fewest, most = kind.fewest, kind.most
        if set(map(type, column.values)) <= {python}:
            sizes = set(map(len, column.values)) or {fewest}
            if min(sizes) >= fewest and (most is None or max(sizes) <= most):
                return column
        owners, good = [], []
        for owner, value in zip(column.owners, column.values):
            path = (*level.path(owner), name)
            if type(value) is not python:
                self._wrong_type(path, value, key, kind)
                continue
            size = len(value)
            if isinstance(kind, Items) and kind.once:
                size = len({repr(item) for item in value})
            if size < fewest:
                self._wrong(path, key, phrase("{} must not be empty", dotted(path)))
            elif most is not None and size > most:
                self._wrong(
                    path,
                    key,
                    phrase("{} has {} entries, at most {} are allowed", dotted(path), size, most),
                )
            owners.append(owner)
            good.append(value)
        return Column(owners, good)

    def plain(self, level: Level, name: str, key: Key, column: Column) -> Column:
        """The values of one key in canonical form, without what is wrong."""
        read_all = self._read_all(key.kind, column.values)
        if read_all is not None:
            return Column(column.owners, read_all, at_once=True)
        owners, good = [], []
        for owner, value in zip(column.owners, column.values):
            read_as = self.value((*level.path(owner), name), key, key.kind, value)
            if read_as is not NOTHING:
                owners.append(owner)
                good.append(read_as)
        return Column(owners, good)

    def _read_all(self, kind: AnyKind, values: Sequence[Any]) -> Optional[Sequence[Any]]:
        if not values:
            return values
        try:
            if isinstance(kind, Choice):
                return values if set(values) <= set(kind.values) else None
            return kind.read_all(values) if isinstance(kind, Kind) else None
        except TypeError:
            return None

    def _items(self, level: Level, name: str, key: Key, kind: Items, column: Column) -> None:
        flat = list(chain.from_iterable(column.values))
        if python_of(kind.item) is str:
            self.findings.texts += len(flat)
        if not flat or self._read_all(kind.item, flat) is not None:
            return
        for owner, values in zip(column.owners, column.values):
            path = (*level.path(owner), name)
            for index, value in enumerate(values):
                self.value((*path, index), key, kind.item, value)

    def _names(self, level: Level, name: str, key: Key, kind: Names, column: Column) -> None:
        for owner, values in zip(column.owners, column.values):
            path = (*level.path(owner), name)
            for free, value in values.items():
                self.value((*path, free), key, kind.item, value)

    def value(self, path: Path, key: Key, kind: AnyKind, value: Any) -> Any:
        """The canonical form of one value; NOTHING when it is wrong."""
        if type(value) not in (python_of(kind), *getattr(kind, "others", ())):
            self._wrong_type(path, value, key, kind)
            return NOTHING
        try:
            return kind.parse(value)
        except InvalidValue as refused:
            assert not isinstance(kind, Kind)
            wrong = BadValueError.of(kind, value, refused)
        except BadValueError as error:
            wrong = error
        self.findings.wrong_at(
            key.rule or self.rules.value,
            path,
            "{} is {}; {}",
            shown(value),
            wrong.problem,
            help=wrong.help,
            severity=wrong.severity,
            instead=wrong.instead,
            meant=wrong.meant,
            fault=_fault(wrong.problem, value),
        )
        return wrong.read_as

    def _wrong(self, path: Path, key: Key, message: str) -> None:
        self.findings.add(key.rule or self.rules.value, path, message)

    def _wrong_type(
        self, path: Path, value: Any, key: Optional[Key] = None, kind: Optional[AnyKind] = None
    ) -> None:
        """Note that a value is not of its kind; without one it should be an object."""
        if value is BROKEN:
            return
        is_number = type(value) in (int, float)
        help = instead = None
        if type(value) is int and isinstance(kind, NumberText):
            instead = '"{}"'.format(value)
            help = "put it in quotes"
        elif isinstance(value, str) and re.match(r"[0-9]{1,9}\Z", value) and _takes(kind, value):
            instead = str(int(value))
            help = "remove the quotes"
        what = "the number " if is_number else "the text " if isinstance(value, str) else ""
        if kind is None and not path:
            message = phrase("{} has to be an object, not {}{}", self.form, what, shown(value))
            self.findings.add(self.rules.unknown, path, message)
            return
        if kind is None or isinstance(kind, Kind):
            words = phrase(_WORDS[dict if kind is None else kind.python])
            legal = phrase("{} has {} here", self.form, words)
        else:
            legal = phrase("legal: {}", kind.describe())
        self.findings.wrong_at(
            self.rules.type,
            path,
            "{} is {}{}; {}",
            what,
            shown(value),
            legal,
            help=help,
            severity=None if key is None else key.severity,
            instead=instead,
            fault=_fault(legal, value),
        )


def _fault(problem: str, value: Any) -> str:
    """The same words for values that differ in their numbers: ``x.x.x.1`` and ``x.x.x.2``."""
    return "{} {}".format(problem, _DIGITS.sub("0", shown(value)))


def _takes(kind: Optional[AnyKind], digits: str) -> bool:
    """Whether a kind takes the number that is in quotes."""
    if isinstance(kind, Int):
        return kind.minimum <= int(digits) <= kind.maximum
    return isinstance(kind, Kind) and kind.python is int
