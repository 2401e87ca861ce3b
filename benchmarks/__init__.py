"""Benchmarks: each compares with a named baseline in the same run and prints a ratio."""
