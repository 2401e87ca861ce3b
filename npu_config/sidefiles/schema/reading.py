"""Reading a document by its schema: which keys are missing, which unknown, which values wrong."""

import json
import re
from bisect import bisect_right
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import attr

from npu_config.catalogue.kinds import Choice, Int, InvalidValue, Kind
from npu_config.core.diagnostics import Diagnostic, Fix, Rule, Severity
from npu_config.core.message import join, listed, phrase
from npu_config.sidefiles.schema.kinds import (
    NOTHING,
    Anything,
    BadValueError,
    Items,
    JsonKind,
    Key,
    Names,
    NumberText,
    Object,
    Objects,
    Schema,
)
from npu_config.text.json import BROKEN
from npu_config.text.lines import BLANKS
from npu_config.text.source import Places
from npu_config.text.words import SLIP, near

Path = Tuple[Union[str, int], ...]

_AT_ONCE = 512
"""Objects whose keys are read one after the other, few enough to stay in the processor's cache."""

INVALID_ITEM: Dict[str, Any] = {}
"""In the place of something else where an object should be; reported once, then passed over."""


class Column(NamedTuple):
    """The values of one key: ``values[i]`` belongs to the object number ``owners[i]``.

    ``at_once``: all were read at once by their kind, so that each is plain.
    """

    owners: Sequence[int]
    values: Sequence[Any]
    at_once: bool = False

    def pairs(self) -> Iterator[Tuple[int, Any]]:
        """Each owner with its value."""
        return zip(self.owners, self.values)

    def over(self, count: int) -> Sequence[Any]:
        """The value of each of ``count`` objects, None for those that have none."""
        if len(self.values) == count:
            return self.values
        values: List[Any] = [None] * count
        for owner, value in self.pairs():
            values[owner] = value
        return values


NO_COLUMN = Column((), ())


@attr.s(slots=True, auto_attribs=True, eq=False)
class ObjectTable:
    """All objects of one level, in document order.

    Attributes:
        items: the objects.
        starts: the number of the first object of each parent, and the end of the last.
    """

    items: List[Dict[str, Any]]
    _key: str = ""
    _parent: Optional["ObjectTable"] = None
    starts: Sequence[int] = (0, 1)
    _single: bool = False

    def __len__(self) -> int:
        return len(self.items)

    def path(self, index: int) -> Path:
        """Where the object number ``index`` is in the document."""
        if self._parent is None:
            return ()
        owner = self.owner(index)
        path = (*self._parent.path(owner), self._key)
        return path if self._single else (*path, index - self.starts[owner])

    def owner(self, index: int) -> int:
        """The number of the parent that holds the object number ``index``."""
        return bisect_right(self.starts, index) - 1

    def owners(self) -> List[int]:
        """The number of the parent of each object."""
        return [owner for owner, size in enumerate(self.sizes()) for _ in range(size)]

    def spans(self) -> Iterator[Tuple[int, int]]:
        """First number and end of the objects of each parent."""
        return zip(self.starts, self.starts[1:])

    def sizes(self) -> List[int]:
        """How many objects each parent has."""
        return [end - start for start, end in self.spans()]

    def split(self, values: Sequence[Any]) -> List[Tuple[Any, ...]]:
        """A value of each object, those of each parent together."""
        every = tuple(values)
        return [every[start:end] for start, end in self.spans()]

    def uniform_columns(self) -> Optional[Dict[str, Column]]:
        """The columns, when the items are objects that all have the same keys; else None."""
        items = self.items
        if not items:
            return {}
        if type(items[0]) is not dict:
            return None
        try:
            values: Dict[str, List[Any]] = {name: [] for name in items[0]}
            for start in range(0, len(items), _AT_ONCE):
                part = items[start : start + _AT_ONCE]
                for name, column in values.items():
                    column.extend(map(itemgetter(name), part))
                if sum(map(len, part)) != len(values) * len(part):
                    return None
            return {name: Column(range(len(items)), column) for name, column in values.items()}
        except (KeyError, TypeError):
            return None

    def columns(self) -> Dict[str, Column]:
        """The columns of every key that occurs in items that are all objects."""
        columns = {}
        for name in dict.fromkeys(chain.from_iterable(self.items)):
            owners = [index for index, item in enumerate(self.items) if name in item]
            columns[name] = Column(owners, [self.items[index][name] for index in owners])
        return columns

    def children(self, key: str, column: Column, single: bool = False) -> "ObjectTable":
        """The objects under a key: one each (``single``), or those of its arrays."""
        if not column.values:
            return ObjectTable([], key, self, (0,) * (len(self.items) + 1), single)
        lists = [[value] for value in column.values] if single else column.values
        sizes = list(map(len, lists))
        if len(sizes) != len(self.items):
            known = dict(zip(column.owners, sizes))
            sizes = [known.get(owner, 0) for owner in range(len(self.items))]
        items = list(chain.from_iterable(lists))
        return ObjectTable(items, key, self, (0, *accumulate(sizes)), single)


@attr.s(frozen=True, slots=True, auto_attribs=True, eq=False)
class TableNode:
    """What was read of one level.

    ``columns`` holds the plain values that are right, in canonical form; ``nodes`` the objects
    below, by key.
    """

    level: ObjectTable
    columns: Dict[str, Column]
    nodes: Dict[str, "TableNode"]

    def __getitem__(self, key: str) -> Column:
        """The values of a key that are right; none where there is none."""
        return self.columns.get(key, NO_COLUMN)

    def under(self, *keys: str) -> "TableNode":
        """The objects below, by the keys that lead there; an empty level where there are none."""
        node = self
        for key in keys:
            below = node.nodes.get(key)
            if below is None:
                below = TableNode(node.level.children(key, NO_COLUMN), {}, {})
            node = below
        return node


MOST_OF_A_RULE = 100
"""Findings of one rule about one key that are reported one by one; the rest are counted."""
_FEW = 3
"""Values of one key with the same fault that are reported one by one; more are one finding."""


class FileFinding(NamedTuple):
    """One thing that is wrong with the part of a document at ``path``.

    ``instead`` is the JSON text to put there, where the correction is mechanical and safe;
    ``also`` are further parts of which the same is true.
    ``fault`` is what is wrong with a value, in the same words for every value of the key.
    """

    rule: Rule
    path: Path
    message: str
    help: Optional[str] = None
    severity: Optional[Severity] = None
    at_key: bool = False
    instead: Optional[str] = None
    meant: Optional[str] = None
    fault: Optional[str] = None
    also: Sequence[Path] = ()


Topic = Tuple[str, str]
"""A rule and the key that it is about."""


@attr.s(slots=True, auto_attribs=True, eq=False)
class FileFindings:
    """The findings about one document, and how many quotes its text must have.

    Attributes:
        keys: number of keys that were read.
        texts: number of texts among the values that were read.
    """

    _found: List[FileFinding] = attr.ib(factory=list, init=False)
    _counts: Dict[Topic, int] = attr.ib(factory=dict, init=False)
    keys: int = attr.ib(default=0, init=False)
    texts: int = attr.ib(default=0, init=False)

    def __len__(self) -> int:
        return len(self._found)

    def count(self, value: Any) -> None:
        """Count the keys and texts of a value that nothing else looks at."""
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                self.texts += 1
            elif isinstance(part, dict):
                self.keys += len(part)
                waiting.extend(part.values())
            elif isinstance(part, list):
                waiting.extend(part)

    def quotes_add_up(self, text: str) -> bool:
        """Whether ``text``, without escapes, holds as many keys and texts as were read.

        If not, a key is there twice: it is read once, and the parser of the standard library,
        three times as fast as one that reports such keys, drops the other in silence.
        """
        return 2 * (self.keys + self.texts) == text.count('"')

    def add(self, rule: Rule, path: Path, message: str, *rest: Any, **more: Any) -> None:
        """Note that the part at ``path`` breaks ``rule``; see :class:`FileFinding`."""
        finding = FileFinding(rule, path, message, *rest, **more)
        topic = _topic(finding)
        count = self._counts[topic] = self._counts.get(topic, 0) + 1
        if count <= MOST_OF_A_RULE:
            self._found.append(finding)

    def report_at(self, rule: Rule, path: Path, sentence: str, *values: Any, **more: Any) -> None:
        """Note that the part at ``path`` breaks ``rule``; the sentence begins with that part.

        Args:
            rule: the rule.
            path: the part, the first of the values that fill the sentence.
            sentence: what is wrong.
            values: the other values.
            more: see :class:`FileFinding`.
        """
        self.add(rule, path, phrase(sentence, dotted(path), *values), **more)

    def paths(self) -> List[Path]:
        """Every path that a place is needed for."""
        return [path for finding in self._found for path in (finding.path, *finding.also)]

    def diagnostics(self, places: Places) -> List[Diagnostic]:
        """The findings with their places; those about many values with one fault are one."""
        groups: Dict[Tuple[object, ...], List[FileFinding]] = {}
        for number, finding in enumerate(self._found):
            alike = number if finding.fault is None else (finding.fault, finding.severity)
            groups.setdefault((_topic(finding), alike), []).append(finding)
        reported = []
        for group in groups.values():
            found = [_diagnostic(finding, places) for finding in group]
            reported.extend(found if len(found) <= _FEW else [_as_one(found)])
        last = {_topic(finding): finding for finding in self._found}
        for topic, count in self._counts.items():
            if count > MOST_OF_A_RULE:
                finding = last[topic]
                reported.append(
                    finding.rule.diagnostic(
                        phrase(
                            "{:,} more of the same kind as the previous finding",
                            count - MOST_OF_A_RULE,
                        ),
                        places.place(finding.path),
                        None,
                        "correct the previous findings first",
                        finding.severity,
                    )
                )
        return reported


def _topic(finding: FileFinding) -> Topic:
    names = [step for step in finding.path if isinstance(step, str)]
    return finding.rule.id, names[-1] if names else ""


def _diagnostic(finding: FileFinding, places: Places) -> Diagnostic:
    rule, path, message, help, severity, at_key, instead, meant, _, also = finding
    place_of = places.key_place if at_key else places.place
    place = place_of(path)
    fix = Fix.writing(place, instead)
    if fix is not None and also:
        fixes = [Fix.writing(place_of(other), instead) for other in also]
        fix = fix._replace(edits=fix.edits + tuple(e for f in fixes if f for e in f.edits))
    return rule.diagnostic(message, place, None, help, severity, fix, meant)


def _as_one(found: List[Diagnostic]) -> Diagnostic:
    """The first of many findings, with the lines and the corrections of all."""
    first, more = found[0], len(found) - 1
    lines = sorted({one.line for one in found[1:] if one.line is not None})
    message = (
        phrase("{} (and {:,} more, in lines {})", first.message, more, ranges(lines))
        if len(lines) > 1
        else phrase("{} (and {:,} more)", first.message, more)
    )
    fixes = [one.fix for one in found if one.fix is not None]
    fix = None
    if len(fixes) == len(found):
        title = phrase("correct all {:,} findings", len(found))
        fix = Fix(title, tuple(edit for each in fixes for edit in each.edits))
    return replace(first, message=message, fix=fix, meant=None)


def dotted(path: Path) -> str:
    """A path in words: ``server_list[0].device[1].rank_id``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += "[{}]".format(step)
        else:
            text += ".{}".format(step) if text else step
    return text or phrase("the file")


def shown(value: Any) -> str:
    """A JSON value in words, short: ``"x"``, ``3``, ``an array``."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array" if value else "an empty array"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    if len(text) <= 70:
        return text
    return text[:66] + ('..."' if isinstance(value, str) else "...")


def ranges(numbers: List[int], most: int = 6) -> str:
    """Numbers in words, runs joined: ``0-3, 7, 9 and 12 more``; ``numbers`` ascend."""
    runs: List[Tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    parts = [
        str(first) if first == last else "{}-{}".format(first, last) for first, last in runs[:most]
    ]
    rest = sum(last - first + 1 for first, last in runs[most:])
    return join(", ", parts) + (phrase(" and {:,} more", rest) if rest else "")


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


@attr.s(frozen=True, slots=True, auto_attribs=True, eq=False)
class Reader:
    """Reads documents by their schema.

    Args:
        findings: where faults are noted.
        rules: what they break.
        form: what the document is, for the messages: ``"version 1.0"``.
        complete: False when parts were not understood; what is missing may then be there.
    """

    findings: FileFindings
    rules: Rules
    form: str
    complete: bool = True

    def read(self, document: Any, schema: Schema) -> TableNode:
        """Read a document; what could not be read in it before is ``BROKEN``."""
        return self.objects(ObjectTable([document]), schema)

    def objects(self, level: ObjectTable, schema: Schema) -> TableNode:
        """Read the objects of one level, and all that is below them."""
        columns = level.uniform_columns()
        if columns is None:
            self._drop_invalid_items(level)
            columns = level.columns()
        self._keys(level, schema, columns)
        node = TableNode(level, {}, {})
        for name, column in columns.items():
            known = schema.keys.get(name.strip(BLANKS) if schema.trimmed else name)
            if known is None:
                continue
            if name in schema.keys or not isinstance(known.kind, Items):
                self._column(node, name, known, column)
            else:
                self._containers(level, name, known, column)
        return node

    def _drop_invalid_items(self, level: ObjectTable) -> None:
        """Note the items that are not objects, and pass over them from now on."""
        for index, item in enumerate(level.items):
            if type(item) is not dict:
                self._wrong_type(level.path(index), item)
                level.items[index] = INVALID_ITEM

    def _keys(self, level: ObjectTable, schema: Schema, columns: Dict[str, Column]) -> None:
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

    def _missing(self, level: ObjectTable, name: str, key: Key, close: Optional[str]) -> None:
        lacking = [
            index
            for index, item in enumerate(level.items)
            if name not in item and item is not INVALID_ITEM and close not in item
        ]
        if not lacking:
            return
        together = len(lacking) == len(level.items)
        for index in lacking[:1] if together else lacking:
            self.findings.report_at(
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
        self, level: ObjectTable, schema: Schema, name: str, column: Column, meant: Optional[str]
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
            message = phrase(
                '{}{} has no "{}", but has "{}"', dotted(path[:-1]), words, meant, name
            )
            note(self.rules.missing, path, message, phrase('write "{}"', meant))
        elif schema.trimmed and name.strip(BLANKS) in schema.keys:
            message = phrase(
                "{} has whitespace around the name: the key is accepted but ignored", shown(name)
            )
            say(message, "remove the whitespace", Severity.WARNING)
        elif schema.closed:
            message = phrase("unknown key {}; legal: {}", where, listed(schema.keys))
            say(message, meant=meant or near(name, schema.keys))
        elif meant is not None:
            message = "{} is not read; the keys of {} are {}"
            message = phrase(message, where, self.form, listed(schema.keys))
            say(message, severity=Severity.WARNING, meant=meant)
        elif name in schema.elsewhere:
            message = phrase(
                "{} is not read here; it is a key of {}", where, schema.elsewhere[name]
            )
            say(message, severity=Severity.INFO)

    def _column(self, node: TableNode, name: str, key: Key, column: Column) -> None:
        """Read the values of one key."""
        self.findings.keys += len(column.values)
        kind = key.kind
        if isinstance(kind, Anything):
            for value in column.values:
                self.findings.count(value)
            node.columns[name] = column
            return
        if kind.exact is str:
            self.findings.texts += len(column.values)
        if not isinstance(kind, (Object, Objects, Items, Names)):
            node.columns[name] = self.plain(node.level, name, key, column)
            return
        column = self._containers(node.level, name, key, column)
        if isinstance(kind, (Object, Objects)):
            level = node.level.children(name, column, isinstance(kind, Object))
            node.nodes[name] = self.objects(level, kind.object)
            return
        node.columns[name] = column
        self._inner(node.level, name, key, kind, column)

    def _containers(self, level: ObjectTable, name: str, key: Key, column: Column) -> Column:
        """The objects or arrays of a column, without what is not one or has a wrong length."""
        kind = key.kind
        python: Any = kind.exact
        fewest, most = 0, None
        if isinstance(kind, (Objects, Items)):
            fewest, most = kind.fewest, kind.most
        if set(map(type, column.values)) <= {python}:
            sizes = set(map(len, column.values)) or {fewest}
            if min(sizes) >= fewest and (most is None or max(sizes) <= most):
                return column
        owners, good = [], []
        for owner, value in column.pairs():
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

    def plain(self, level: ObjectTable, name: str, key: Key, column: Column) -> Column:
        """The values of one key in canonical form, without what is wrong."""
        read_all = self._read_all(key.kind, column.values)
        if read_all is not None:
            return Column(column.owners, read_all, at_once=True)
        owners, good = [], []
        for owner, value in column.pairs():
            read_as = self.value((*level.path(owner), name), key, key.kind, value)
            if read_as is not NOTHING:
                owners.append(owner)
                good.append(read_as)
        return Column(owners, good)

    def _read_all(self, kind: Kind, values: Sequence[Any]) -> Optional[Sequence[Any]]:
        if not values:
            return values
        try:
            if isinstance(kind, Choice):
                return values if set(values) <= set(kind.values) else None
            return kind.read_all(values) if isinstance(kind, JsonKind) else None
        except TypeError:
            return None

    def _inner(
        self, level: ObjectTable, name: str, key: Key, kind: Union[Items, Names], column: Column
    ) -> None:
        """The values in the arrays or objects of a column."""
        if isinstance(kind, Items):
            flat = list(chain.from_iterable(column.values))
            if kind.item.exact is str:
                self.findings.texts += len(flat)
            if not flat or self._read_all(kind.item, flat) is not None:
                return
        for owner, values in column.pairs():
            path = (*level.path(owner), name)
            for step, value in values.items() if type(values) is dict else enumerate(values):
                self.value((*path, step), key, kind.item, value)

    def value(self, path: Path, key: Key, kind: Kind, value: Any) -> Any:
        """The canonical form of one value; NOTHING when it is wrong."""
        if type(value) not in (kind.exact, *getattr(kind, "others", ())):
            self._wrong_type(path, value, key, kind)
            return NOTHING
        try:
            return kind.parse(value)
        except InvalidValue as refused:
            assert not isinstance(kind, JsonKind)
            wrong = BadValueError.of(kind, value, refused)
        except BadValueError as error:
            wrong = error
        self.findings.report_at(
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
        self, path: Path, value: Any, key: Optional[Key] = None, kind: Optional[Kind] = None
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
        elif isinstance(value, bool) and isinstance(kind, Choice):
            word = next((word for word in _SWITCHED[value] if word in kind.values), None)
            instead = None if word is None else '"{}"'.format(word)
            help = None if word is None else phrase(_QUOTED[value], word)
        what = "the number " if is_number else "the text " if isinstance(value, str) else ""
        if kind is None and not path:
            message = phrase("{} must be an object, not {}{}", self.form, what, shown(value))
            self.findings.add(self.rules.unknown, path, message)
            return
        if kind is None or isinstance(kind, JsonKind):
            words = phrase(_WORDS[dict if kind is None else kind.exact])
            legal = phrase("{} requires {} here", self.form, words)
        else:
            legal = phrase("legal: {}", kind.describe())
        self.findings.report_at(
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


_SWITCHED = (("off", "false"), ("on", "true"))
_QUOTED = (
    phrase('write "{}" in quotes: false, and in YAML a bare off or no, is a boolean'),
    phrase('write "{}" in quotes: true, and in YAML a bare on or yes, is a boolean'),
)
"""What is meant by False and by True where a word is wanted, and the help that says it."""


def _fault(problem: str, value: Any) -> str:
    """The same words for values that differ in their numbers: ``x.x.x.1`` and ``x.x.x.2``."""
    return "{} {}".format(problem, _DIGITS.sub("0", shown(value)))


def _takes(kind: Optional[Kind], digits: str) -> bool:
    """Whether a kind takes the number that is in quotes."""
    if isinstance(kind, Int):
        return kind.minimum <= int(digits) <= kind.maximum
    return isinstance(kind, JsonKind) and kind.exact is int
