"""The ConfigProto of a session: what the NPU requires of it, and what a session says with one."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Optional

from npu_config.core.names import NPU_OPTIMIZER
from npu_config.tf1 import vendor
from npu_config.tf1._lazy import warn
from npu_config.tf1.tensorflow import internal, protobuf, tf


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


def npu_edits(config: Any) -> Any:
    """Make a ConfigProto one for the NPU, in place; repeating it changes nothing.

    Without an ``NpuOptimizer`` entry one is added, and memory optimization is switched off;
    always: soft placement on, logging of placement off, remapping off, XLA's JIT off.
    """
    options = config.graph_options
    if not npu_entries(config):
        options.rewrite_options.custom_optimizers.add().name = NPU_OPTIMIZER
        # The vendor writes RewriterConfig.OFF here, which means MANUAL in this field.
        options.rewrite_options.memory_optimization = options.rewrite_options.NO_MEM_OPT
    config.allow_soft_placement = True
    config.log_device_placement = False
    options.rewrite_options.remapping = options.rewrite_options.OFF
    options.optimizer_options.global_jit_level = options.optimizer_options.OFF
    return config


def session_config(config: Any = None) -> Any:
    """The ConfigProto of a session on the NPU.

    Args:
        config: a ConfigProto, which stays as it is; an NpuConfig; anything else (None) stands
            for an empty ConfigProto.
    """
    if hasattr(config, "to_config_proto"):
        config = config.to_config_proto()
    copy = tf.ConfigProto()
    if isinstance(config, tf.ConfigProto):
        copy.CopyFrom(config)
    return npu_edits(copy)


def overridden(config: Any) -> Any:
    """A ConfigProto with the values of ``npu-config run --set`` in its entries, in place."""
    if "NPU_CONFIG_SET" not in os.environ:
        return config
    from npu_config.catalogue import ALL_OPTIONS, InvalidValue
    from npu_config.rules.overrides import overrides_in

    for override in overrides_in(os.environ):
        option = ALL_OPTIONS[override.name]
        value = override.value
        for entry in npu_entries(config):
            entry.parameter_map.pop(override.name, None)
        if value is None:
            continue
        with contextlib.suppress(InvalidValue):
            value = option.kind.to_wire(option.kind.parse(value))
        wire = "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "s"
        content = tf.compat.as_bytes(str(value)) if wire == "s" else value
        setattr(npu_entries(config)[-1].parameter_map[override.name], wire, content)
    return config


def npu_config_proto(config_proto: Any = None) -> Any:
    """Make a ConfigProto one for the NPU.

    Args:
        config_proto: is changed in place; what is not a ConfigProto is replaced by a new one.

    Returns:
        The same object, or the new one.
    """
    given = isinstance(config_proto, tf.ConfigProto)
    return npu_edits(config_proto if given else tf.ConfigProto())


def npu_graph_options(graph_options: Any = None) -> Any:
    """Switch XLA's JIT off in a GraphOptions, in place; anything else is replaced by a new one."""
    options = graph_options if isinstance(graph_options, tf.GraphOptions) else tf.GraphOptions()
    npu_optimizer_options(options.optimizer_options)
    return options


def npu_optimizer_options(optimizer_options: Any = None) -> Any:
    """Switch XLA's JIT off in an OptimizerOptions, in place; else in a new one."""
    known = protobuf("config_pb2").OptimizerOptions
    options = optimizer_options if isinstance(optimizer_options, known) else known()
    options.global_jit_level = known.OFF
    return options


def npu_run_config_init(run_config: Any = None) -> Any:
    """Make the sessions of a ``tf.estimator.RunConfig`` ones for the NPU.

    Args:
        run_config: is given a session configuration of its own; the ConfigProto that it was
            made with stays as it is.  What is no RunConfig is replaced by a new one.

    Returns:
        The same object, or the new one.
    """
    if not isinstance(run_config, tf.estimator.RunConfig):
        run_config = tf.estimator.RunConfig()
    run_config._session_config = session_config(run_config.session_config)
    return run_config


def warn_of_findings(config: Any) -> None:
    """Judge the options of a ConfigProto, and warn of everything that is found.

    On the NPU host paths and the environment are looked at, too.
    """
    if not any(entry.parameter_map for entry in npu_entries(config)):
        return
    from npu_config.core.diagnostics import Severity
    from npu_config.proto import decode
    from npu_config.rules.case import judge

    on_host = vendor.is_available()
    environ = os.environ if on_host else None
    for finding in judge(decode(config), environ=environ, on_host=on_host):
        if finding.severity >= Severity.WARNING:
            warn(finding)


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
