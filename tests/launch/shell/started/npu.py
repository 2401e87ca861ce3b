"""Trains on the NPU."""

import os

import tensorflow as tf
from npu_bridge.npu_init import *

NUMBER = os.environ["RANK_IDX"]
