"""One path through a script: what is bound, what was made, and how far the path has come.

:class:`Run` is the state and no more.  What expressions give and what statements do is in
functions of it, which its two tables name; :func:`evaluate` and :func:`execute` look there.
"""

import ast
import itertools
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.script.constants import is_known
from npu_config.script.objects import (
    Block,
    Constructed,
    Entry,
    Fails,
    Instance,
    Loaded,
    Message,
    Tracked,
    Unknown,
    Use,
)
from npu_config.script.paths import Decisions
from npu_config.script.scopes import Scope
from npu_config.script.script import Script

_DEPTH = 4
ON, RETURN, LEAVE, STOP = range(4)
"""How a body is left: at its end, by return, by break or continue, by raise."""


class Again(Exception):  # noqa: N818 - no error, but a request
    """More statements matter than was known; the path has to be followed anew."""


class Exhausted(Exception):  # noqa: N818 - no error, but an end
    """A path has more statements than are worth following."""


class Frame:
    """The variables of one run of a module or function, and what its scope binds."""

    __slots__ = ("global_names", "parent", "scope", "serial", "stores", "variables")

    def __init__(self, scope: Scope, parent: Optional["Frame"], serial: str) -> None:
        self.scope = scope
        self.stores = scope.stores
        self.global_names = scope.global_names
        self.parent = parent
        self.serial = serial
        self.variables: Dict[str, Any] = {}


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

    def value(self, keyword: str, position: int) -> Any:
        """The value of an argument by name or position, None when it is not given."""
        given = self.get(keyword, position)
        return None if given is None else given[0]


Guards = Tuple[int, ...]
Evaluators = Mapping[type, Callable[["Run", Any], Any]]
Executors = Mapping[type, Callable[["Run", Any], int]]


class Run:
    """The state of one path.

    Args:
        script: the script.
        decisions: which way to go where a condition cannot be known.
        evaluators: the functions that give the values of expressions, by class of node.
        executors: the functions that do what statements do, by class of node.
        limit: the most statements that are worth following.

    Attributes:
        place: says where a node is.
        frame: the variables of the function that is being run.
        guards: the decisions that led to the statement that is being run.
        visited: the functions that were run, by id.
        stack: the functions that are being run.
        calls: the calls that rules look at, with their moment and their guards.
        builders: the builders of npu_config that were made.
        refused: what is wrong with calls of npu_config itself, with their guards.
        loaded: the configuration files that are loaded.
        loops: the loops that may run no round, of which one was followed.
        failures: expressions that raise, and why.
        environment: environment variables that are taken as text without a default.
        adopted: the objects that unknown values must be, by their keys.
        testing: True while the condition of an ``if`` is evaluated.
        wanting: True in a statement that names something of the NPU.
        returned: what the function that was left by ``return`` gave.
    """

    def __init__(
        self,
        script: Script,
        decisions: Decisions,
        evaluators: Evaluators,
        executors: Executors,
        limit: int,
    ) -> None:
        self.script = script
        self.limit = limit
        self.place = script.source.place_of
        self.decisions = decisions
        self.evaluators = evaluators
        self.executors = executors
        self.fixed = script.fixed
        self.frames: Dict[int, int] = {}
        self._frames: List[Frame] = []
        self.module = self.new_frame(script.module, None)
        self.frame = self.module
        self.guards = decisions.guards
        self.visited: Dict[int, bool] = {}
        self.stack: List[ast.AST] = []
        self.moment = 0
        self.steps = 0
        self.testing = False
        self.wanting = False
        self.returned: Any = None
        self._guards_at: Optional[Dict[Place, Guards]] = None
        self._entries_at: Optional[Dict[Place, List[Entry]]] = None
        self.adopted: Dict[str, Any] = {}
        self.messages: List[Message] = []
        self.blocks: List[Block] = []
        self.constructed: List[Constructed] = []
        self.builders: List[Any] = []
        self.refused: List[Tuple[Diagnostic, Guards]] = []
        self.loaded: List[Loaded] = []
        self.loops: List[ast.stmt] = []
        self.calls: List[Tuple[Call, int, Guards]] = []
        self.failures: List[Tuple[ast.expr, Fails, Guards]] = []
        self.environment: List[Tuple[ast.expr, Unknown, Guards]] = []

    def new_frame(
        self, scope: Scope, parent: Optional[Frame], serial: Optional[str] = None
    ) -> Frame:
        """A frame with a serial that is the same in every run that comes the same way."""
        if serial is None:
            line = getattr(scope.node, "lineno", 0)
            count = self.frames[line] = self.frames.get(line, 0) + 1
            serial = str(line) if count == 1 else "{}.{}".format(line, count)
        frame = Frame(scope, parent, serial)
        self._frames.append(frame)
        return frame

    def forget(self) -> None:
        """Let go of the variables of a path that has ended: functions in them refer to them."""
        for frame in self._frames:
            frame.variables.clear()
        self._frames.clear()

    def tick(self) -> int:
        """A moment later than every one before."""
        self.moment += 1
        return self.moment

    def note(self, call: Call) -> None:
        """Keep a call for the rules that look at it."""
        self.calls.append((call, self.tick(), tuple(self.guards)))

    def new_message(self, kind: str, node: ast.AST, foreign: bool = False) -> Message:
        """A message that an expression makes."""
        message = Message(kind, node, self.place(node), self.tick(), foreign)
        message.path = tuple(self.guards)
        self.messages.append(message)
        return message

    def new_block(self, message: Optional[Message], node: ast.AST) -> Block:
        """An entry of custom_optimizers that an expression makes."""
        block = Block(message, node, self.place(node), self.tick())
        block.path = tuple(self.guards)
        self.blocks.append(block)
        if message is not None:
            message.root.blocks.append(block)
        return block

    def guards_at(self, place: Place) -> Guards:
        """The decisions that led to what was done at a place; for a path that has ended."""
        if self._guards_at is None:
            self._guards_at = dict(self._all_guards())
        return self._guards_at.get(place, ())

    def _all_guards(self) -> Iterator[Tuple[Place, Guards]]:
        """What is entered last counts: what is most exact."""
        for made in self.constructed:
            for argument in made.arguments.values():
                yield argument.place, made.path
                yield argument.name_place, made.path
            yield made.place, made.path
        for message in self.messages:
            for part in message.parts():
                for assigned in part.assigned.values():
                    yield assigned.place, assigned.path
        for block in self.blocks:
            if block.message is not None:
                yield block.message.root.place, block.path
            yield block.place, block.path
        for block in self.blocks:
            for entry in block.all_entries:
                yield entry.place, entry.path
                yield entry.name_place, entry.path

    def entries_at(self, place: Place) -> List[Entry]:
        """The assignments whose value, name or field is at a place; for a path that has ended."""
        if self._entries_at is None:
            self._entries_at = {}
            for block in self.blocks:
                for entry in block.all_entries:
                    for at in {entry.place, entry.name_place, entry.field_place}:
                        self._entries_at.setdefault(at, []).append(entry)
        return self._entries_at.get(place, [])

    @property
    def function(self) -> Optional[ast.AST]:
        """The function that is being run."""
        return self.stack[-1] if self.stack else None


def evaluate(run: Run, node: ast.AST) -> Any:
    """The value of an expression."""
    found = run.fixed.get(node)
    if found is not None:
        return found
    evaluator = run.evaluators.get(node.__class__)
    return anonymous(node) if evaluator is None else evaluator(run, node)


def evaluate_in(run: Run, frame: Frame, node: ast.AST) -> Any:
    """The value of an expression in another frame."""
    outer, run.frame = run.frame, frame
    try:
        return evaluate(run, node)
    finally:
        run.frame = outer


def execute(run: Run, statements: Sequence[ast.stmt]) -> int:
    """Run the hot statements of a body; says how it was left."""
    depth = len(run.guards)
    left = ON
    for hot in run.script.relevance.hot(run.frame.scope, statements):
        executor = run.executors.get(hot.statement.__class__)
        if executor is not None:
            run.wanting = hot.has_seed
            run.steps += 1
            run.script.steps += 1
            if run.steps > run.limit:
                raise Exhausted
            left = executor(run, hot.statement)
            if left:
                break
    del run.guards[depth:]
    return left


def used(run: Run, value: Any, kind: str, depth: int = 0) -> None:
    """Note what is done with an object, and with those in a list, tuple or dict."""
    if isinstance(value, Tracked):
        value.uses.append(Use(kind, value.place, run.tick()))
    elif isinstance(value, (list, tuple, dict)) and depth < _DEPTH:
        for item in value.values() if isinstance(value, dict) else value:
            used(run, item, kind, depth + 1)


def anonymous(node: ast.AST) -> Unknown:
    """An unknown value that equals no other."""
    return Unknown("?{}:{}".format(getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))


def identity(value: Any) -> str:
    """What identifies a value; the same in every run that comes the same way."""
    if isinstance(value, Unknown):
        return value.key
    if isinstance(value, (list, tuple, dict)):
        items = [
            "..." if isinstance(item, (list, tuple, dict)) else identity(item)
            for item in itertools.islice(value, 8)
        ]
        return "[{}]".format(", ".join(items))
    if is_known(value):
        return repr(value)
    if isinstance(value, Tracked):
        return "object {}".format(value.moment)
    return value.key if isinstance(value, Instance) else type(value).__name__


def result_of(callee: Unknown, name: str, args: Sequence[Any]) -> Unknown:
    """The unknown result of a call, the same for the same function and arguments.

    Args:
        callee: the function, as a value.
        name: what identifies it.
        args: the values of the arguments.
    """
    key = "{}({})".format(name, ", ".join(map(identity, args)))
    return Unknown(key, parts=(callee, *args))
