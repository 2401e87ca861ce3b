"""Configuration files that extend others: the settings of all of them, each at its own place."""

import os
from dataclasses import replace
from shlex import quote
from typing import Callable, Dict, List, Mapping, Optional, Set, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import listed, phrase
from npu_config.core.settings import Setting
from npu_config.core.target import Target, layered
from npu_config.readers import _rules as rules
from npu_config.readers.evidence import KINDS
from npu_config.rules.reading import Base, Below, Reading
from npu_config.text.words import shown, spelled

__all__ = ["MAX_LAYERS", "with_bases"]

MAX_LAYERS = 32
"""How deep files may extend each other."""

Read = Callable[[str], Reading]


def with_bases(reading: Reading, read: Read) -> Reading:
    """What was read of a configuration, on top of the files that it extends.

    Args:
        reading: of the file itself.
        read: reads a file without those that it extends itself.
    """
    return _Composer(read).composed(reading, ())


@attr.s(slots=True, auto_attribs=True)
class _Layers:
    """The options of some files, one on top of the other.

    ``entries``: option to the setting that wins; ``removed``: the options that a file takes away
    and none behind it sets; ``files``: the path of each, the earliest first.
    """

    entries: Dict[str, Setting] = attr.ib(factory=dict)
    removed: Set[str] = attr.ib(factory=set)
    files: Dict[str, None] = attr.ib(factory=dict)
    found: List[Diagnostic] = attr.ib(factory=list)
    target: Optional[Target] = None
    open: bool = False

    def put(self, other: "_Layers") -> None:
        """Lay others on top."""
        self.cover(other.entries, other.removed)
        self.files.update(other.files)
        self.found.extend(other.found)
        self.open |= other.open
        self.aim(other.target)

    def cover(self, entries: Mapping[str, Setting], removed: Set[str]) -> None:
        """Lay the options of one file on top."""
        for name in removed:
            self.entries.pop(name, None)
        self.entries.update(entries)
        self.removed = (self.removed | removed) - set(entries)

    def aim(self, target: Optional[Target]) -> None:
        """Lay what one file says of its target on top."""
        self.target = target if self.target is None else layered(target, self.target, None)


class _Composer:
    """One file with all that it extends; each of them is read once."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._known: Dict[str, _Layers] = {}

    def composed(self, reading: Reading, above: Tuple[str, ...]) -> Reading:
        layers = _Layers()
        self._extend(layers, reading, above)
        own = reading.settings[0]
        below = Below(dict(layers.entries), layers.target)
        layers.cover(own.entries, set(reading.removed))
        layers.aim(reading.target)
        settings = own._replace(entries=layers.entries, open=own.open or layers.open)
        return attr.evolve(
            reading,
            settings=(settings,),
            diagnostics=(*reading.diagnostics, *dict.fromkeys(layers.found)),
            target=layers.target,
            layers=tuple(layers.files),
            below=below,
        )

    def _extend(self, layers: _Layers, reading: Reading, above: Tuple[str, ...]) -> None:
        """Lay the files that one extends on each other."""
        above = (*above, _identity(reading.path or ""))
        own = {*reading.removed, *(reading.settings[0].entries if reading.settings else ())}
        for base in reading.bases:
            under = self._base(base, reading, above)
            for name in sorted((set(layers.entries) & set(under.entries)) - own):
                note = _disagreement(base, name, layers.entries[name], under.entries[name])
                layers.found.extend(note)
            layers.put(under)

    def _base(self, base: Base, reading: Reading, above: Tuple[str, ...]) -> _Layers:
        """One file that is extended, with all that it extends."""
        path = _beside(reading.path or "", base.name)
        identity = _identity(path)
        if identity in above:
            return _refused(
                base,
                _circle(path, above[above.index(identity) :]),
                'remove a path from one of these "extends" to break the circle',
            )
        if len(above) > MAX_LAYERS:
            return _refused(
                base, phrase('the chain of "extends" has more than {} files', MAX_LAYERS)
            )
        if identity not in self._known:
            self._known[identity] = self._layers_of(base, path, above)
        return self._known[identity]

    def _layers_of(self, base: Base, path: str, above: Tuple[str, ...]) -> _Layers:
        if not os.path.lexists(path):
            return _refused(
                base,
                phrase("{} does not exist", shown(path)),
                "check the path, which is relative to this file",
            )
        read = self._read(path)
        if read.unchecked is not None or read.kind not in KINDS:
            layers = _refused(base, *_why_not(read, path))
            layers.found.extend(read.diagnostics if read.kind in KINDS else ())
            return layers
        layers = _Layers()
        self._extend(layers, read, above)
        own = read.settings[0]
        entries = {name: each for name, each in own.entries.items() if name not in read.removed}
        layers.cover(entries, set(read.removed))
        layers.aim(read.target)
        layers.files[path] = None
        layers.open |= own.open
        void = set(map(id, read.removed.values()))
        found = (each for each in read.diagnostics if id(each) not in void)
        layers.found.extend(each if read.fixable else replace(each, fix=None) for each in found)
        return layers


def _why_not(read: Reading, path: str) -> Tuple[str, Optional[str]]:
    """Why a file cannot be extended, and what to do."""
    if read.kind == "script":
        make = "create a configuration from this file first: npu-config generate {} -o base.yaml"
        return phrase("{} is a training script", shown(path)), phrase(make, quote(path))
    if read.kind in ("pbtxt", "pb"):
        make = "create a configuration from this file first: npu-config generate {} -o base.yaml"
        return phrase("{} is a ConfigProto", shown(path)), phrase(make, quote(path))
    if read.unchecked is not None and read.diagnostics:
        return phrase("{}: {}", shown(path), read.diagnostics[0].message), None
    message = phrase("{} is not a configuration; legal formats: {}", shown(path), listed(KINDS))
    return message, None


def _circle(path: str, circle: Tuple[str, ...]) -> str:
    if len(circle) == 1:
        return phrase("{} extends itself", shown(path))
    names = listed(shown(os.path.basename(each)) for each in circle)
    return phrase(
        "{} extends this file, directly or through other files; the circle: {}", shown(path), names
    )


def _refused(base: Base, message: str, help: Optional[str] = None) -> _Layers:
    """What is known of a file that cannot be extended: it may set anything."""
    found = rules.base_not_read.diagnostic(message, base.place, help=help)
    return _Layers(found=[found], open=True)


def _disagreement(base: Base, name: str, early: Setting, late: Setting) -> List[Diagnostic]:
    """That two bases set an option to different values; from one file there is one value."""
    if early.place.path == late.place.path or (type(early.value), early.value) == (
        type(late.value),
        late.value,
    ):
        return []
    message = phrase(
        '"{}" is {} at {} and {} at {}; the later value is used',
        name,
        _value(early),
        early.place._replace(column=None),
        _value(late),
        late.place._replace(column=None),
    )
    return [rules.bases_disagree.diagnostic(message, base.place, option=name)]


def _value(setting: Setting) -> str:
    return spelled(setting.value)[:60]


def _beside(path: str, name: str) -> str:
    """The path of a file that another one names, as short as it can be said."""
    joined = os.path.join(os.path.dirname(path), name)
    plain = os.path.normpath(joined)
    return plain if _identity(plain) == _identity(joined) else joined


def _identity(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
