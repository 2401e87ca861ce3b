"""Trains on the NPU; only what it imports shows that."""

from package import training

training.main()
