"""What a script's expressions are known to give.

Known Python values stand for themselves.  Everything else is one of the objects here: a value
that cannot be known, a protobuf message that is being built, one entry of
``custom_optimizers``, the arguments of a constructor of npu_bridge.
"""

import ast
import zlib
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import attr

from npu_config.core.diagnostics import NOWHERE, Place

_LONGEST_KEY = 400
_KEPT = 200
_MOST_ORIGINS = 200


class Unknown:
    """A value that cannot be known; ``key`` is the same for what is certainly the same value.

    Args:
        key: identifies the value; compared, never read.
        path: the names of a dotted reference, e.g. ``("os", "getenv")``; the first one is empty
            where the reference begins with something else than a name.
        parts: what it was made of: the owner of an attribute, the function and the arguments of
            a call, the operands of an operator.
        flag: the name of the command-line flag that it may come from.
        convert: what makes it of the last of the parts; None where that is not known.
    """

    __slots__ = ("convert", "flag", "key", "parts", "path")

    def __init__(
        self,
        key: str,
        path: Tuple[str, ...] = (),
        parts: Tuple[Any, ...] = (),
        flag: Optional[str] = None,
        convert: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        if len(key) > _LONGEST_KEY:
            key = "{}...{:08x}".format(key[:_KEPT], zlib.crc32(key.encode("utf-8", "replace")))
        self.key = key
        self.path = path
        self.parts = parts
        self.flag = flag
        self.convert = convert

    @property
    def name(self) -> str:
        """The last name of a reference; the empty text for other values."""
        return self.path[-1] if self.path else ""

    def __repr__(self) -> str:
        return "Unknown({!r})".format(self.key)


def substituted(value: Any, fact: Callable[[Unknown], Any], depth: int = 8) -> Any:
    """A value in terms of what is known of the values that it was made of.

    Args:
        value: the value.
        fact: what an unknown value is known to be, else the value itself.
        depth: how many conversions to look through.

    Returns:
        The known value, or the value as it was given.
    """
    if not isinstance(value, Unknown):
        return value
    found = fact(value)
    if found is not value or value.convert is None or not depth:
        return found
    inner = substituted(value.parts[-1], fact, depth - 1)
    if isinstance(inner, Unknown):
        return value
    try:
        converted = value.convert(inner)
    except TypeError:
        return value
    return value if isinstance(converted, Fails) else converted


def origins(value: Any) -> Iterator[Unknown]:
    """The unknown values that a value was made of, at any depth, itself included."""
    pending = [value]
    seen: Set[int] = set()
    while pending and len(seen) < _MOST_ORIGINS:
        item = pending.pop()
        if isinstance(item, Unknown) and id(item) not in seen:
            seen.add(id(item))
            yield item
            pending.extend(item.parts)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Fails:
    """An expression that certainly raises: the reason, the value, and what refuses it.

    ``field`` is the field of AttrValue that the value does not fit; None for ``as_bytes``.
    """

    reason: str
    value: Any
    field: Optional[str] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class EnumName:
    """A member of an enumeration of TensorFlow, e.g. ``RewriterConfig.OFF``."""

    name: str


class Use(NamedTuple):
    """One thing that was done with an object: ``kind`` is the callee or ``"return"`` ..."""

    kind: str
    place: Place
    moment: int
    path: Tuple[int, ...] = ()


class Tracked:
    """Base of the objects whose way through the script is followed."""

    __slots__ = ("moment", "node", "path", "place", "uses")

    def __init__(self, node: Optional[ast.AST], place: Place, moment: int) -> None:
        self.node = node
        self.place = place
        self.moment = moment
        self.path: Tuple[int, ...] = ()
        self.uses: List[Use] = []


class Entry(NamedTuple):
    """One assignment to a field of ``parameter_map``.

    ``raw`` is the value that was assigned, ``value`` the one that the field then holds.
    ``field_place`` is where the field is named.  ``path`` are the decisions that lead to the
    statement.  ``built_in`` marks what a helper of the vendor sets.  ``above``: a number that an
    unknown value is certainly greater than.
    """

    name: str
    value: Any
    wire: str
    place: Place
    name_place: Place
    field_place: Place
    moment: int
    shadowed_by: Optional[Place] = None
    path: Tuple[int, ...] = ()
    built_in: bool = False
    function: Optional[ast.AST] = None
    raw: Any = None
    above: Optional[int] = None


class Block(Tracked):
    """One entry of ``custom_optimizers``.

    ``names`` holds what was assigned to ``name``, the last one last.  ``open`` is True when
    options may be set that could not be read.  ``built_in`` marks an entry that a helper of
    npu_bridge added.
    """

    __slots__ = ("built_in", "entries", "message", "names", "open", "shadowed")

    def __init__(
        self,
        message: Optional["Message"],
        node: Optional[ast.AST],
        place: Place,
        moment: int,
    ) -> None:
        super().__init__(node, place, moment)
        self.message = message
        self.entries: Dict[str, Entry] = {}
        self.shadowed: List[Entry] = []
        self.names: List[Tuple[Any, Place]] = []
        self.open = False
        self.built_in = False

    @property
    def all_entries(self) -> List[Entry]:
        """Every assignment, those that were overwritten included."""
        return [*self.entries.values(), *self.shadowed]

    @property
    def is_npu(self) -> bool:
        """True for an entry that is, or may be, the NPU's."""
        return not isinstance(self.name, str) or self.name == "NpuOptimizer"

    @property
    def name(self) -> Any:
        """The name that it has in the end; None when it was never given one."""
        return self.names[-1][0] if self.names else None


class Replaced(NamedTuple):
    """What took the place of a message under its name, and where."""

    by: "Message"
    place: Place


class Message(Tracked):
    """A ConfigProto, or a part of one, under construction.

    ``fields`` maps a field to what it was set to; a field that is a message is made when it is
    asked for.  ``foreign`` is True for one that came from elsewhere, with unknown content.
    ``bound`` are the expressions that gave it when a name was bound to it.
    """

    __slots__ = (
        "assigned",
        "blocks",
        "bound",
        "edited",
        "fields",
        "foreign",
        "kind",
        "parent",
        "replaced",
    )

    def __init__(
        self,
        kind: str,
        node: Optional[ast.AST],
        place: Place,
        moment: int,
        foreign: bool = False,
        parent: Optional["Message"] = None,
    ) -> None:
        super().__init__(node, place, moment)
        self.kind = kind
        self.fields: Dict[str, Any] = {}
        self.assigned: Dict[str, Use] = {}
        self.blocks: List[Block] = []
        self.edited = False
        self.foreign = foreign
        self.parent = parent
        self.replaced: Optional[Replaced] = None
        self.bound: List[ast.expr] = []

    def parts(self) -> Iterator["Message"]:
        """The message and every message inside of it."""
        yield self
        for value in self.fields.values():
            if isinstance(value, Message):
                yield from value.parts()

    @property
    def root(self) -> "Message":
        """The outermost message that this one is a part of."""
        message = self
        while message.parent is not None:
            message = message.parent
        return message


class BlockList:
    """``rewrite_options.custom_optimizers`` of a message."""

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message


class ParameterMap:
    """``parameter_map`` of an entry."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block = block


class Subscript:
    """``parameter_map[name]``."""

    __slots__ = ("block", "name", "node")

    def __init__(self, block: Block, name: Any, node: ast.expr) -> None:
        self.block = block
        self.name = name
        self.node = node


class Argument(NamedTuple):
    """One argument of a constructor."""

    value: Any
    place: Place
    name_place: Place = NOWHERE
    node: Optional[ast.expr] = None


class Constructed(Tracked):
    """A call of a constructor of npu_bridge (``NPURunConfig``, ``DumpConfig``, ...).

    ``open`` is True when it has ``*args`` or ``**kwargs``.
    """

    __slots__ = ("arguments", "kind", "open")

    def __init__(self, kind: str, node: ast.AST, place: Place, moment: int) -> None:
        super().__init__(node, place, moment)
        self.kind = kind
        self.arguments: Dict[str, Argument] = {}
        self.open = False


class Loaded(Tracked):
    """A configuration file that npu_config loads."""

    __slots__ = ("file",)

    def __init__(self, file: str, node: ast.AST, place: Place, moment: int) -> None:
        super().__init__(node, place, moment)
        self.file = file


class Function:
    """A function of the script, with the frame that it was defined in."""

    __slots__ = ("frame", "node", "owner", "receiver", "scope")

    def __init__(self, node: Any, scope: Any, frame: Any, owner: Any = None) -> None:
        self.node = node
        self.scope = scope
        self.frame = frame
        self.owner = owner
        self.receiver: Optional[Instance] = None


class Class:
    """A class of the script."""

    __slots__ = ("frame", "node", "scope")

    def __init__(self, node: ast.ClassDef, scope: Any, frame: Any) -> None:
        self.node = node
        self.scope = scope
        self.frame = frame


class Instance:
    """An object of a class of the script."""

    __slots__ = ("attributes", "cls", "key")

    def __init__(self, cls: Class, key: str) -> None:
        self.cls = cls
        self.key = key
        self.attributes: Dict[str, Any] = {}
