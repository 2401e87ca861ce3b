#!/bin/bash
export RANK_SIZE=8
python3 train.py
