"""Trains with PyTorch; TensorFlow is there for its summaries."""

import tensorflow as tf
import torch
import torch_npu
