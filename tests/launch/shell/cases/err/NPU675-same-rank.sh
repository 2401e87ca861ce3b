#!/bin/bash
# Every process is rank 0.
export RANK_SIZE=4
export RANK_ID=0
export JOB_ID=resnet
export RANK_TABLE_FILE=$1
for i in 0 1 2 3; do
  ASCEND_DEVICE_ID=$i nohup python3 -u train.py --rank "$i" > "$i.log" 2>&1 &
done
