#!/bin/bash
export PROFILING_MODE=true
export PROFILING_OPTIONS='{"outptu": "/data/prof"}'
python3 train.py
