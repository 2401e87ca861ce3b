"""``helper``: the object with the operators of the adapter's library."""

from __future__ import annotations

from typing import Any

from npu_config.tf1 import npu_unary_ops as npu_bridge_handle
from npu_config.tf1 import vendor

version = "v1.15.0"


@vendor.stand_in("helper.helper")
def get_gen_ops() -> Any:
    """The object with the operators; without the vendor, those that a CPU can compute."""
    return npu_bridge_handle


__all__ = ["get_gen_ops", "npu_bridge_handle", "version"]
