"""Trains with the adapter for TensorFlow 2."""

import npu_device
import tensorflow as tf
