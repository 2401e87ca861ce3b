#!/bin/bash
# What is started is not known, but a starter of another framework is named.
export RANK_SIZE=8 RANK_ID=8
LAUNCHER="python -m torch.distributed.launch $ARGS"
$LAUNCHER train.py
