"""YAML configuration files, with places, and with its traps reported instead of passed over.

PyYAML scans and parses (SafeLoader, version 1.1 of YAML); the values are put together
here from its events, so that nothing is ever constructed but text, numbers, booleans,
lists and dicts, every fault is reported, and size and depth are limited.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import yaml

from npu_config.catalogue.kinds import shorten
from npu_config.catalogue.layout import GROUP_OF_KEY
from npu_config.core.diagnostics import Place
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase
from npu_config.readers import _rules as rules
from npu_config.readers._config_file import (
    BROKEN,
    FULL_WIDTH_COLON,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_VALUES,
    Document,
    Path,
    StopReading,
    interpret,
)
from npu_config.rules.reading import Reading
from npu_config.text.source import PlaceTable, Source, both_places
from npu_config.text.words import shown

_SYNTAX_HELP = (
    (
        "mapping values are not allowed",
        'put text that contains ": " in quotes, or check the indent',
    ),
    ("expected <block end>", "indent all keys of a mapping by the same number of spaces"),
    ("expected '<document start>'", "indent all keys of a mapping by the same number of spaces"),
    ("could not find expected ':'", 'write "key: value", with a space after the colon'),
    ("found unexpected end of stream", "close the quote or the bracket"),
    ("expected ',' or", "close the bracket, or put a comma between the items"),
    ("that cannot start any token", "put the text in quotes"),
)


def _mark(error: yaml.YAMLError) -> Any:
    """The place of the problem; for what does not end or goes on, the place where it starts."""
    problem, context = (getattr(error, name, None) for name in ("problem_mark", "context_mark"))
    what = str(getattr(error, "problem", ""))
    is_late = "end of stream" in what or "could not find expected ':'" in what
    return (context or problem) if is_late else (problem or context)


def fault_offset(document: Document, error: yaml.YAMLError) -> int:
    """Where PyYAML gave up."""
    if isinstance(error, yaml.reader.ReaderError):
        return int(error.position)
    mark = _mark(error)
    return len(document.source.text) if mark is None else int(mark.index)


def report_fault(document: Document, error: yaml.YAMLError, start: int) -> None:
    """Tell in our words why PyYAML gave up."""
    text = document.source.text
    end = min(start + 1, len(text))
    if isinstance(error, yaml.reader.ReaderError):
        character = ord(text[start : start + 1] or "\0")
        message = phrase("the character U+{:04X} is not allowed in YAML", character)
        document.report(rules.unparsable_file, start, end, message)
        return
    problem = getattr(error, "problem", None) or str(error)
    message = " ".join(str(problem).split())
    if text[start : start + 1] == "\t" and "cannot start any token" in message:
        indents = not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t")
        message = phrase(
            "a tab is not allowed here; YAML indents with spaces"
            if indents
            else "a tab is not allowed here"
        )
        document.report(rules.yaml_trap, start, end, message, "replace the tab with spaces")
        return
    if "mapping values are not allowed" in message and _report_continued(document, start):
        return
    help = next((words for part, words in _SYNTAX_HELP if part in message), None)
    if "expected ':'" in message and "\uff1a" in document.source.text[start:].split("\n", 1)[0]:
        help = FULL_WIDTH_COLON
    expected, but, found = message.partition(", but ")
    if but:
        how, _, what = found.partition(" ")
        message = phrase("{}, but got {}" if how == "got" else "{}, but found {}", expected, what)
    context = getattr(error, "context", None)
    if context:
        message = phrase("{} ({})", message, " ".join(str(context).split()))
    document.report(rules.unparsable_file, start, end, message, help)


def _report_continued(document: Document, colon: int) -> bool:
    """Report a line that continues the value of the one before, which is seldom meant.

    YAML stops at the colon of the second line and says nothing of the first.
    """
    text = document.source.text
    start = text.rfind("\n", 0, colon) + 1
    key = text[start:colon].strip()
    above = [line for line in text[:start].split("\n") if line.strip()]
    if not above or above[-1].lstrip().startswith("#") or ": " in key:
        return False
    before = above[-1].strip()
    begin = start + text[start:colon].index(key)
    if ": " not in before:
        message = phrase('the line above, {}, is not a "key: value" pair', shown(before))
        help = 'write "key: value", with a space after the colon'
        if "\uff1a" in before:
            help = FULL_WIDTH_COLON
    elif begin - start > len(above[-1]) - len(above[-1].lstrip()):
        message = phrase(
            "{} is indented deeper than the line before, which already has a value", shown(key)
        )
        help = "indent this line like the line before"
    else:
        return False
    document.report(rules.unparsable_file, begin, colon, message, help)
    return True


_TAG = "tag:yaml.org,2002:"
_SCALARS = ("str", "null", "bool", "int", "float")
_KINDS = {
    "int": phrase("an integer"),
    "float": phrase("a number"),
    "bool": phrase("a boolean"),
}
_BOOLEANS = {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}
_LEADING_ZERO = lazy_pattern(r"[-+]?0[0-9_]+\Z")
_BASE_60 = lazy_pattern(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z")
_OF_YAML_1_1 = lazy_pattern(r"[-+]?(?:0b|[0-9.][0-9.xa-fA-F]*_)")
"""Numbers in groups (``1_000``), and binary ones."""
_OF_YAML_1_2 = lazy_pattern(r"0o[0-7]{1,18}\Z")
_LONE_SURROGATE = lazy_pattern("[\ud800-\udfff]")


class Scalars:
    """The scalars of one document.

    Args:
        document: receives the faults.
        loader: resolves tags and constructs numbers.
    """

    def __init__(self, document: Document, loader: Any) -> None:
        self._document = document
        self._loader = loader

    def kind(self, event: Any) -> str:
        """The last word of the tag that YAML gives a scalar."""
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        return str(tag[len(_TAG) :]) if tag.startswith(_TAG) else "!"

    def check_tag(self, event: Any, allowed: Tuple[str, ...]) -> bool:
        """False, and reported, when a node has another tag than one of ``allowed``."""
        tag = event.tag
        if tag is None or tag == "!" or tag in [_TAG + word for word in allowed]:
            return True
        shown = tag.replace(_TAG, "!!")
        text, start = self._document.source.text, event.start_mark.index
        end = start
        while end < len(text) and not text[end].isspace():
            end += 1
        self._document.report(
            rules.yaml_trap,
            start,
            end,
            phrase('the tag "{}" is not accepted; use plain values', shorten(shown)),
            "remove the tag",
        )
        return False

    def value(self, event: Any, start: int, end: int) -> Tuple[Any, Optional[str]]:
        """The value of a scalar, and its text where it may not have been meant so."""
        if not self.check_tag(event, _SCALARS):
            return BROKEN, None
        text = event.value
        if _LONE_SURROGATE.search(text):
            self._document.report(
                rules.unparsable_file, start, end, "this text contains an unpaired surrogate"
            )
            return BROKEN, None
        kind = self.kind(event)
        plain = event.tag is None and event.style is None
        if plain and self._surely_wrong(kind, text, start, end):
            return BROKEN, None
        value = self.converted(kind, text)
        if value is BROKEN:
            message = phrase('"{}" is not {}', shorten(text), _KINDS[kind])
            self._document.report(rules.unparsable_file, start, end, message)
            return BROKEN, None
        doubtful = kind == "float" or (kind == "bool" and text.lower() not in ("true", "false"))
        return value, text if plain and doubtful else None

    def _surely_wrong(self, kind: str, text: str, start: int, end: int) -> bool:
        """Report a scalar that cannot be meant as YAML reads it, or that YAMLs disagree on."""
        help = None
        if kind in ("int", "str") and _LEADING_ZERO.match(text):
            decimal = shorten("-" * text.startswith("-") + (text.lstrip("-+0_") or "0"))
            octal = self.converted(kind, text)
            if kind == "int" and octal is not BROKEN:
                if octal == 0:
                    return False
                problem = phrase(
                    '"{}" is octal: YAML 1.1 reads {}, YAML 1.2 reads {}',
                    shorten(text),
                    octal,
                    decimal,
                )
                help = phrase("write {} or {}", octal, decimal)
            else:
                problem = phrase(
                    '"{}" starts with 0: some parsers read it as text, others as a number',
                    shorten(text),
                )
                help = phrase("write {}, or, if text is meant, put the value in quotes", decimal)
        elif kind in ("int", "float") and _BASE_60.match(text):
            problem = phrase(
                '"{}" is a number of base 60 in YAML 1.1 and text in YAML 1.2', shorten(text)
            )
        elif kind in ("int", "float") and _OF_YAML_1_1.match(text):
            number = self.converted(kind, text)
            if number is BROKEN:
                return False
            problem = phrase(
                '"{}" is the number {} in YAML 1.1 and text in YAML 1.2',
                shorten(text),
                shorten(str(number)),
            )
            help = phrase(
                "write {}, or, if text is meant, put the value in quotes", shorten(str(number))
            )
        elif kind == "str" and _OF_YAML_1_2.match(text):
            problem = phrase(
                '"{}" is text in YAML 1.1 and the number {} in YAML 1.2',
                shorten(text),
                int(text, 8),
            )
            help = phrase("write {}, or, if text is meant, put the value in quotes", int(text, 8))
        elif kind == "timestamp":
            problem = phrase('YAML reads "{}" as a date; no option takes a date', shorten(text))
        else:
            return False
        help = help or phrase('write "{}" in quotes if it is text', shorten(text))
        self._document.report(rules.yaml_trap, start, end, problem, help)
        return True

    def converted(self, kind: str, text: str) -> Any:
        """The value of a text as YAML reads it; BROKEN when it cannot be read so."""
        if kind == "null":
            return None
        if kind == "bool":
            return _BOOLEANS.get(text.lower(), BROKEN)
        if kind not in ("int", "float"):
            return text
        if len(text) > MAX_DIGITS:
            return BROKEN
        node = yaml.ScalarNode(_TAG + kind, text)
        try:
            if kind == "int":
                return self._loader.construct_yaml_int(node)
            return self._loader.construct_yaml_float(node)
        except (ValueError, IndexError, OverflowError):
            return BROKEN


def words(kind: str, value: Any) -> str:
    """What YAML reads a scalar as, in words."""
    if kind == "bool":
        return phrase("the boolean {}", value)
    if kind == "timestamp":
        return phrase("a date")
    return _KINDS["float"] if value is BROKEN else phrase("the number {}", shorten(str(value)))


_ROOT_MAPPINGS = frozenset(("target", *GROUP_OF_KEY))


def read(text: str, path: Optional[str] = None) -> Reading:
    """Read a YAML configuration; any text gives a reading."""
    return interpret(parse(text, path))


def parse(text: str, path: Optional[str] = None) -> Document:
    """The value of a YAML text, with places."""
    source = Source(text, path)
    table = PlaceTable(source.place(0, 0))
    document = Document("yaml", source, table)
    try:
        _compose(document, table)
    except StopReading:
        document.complete = False
    return document


def _compose(document: Document, table: PlaceTable) -> None:
    composer = None
    try:
        composer = _Composer(document, table)
        composer.run()
    except yaml.YAMLError as error:
        document.complete = False
        start = fault_offset(document, error)
        if composer is not None:
            composer.distrust(start)
        report_fault(document, error, start)
    except (ValueError, OverflowError):  # chr() and int() of what PyYAML did not limit
        start = 0 if composer is None else composer.offset()
        if composer is not None:
            composer.distrust(start)
        message = "an escape beyond \\U0010FFFF, or a number that is too long"
        document.report(rules.unparsable_file, start, start, message)
        document.complete = False
    finally:
        if composer is not None:
            composer.finish()


class _Anchored(NamedTuple):
    value: Any
    size: int
    doubt: Optional[str]


class _OpenNode:
    """A mapping or sequence that is being read."""

    __slots__ = (
        "anchor",
        "count",
        "end",
        "flow",
        "good",
        "key",
        "key_span",
        "keys",
        "path",
        "start",
        "value",
    )

    def __init__(self, event: Any, path: Path, count: int) -> None:
        self.value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.path = path
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.flow: bool = event.flow_style
        self.anchor: Optional[str] = event.anchor
        self.count = count
        self.good = True
        self.key: Optional[str] = None
        self.key_span: Tuple[int, int] = (self.start, self.start)
        self.keys: Dict[str, Place] = {}


class _Composer:
    def __init__(self, document: Document, table: PlaceTable) -> None:
        self._document = document
        self._table = table
        self._loader: Any = yaml.SafeLoader(document.source.text)
        self._scalars = Scalars(document, self._loader)
        self._frames: List[_OpenNode] = []
        self._anchors: Dict[str, Optional[_Anchored]] = {}
        self._count = 0
        self._skipping = 0

    def run(self) -> None:
        document = self._document
        documents = 0
        while self._loader.check_event():
            event = self._loader.get_event()
            start, end = event.start_mark.index, event.end_mark.index
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    document.report(
                        rules.yaml_trap,
                        start,
                        start + 3,
                        "a second document starts here; a configuration must be a single document",
                        "move the second document to a separate file",
                    )
                    return
            elif self._skipping:
                self._skip(event, start, end)
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event, start, end)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event.anchor, start, end)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._open(event, start, end)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(end)

    def offset(self) -> int:
        """How far PyYAML has read."""
        return min(int(self._loader.index), len(self._document.source.text))

    def distrust(self, offset: int) -> None:
        """A syntax fault on the line where the last value ends: who knows what that value is.

        A line that is indented too far continues the value of the line before.
        """
        if not self._frames and isinstance(self._document.value, str):
            self._document.value = BROKEN
        if not self._frames or not isinstance(self._frames[-1].value, dict):
            return
        frame = self._frames[-1]
        if (
            frame.key is None
            and frame.value
            and "\n" not in self._document.source.text[frame.end : offset]
        ):
            frame.value[list(frame.value)[-1]] = BROKEN

    def finish(self) -> None:
        """Close what a fault left open; the value that was being read is broken."""
        frames = self._frames
        if not frames:
            return
        for frame in frames[:2]:
            if frame.key is not None and frame.key not in frame.value:
                place = self._document.source.place(*frame.key_span)
                self._table.put((*frame.path, frame.key), place, place)
                frame.value[frame.key] = BROKEN
        root = frames[0]
        if len(frames) > 1 and root.key in _ROOT_MAPPINGS and isinstance(frames[1].value, dict):
            root.value[root.key] = frames[1].value
        self._document.value = root.value
        self._document.complete = False

    def _skip(self, event: Any, start: int, end: int) -> None:
        """Pass over a collection that stands as a key."""
        if isinstance(event, yaml.CollectionStartEvent):
            self._skipping += 1
            if self._skipping > MAX_DEPTH:
                self._too_deep(start, end)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._skipping -= 1

    # Where the next node belongs

    def _wants_key(self) -> bool:
        return bool(self._frames) and self._frames[-1].key is None and self._in_mapping()

    def _in_mapping(self) -> bool:
        return isinstance(self._frames[-1].value, dict)

    def _path(self) -> Path:
        if not self._frames:
            return ()
        frame = self._frames[-1]
        return (*frame.path, frame.key if frame.key is not None else len(frame.value))

    def _tally(self, start: int, end: int, size: int = 1) -> None:
        self._count += size
        if self._count > MAX_VALUES:
            self._document.report(
                rules.file_too_large,
                start,
                end,
                phrase(
                    "the file has more than {:,} values (values of an alias count at each "
                    "use); the rest is not read",
                    MAX_VALUES,
                ),
            )
            raise StopReading

    def _put(self, value: Any, start: int, end: int) -> None:
        document = self._document
        if not self._frames:
            document.value = value
            return
        frame = self._frames[-1]
        frame.end = end
        path = self._path()
        place = document.source.place(start, end)
        if frame.key is None:
            self._table.put(path, place, place)
            frame.value.append(value)
            return
        self._table.put(path, document.source.place(*frame.key_span), place)
        frame.value.setdefault(frame.key, value)
        frame.key = None

    # Nodes

    def _open(self, event: Any, start: int, end: int) -> None:
        if self._wants_key():
            self._document.report(
                rules.wrong_structure,
                start,
                end,
                "a list or mapping is used as a key; keys must be the names of options and groups",
            )
            self._bad_key("?{}".format(start), start, end)
            self._skipping = 1
            return
        self._tally(start, end)
        if len(self._frames) == MAX_DEPTH:
            self._too_deep(start, end)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        frame = _OpenNode(event, self._path(), self._count)
        frame.good = self._scalars.check_tag(event, ("map", "seq"))
        self._frames.append(frame)

    def _too_deep(self, start: int, end: int) -> None:
        message = phrase("nesting limit of {} levels exceeded; the rest is not read", MAX_DEPTH)
        self._document.report(rules.file_too_large, start, end, message)
        raise StopReading

    def _close(self, end: int) -> None:
        frame = self._frames.pop()
        value = frame.value if frame.good else BROKEN
        if frame.anchor is not None:
            size = self._count - frame.count + 1
            self._anchors[frame.anchor] = _Anchored(value, size, None)
        self._put(value, frame.start, end if frame.flow else frame.end)

    def _alias(self, name: Any, start: int, end: int) -> None:
        if self._wants_key():
            self._document.report(
                rules.yaml_trap, start, end, "an alias is used as a key; write the key in full"
            )
            self._bad_key("*{}".format(start), start, end)
            return
        if name not in self._anchors:
            self._document.report(
                rules.unparsable_file,
                start,
                end,
                phrase(('undefined alias: there is no anchor "&{}" before it'), name),
            )
            self._put(BROKEN, start, end)
            return
        anchored = self._anchors[name]
        if anchored is None:
            self._document.report(
                rules.yaml_trap, start, end, phrase('the alias "*{}" refers to itself', name)
            )
            self._put(BROKEN, start, end)
            return
        self._tally(start, end, anchored.size)
        if anchored.doubt is not None:
            self._document.doubts.setdefault(self._path(), anchored.doubt)
        self._put(anchored.value, start, end)

    def _scalar(self, event: Any, start: int, end: int) -> None:
        self._tally(start, end)
        if self._wants_key():
            self._key(event, start, end)
            return
        value, doubt = self._scalars.value(event, start, end)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, 1, doubt)
        if doubt is not None:
            self._document.doubts.setdefault(self._path(), doubt)
        self._put(value, start, end)

    # Keys

    def _key(self, event: Any, start: int, end: int) -> None:
        kind = self._scalars.kind(event)
        text = event.value
        if kind == "merge":
            self._document.report(
                rules.yaml_trap,
                start,
                end,
                'merge keys ("<<") are not part of YAML 1.2 and are not accepted',
                "write the options here instead of using a merge key",
            )
        elif kind == "null":
            self._document.report(
                rules.wrong_structure, start, max(end, start + 1), "a key is empty"
            )
        elif kind not in ("str", "value"):
            value = self._scalars.converted(kind, text)
            self._document.report(
                rules.yaml_trap,
                start,
                end,
                phrase(
                    'YAML reads the key "{}" as {}; keys must be text',
                    shorten(text),
                    words(kind, value),
                ),
                phrase('write "{}" in quotes', shorten(text)),
                "put it in quotes",
                phrase('"{}"', text) if text.isprintable() and '"' not in text else None,
            )
        else:
            self._good_key(text, start, end)
            return
        self._bad_key("{}:{}".format(start, shorten(text)), start, end)

    def _good_key(self, text: str, start: int, end: int) -> None:
        frame = self._frames[-1]
        place = self._document.source.place(start, end)
        if text in frame.keys:
            self._document.report(
                rules.duplicate_key,
                start,
                end,
                phrase(
                    'the key "{}" appears twice, on {}',
                    shorten(text),
                    both_places(frame.keys[text], place),
                ),
                "keep one of the two",
            )
        frame.keys.setdefault(text, place)
        frame.key, frame.key_span = text, (start, end)

    def _bad_key(self, name: str, start: int, end: int) -> None:
        """Go on under a name that no option has; it is never reported."""
        frame = self._frames[-1]
        frame.key, frame.key_span = name, (start, end)
        self._document.bad_keys.add(self._path())
