"""Trains on the NPU."""

import tensorflow as tf
from npu_bridge.npu_init import *
