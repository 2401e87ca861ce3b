#!/bin/bash
# The last two ranks take one device.
devices=(0 1 2 3 4 5 6 6)
let size=7+1
export RANK_SIZE=$size JOB_ID=resnet RANK_TABLE_FILE=$1
for ((i = 0; i < size; i++)); do
  export RANK_ID=$i
  ASCEND_DEVICE_ID=${devices[$i]} python3 train.py &
done
