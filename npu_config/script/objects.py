"""What a script's expressions are known to give, and operations on what is known.

Known Python values stand for themselves; operations on them give what Python gives, within
bounds.  Everything else is one of the objects here: a value that cannot be known, a protobuf
message that is being built, one entry of ``custom_optimizers``, the arguments of a constructor of
npu_bridge.
"""

import ast
import json
import operator
import posixpath
import re
import zlib
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import attr

from npu_config.core.diagnostics import NOWHERE, Place
from npu_config.core.message import phrase
from npu_config.core.target import OwnTarget

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


class Located(Unknown):
    """A path that cannot be known, of a file that can: it begins with where the script is."""

    __slots__ = ("file",)

    def __init__(self, value: Unknown, file: str) -> None:
        super().__init__(value.key, value.path, value.parts, value.flag, value.convert)
        self.file = file


def file_of(value: Any) -> Optional[str]:
    """The file that a value names that cannot be known itself."""
    return value.file if isinstance(value, Located) else None


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


@attr.s(slots=True, auto_attribs=True, eq=False, repr=False)
class Tracked:
    """Base of the objects whose way through the script is followed."""

    node: Optional[ast.AST]
    place: Place
    moment: int
    path: Tuple[int, ...] = attr.ib(default=(), init=False)
    uses: List[Use] = attr.ib(factory=list, init=False)


class Entry(NamedTuple):
    """One assignment to a field of ``parameter_map``.

    ``raw`` is the value that was assigned, ``value`` the one that the field then holds.
    ``field_place`` is where the field is named.  ``path`` are the decisions that lead to the
    statement.  ``built_in`` marks what a helper of the vendor sets.  ``above``: a number that an
    unknown value is certainly greater than.
    """

    name: str
    value: Any
    wire: Optional[str]
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


@attr.s(slots=True, auto_attribs=True, eq=False, repr=False)
class Block(Tracked):
    """One entry of ``custom_optimizers``.

    ``names`` holds what was assigned to ``name``, the last one last.  ``open`` is True when
    options may be set that could not be read.  ``built_in`` marks an entry that a helper of
    npu_bridge added.
    """

    message: Optional["Message"]
    entries: Dict[str, Entry] = attr.ib(factory=dict, init=False)
    shadowed: List[Entry] = attr.ib(factory=list, init=False)
    names: List[Tuple[Any, Place]] = attr.ib(factory=list, init=False)
    open: bool = attr.ib(default=False, init=False)
    built_in: bool = attr.ib(default=False, init=False)

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


@attr.s(slots=True, auto_attribs=True, eq=False, repr=False)
class Message(Tracked):
    """A ConfigProto, or a part of one, under construction.

    ``fields`` maps a field to what it was set to; a field that is a message is made when it is
    asked for.  ``foreign`` is True for one that came from elsewhere, with unknown content.
    ``bound`` are the expressions that gave it when a name was bound to it.
    """

    kind: str
    foreign: bool = False
    parent: Optional["Message"] = None
    fields: Dict[str, Any] = attr.ib(factory=dict, init=False)
    assigned: Dict[str, Use] = attr.ib(factory=dict, init=False)
    blocks: List[Block] = attr.ib(factory=list, init=False)
    replaced: Optional[Replaced] = attr.ib(default=None, init=False)
    bound: List[ast.expr] = attr.ib(factory=list, init=False)

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


def part_of(message: Any, *names: str) -> Optional[Message]:
    """A part of a message that was made, by the fields that lead there; else None."""
    for name in names:
        message = message.fields.get(name) if isinstance(message, Message) else None
    return message if isinstance(message, Message) else None


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

    def __init__(self, node: ast.AST, place: Place, moment: int, kind: str) -> None:
        super().__init__(node, place, moment)
        self.kind = kind
        self.arguments: Dict[str, Argument] = {}
        self.open = False

    def value(self, name: str) -> Any:
        """The value of an argument; None for one that is not given."""
        given = self.arguments.get(name)
        return None if given is None else given.value


@attr.s(slots=True, auto_attribs=True, eq=False, repr=False)
class Loaded(Tracked):
    """A configuration file that is loaded for a target, by npu_config if it is ``ours``.

    ``is_part`` is True for one that is put into another configuration, ``kind`` what it is read
    as whatever its name, ``overrides`` what replaces its values.
    """

    file: str
    ours: bool
    target: OwnTarget
    kind: Optional[str] = None
    overrides: Tuple[Any, ...] = attr.ib(default=(), init=False)
    is_part: bool = attr.ib(default=False, init=False)


class Function:
    """A function of the script, with the frame that it was defined in."""

    __slots__ = ("frame", "node", "receiver", "scope")

    def __init__(self, node: Any, scope: Any, frame: Any) -> None:
        self.node = node
        self.scope = scope
        self.frame = frame
        self.receiver: Optional[Instance] = None


class Class:
    """A class of the script.

    Attributes:
        above: those that it inherits from, once they were looked for.
        strangers: what else it inherits from.
        is_special: whether setting an attribute of its objects, or an item, may call its code;
            None before it was looked for.
    """

    __slots__ = ("above", "frame", "is_special", "node", "scope", "strangers")

    def __init__(self, node: ast.ClassDef, scope: Any, frame: Any) -> None:
        self.above: Optional[List[Class]] = None
        self.strangers: Tuple[Unknown, ...] = ()
        self.node = node
        self.scope = scope
        self.frame = frame
        self.is_special: Optional[bool] = None


class Instance:
    """An object of a class of the script.

    Attributes:
        given: the arguments that it was made with, named ones, and whether there may be others.
        whole: the object that ``super()`` stands for.
        origin: what named its class, for a class of another file.
    """

    __slots__ = ("attributes", "cls", "given", "key", "origin", "whole")

    def __init__(self, cls: Class, key: str) -> None:
        self.given: Optional[Tuple[List[Any], Dict[str, Any], bool]] = None
        self.whole: Optional[Instance] = None
        self.origin: Optional[Unknown] = None
        self.cls = cls
        self.key = key
        self.attributes: Dict[str, Any] = {}


class Record:
    """An object that holds what it was made with, and is only read: a SimpleNamespace."""

    __slots__ = ("attributes",)

    def __init__(self, attributes: Dict[str, Any]) -> None:
        self.attributes = attributes


def put(block: Block, entry: Entry) -> None:
    """Enter an assignment; one that stood there before is overwritten, if it is no copied one."""
    old = block.entries.get(entry.name)
    if old is not None and old.place != entry.place and old.moment > block.moment:
        block.shadowed.append(old._replace(shadowed_by=entry.name_place))
    block.entries[entry.name] = entry


def merge(owner: Message, value: Message) -> None:
    """``value`` becomes a part of ``owner``."""
    owner.fields.update(value.fields)
    owner.assigned.update(value.assigned)
    owner.root.blocks += [b for b in value.blocks if b not in owner.root.blocks]
    for block in value.blocks:
        block.message = owner
    owner.foreign = owner.foreign or value.foreign


LIMIT = 100000
"""No text, tuple or number grows beyond this many characters, items or bits."""

_MOST_ITEMS = 2000
_MOST_WORK = 50 * LIMIT
_CONTAINERS: FrozenSet[type] = frozenset((list, tuple, dict))
_PLAIN: FrozenSet[type] = frozenset((type(None), bool, int, float, str, bytes))


class NotKnown(Exception):  # noqa: N818 - no error, but the answer
    """The result cannot be known."""


def is_known(value: Any) -> bool:
    """True for a Python value that is known through and through, and of a reasonable size."""
    kind: type = value.__class__
    if kind in _PLAIN:
        return True
    return kind in _CONTAINERS and _size(value) is not None


def _size(value: Any) -> Optional[int]:
    """How many characters a known value takes, about; None when it is too large or not known."""
    pending: List[Any] = [value]
    left = _MOST_ITEMS
    size = 0
    while pending:
        item = pending.pop()
        left -= 1
        if isinstance(item, (list, tuple, dict)):
            left -= len(item)
            pending.extend(item)
            if isinstance(item, dict):
                pending.extend(item.values())
        elif item.__class__ not in _PLAIN:
            return None
        elif isinstance(item, (str, bytes)):
            size += len(item)
        elif isinstance(item, int):
            size += 1 + item.bit_length() // 3
        if left < 0 or size > LIMIT:
            return None
    return size


def _stays_small(text: Any, values: Any) -> bool:
    """Whether a text stays within reason that has values put into it, as often as can be."""
    size = _size(values)
    return size is not None and len(text) * size <= _MOST_WORK


_BINARY: Dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_UNARY: Dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARE: Dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: lambda left, right: type(left) is type(right) and left == right,
    ast.IsNot: lambda left, right: type(left) is not type(right) or left != right,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def binary(kind: type, left: Any, right: Any) -> Any:
    """``left <operator> right``."""
    if kind is ast.Mult and not _product_is_small(left, right):
        raise NotKnown
    if kind in (ast.Pow, ast.LShift) and not (
        isinstance(left, (int, float)) and isinstance(right, int) and abs(right) < 1000
    ):
        raise NotKnown
    if kind is ast.Pow and isinstance(left, int) and left.bit_length() * right > LIMIT:
        raise NotKnown
    if kind not in _BINARY:
        raise NotKnown
    is_format = kind is ast.Mod and isinstance(left, (str, bytes))
    if is_format and (is_wide(left) or not _stays_small(left, right)):
        raise NotKnown
    return bounded(attempt(_BINARY[kind], left, right))


_WIDE = re.compile(r"\d{5}|\*|\{[^{}]*\{")
"""What may make formatted text very long."""


def is_wide(text: Any) -> bool:
    """Whether a format, of ``%`` or ``format``, may make very long text."""
    text = text if isinstance(text, str) else text.decode("latin-1")
    return len(text) > _MOST_ITEMS or _WIDE.search(text) is not None


def _product_is_small(left: Any, right: Any) -> bool:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, (str, bytes, list, tuple)) and isinstance(other, int):
            return len(one) * other <= LIMIT
    return True


def unary(kind: type, operand: Any) -> Any:
    """``<operator> operand``."""
    return attempt(_UNARY[kind], operand)


def compare(kind: type, left: Any, right: Any) -> Any:
    """``left <comparison> right``; raises :class:`NotKnown` where Python would raise."""
    return attempt(_COMPARE[kind], left, right)


def bounded(value: Any) -> Any:
    """``value``, unless it has grown too large to be worth knowing."""
    if isinstance(value, (str, bytes, list, tuple)) and len(value) > LIMIT:
        raise NotKnown
    if isinstance(value, int) and not is_small(value):
        raise NotKnown
    return value


def is_small(value: int) -> bool:
    """Whether a number can be written in every message."""
    return value.bit_length() <= 4096


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives; raises :class:`NotKnown` where it raises."""
    try:
        return function(*arguments)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, MemoryError):
        raise NotKnown from None


_METHODS = {
    str: "capitalize count encode endswith find format join lower lstrip replace rsplit rstrip "
    "split startswith strip title upper zfill",
    bytes: "decode endswith lower replace startswith strip upper",
    dict: "copy get items keys values",
    list: "copy count index",
    tuple: "count index",
    int: "bit_length",
}


_CODECS = frozenset(("utf-8", "utf8", "UTF-8", "UTF8", "ascii", "latin-1", "latin1"))
"""Those that take time in proportion to the text."""


def method(receiver: Any, name: str, args: Sequence[Any], keywords: Dict[str, Any]) -> Any:
    """``receiver.name(...)`` of a known value."""
    if name not in _METHODS.get(type(receiver), "").split():
        raise NotKnown
    if name == "format" and is_wide(receiver):
        raise NotKnown
    if name == "zfill" and not (args and isinstance(args[0], int) and args[0] <= LIMIT):
        raise NotKnown
    if isinstance(receiver, (str, bytes)) and not _stays_small(receiver, [args, keywords]):
        raise NotKnown
    if name in ("encode", "decode") and not _CODECS.issuperset((*args[:1], *keywords.values())):
        raise NotKnown
    try:
        result = getattr(receiver, name)(*args, **keywords)
    except Exception:
        raise NotKnown from None
    if type(result).__name__ in ("dict_keys", "dict_values", "dict_items"):
        result = list(result)
    return bounded(result)


CHANGING: Dict[type, Tuple[str, ...]] = {
    dict: ("clear", "pop", "popitem", "setdefault", "update"),
    list: ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"),
}
"""The methods that change what they are called on."""


def change(receiver: Any, name: str, args: Sequence[Any], keywords: Dict[str, Any]) -> Any:
    """``receiver.name(...)`` of a list or dict, by a method of :data:`CHANGING`."""
    try:
        result = getattr(receiver, name)(*args, **keywords)
    except Exception:
        raise NotKnown from None
    if len(receiver) > _MOST_ITEMS:
        raise NotKnown
    return result


def _int(value: Any = 0, *base: Any) -> int:
    if isinstance(value, (str, bytes)) and len(value) > _MOST_ITEMS:
        raise NotKnown
    return int(value, *base)


def _round(value: Any, digits: Any = None) -> Any:
    if digits is not None and abs(digits) > _MOST_ITEMS:
        raise NotKnown
    return round(value, digits)


def _dumps(value: Any, indent: Any = None, separators: Any = None, **keywords: Any) -> str:
    if isinstance(indent, str) or (indent or 0) > 8 or set(keywords) - _OF_DUMPS:
        raise NotKnown
    if separators is not None and len("".join(separators)) > 8:
        raise NotKnown
    return json.dumps(value, indent=indent, separators=separators, **keywords)


_OF_DUMPS = frozenset(("ensure_ascii", "sort_keys"))


def _range(*arguments: int) -> List[int]:
    numbers = range(*arguments)
    if len(numbers) > _MOST_ITEMS:
        raise NotKnown
    return list(numbers)


FUNCTIONS: Dict[str, Callable[..., Any]] = {
    "str": str,
    "int": _int,
    "float": float,
    "bool": bool,
    "bytes": bytes,
    "len": len,
    "min": min,
    "max": max,
    "abs": abs,
    "round": _round,
    "sum": sum,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "sorted": sorted,
    "reversed": lambda items: items[::-1],
    "range": _range,
    "enumerate": lambda items, start=0: list(enumerate(items, start)),
    "zip": lambda *items: list(zip(*items)),
    "repr": repr,
    "os.path.join": posixpath.join,
    "os.path.basename": posixpath.basename,
    "os.path.dirname": posixpath.dirname,
    "json.dumps": _dumps,
}
"""Functions without side effects, by the names that scripts call them by."""

_TYPES: Dict[str, Tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float,),
    "str": (str,),
    "bytes": (bytes,),
    "list": (list,),
    "tuple": (tuple,),
    "dict": (dict,),
    "basestring": (str,),
    "unicode": (str,),
    "long": (int,),
    "six.string_types": (str,),
    "six.text_type": (str,),
    "six.integer_types": (int,),
    "numbers.Number": (int, float),
    "numbers.Integral": (int,),
}


def type_names(value: Any) -> List[str]:
    """The keys of a type or of several; raises :class:`NotKnown` for anything else."""
    items = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(item, Unknown) for item in items):
        raise NotKnown
    return [item.key for item in items]


def is_instance(value: Any, names: Sequence[str]) -> bool:
    """``isinstance`` of a known value and the types with these names."""
    if any(name not in _TYPES for name in names):
        raise NotKnown
    return isinstance(value, tuple(kind for name in names for kind in _TYPES[name]))


def is_type(name: str) -> bool:
    """True for the name of a builtin type."""
    return name in _TYPES


def function(name: str, args: Sequence[Any], keywords: Dict[str, Any]) -> Any:
    """A call of a builtin or of a function of the standard library without side effects."""
    found = FUNCTIONS.get(name)
    if found is None:
        raise NotKnown
    if name == "bytes" and not (args and isinstance(args[0], (str, bytes))):
        raise NotKnown
    try:
        return bounded(found(*args, **keywords))
    except Exception:
        raise NotKnown from None


def as_text(value: Any) -> str:
    """The text of a value, of bytes as UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def as_bytes(value: Any) -> Any:
    """What ``tf.compat.as_bytes`` gives for a known value."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return Fails(
        phrase("as_bytes({}) raises TypeError: the argument must be a string", _shown(value)),
        value,
    )


def stored(value: Any, wire: str) -> Any:
    """The value that a protobuf field holds after the assignment, or why the assignment raises."""
    if wire == "b" and isinstance(value, int):
        return bool(value)
    if wire == "i" and isinstance(value, int):
        return int(value)
    if wire == "f" and isinstance(value, (int, float)):
        return float(value)
    if wire == "s" and isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    wanted = {
        "b": phrase("a bool"),
        "i": phrase("an int"),
        "s": "bytes",
        "f": phrase("a number"),
    }.get(wire)
    if wanted is None:
        return value
    reason = 'protobuf raises TypeError: ".{}" takes {}, got {}'
    return Fails(phrase(reason, wire, wanted, _shown(value)), value, wire)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
