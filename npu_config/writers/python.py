"""Python: the lines that users of TensorFlow 1.15 know."""

from typing import Any

from npu_config.rules.value import ConfigValue
from npu_config.text.plain_text import is_utf8
from npu_config.writers.escape import quoted
from npu_config.writers.notes import NO_NOTES, Notes

_HEAD = """\
import tensorflow as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

# On the training host, before the session: from npu_bridge.npu_init import *

config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""

_TAIL = """\
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.NO_MEM_OPT
config.graph_options.optimizer_options.global_jit_level = tf.compat.v1.OptimizerOptions.OFF
"""


def render(config: ConfigValue, notes: Notes = NO_NOTES) -> str:
    """Code that ends with ``config``, equal to ``config.to_config_proto()``."""
    lines = ["{}\n".format(line) for line in notes.comments(config.options)]
    for name, (field, value) in config.wire_values().items():
        lines.append(
            'custom_op.parameter_map["{}"].{} = {}\n'.format(name, field, _literal(value))
        )
    return _HEAD + "".join(lines) + _TAIL


def _literal(value: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    if not is_utf8(value):
        return repr(value.encode("utf-8", "surrogateescape"))
    return "tf.compat.as_bytes({})".format(quoted(value))
