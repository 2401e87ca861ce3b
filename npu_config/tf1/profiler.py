"""``profiler``: profiling of the device."""

from __future__ import annotations

from typing import Any

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import rules
from npu_config.tf1.vendor import VendorFirst


class Profiler(metaclass=VendorFirst):
    """For a ``with`` block that is profiled on the device; without one nothing is.

    Args:
        level: how much is recorded, e.g. ``"L0"``.
        aic_metrics: what is measured of the cores.
        output_path: folder of the results.

    Raises:
        NpuConfigError: an argument is no text.
    """

    vendor_place = ("profiler", "Profiler")

    def __init__(self, *, level: str = "L0", aic_metrics: str = "", output_path: str = "") -> None:
        given = {"level": level, "aic_metrics": aic_metrics, "output_path": output_path}
        for name, value in given.items():
            if not isinstance(value, str):
                raise rules.operator_argument.error(
                    "{} of Profiler must be text, got {!r}".format(name, value)
                )

    def start(self) -> None:
        """Begin to record; the ``with`` block does it."""

    def stop(self) -> None:
        """Record no more; the ``with`` block does it at its end."""

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()


__getattr__ = vendor.rest_of("profiler", "npu_bridge.profiler.profiler")
