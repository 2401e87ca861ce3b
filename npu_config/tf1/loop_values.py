"""Loading a loop into a session, and keeping it loaded."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Dict

from npu_config.tf1._lazy import loop_rules
from npu_config.tf1._sessions import declared_iterations, is_configured, real_session
from npu_config.tf1._warn import warn
from npu_config.tf1.loop_checks import LoopVariables, find_operation
from npu_config.tf1.tensorflow import tf


class _Keeper:
    """Loads the loop of one session, and again when a run has initialised its variables.

    ``tf.local_variables_initializer()`` sets the loop variables to zero, and the device would
    train with a broken loop; such a ``session.run`` is followed by another load.
    """

    def __init__(self, session: Any) -> None:
        self._session = weakref.ref(session)
        self._run = type(session).run
        self._values: Dict[Any, int] = {}
        self._verdicts: Dict[Any, bool] = {}

        @functools.wraps(self._run)
        def run(*args: Any, **kwargs: Any) -> Any:
            return self.run(*args, **kwargs)

        session.run = run

    def load(self, values: Dict[Any, int]) -> None:
        """Assign values to variables, and remember them."""
        self._values.update(values)
        self._verdicts.clear()
        session = self._session()
        for variable, value in values.items():
            initializer = variable.initializer
            self._run(session, initializer, {initializer.inputs[1]: value})

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """``session.run``, and the load that it makes necessary."""
        result = self._run(self._session(), *args, **kwargs)
        if self._initialises(args[0] if args else kwargs.get("fetches")):
            self.load(dict(self._values))
        return result

    def _initialises(self, fetches: Any) -> bool:
        if isinstance(fetches, dict):
            fetches = list(fetches.values())
        if isinstance(fetches, (list, tuple)):
            return any(self._initialises(fetch) for fetch in fetches)
        if isinstance(fetches, str):
            session = self._session()
            fetches = None if session is None else find_operation(session.graph, fetches)
        if not isinstance(fetches, tf.Operation):
            return False
        verdict = self._verdicts.get(fetches)
        if verdict is None:
            verdict = self._verdicts[fetches] = self._is_initializer(fetches)
        return verdict

    def _is_initializer(self, operation: Any) -> bool:
        """True for an initializer of the loop variables, and for a group that holds one."""
        ours = {variable.initializer for variable in self._values}
        waiting, seen = [operation], set()
        while waiting:
            candidate = waiting.pop()
            if candidate in ours:
                return True
            if candidate.type == "NoOp" and candidate not in seen:
                seen.add(candidate)
                waiting.extend(candidate.control_inputs)
        return False


_KEEPERS: weakref.WeakKeyDictionary[Any, _Keeper] = weakref.WeakKeyDictionary()


def _keeper(session: Any) -> _Keeper:
    real = real_session(session)
    keeper = _KEEPERS.get(real)
    if keeper is None:
        keeper = _KEEPERS[real] = _Keeper(real)
    return keeper


def load(session: Any, variables: LoopVariables, iterations_per_loop: int) -> None:
    """Load a loop into a session: n - 1, 0, 0, 1."""
    values = (iterations_per_loop - 1, 0, 0, 1)
    _keeper(session).load(dict(zip(variables, values)))


def load_count(session: Any, variables: LoopVariables, iterations_per_loop: int) -> None:
    """Change the number of iterations of a loop that is loaded."""
    _keeper(session).load({variables.iterations_per_loop: iterations_per_loop - 1})


def warn_if_not_declared(session: Any, iterations_per_loop: int) -> None:
    """Say so when a session for the NPU does not declare ``iterations_per_loop``."""
    real = real_session(session)
    if iterations_per_loop > 1 and is_configured(real) and declared_iterations(real) is None:
        warn_no_effect(
            "the loop is loaded with {} iterations, but the session's NpuOptimizer does not set "
            "iterations_per_loop (absent means 1): each session.run trains one step".format(
                iterations_per_loop
            ),
            'set parameter_map["iterations_per_loop"].i = {}'.format(iterations_per_loop),
        )


def warn_no_effect(message: str, help: str) -> None:
    """Warn that a loop has no effect."""
    warn(
        loop_rules.LOOP_NOT_OFFLOADED.diagnostic(message, option="iterations_per_loop", help=help)
    )
