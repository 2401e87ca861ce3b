"""Sessions on the NPU: the patch of ``tf.Session``, sessions that are always released, and those
that hold the device before training, so that ranks can be asked for."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from typing import Any, Callable, Iterator, Optional, Tuple

from npu_config.core.findings import tell_of_ranks
from npu_config.tf1 import npu_ops, ranks, util, vendor
from npu_config.tf1.config_proto import (
    npu_edits,
    overridden,
    session_config,
    warn_of_findings,
)
from npu_config.tf1.loop_runs import watch
from npu_config.tf1.tensorflow import internal, require_graph_mode, tf

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
        _made(self)

    setattr(wrapper, _ORIGINAL, (wrapper, func))
    return wrapper


def _made(session: Any) -> None:
    """Watch the loops of a new session, and record it in the directory that the variable names."""
    watch(session)
    if _RECORD in os.environ:
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
    _made(session)
    with contextlib.closing(session), session:
        yield session


def close_session(sess: Any) -> None:
    """Close a session."""
    sess.close()


def init_resource(config: Any = None) -> Tuple[Any, Any]:
    """Take the device, so that ranks can be asked for before training.

    Without a device nothing is taken, and the ranks come from the environment.

    Its operations are put into a graph of their own: in that of the script they would change the
    seeds of all behind them, which depend on how many came before.

    Args:
        config: an NpuConfig, a ConfigProto (which stays as it is), or None.

    Returns:
        The session that holds the device, and the operation that shuts it down.
    """
    require_graph_mode("init_resource")
    vendor.load_adapter()
    made = session_config(config)
    warn_of_findings(made)
    util.global_dict_init()
    with tf.Graph().as_default():
        npu_init = npu_ops.initialize_system()
        npu_shutdown = npu_ops.shutdown_system()
        session = tf.Session(config=made)
    try:
        session.run(npu_init)
        for key, (name, from_environment) in _RANKS.items():
            theirs = vendor.find("hccl", name)
            util.set_value(key, from_environment() if theirs is None else theirs())
    except BaseException:
        session.close()
        raise
    return session, npu_shutdown


def shutdown_resource(sess: Any, npu_shutdown: Any) -> None:
    """Give the device back.

    Args:
        sess: the session of :func:`init_resource`.
        npu_shutdown: the operation of :func:`init_resource`.
    """
    sess.run(npu_shutdown)


@contextlib.contextmanager
def npu_resources(config: Any = None) -> Iterator[Any]:
    """The device for a ``with`` block, given back whatever ends the block (SystemExit too).

    Args:
        config: an NpuConfig, a ConfigProto (which stays as it is), or None.

    Yields:
        A session of the graph of the script.
    """
    holder, npu_shutdown = init_resource(config)
    session = tf.Session(config=session_config(config))
    try:
        yield session
    finally:
        try:
            shutdown_resource(holder, npu_shutdown)
        finally:
            close_session(session)
            close_session(holder)


_RANKS = {
    "npu_rank_id": ("get_rank_id", ranks.rank_id),
    "npu_local_rank_id": ("get_local_rank_id", ranks.local_rank_id),
    "npu_rank_size": ("get_rank_size", ranks.job_size),
    "npu_local_rank_size": ("get_local_rank_size", ranks.local_rank_size),
}


def _rank(key: str) -> int:
    if util.has_store():
        stored = util.get_value(key)
        if stored is not None:
            return int(stored)
    tell_of_ranks("get_{}".format(key))
    from_environment: Callable[[], int] = _RANKS[key][1]
    return from_environment()


def get_npu_rank_id() -> int:
    """The rank of this process: as :func:`init_resource` found it, else from the environment."""
    return _rank("npu_rank_id")


def get_npu_local_rank_id() -> int:
    """The rank of this process on its server: see :func:`get_npu_rank_id`."""
    return _rank("npu_local_rank_id")


def get_npu_rank_size() -> int:
    """The number of ranks of the job: see :func:`get_npu_rank_id`."""
    return _rank("npu_rank_size")


def get_npu_local_rank_size() -> int:
    """The number of ranks on this server: see :func:`get_npu_rank_id`."""
    return _rank("npu_local_rank_size")


__all__ = [
    "close_session",
    "decorator_tf_session",
    "npu_edits",
    "npu_session",
    "patch_sessions",
    "unpatch_sessions",
]
