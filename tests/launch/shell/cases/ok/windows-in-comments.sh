#!/bin/bash
# copied from elsewhere
export RANK_SIZE=1
  # and here
python3 train.py
