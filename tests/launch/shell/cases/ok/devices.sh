#!/bin/bash
# Each rank has its own device, or nobody knows.
devices=(0 1 2 3)
export RANK_SIZE=4 JOB_ID=resnet RANK_TABLE_FILE=$1
for i in "${!devices[@]}"; do
  RANK_ID=$i ASCEND_DEVICE_ID=${devices[i]} python3 train.py &
done
devices=(0 0 0 0)
devices[$2]=1
for i in 0 1 2 3; do
  RANK_ID=$i ASCEND_DEVICE_ID=${devices[$i]} python3 train.py &
  RANK_ID=$i ASCEND_RT_VISIBLE_DEVICES=$i ASCEND_DEVICE_ID=0 python3 train.py &
done
export ASCEND_DEVICE_ID=0
for i in 0 1; do
  RANK_ID=$i python3 train.py --device "$i" &
done
