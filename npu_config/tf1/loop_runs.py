"""Runs of a session: off the device, a run that reaches a loop makes its rounds here.

The device runs the step n times for one ``session.run`` when the run reaches ``IterationOp``, the
session declares ``iterations_per_loop`` above 1, and the loop variable holds n - 1.  Without a
device the same run is made n times: what is fed stays the same, what is fetched is that of the
last round, and an error in a round (such as the end of a dataset) ends the run without outputs.
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
import weakref
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Optional,
    Set,
    Tuple,
)

from npu_config.core.names import ITERATION_OP
from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules, warn
from npu_config.tf1.config_proto import declared_iterations
from npu_config.tf1.purpose import TRAINS, Fetched, fetched, needed, purpose, reached
from npu_config.tf1.tensorflow import tf

SCOPE = "npu_runconfig"
"""The first part of the names of the loop variables."""

_OPTION = "iterations_per_loop"
_COUNTS = ("AssignAdd", "AssignAddVariableOp")


def collection_of(name: str) -> str:
    """The collection that holds the loop variable ``name``."""
    return "{}_{}".format(SCOPE, name)


def find_variable(graph: Any, name: str) -> Optional[Any]:
    """The loop variable ``name`` of a graph, or None.

    Raises:
        StateError: the graph holds several.
    """
    found = graph.get_collection(collection_of(name))
    if len(found) > 1:
        raise rules.loop_name_taken.error(
            'the collection "{}" contains {} variables, but the runtime uses only one'.format(
                collection_of(name), len(found)
            ),
            option="iterations_per_loop",
            help="build the loop once per graph",
            kind=errors.StateError,
        )
    return found[0] if found else None


def find_operation(graph: Any, name: str) -> Optional[Any]:
    """The operation of that name, or None."""
    try:
        return graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return None


class LoopFindings:
    """The findings of one session; each kind is said once.

    Args:
        declared: what the session says of ``iterations_per_loop``.
    """

    def __init__(self, declared: int) -> None:
        self._declared = declared
        self._said: Set[str] = set()
        self._idle: Set[Any] = set()

    def _tell(self, what: str, rule: Any, message: str, help: str) -> None:
        """Warn, unless this was said; a rule of scripts is given by its id."""
        if what not in self._said:
            self._said.add(what)
            rule = _of_scripts(rule) if isinstance(rule, str) else rule
            warn(rule.diagnostic(message, option=_OPTION, help=help))

    def no_loop(self, operations: List[Any], instead: str = "") -> None:
        """A run reaches no loop; that matters when it trains.

        Args:
            operations: what is fetched.
            instead: what to do; empty: build the loop.
        """
        if "loop" in self._said:
            return
        for operation in operations:
            if operation in self._idle:
                continue
            if not _trains(operation):
                self._idle.add(operation)
            else:
                message = (
                    '"iterations_per_loop" is {} in the session, but the run of "{}" does not '
                    "run {}: each session.run trains one step"
                ).format(self._declared, operation.name, ITERATION_OP)
                help = "call train_op = util.set_iteration_per_loop(sess, train_op, {})"
                self._tell("loop", "NPU886", message, instead or help.format(self._declared))

    def not_loaded(self) -> None:
        """The loop is run, and no number of iterations is loaded."""
        message = (
            '"iterations_per_loop" is {} in the session, and the loop was never loaded: each '
            "session.run trains one step"
        ).format(self._declared)
        help = "load it with loop.load_iteration_per_loop_var(sess, {}) or a SetIterationsVarHook"
        self._tell("loop", rules.loop_has_no_effect, message, help.format(self._declared))

    def one_step(self, count: int, help: str) -> None:
        """Loops are switched off, and one is run.

        Args:
            count: its iterations.
            help: what switches it on.
        """
        message = "each session.run trains one step here, and {} on the device".format(count)
        self._tell("once", rules.loop_runs_once, message, help)

    def one_shot(self, name: str) -> None:
        """The device refuses an iterator.

        Args:
            name: that of the one-shot iterator that a run needs.
        """
        message = (
            '"{}" is a one-shot iterator, and "iterations_per_loop" is {} in the session; the '
            "adapter aborts the process"
        ).format(name, self._declared)
        help = "use tf.data.make_initializable_iterator and run its initializer"
        self._tell("one-shot", "NPU888", message, help)

    def batches(self, feed_dict: Dict[Any, Any], count: int) -> None:
        """A loop is fed; a single value (a rate, a switch) may be, a batch is always the same.

        Args:
            feed_dict: what is fed.
            count: its iterations.
        """
        for key, value in feed_dict.items():
            if "feed" not in self._said and _is_batch(value):
                message = (
                    '"{}" is fed to a loop of {} iterations; each iteration gets the same batch'
                ).format(getattr(key, "name", key), count)
                help = "read the data from a Dataset with an initializable iterator"
                self._tell("feed", "NPU863", message, help)


def _trains(operation: Any) -> bool:
    """True when a run of an operation certainly makes a training step."""
    steps = operation.graph.get_collection(tf.GraphKeys.GLOBAL_STEP)
    counters = {step.op for step in steps if hasattr(step, "op")}
    return purpose([operation]) == TRAINS or any(
        each.type in _COUNTS and each.inputs[0].op in counters for each in needed([operation])
    )


def _is_batch(value: Any) -> bool:
    """True for an array of at least one axis."""
    shape = getattr(value, "shape", None)
    return bool(value) if isinstance(value, (list, tuple)) else bool(shape)


def _of_scripts(rule: str) -> Any:
    """A rule that the checks of scripts declare."""
    from npu_config.core.diagnostics import REGISTRY

    importlib.import_module("npu_config.script")
    return REGISTRY[rule]


SETTING = "NPU_CONFIG_LOOPS"
GIVEN_BY = "NPU_CONFIG_LOOPS_BY"
"""What set the setting, in the environment beside it: a key of _BACK; not there: the user."""

_BACK = {
    "run": "remove --loops once",
    "set_loops": 'call set_loops("device")',
}
"""How a loop makes its rounds again, by what had switched that off."""

_KERAS = (
    "train an Estimator, keras_to_npu.model_to_npu_estimator(model): fit and train_on_batch train "
    "one step in each session.run"
)
_IN_A_LOOP = "{} (after {} of {} iterations of a loop: these have trained, but nothing is fetched)"

_LOOPS = ("device", "once")
_VARIABLE = SCOPE + "/iterations_per_loop"


def set_loops(loops: str) -> None:
    """Choose what a loop does in this process, and in those that it starts, without a device.

    Args:
        loops: ``"device"``: a run makes as many steps as on the device, the default;
            ``"once"``: a run makes one step, with a warning.  (``NPU_CONFIG_LOOPS`` in the
            environment.)

    Raises:
        NpuConfigError: another value.
    """
    os.environ.update({SETTING: _checked(loops), GIVEN_BY: "set_loops"})


def _checked(loops: str) -> str:
    if loops not in _LOOPS:
        raise rules.loops_setting.error(
            'loops must be "device" or "once", got {!r}'.format(loops),
            help='call set_loops("device"), or set {}=device'.format(SETTING),
        )
    return loops


observers: List[Callable[[Any, Any, Callable[[], Any]], Any]] = []
"""Called with the session, the fetches and a function that makes the run; return its result."""


class Runs:
    """The runs of one session, and the loop that is loaded into it.

    ``tf.local_variables_initializer()`` sets the loop variables to zero, and the device would
    train with a broken loop; such a ``session.run`` is followed by another load.
    """

    def __init__(self, session: Any) -> None:
        self._session = weakref.ref(session)
        self._class = type(session)
        self._declared = declared_iterations(session) or 1
        self._makes_rounds = self._declared > 1 and not vendor.is_available()
        self._loaded: Dict[str, Tuple[Any, int]] = {}  # variables have no hash in every thread
        self._initialisers: Dict[Any, bool] = {}
        self._after: Tuple[int, FrozenSet[Any]] = (-1, frozenset())
        self._findings = LoopFindings(self._declared)
        self._replace(session, self.run)
        if self._declared > 1:
            self._replace(session, self._make_callable_from_options)
        if self._makes_rounds:
            self._replace(session, self.make_callable)
            self._replace(session, self.partial_run_setup)

    def _replace(self, session: Any, ours: Callable[..., Any]) -> None:
        @functools.wraps(getattr(self._class, ours.__name__))
        def call(*args: Any, **kwargs: Any) -> Any:
            return ours(*args, **kwargs)

        setattr(session, ours.__name__, call)

    def load(self, values: Iterable[Tuple[Any, int]]) -> None:
        """Assign values to loop variables, and remember them."""
        self._initialisers.clear()
        for variable, value in values:
            self._loaded[variable.op.name] = (variable, value)
            initializer = variable.initializer
            self._class.run(self._session(), initializer, {initializer.inputs[1]: value})

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """``session.run``, seen by :data:`observers`."""
        if not observers:
            return self._looped(fetches, feed_dict, options, run_metadata)
        call = functools.partial(self._looped, fetches, feed_dict, options, run_metadata)
        return self._observed(fetches, call)

    def _observed(self, fetches: Any, call: Callable[[], Any]) -> Any:
        for observe in observers:
            call = functools.partial(observe, self._session(), fetches, call)
        return call()

    def _looped(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        """A run as often as the loop says, and the load that it makes necessary."""
        session, run = self._session(), self._class.run
        found = fetched(session, fetches)
        result = _repeated(
            self._rounds(found, feed_dict),
            lambda: run(session, found.inside, feed_dict, _untraced(options)),
            lambda: run(session, fetches, feed_dict, options, run_metadata),
        )
        if self._loaded and any(map(self._initialises, found.operations)):
            self._load_again(feed_dict or {})
        return result

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """``session.make_callable``; the callable makes the rounds."""
        session = self._session()
        call = self._class.make_callable(session, fetches, feed_list, accept_options)
        found = fetched(session, fetches)
        inside = call
        if found.fact(self._holds_loop):
            inside = self._class.make_callable(session, found.inside, feed_list, accept_options)
        return self._callable(fetches, feed_list or (), call, inside)

    def _make_callable_from_options(self, options: Any) -> Callable[..., Any]:
        """The callables of Keras, which has no loop of its own."""
        call = self._class._make_callable_from_options(self._session(), options)
        return self._callable([*options.fetch, *options.target], options.feed, call, call, _KERAS)

    def _callable(
        self,
        fetches: Any,
        feeds: Iterable[Any],
        call: Callable[..., Any],
        inside: Callable[..., Any],
        instead: str = "",
    ) -> Callable[..., Any]:
        """A callable that makes the rounds, seen by :data:`observers`.

        Args:
            fetches: what it fetches.
            feeds: what its arguments are fed to.
            call: what makes the last round.
            inside: what makes those before.
            instead: what to do where it trains without a loop.
        """
        found = fetched(self._session(), fetches)

        def made(*args: Any, **kwargs: Any) -> Any:
            quiet = {**kwargs}
            if quiet.get("options") is not None:
                quiet["options"] = _untraced(quiet["options"])
            return _repeated(
                self._rounds(found, dict(zip(feeds, args)), instead),
                lambda: inside(*args, **quiet),
                lambda: call(*args, **kwargs),
            )

        return lambda *args, **kwargs: self._observed(fetches, lambda: made(*args, **kwargs))

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """``session.partial_run_setup``; StateError for a loop."""
        session = self._session()
        if self._rounds(fetched(session, fetches), None) > 1:
            raise rules.loop_in_partial_run.error(
                "a partial run executes {}, but a loop cannot be run in parts".format(
                    ITERATION_OP
                ),
                help="use session.run, or create the session with iterations_per_loop 1",
                kind=errors.StateError,
            )
        return self._class.partial_run_setup(session, fetches, feeds)

    def _rounds(self, found: Fetched, feed_dict: Any, instead: str = "") -> int:
        """How often a run has to be made; warns of what has no effect.

        Args:
            found: what is fetched.
            feed_dict: what is fed.
            instead: what to do where a run trains without a loop.
        """
        if self._declared < 2 or not found.operations:
            return 1
        if found.fact(_one_shot):
            self._findings.one_shot(found.fact(_one_shot))
        if not found.fact(self._holds_loop):
            self._findings.no_loop(found.operations, instead)
            return 1
        count = self._count()
        if count < 2:
            return 1
        if feed_dict:
            self._findings.batches(feed_dict, count)
        if not self._makes_rounds:
            return 1
        if _checked(os.environ.get(SETTING, "device")) == "device":
            return count
        self._findings.one_step(count, _BACK.get(os.environ.get(GIVEN_BY, ""), "unset " + SETTING))
        return 1

    def _holds_loop(self, operations: List[Any]) -> bool:
        """True when a run of operations reaches ``IterationOp``."""
        if not operations:
            return False
        graph = operations[0].graph
        if self._after[0] != graph.version:
            self._after = (graph.version, _behind(find_operation(graph, ITERATION_OP)))
        return not self._after[1].isdisjoint(operations)

    def _count(self) -> int:
        """The number of iterations that is loaded; 1 where there is none."""
        loaded = self._loaded.get(_VARIABLE)
        if loaded is not None:
            return loaded[1] + 1
        session = self._session()
        variable = find_variable(session.graph, "iterations_per_loop") if session else None
        try:
            value = 0 if variable is None else int(self._class.run(session, variable))
        except tf.errors.FailedPreconditionError:
            value = 0
        if value < 1:
            self._findings.not_loaded()
        return max(value, 0) + 1

    def _initialises(self, operation: Any) -> bool:
        """True for an initializer of the loop variables, and for a group that holds one."""
        if operation not in self._initialisers:
            ours = {variable.initializer for variable, _ in self._loaded.values()}
            self._initialisers[operation] = not ours.isdisjoint(_grouped(operation))
        return self._initialisers[operation]

    def _load_again(self, feed_dict: Dict[Any, Any]) -> None:
        """Load what was loaded; what the script has just loaded itself counts."""
        now = dict(self._loaded)
        for name, (variable, _) in self._loaded.items():
            for key, value in feed_dict.items():
                if key is variable.initializer.inputs[1]:
                    now[name] = (variable, int(value))
        self.load(now.values())


_RUNS: weakref.WeakKeyDictionary[Any, Runs] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


def _repeated(count: int, inside: Callable[[], Any], last: Callable[[], Any]) -> Any:
    """The rounds of a loop; an error in one says after how many, and what that means.

    Args:
        count: how many.
        inside: makes one before the last.
        last: makes the last one, whose result counts.
    """
    done = 0
    try:
        while done < count - 1:
            inside()
            done += 1
        return last()
    except tf.errors.OpError as error:
        if done:
            first, *rest = error.message.split("\n")
            error._message = "\n".join([_IN_A_LOOP.format(first, done, count), *rest])
        raise


def runs_of(session: Any) -> Runs:
    """The runs of a session (a real one), watched from now on."""
    with _LOCK:
        runs = _RUNS.get(session)
        if runs is None:
            runs = _RUNS[session] = Runs(session)
    return runs


def watch(session: Any) -> None:
    """Watch the runs of a session that declares a loop."""
    if (declared_iterations(session) or 1) > 1:
        runs_of(session)


def _behind(operation: Any) -> FrozenSet[Any]:
    """The operations whose run makes another one run, itself included; none of None."""
    return frozenset(
        reached(
            [] if operation is None else [operation],
            lambda each: [
                *each._control_outputs,
                *(user for tensor in each.outputs for user in tensor.consumers()),
            ],
        )
    )


def _grouped(operation: Any) -> Iterable[Any]:
    """An operation; of a group, what is in it, at any depth."""
    return reached([operation], lambda each: each.control_inputs if each.type == "NoOp" else ())


def _one_shot(operations: List[Any]) -> str:
    """The name of a one-shot iterator that a run needs; empty without one."""
    return next((each.name for each in needed(operations) if each.type == "OneShotIterator"), "")


def _untraced(options: Any) -> Any:
    """The RunOptions of the rounds before the last one, which alone is traced."""
    if options is None or not options.trace_level:
        return options
    quiet = type(options)()
    quiet.CopyFrom(options)
    quiet.trace_level = options.NO_TRACE
    return quiet
