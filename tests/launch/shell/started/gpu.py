"""Trains with TensorFlow, not on the NPU yet."""

import horovod.tensorflow as hvd
import tensorflow as tf
