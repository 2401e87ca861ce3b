"""What the vendor has under ``experimental`` and in other small modules, with TensorFlow's own."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from npu_config.tf1 import hccl, vendor
from npu_config.tf1._lazy import rules
from npu_config.tf1.operands import operand
from npu_config.tf1.tensorflow import require_graph_mode, tf
from npu_config.tf1.vendor import VendorFirst


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

    Raises:
        ArgumentError: ``x`` holds no truth values.
        NpuConfigError: ``count`` is negative.
    """
    require_graph_mode("randomchoicewithmask")
    x = operand("randomchoicewithmask", x, ("bool",))
    if count < 0:
        raise rules.operator_argument.error(
            "count of randomchoicewithmask must be 0 or more, got {!r}".format(count)
        )
    chosen = tf.random.shuffle(tf.where(x), seed=seed or None)
    chosen = tf.cast(chosen[:count] if count else chosen, tf.int32)
    missing = tf.maximum((count or tf.size(x)) - tf.shape(chosen)[0], 0)
    mask = tf.concat([tf.ones_like(chosen[:, 0], tf.bool), tf.fill([missing], False)], axis=0)
    return tf.pad(chosen, [[0, missing], [0, 0]]), mask


@vendor.stand_in("experimental.file_constant")
def file_constant(
    shape: Sequence[int],
    dtype: Any,
    file_path: Optional[str] = None,
    file_id: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """A tensor that is read from a file when it is run.

    Args:
        shape: its shape.
        dtype: its type.
        file_path: the file, which holds its elements and nothing else.
        file_id: what stands for a file in the options of the device.
        name: name of the operation.

    Raises:
        VendorError: there is no ``file_path``.
    """
    if file_path is None:
        vendor.require("experimental.file_constant", "file_constant")
    data = tf.io.decode_raw(tf.io.read_file(file_path), dtype)
    return tf.reshape(data, shape, name=name)


@vendor.stand_in("image.image_ops")
def decode_and_resize_jpeg(image: Any, size: Any) -> Any:
    """A JPEG in RGB, resized to [height, width]; uint8."""
    return _resized(tf.image.decode_jpeg(image, channels=3), size)


@vendor.stand_in("image.image_ops")
def decode_and_crop_and_resize_jpeg(image: Any, crop_size: Any, size: Any) -> Any:
    """The window [y, x, height, width] of a JPEG in RGB, resized to [height, width]; uint8."""
    return _resized(tf.image.decode_and_crop_jpeg(image, crop_size, channels=3), size)


def _resized(image: Any, size: Any) -> Any:
    return tf.cast(tf.image.resize_bilinear(image[None], size)[0], tf.uint8)


@vendor.stand_in("npu_cpu.npu_cpu_ops")
def dense_image_warp(image: Any, flow: Any, name: Optional[str] = None) -> Any:
    """Images in which each pixel is taken from where a flow says, between pixels by distance.

    Args:
        image: [batch, height, width, channels], of two pixels at least either way.
        flow: [batch, height, width, 2]; it is subtracted from row and column of a pixel.
        name: name of the operations.
    """
    with tf.name_scope(name, "DenseImageWarp"):
        image, flow = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        height, width = tf.shape(image)[1], tf.shape(image)[2]
        grid = tf.stack(tf.meshgrid(tf.range(height), tf.range(width), indexing="ij"), axis=-1)
        wanted = tf.cast(grid, flow.dtype) - flow
        last = tf.cast([height - 2, width - 2], flow.dtype)
        first = tf.minimum(tf.maximum(tf.floor(wanted), 0), last)
        part = tf.cast(tf.clip_by_value(wanted - first, 0, 1), image.dtype)
        down, right = part[..., :1], part[..., 1:]
        place = tf.cast(first, tf.int32)

        def row(down_by: int) -> Any:
            left, right_one = (
                tf.gather_nd(image, place + tf.constant([down_by, by]), batch_dims=1)
                for by in (0, 1)
            )
            return left + right * (right_one - left)

        above = row(0)
        return above + down * (row(1) - above)


@vendor.stand_in("npu_decorator")
def npu_keras_var_broadcast_decorator(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: there is nothing to broadcast to one rank."""
    return func


class LruCache(metaclass=VendorFirst):
    """A cache of indices on the device; without one it can be made, and not used.

    Args:
        cache_size: how many indices it holds.
        load_factor: of its table.
        dtype: of the indices.
    """

    vendor_place = ("npu_cpu.lru_cache", "LruCache")

    def __init__(
        self, cache_size: int = 100000, load_factor: float = 1, dtype: Any = tf.uint32
    ) -> None:
        pass

    cache_add = vendor.late("npu_cpu.lru_cache", "LruCache.cache_add")
    cache_remote_index_to_local = vendor.late(
        "npu_cpu.lru_cache", "LruCache.cache_remote_index_to_local"
    )
    cache_all_index_to_local = vendor.late(
        "npu_cpu.lru_cache", "LruCache.cache_all_index_to_local"
    )
