#!/bin/bash
# One finding for one place; the ranks are in the order of their numbers.
export RANK_SIZE=8 JOB_ID=resnet
for i in {10..8}; do
  export RANK_ID=$i
  python3 train.py &
done
