"""What can be known of a session from outside: the real session behind it, its options."""

from __future__ import annotations

from typing import Any, Optional

from npu_config.core.names import NPU_OPTIMIZER
from npu_config.tf1.tensorflow import internal

_DEEPEST_WRAPPING = 16


def real_session(session: Any) -> Optional[Any]:
    """The ``tf.Session`` behind a session or a wrapper of one; None when there is none.

    Looks through ``MonitoredSession`` and the wrappers of ``tf_debug``.
    """
    base = internal("client.session").BaseSession
    for _ in range(_DEEPEST_WRAPPING):
        if session is None or isinstance(session, base):
            return session
        inner = getattr(session, "_tf_sess", None)
        session = inner() if callable(inner) else getattr(session, "_sess", None)
    return None


def is_closed(session: Any) -> bool:
    """True when a real session has been closed."""
    return bool(getattr(session, "_closed", False))


def npu_entries(config: Any) -> Any:
    """The ``NpuOptimizer`` entries of a ConfigProto, in order; the last one wins."""
    return [
        entry
        for entry in config.graph_options.rewrite_options.custom_optimizers
        if entry.name == NPU_OPTIMIZER
    ]


def merge_entries(config: Any) -> None:
    """Leave one ``NpuOptimizer`` entry, with what all of them set; later ones win."""
    *earlier, last = npu_entries(config)
    optimizers = config.graph_options.rewrite_options.custom_optimizers
    for entry in reversed(earlier):
        for name, value in entry.parameter_map.items():
            if name not in last.parameter_map:
                last.parameter_map[name].CopyFrom(value)
    kept = [entry for entry in optimizers if entry.name != NPU_OPTIMIZER or entry is last]
    if len(kept) < len(optimizers):
        copies = [type(entry).FromString(entry.SerializeToString()) for entry in kept]
        del optimizers[:]
        optimizers.extend(copies)


def is_configured(session: Any) -> bool:
    """True when a real session carries an ``NpuOptimizer`` entry."""
    config = getattr(session, "_config", None)
    return config is not None and bool(npu_entries(config))


def declared_iterations(session: Any) -> Optional[int]:
    """What a real session says of ``iterations_per_loop``; None when it does not mention it."""
    config = getattr(session, "_config", None)
    if config is None:
        return None
    for entry in reversed(npu_entries(config)):
        if "iterations_per_loop" in entry.parameter_map:
            return int(entry.parameter_map["iterations_per_loop"].i)
    return None
