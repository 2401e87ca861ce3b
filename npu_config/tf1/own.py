"""Operators that a stand-in makes and the vendor's package does not.

They are marked with an attribute, which graphs that are stored keep, so that a diagnosis does not
take them for the script's.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator

from npu_config.core.names import OWN_OPERATOR, OWN_SPANS

OPTIMIZER_MARK = "_npu_config_optimizer"
"""The attribute that tells loss-scale optimizers apart, of what tells that a step is finite."""


@contextlib.contextmanager
def own_operators() -> Iterator[None]:
    """Inside, operators are marked; nothing happens while TensorFlow is not imported."""
    tensorflow = sys.modules.get("tensorflow")
    interface = getattr(getattr(tensorflow, "compat", None), "v1", None)
    scope: Any = getattr(
        getattr(interface, "get_default_graph", lambda: None)(), "_attr_scope", None
    )
    if interface is None or scope is None:
        yield
        return
    graph = interface.get_default_graph()
    span = [graph.version, sys.maxsize]
    setattr(graph, OWN_SPANS, [*getattr(graph, OWN_SPANS, ()), span])
    with scope({OWN_OPERATOR: interface.AttrValue(b=True)}):
        try:
            yield
        finally:
            span[1] = graph.version
