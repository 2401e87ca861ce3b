"""The class of ConfigProto: TensorFlow's where it is installed, else our own."""

import functools
import importlib
import importlib.util
from typing import Any


def stub_config_proto() -> Any:
    """The ConfigProto class of this package, wire-compatible with TensorFlow 1.15's."""
    from npu_config.proto.schema import session_message

    return session_message("ConfigProto")


@functools.lru_cache(maxsize=None)
def config_proto_class() -> Any:
    """``tf.ConfigProto`` (of ``compat.v1``) where TensorFlow is installed, else the stub.

    A TensorFlow that cannot be imported (one that its protobuf is too new for, say)
    counts as none.
    """
    try:
        if importlib.util.find_spec("tensorflow") is not None:
            return importlib.import_module("tensorflow").compat.v1.ConfigProto
    except Exception:  # whatever a broken installation raises while it is imported
        pass
    return stub_config_proto()
