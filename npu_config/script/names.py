"""Names: what they are bound to on the path that is being followed."""

import ast
import itertools
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import Place
from npu_config.script.constants import is_known
from npu_config.script.objects import (
    Block,
    Class,
    Constructed,
    Function,
    Instance,
    Message,
    Tracked,
    Unknown,
)
from npu_config.script.paths import Decisions
from npu_config.script.scopes import Scope, Store, Watch
from npu_config.script.script import Script


class Frame:
    """The variables of one run of a module or function."""

    __slots__ = ("parent", "scope", "serial", "variables")

    def __init__(self, scope: Scope, parent: Optional["Frame"], serial: str) -> None:
        self.scope = scope
        self.parent = parent
        self.serial = serial
        self.variables: Dict[str, Any] = {}


class Again(Exception):  # noqa: N818 - no error, but a request
    """More statements matter than was known; the path has to be followed anew."""


class Call(NamedTuple):
    """The evaluated arguments of a call; ``open`` is True with ``*args`` or ``**kwargs``."""

    node: ast.Call
    name: str
    args: List[Tuple[Any, ast.expr]]
    keywords: Dict[str, Tuple[Any, ast.expr]]
    open: bool

    def get(self, keyword: str, position: int) -> Optional[Tuple[Any, ast.expr]]:
        """An argument by name or position, None when it is not given."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.args[position] if position < len(self.args) else None


class Names:
    """The frames of one path, and what is made on it.

    Args:
        script: the script.
        decisions: which way to go where a condition cannot be known.
    """

    def __init__(self, script: Script, decisions: Decisions) -> None:
        self.script = script
        self.decisions = decisions
        self.frames: Dict[int, int] = {}
        self.module = self.new_frame(script.module, None)
        self.frame = self.module
        self.moment = 0
        self.testing = False
        self.wanting = False
        self.adopted: Dict[str, Any] = {}
        self.messages: List[Message] = []
        self.blocks: List[Block] = []
        self.constructed: List[Constructed] = []

        self.guards = decisions.guards
        self.calls: List[Tuple[Call, int, Tuple[int, ...]]] = []
        self.builders: List[Any] = []
        self.failures: List[Tuple[ast.expr, str, Tuple[int, ...]]] = []
        self.environment: List[Tuple[ast.expr, str, Tuple[int, ...]]] = []

    def new_frame(self, scope: Scope, parent: Optional[Frame]) -> Frame:
        """A frame with a serial that is the same in every run that comes the same way."""
        line = getattr(scope.node, "lineno", 0)
        count = self.frames[line] = self.frames.get(line, 0) + 1
        return Frame(scope, parent, str(line) if count == 1 else "{}.{}".format(line, count))

    def tick(self) -> int:
        """A moment later than every one before."""
        self.moment += 1
        return self.moment

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        return self.script.source.place(node)

    def lookup(self, name: str) -> Any:
        """What a name is bound to where the path has come to."""
        frame: Optional[Frame] = self.frame
        while frame is not None:
            if name in frame.variables:
                value = frame.variables[name]
                if name in self.script.global_names and is_known(value) and value is not None:
                    return Unknown("{}@{}".format(name, frame.serial))
                return value
            if frame is not self.module and name in frame.scope.global_names:
                frame = frame.parent
                continue
            stores = frame.scope.stores.get(name)
            if stores:
                value = self._lazy(frame, name, stores)
                if value is not None:
                    return value
            frame = frame.parent
        return "__main__" if name == "__name__" else Unknown(name)

    def _lazy(self, frame: Frame, name: str, stores: List[Store]) -> Any:
        """A binding whose statement was skipped, when there is but one; else unknown."""
        unknown = Unknown("{}@{}".format(name, frame.serial))
        if name in self.script.global_names:
            return unknown
        if len(stores) == 1:
            kind, node, text = stores[0]
            if kind == "import":
                frame.variables[name] = Unknown(text)
                return frame.variables[name]
            if kind == "definition":
                frame.variables[name] = self.definition(frame, node)
                return frame.variables[name]
        kinds = {store.kind for store in stores}
        if kinds == {"import"}:
            return Unknown(stores[-1].text)
        if len(stores) > 1:
            if self.wanting and kinds & {"value", "item"} and name not in frame.scope.watched:
                frame.scope.watch(name, Watch.ALL)
                raise Again
            return unknown
        if kinds - {"value"}:
            return unknown
        frame.variables[name] = unknown
        value = self.in_frame(frame, stores[0].node)
        if isinstance(value, (list, dict)) and self._is_changed(name):
            value = unknown
        frame.variables[name] = value
        return value

    def _is_changed(self, name: str) -> bool:
        """True when a list or dict may be changed after it was made."""
        source = self.script.source
        pattern = re.compile(
            r"(?<!\w){}\s*(?:\.\s*(?:append|extend|insert|update|pop|setdefault|clear|remove)\b"
            r"|\[[^\]]*\]\s*[-+*/|&]?=(?!=))".format(re.escape(name))
        )
        return any(pattern.search(source.lines[line - 1]) for line in source.mentions(name))

    def in_frame(self, frame: Frame, node: ast.AST) -> Any:
        """The value of an expression in another frame."""
        outer, self.frame = self.frame, frame
        try:
            return self.value(node)
        finally:
            self.frame = outer

    def definition(self, frame: Frame, node: ast.AST) -> Any:
        """The function or class that a definition makes."""
        if isinstance(node, ast.ClassDef):
            return Class(node, frame.scope.child(node), frame)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return Function(node, frame.scope.child(node), frame)
        return Unknown("definition")

    def anonymous(self, node: ast.AST) -> Unknown:
        """An unknown value that equals no other."""
        return Unknown("?{}:{}".format(getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))

    def value(self, node: ast.AST) -> Any:
        """The value of an expression."""
        raise NotImplementedError

    @property
    def function(self) -> Optional[ast.AST]:
        """The function that is being run."""
        raise NotImplementedError

    def start(self, value: Any) -> None:
        """A function of the script is given to something that will call it."""
        raise NotImplementedError

    def pass_on(self, call: Call, name: str = "") -> None:
        """Objects go to a function that is not known: it may use and change them."""
        raise NotImplementedError

    def adopt(self, value: Unknown, kind: str, node: ast.AST) -> Message:
        """The message that an unknown value must be, always the same for the same value."""
        raise NotImplementedError

    def field(self, message: Message, name: str, node: ast.AST) -> Any:
        """A field of a message; a part that is not there yet is made."""
        raise NotImplementedError

    def key(self, value: Any) -> str:
        """What identifies a value; the same in every run that comes the same way."""
        if isinstance(value, Unknown):
            return value.key
        if isinstance(value, (list, tuple, dict)):
            items = [
                "..." if isinstance(item, (list, tuple, dict)) else self.key(item)
                for item in itertools.islice(value, 8)
            ]
            return "[{}]".format(", ".join(items))
        if isinstance(value, Tracked):
            return "object {}".format(value.moment)
        if isinstance(value, Instance):
            return value.key
        return repr(value) if is_known(value) else type(value).__name__
