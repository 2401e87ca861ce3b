"""Loading a loop into a session, and saying when it has no effect."""

from __future__ import annotations

from typing import Any

from npu_config.tf1._lazy import loop_rules
from npu_config.tf1._sessions import declared_iterations, is_configured, real_session
from npu_config.tf1._warn import warn
from npu_config.tf1.loop_checks import LoopVariables
from npu_config.tf1.loop_runs import runs_of


def load(session: Any, variables: LoopVariables, iterations_per_loop: int) -> None:
    """Load a loop into a session: n - 1, 0, 0, 1."""
    values = (iterations_per_loop - 1, 0, 0, 1)
    runs_of(real_session(session)).load(zip(variables, values))


def load_count(session: Any, variables: LoopVariables, iterations_per_loop: int) -> None:
    """Change the number of iterations of a loop that is loaded."""
    values = (variables.iterations_per_loop, iterations_per_loop - 1)
    runs_of(real_session(session)).load([values])


def warn_if_not_declared(session: Any, iterations_per_loop: int) -> None:
    """Say so when a session for the NPU does not declare ``iterations_per_loop``."""
    real = real_session(session)
    if iterations_per_loop > 1 and is_configured(real) and declared_iterations(real) is None:
        warn_no_effect(
            "the loop is loaded with {} iterations, but the session's NpuOptimizer does not set "
            "iterations_per_loop (absent means 1): each session.run trains one step".format(
                iterations_per_loop
            ),
            'set parameter_map["iterations_per_loop"].i = {} before the session is made'.format(
                iterations_per_loop
            ),
        )


def warn_no_effect(message: str, help: str) -> None:
    """Warn that a loop has no effect."""
    warn(
        loop_rules.loop_has_no_effect.diagnostic(message, option="iterations_per_loop", help=help)
    )
