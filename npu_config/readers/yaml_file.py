"""YAML configuration files, with places, and with its traps reported instead of passed over.

PyYAML scans and parses (SafeLoader, version 1.1 of YAML); the values are put together
here from its events, so that nothing is ever constructed but text, numbers, booleans,
lists and dicts, every fault is reported, and size and depth are limited.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import yaml

from npu_config.catalogue.kinds import shorten
from npu_config.catalogue.layout import GROUP_OF_KEY
from npu_config.core.message import phrase
from npu_config.readers import _rules as rules
from npu_config.readers._config_file import interpret
from npu_config.readers._document import BROKEN, MAX_DEPTH, MAX_VALUES, Document, Path, StopReading
from npu_config.readers._yaml_faults import fault_offset, report_fault
from npu_config.readers._yaml_scalars import Scalars, words
from npu_config.rules.reading import Reading
from npu_config.text.source import PlaceTable, Source

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
        message = "an escape of no character (they end at \\U0010FFFF), or a number too long"
        document.report(rules.unparsable_file, start, start, message)
        document.complete = False
    finally:
        if composer is not None:
            composer.finish()


class _Anchored(NamedTuple):
    value: Any
    size: int
    doubt: Optional[str]


class _Frame:
    """A mapping or sequence that is being read."""

    __slots__ = (
        "anchor",
        "count",
        "end",
        "flow",
        "good",
        "key",
        "key_span",
        "lines",
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
        self.lines: Dict[str, int] = {}


class _Composer:
    def __init__(self, document: Document, table: PlaceTable) -> None:
        self._document = document
        self._table = table
        self._loader: Any = yaml.SafeLoader(document.source.text)
        self._scalars = Scalars(document, self._loader)
        self._frames: List[_Frame] = []
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
                        "a second document starts here; a configuration is one document",
                        "give it a file of its own",
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
                    "with this the file has more than {:,} values (those behind aliases counted "
                    "each time); the rest is not read",
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
                "a list or mapping is used as a key; keys are the names of options and groups",
            )
            self._bad_key("?{}".format(start), start, end)
            self._skipping = 1
            return
        self._tally(start, end)
        if len(self._frames) == MAX_DEPTH:
            self._too_deep(start, end)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        frame = _Frame(event, self._path(), self._count)
        frame.good = self._scalars.check_tag(event, ("map", "seq"))
        self._frames.append(frame)

    def _too_deep(self, start: int, end: int) -> None:
        message = phrase("nested deeper than {} levels; the rest is not read", MAX_DEPTH)
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
                rules.yaml_trap, start, end, "an alias is used as a key; write the key out"
            )
            self._bad_key("*{}".format(start), start, end)
            return
        if name not in self._anchors:
            self._document.report(
                rules.unparsable_file, start, end, phrase('no anchor "&{}" is before', name)
            )
            self._put(BROKEN, start, end)
            return
        anchored = self._anchors[name]
        if anchored is None:
            self._document.report(
                rules.yaml_trap, start, end, phrase('the alias "*{}" holds itself', name)
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
                'merge keys ("<<") are not of YAML 1.2 and are not accepted',
                "write the options out",
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
                    'the key "{}" is read as {} by YAML; keys are text',
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
        line = self._document.source.line(start)
        if text in frame.lines:
            self._document.report(
                rules.duplicate_key,
                start,
                end,
                phrase(
                    'the key "{}" appears twice, on lines {} and {}',
                    shorten(text),
                    frame.lines[text],
                    line,
                ),
                "keep one of the two",
            )
        frame.lines.setdefault(text, line)
        frame.key, frame.key_span = text, (start, end)

    def _bad_key(self, name: str, start: int, end: int) -> None:
        """Go on under a name that no option has; it is never reported."""
        frame = self._frames[-1]
        frame.key, frame.key_span = name, (start, end)
        self._document.bad_keys.add(self._path())
