#!/bin/bash
# a comment
export RANK_SIZE=1
export RANK_ID=0
python3 train.py
