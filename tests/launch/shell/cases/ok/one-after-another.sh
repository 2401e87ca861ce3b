#!/bin/bash
# The same rank trains and then evaluates; folds follow each other.
export RANK_TABLE_FILE=$1 RANK_SIZE=2 JOB_ID=unet
for fold in 0 1 2; do
  for rank in 0 1; do
    RANK_ID=$rank ASCEND_DEVICE_ID=$rank python3 train.py --fold $fold &
  done
  wait
done
RANK_ID=0 python3 evaluate.py
