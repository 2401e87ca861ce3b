"""``PReLU`` of ``npu_vector_ops``, a layer of Keras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npu_config.tf1 import vendor
from npu_config.tf1.tensorflow import tf

if TYPE_CHECKING:

    class Base:
        """tf.keras.layers.PReLU, as far as it is used here; for type checking only."""

        def add_weight(self, *args: Any, **kwargs: Any) -> Any:
            """Make a variable of the layer."""

else:
    Base = tf.keras.layers.PReLU


class _PReLU(Base):
    """``tf.keras.layers.PReLU``; a parameter of one element has the shape [1]."""

    def add_weight(self, *args: Any, **kwargs: Any) -> Any:
        """As of the base."""
        shape = [1] if all(size == 1 for size in kwargs["shape"]) else kwargs["shape"]
        return super().add_weight(*args, **{**kwargs, "shape": shape})


_PReLU.__name__ = _PReLU.__qualname__ = "PReLU"  # names of layers come from it


def __getattr__(name: str) -> Any:
    """The layer: the vendor's where its package can be imported."""
    if name == "PReLU":
        return vendor.find("tbe.npu_vector_ops", name) or _PReLU
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
