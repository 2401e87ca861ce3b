"""Paths: the state of a run on its way through a script, and all the ways there are.

:class:`Run` is the state of one path and no more: what is bound, what was made, how far the path
has come.  What expressions give and what statements do is in functions of it, which its two tables
name; :func:`evaluate` and :func:`execute` look there.
"""

import ast
import contextlib
import itertools
from collections import deque
from functools import partial
from typing import (
    Any,
    Callable,
    Deque,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
)

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.lazy import cached_property
from npu_config.core.target import OwnTarget
from npu_config.python_flow.scopes import UNCLEAR, Scope, literal
from npu_config.script.conditions import Decision, Decisions
from npu_config.script.neighbours import constant_of, is_library
from npu_config.script.objects import (
    Block,
    Constructed,
    Entry,
    Fails,
    Instance,
    Loaded,
    Message,
    NotKnown,
    Tracked,
    Unknown,
    Use,
    is_known,
    origins,
    substituted,
)
from npu_config.script.script import Script

PATHS = 64
"""The most paths from one starting point; those that deviate least are followed first."""
_DECISIONS = 16_000
"""The most decisions on all paths from one starting point, for scripts with very many."""

Outcome = TypeVar("Outcome")


class Path:
    """One path: its decisions, what came out, and the number of its starting point.

    Attributes:
        supposed: True for a path that the script as it is does not take.
        skips: True for a path on which a loop of unknown rounds has none.
        literals: the decisions as pairs of atom and value, but for constants and assertions, and
            for what goes without saying: that nothing raises, and that a loop has a round.
    """

    __slots__ = ("literals", "outcome", "skips", "start", "supposed", "trace")

    def __init__(self, trace: Tuple[Decision, ...], outcome: Any, start: int = 0) -> None:
        self.trace = trace
        self.outcome = outcome
        self.start = start
        self.supposed = any(decision.supposed for decision in trace)
        self.skips = any(decision.skips for decision in trace)
        self.literals = frozenset(
            (d.atom, d.holds)
            for d in trace
            if not (d.is_switch or d.asserted) and (d.holds or d.node)
        )


def explore(
    run: Callable[[Decisions], Outcome],
    signature: Callable[[Outcome], object],
    start: int = 0,
    enough: Callable[[], bool] = lambda: False,
) -> List[Path]:
    """Follow every path, from the usual one outwards.

    A decision that turned out to change nothing is not varied again together with others.

    Args:
        run: follows one path.
        signature: equal for outcomes that do not differ.
        start: the number of the starting point.
        enough: True when no further path is to be followed.
    """
    found: List[Path] = []
    pending: Deque[Tuple[Dict[str, bool], Optional[object], FrozenSet[str]]] = deque()
    pending.append(({}, None, frozenset()))
    decided = 0
    while pending and len(found) < PATHS and decided < _DECISIONS and not (found and enough()):
        schedule, base, seen = pending.popleft()
        decisions = Decisions(schedule)
        outcome = run(decisions)
        trace = tuple(decisions.trace)
        decided += len(trace)
        found.append(Path(trace, outcome, start))
        sign = signature(outcome)
        inert = base is not None and sign == base
        atoms = frozenset(decision.atom for decision in trace)
        held: Dict[str, bool] = {}
        for decision in trace:
            atom, holds = decision.atom, decision.holds
            if len(pending) >= PATHS - len(found):
                break  # more would never be followed
            if not (atom in schedule or decision.asserted or (inert and atom in seen)):
                pending.append(({**held, atom: not holds}, sign, atoms))
            held[atom] = holds
    return found


_DEPTH = 4
ON, RETURN, BREAK, CONTINUE, STOP = range(5)
"""How a body is left: at its end, by return, by break, by continue, by raise."""


class Again(Exception):  # noqa: N818 - no error, but a request
    """More statements matter than was known; the path has to be followed anew."""


class Exhausted(Exception):  # noqa: N818 - no error, but an end
    """A path has more statements than are worth following."""


class Frame:
    """The variables of one run of a module or function of a script, and what its scope binds."""

    __slots__ = ("global_names", "parent", "scope", "script", "serial", "stores", "variables")

    def __init__(self, scope: Scope, parent: Optional["Frame"], serial: str, home: Script) -> None:
        self.scope = scope
        self.script = home
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

    @property
    def values(self) -> List[Any]:
        """The values of the arguments by position."""
        return [value for value, _ in self.args]

    @property
    def named(self) -> Dict[str, Any]:
        """The values of the arguments by name."""
        return {name: value for name, (value, _) in self.keywords.items()}

    @property
    def given(self) -> List[Any]:
        """The values of all arguments."""
        return [*self.values, *self.named.values()]

    @property
    def first(self) -> Any:
        """The value of the first argument by position; None where there is none."""
        return self.args[0][0] if self.args else None

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
        elsewhere: what was constructed in functions of other files.
        builders: the builders of npu_config that were made.
        refused: what is wrong with calls of npu_config itself, with their guards.
        loaded: the configuration files that are loaded.
        failures: expressions that raise, and why.
        environment: environment variables that are taken as text without a default.
        given: what builders are given that is known at run time only, with the option.
        adopted: the objects that unknown values must be, by their keys.
        class_bodies: what the bodies of classes have bound.
        testing: True while the condition of an ``if`` is evaluated.
        wanting: True in a statement that names something of the NPU.
        returned: what the function that was left by ``return`` gave.
        apart: the moment from which a function runs of which nobody knows when it is called.
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
        self.apart: Optional[int] = None
        self.adopted: Dict[str, Any] = {}
        self.class_bodies: Dict[ast.AST, Dict[str, Any]] = {}
        self.messages: List[Message] = []
        self.blocks: List[Block] = []
        self.constructed: List[Constructed] = []
        self.elsewhere: List[Constructed] = []
        self.builders: List[Any] = []
        self.refused: List[Tuple[Diagnostic, Guards]] = []
        self.loaded: List[Loaded] = []
        self.calls: List[Tuple[Call, int, Guards]] = []
        self.failures: List[Tuple[ast.expr, Fails, Guards]] = []
        self.environment: List[Tuple[ast.expr, Unknown, Guards]] = []
        self.given: List[Tuple[str, Unknown, Place, Guards]] = []

    def new_frame(
        self, scope: Scope, parent: Optional[Frame], serial: Optional[str] = None
    ) -> Frame:
        """A frame with a serial that is the same in every run that comes the same way."""
        if serial is None:
            line = getattr(scope.node, "lineno", 0)
            count = self.frames[line] = self.frames.get(line, 0) + 1
            serial = str(line) if count == 1 else "{}.{}".format(line, count)
        script = self.script if parent is None else parent.script
        frame = Frame(scope, parent, serial, script)
        self._frames.append(frame)
        return frame

    def forget(self) -> None:
        """Let go of the variables of a path that has ended: functions in them refer to them."""
        for frame in self._frames:
            frame.variables.clear()
        self._frames.clear()
        self.class_bodies.clear()

    def forget_objects(self) -> None:
        """Let go of what was made on a path that nothing asks for any more."""
        for message in self.messages:
            for part in list(message.parts()):
                part.fields.clear()
                part.blocks.clear()

    def tick(self) -> int:
        """A moment later than every one before."""
        self.moment += 1
        return self.moment

    def note(self, call: Call) -> None:
        """Keep a call for the rules that look at it."""
        self.calls.append((call, self.tick(), tuple(self.guards)))

    def refuse(self, *findings: Diagnostic) -> None:
        """Note what is wrong with the statement that is being run."""
        self.refused += [(finding, tuple(self.guards)) for finding in findings]

    def load(
        self, file: str, node: ast.AST, ours: bool, target: OwnTarget, kind: Optional[str] = None
    ) -> Loaded:
        """A configuration file that an expression loads."""
        loaded = Loaded(node, self.place(node), self.tick(), file, ours, target, kind)
        loaded.path = tuple(self.guards)
        self.loaded.append(loaded)
        return loaded

    def new_message(self, kind: str, node: ast.AST, foreign: bool = False) -> Message:
        """A message that an expression makes."""
        message = Message(node, self.place(node), self.tick(), kind, foreign)
        message.path = tuple(self.guards)
        self.messages.append(message)
        return message

    def new_block(self, message: Optional[Message], node: ast.AST) -> Block:
        """An entry of custom_optimizers that an expression makes."""
        block = Block(node, self.place(node), self.tick(), message)
        block.path = tuple(self.guards)
        self.blocks.append(block)
        if message is not None:
            message.root.blocks.append(block)
        return block

    def drop(self, blocks: Sequence[Block]) -> None:
        """Entries are taken out of custom_optimizers: what they set does not count."""
        for block in blocks:
            self.blocks.remove(block)
            if block.message is not None:
                block.message.root.blocks.remove(block)

    def guards_at(self, place: Place) -> Guards:
        """The decisions that led to what was done at a place; for a path that has ended."""
        return self._guards_at.get(place, ())

    @cached_property
    def _guards_at(self) -> Dict[Place, Guards]:
        return dict(self._all_guards())

    def _all_guards(self) -> Iterator[Tuple[Place, Guards]]:
        """What is entered last counts: what is most exact."""
        for made in [*self.constructed, *self.elsewhere]:
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
        return self._entries_at.get(place, [])

    @cached_property
    def _entries_at(self) -> Dict[Place, List[Entry]]:
        found: Dict[Place, List[Entry]] = {}
        for block in self.blocks:
            for entry in block.all_entries:
                for at in {entry.place, entry.name_place, entry.field_place}:
                    found.setdefault(at, []).append(entry)
        return found

    @property
    def function(self) -> Optional[ast.AST]:
        """The function that is being run."""
        return self.stack[-1] if self.stack else None


def evaluate(run: Run, node: ast.AST) -> Any:
    """The value of an expression; one that raises :class:`NotKnown` is like no other."""
    found = run.fixed.get(node)
    if found is not None:
        return found
    evaluator = run.evaluators.get(node.__class__)
    if evaluator is not None:
        try:
            return evaluator(run, node)
        except NotKnown:
            pass
    return anonymous(node)


def evaluate_in(run: Run, frame: Frame, node: ast.AST) -> Any:
    """The value of an expression in another frame."""
    with entered(run, frame):
        return evaluate(run, node)


@contextlib.contextmanager
def entered(run: Run, frame: Frame) -> Iterator[None]:
    """Be in another frame, and in the script that it is of, in the block."""
    kept = (run.script, run.place, run.module, run.frame, run.fixed)
    if frame.script is not run.script:
        run.script = frame.script
        run.place, run.fixed = run.script.source.place_of, run.script.fixed
        run.module = frame
        while run.module.parent is not None:
            run.module = run.module.parent
    run.frame = frame
    try:
        yield
    finally:
        run.script, run.place, run.module, run.frame, run.fixed = kept


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


def _constant(run: Run, value: Unknown) -> Any:
    """What a name of another file of the program certainly is; else the value itself."""
    own, path = run.script.source.path, value.path
    if own is None or len(path) < 2 or is_library(path[0]):
        return value
    found = literal(constant_of(own, path))
    return value if found is UNCLEAR else found


def resolved(run: Run, value: Any) -> Any:
    """A value in terms of what names of other files of the program certainly are."""
    return substituted(value, partial(_constant, run))


def said(run: Run, value: Any, is_switch: bool) -> Any:
    """What a value certainly is on this path: by the conditions so far, or by another file.

    Args:
        run: the path.
        value: the value.
        is_switch: it is taken as a bool, so that it is enough to know whether it is true.
    """
    is_attribute = isinstance(value, Unknown) and value.path[:1] == ("",)
    if not isinstance(value, Unknown) or (is_attribute and run.script.times_set(value.name) > 1):
        return value
    found = resolved(run, run.decisions.known(value))
    if is_switch and isinstance(found, Unknown):
        flags = (part.flag for part in origins(found) if part.flag)
        truth = run.decisions.truth(found)
        if truth is not None and not any(map(run.script.times_set, flags)):
            return truth
    return found


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
