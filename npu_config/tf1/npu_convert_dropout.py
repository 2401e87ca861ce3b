"""``npu_convert_dropout``: scripts import it for its effect on the Dropout of Keras.

The vendor's module replaces ``Dropout.call`` for the process.  Here nothing is replaced: on a CPU
Keras's own is right, and on the NPU host the vendor's module is imported.
"""

from __future__ import annotations

from typing import Any

from npu_config.tf1 import vendor
from npu_config.tf1.tensorflow import internal, tf

if vendor.is_available():
    vendor.find("npu_convert_dropout", "dropout_call")


@vendor.stand_in("npu_convert_dropout")
def dropout_call(self: Any, inputs: Any, training: Any = None) -> Any:
    """``Dropout.call`` of Keras, which is ``npu_ops.dropout`` on the device.

    Args:
        self: the layer, with ``rate``, ``seed`` and ``noise_shape``.
        inputs: a tensor.
        training: whether to drop; None: the learning phase of Keras.
    """
    if training is None:
        training = tf.keras.backend.learning_phase()

    def dropped() -> Any:
        shape = self._get_noise_shape(inputs)
        return tf.nn.dropout(inputs, rate=self.rate, noise_shape=shape, seed=self.seed)

    conditional = internal("framework.smart_cond").smart_cond
    return conditional(training, dropped, lambda: tf.identity(inputs))
