"""The resources of the device before a training session exists, and the ranks of the job."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Tuple

from npu_config.core.calls import tell_of_ranks
from npu_config.tf1 import npu_ops, ranks, util, vendor
from npu_config.tf1.config_proto import session_config, warn_of_findings
from npu_config.tf1.session import close_session
from npu_config.tf1.tensorflow import require_graph_mode, tf


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
