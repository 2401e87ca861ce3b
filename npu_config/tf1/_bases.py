"""The TensorFlow classes that ours extend, as far as they cost nothing to look up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npu_config.tf1.tensorflow import tf

if TYPE_CHECKING:

    class SessionRunHook:
        """What a hook may do; for type checking only."""

        def begin(self) -> None:
            """Called once, before the session is created."""

        def after_create_session(self, session: Any, coord: Any) -> None:
            """Called when a new session is created."""

        def before_run(self, run_context: Any) -> Any:
            """Called before each ``session.run``."""

        def after_run(self, run_context: Any, run_values: Any) -> None:
            """Called after each ``session.run``."""

        def end(self, session: Any) -> None:
            """Called at the end of the session."""

    class CheckpointSaverHook(SessionRunHook):
        """The hook that saves checkpoints; for type checking only."""

        _global_step_tensor: Any

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

        def _set_steps_per_run(self, steps_per_run: int) -> None: ...

    class Saver:
        """The saver; for type checking only."""

        def __init__(self, **kwargs: Any) -> None: ...

    class Optimizer:
        """The optimizer of graph mode; for type checking only."""

        def __init__(self, use_locking: bool, name: str) -> None: ...

        def get_name(self) -> str:
            """The name of the optimizer."""

    class Callback:
        """The callback of Keras; for type checking only."""

        model: Any

        def __init__(self) -> None: ...

else:
    SessionRunHook = tf.train.SessionRunHook
    CheckpointSaverHook = tf.train.CheckpointSaverHook
    Saver = tf.train.Saver
    Optimizer = tf.train.Optimizer
    Callback = tf.keras.callbacks.Callback

__all__ = ["Callback", "CheckpointSaverHook", "Optimizer", "Saver", "SessionRunHook"]
