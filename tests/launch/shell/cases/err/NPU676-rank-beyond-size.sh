#!/bin/bash
# Nine processes for eight ranks.
export RANK_SIZE=8 JOB_ID=resnet
for i in $(seq 0 8); do
  export RANK_ID=$i
  ASCEND_DEVICE_ID=$i python3 train.py &
done
wait
