"""Sessions on the NPU: the patch of ``tf.Session``, and sessions that are always released."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from typing import Any, Callable, Iterator, Optional, Tuple

from npu_config.tf1 import vendor
from npu_config.tf1.config_proto import (
    npu_edits,
    overridden,
    session_config,
    warn_of_findings,
)
from npu_config.tf1.loop_runs import watch
from npu_config.tf1.tensorflow import internal, tf

_ORIGINAL = "__npu_config_original__"
_RECORD = "NPU_CONFIG_RECORD"

Init = Callable[..., None]


def decorator_tf_session(func: Init) -> Init:
    """Let a session's ``__init__`` make sessions for the NPU.

    The ConfigProto of the caller stays as it is.  What is neither None nor a ConfigProto is
    handed on, to be refused by TensorFlow.

    Args:
        func: an ``__init__`` with a parameter called ``config``.
    """
    position = list(inspect.signature(func).parameters).index("config") - 1

    @functools.wraps(func)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        config = kwargs.pop("config", None)
        if len(args) > position:
            config = args[position] if config is None else config
            args = args[:position] + args[position + 1 :]
        if config is None or isinstance(config, tf.ConfigProto):
            config = overridden(session_config(config))
            warn_of_findings(config)
        func(self, *args, config=config, **kwargs)
        watch(self)
        if _RECORD in os.environ:
            _record(self)

    setattr(wrapper, _ORIGINAL, (wrapper, func))
    return wrapper


def _record(session: Any) -> None:
    """Record a session in the directory that the variable names."""
    from npu_config.tf1.records import record_if_asked

    record_if_asked(session)


def _original(init: Any) -> Optional[Init]:
    """What ``init`` replaced, when it is a patch of ours (and no copy of its marks)."""
    patch, original = getattr(init, _ORIGINAL, (None, None))
    return original if patch is init else None


def _session_classes() -> Tuple[type, ...]:
    session = internal("client.session")
    return session.Session, session.InteractiveSession


def patch_sessions() -> None:
    """Let every later ``tf.Session`` and ``tf.InteractiveSession`` run on the NPU.

    Repeating it changes nothing; :func:`unpatch_sessions` undoes it.
    """
    for cls in _session_classes():
        init: Any = cls.__init__  # type: ignore[misc]
        cls.__init__ = decorator_tf_session(_original(init) or init)  # type: ignore[misc]


def unpatch_sessions() -> bool:
    """Give the session classes their own ``__init__`` back.

    Returns:
        False when somebody else has patched a class on top, which is left as it is.
    """
    undone = True
    for cls in _session_classes():
        init: Any = cls.__init__  # type: ignore[misc]
        original = _original(init)
        if original is not None:
            cls.__init__ = original  # type: ignore[misc]
        elif _is_below(init):
            undone = False
    return undone


def _is_below(init: Any) -> bool:
    """True when somebody else's wrapper says that it wraps a patch of ours."""
    while hasattr(init, "__wrapped__"):
        init = init.__wrapped__
        if _original(init) is not None:
            return True
    return False


@contextlib.contextmanager
def npu_session(config: Any = None, target: str = "", graph: Any = None) -> Iterator[Any]:
    """A session on the NPU for a ``with`` block, closed whatever ends the block.

    Args:
        config: an NpuConfig, a ConfigProto (which stays as it is), or None.
        target: the execution engine, as for ``tf.Session``.
        graph: the graph to run; None: the default one.
    """
    vendor.load_adapter()
    made = overridden(session_config(config))
    warn_of_findings(made)
    session = tf.Session(target=target, graph=graph, config=made)
    watch(session)
    if _RECORD in os.environ:
        _record(session)
    try:
        with session:
            yield session
    finally:
        session.close()


def close_session(sess: Any) -> None:
    """Close a session."""
    sess.close()


__all__ = [
    "close_session",
    "decorator_tf_session",
    "npu_edits",
    "npu_session",
    "patch_sessions",
    "unpatch_sessions",
]
