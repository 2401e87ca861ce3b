"""What the adapter's operators take: tensors of certain types, as the library checks them."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import tf

FLOATS = ("float16", "float32")


def operand(what: str, given: Any, types: Sequence[str] = FLOATS, rule: Any = None) -> Any:
    """A tensor of a type that an operator of the device takes.

    Args:
        what: the function that was called, for the message.
        given: a tensor, or what becomes one.
        types: the names of the legal types.
        rule: the rule of the finding; None: NPU867.

    Raises:
        ArgumentError: it has another type.
    """
    tensor = tf.convert_to_tensor(given)
    if tensor.dtype.base_dtype.name not in types:
        raise (rule or rules.operator_argument).error(
            "{} requires {}, got {}".format(what, ", ".join(types), tensor.dtype.base_dtype.name),
            kind=errors.ArgumentError,
        )
    return tensor


def alike(what: str, given: Sequence[Any], types: Sequence[str] = FLOATS) -> None:
    """Refuse variables and tensors that are not all of one type, or not of a legal one.

    Args:
        what: the function that was called, for the message.
        given: the operands; numbers and arrays fit any type.
        types: the names of the legal types.

    Raises:
        ArgumentError: a type is illegal, or there are several.
    """
    found = {name for name in map(_type_name, given) if name is not None}
    if len(found) > 1 or not found <= set(types):
        raise rules.operator_argument.error(
            "{} requires operands of one type, {}; got {}".format(
                what, " or ".join(types), ", ".join(sorted(found))
            ),
            kind=errors.ArgumentError,
        )


def _type_name(value: Any) -> Optional[str]:
    dtype = getattr(value, "dtype", None)
    return str(dtype.base_dtype.name) if isinstance(dtype, tf.DType) else None
