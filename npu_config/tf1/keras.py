"""Keras of TensorFlow on the NPU: its session, the broadcast of variables, and a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from npu_config.tf1 import hccl_ops, ranks, vendor
from npu_config.tf1._bases import Callback
from npu_config.tf1.config_proto import session_config
from npu_config.tf1.tensorflow import internal, is_version_1, tf


def set_keras_session_npu_config(config: Any = None) -> Any:
    """Give Keras a session on the NPU.

    Args:
        config: an NpuConfig, a ConfigProto (which stays as it is), or None.

    Returns:
        The session; close it (or ``npu_clear_session``) at the end of the script.
    """
    session = tf.Session(config=session_config(config))
    backend = internal("keras.backend") if is_version_1() else tf.keras.backend
    backend.set_session(session)  # 1.15 warns of the public name
    return session


def npu_clear_session(config: Any = None) -> None:
    """Forget Keras's graph and session, and give it a new session on the NPU.

    Args:
        config: as for :func:`set_keras_session_npu_config`.
    """
    tf.keras.backend.clear_session()
    set_keras_session_npu_config(config)


class NPUBroadcastGlobalVariablesCallback(Callback):
    """Gives all ranks the same Keras variables at the first batch.

    With one rank it does nothing.

    Args:
        root_rank: the rank whose values count.

    Raises:
        NpuConfigError: ``RANK_SIZE`` and ``CM_WORKER_SIZE`` are both set.
    """

    def __init__(self, root_rank: int) -> None:
        super().__init__()
        self._root_rank = root_rank
        self._rank_size = ranks.rank_size()
        self._done = False

    def on_train_begin(self, logs: Any = None) -> None:
        """Refuse to train several ranks that nothing connects (VendorError)."""
        if not vendor.is_available():
            ranks.several("NPUBroadcastGlobalVariablesCallback", self._rank_size)

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Broadcast, once."""
        if self._done or self._rank_size <= 1:
            return
        self._done = True
        broadcast = hccl_ops.broadcast
        session = tf.keras.backend.get_session()
        for variable in tf.global_variables():
            if getattr(variable, "_keras_initialized", False):
                received = broadcast([variable], self._root_rank)[0]
                session.run(tf.assign(variable, received))


def npu_callbacks_append(callbacks_list: Any = ()) -> List[Any]:
    """Add the broadcast of variables from rank 0 to the callbacks of Keras.

    Args:
        callbacks_list: a list is extended in place; anything else is replaced by a new list.
    """
    callbacks = callbacks_list if isinstance(callbacks_list, list) else []
    callbacks.append(NPUBroadcastGlobalVariablesCallback(0))
    return callbacks


if TYPE_CHECKING:

    class KerasPReLU:
        """tf.keras.layers.PReLU, as far as it is used here; for type checking only."""

        def add_weight(self, *args: Any, **kwargs: Any) -> Any:
            """Make a variable of the layer."""

else:
    KerasPReLU = tf.keras.layers.PReLU


class _PReLU(KerasPReLU):
    """``tf.keras.layers.PReLU``; a parameter of one element has the shape [1]."""

    def add_weight(self, *args: Any, **kwargs: Any) -> Any:
        """As of the base."""
        shape = [1] if all(size == 1 for size in kwargs["shape"]) else kwargs["shape"]
        return super().add_weight(*args, **{**kwargs, "shape": shape})


_PReLU.__name__ = _PReLU.__qualname__ = "PReLU"  # names of layers come from it


def __getattr__(name: str) -> Any:
    """``PReLU`` of ``npu_vector_ops``: the vendor's where its package can be imported."""
    if name == "PReLU":
        return vendor.find("tbe.npu_vector_ops", name) or _PReLU
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
