"""Rank tables and the environment that processes of a job are launched with."""
