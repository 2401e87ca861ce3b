#!/bin/bash
# Blanks beside the sign.
export RANK_SIZE = 8
python3 train.py
