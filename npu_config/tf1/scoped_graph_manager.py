"""``scoped_graph_manager``: unloads the graph that initialised the variables."""

from __future__ import annotations

from typing import Any

from npu_config.tf1 import vendor
from npu_config.tf1.vendor import VendorFirst


class ScopedGraphManager(metaclass=VendorFirst):
    """For a ``with`` block around the run that initialises the variables.

    On the device the graph of that run is unloaded at the end; without one nothing was loaded.
    """

    vendor_place = ("scoped_graph_manager", "ScopedGraphManager")

    def start(self) -> None:
        """Begin; the ``with`` block does it."""

    def stop(self) -> None:
        """Unload; the ``with`` block does it at its end."""

    def __enter__(self) -> ScopedGraphManager:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()


__getattr__ = vendor.rest_of(
    "scoped_graph_manager", "npu_bridge.scoped_graph_manager.scoped_graph_manager"
)
