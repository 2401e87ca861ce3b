"""The one door to TensorFlow: ``tf.compat.v1``, of 1.15 or of 2.x.

Nothing is imported until an attribute of :data:`tf` is asked for.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from npu_config.tf1._lazy import errors, rules

if TYPE_CHECKING:
    from types import ModuleType


class TensorFlowMissingError(ImportError):
    """TensorFlow is needed here and cannot be imported."""


@functools.lru_cache(maxsize=None)
def package() -> ModuleType:
    """The package ``tensorflow``, whichever version.

    Raises:
        TensorFlowMissingError: it cannot be imported, with the reason.
    """
    try:
        return importlib.import_module("tensorflow")
    except ImportError as error:
        raise TensorFlowMissingError(
            "npu_config.tf1 needs TensorFlow 1.15, or 2.x for its tf.compat.v1, and cannot import "
            "it ({}); install tensorflow, or use npu_config without npu_config.tf1".format(error)
        ) from error


@functools.lru_cache(maxsize=None)
def load() -> ModuleType:
    """The TensorFlow 1.x interface, ``tf.compat.v1`` of either version.

    Raises:
        TensorFlowMissingError: TensorFlow cannot be imported.
    """
    interface: ModuleType = package().compat.v1
    return interface


def is_version_1() -> bool:
    """True for TensorFlow 1.x."""
    return str(package().__version__).startswith("1.")


class _Interface:
    """Stands for the TensorFlow 1.x module; imports it when first used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(load(), name)

    def __repr__(self) -> str:
        return "<the TensorFlow 1.x interface, imported on use>"


tf: Any = _Interface()


def internal(name: str) -> Any:
    """A module below ``tensorflow.python``, for what has no public name.

    Args:
        name: its dotted name below ``tensorflow.python``, e.g. ``"client.session"``.
    """
    load()
    return importlib.import_module("tensorflow.python." + name)


def protobuf(name: str) -> Any:
    """A module of generated messages below ``tensorflow.core.protobuf``."""
    load()
    return importlib.import_module("tensorflow.core.protobuf." + name)


def require_graph_mode(what: str) -> None:
    """Refuse to go on in eager mode.

    Args:
        what: the function that was called, for the message.

    Raises:
        StateError: TensorFlow executes eagerly here.
    """
    if tf.executing_eagerly():
        raise rules.graph_mode_needed.error(
            '"{}" builds graph nodes, but TensorFlow executes eagerly here; '
            "the adapter for TensorFlow 1.15 supports only graph mode".format(what),
            help="call tf.compat.v1.disable_eager_execution() at the start of the script, "
            "or build inside `with tf.Graph().as_default():`",
            kind=errors.StateError,
        )
