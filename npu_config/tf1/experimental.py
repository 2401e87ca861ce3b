"""What the vendor has under ``experimental`` and in other small modules, with TensorFlow's own."""

from __future__ import annotations

from typing import Any, Optional

from npu_config.tf1 import hccl, vendor
from npu_config.tf1.tensorflow import require_graph_mode, tf


@vendor.stand_in("experimental.get_shape")
def getshape(x: Any, name: Optional[str] = None) -> Any:
    """``tf.shape``."""
    return tf.shape(x, name=name)


@vendor.stand_in("experimental.image")
def decode_image(
    contents: Any, channels: int = 0, dtype: Any = tf.uint8, expand_animations: bool = True
) -> Any:
    """``tf.io.decode_image``."""
    return tf.io.decode_image(
        contents, channels=channels, dtype=dtype, expand_animations=expand_animations
    )


@vendor.stand_in("experimental.hccl")
def get_actual_rank_size(group: str = hccl.WORLD) -> int:
    """The number of ranks of a group."""
    return hccl.get_rank_size(group)


@vendor.stand_in("experimental.hccl")
def get_user_rank_size() -> int:
    """The number of ranks of the job."""
    return hccl.get_rank_size()


@vendor.stand_in("experimental.hccl")
def get_user_rank_id() -> int:
    """The rank of this process."""
    return hccl.get_rank_id()


@vendor.stand_in("npu_cpu.npu_cpu_ops")
def randomchoicewithmask(x: Any, count: int, seed: int = 0, seed2: int = 0) -> Any:
    """The indices of so many true elements, chosen at random, and which of them are real.

    Args:
        x: a tensor of truth values.
        count: how many; rows beyond the true elements are zero, and masked.
        seed: of the choice.
        seed2: second seed; without effect here.
    """
    require_graph_mode("randomchoicewithmask")
    x = tf.convert_to_tensor(x, tf.bool)
    chosen = tf.random.shuffle(tf.where(x), seed=seed or None)
    chosen = tf.cast(chosen[:count] if count else chosen, tf.int32)
    missing = tf.maximum((count or tf.size(x)) - tf.shape(chosen)[0], 0)
    mask = tf.concat([tf.ones_like(chosen[:, 0], tf.bool), tf.fill([missing], False)], axis=0)
    return tf.pad(chosen, [[0, missing], [0, 0]]), mask
