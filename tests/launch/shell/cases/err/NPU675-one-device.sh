#!/bin/bash
# Every rank takes the same device, and nothing but RANK_ID tells the processes apart.
export PYTHONPATH=/opt/lib:$PYTHONPATH
export RANK_TABLE_FILE=/data/table.json RANK_SIZE=4 JOB_ID=1
for i in 0 1 2 3; do
  RANK_ID=$i ASCEND_DEVICE_ID=0 python3 train.py > log_$i 2>&1 &
done
wait
