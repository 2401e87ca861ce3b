"""Trains with MindSpore."""

import mindspore as ms
