#!/bin/bash
export RANK_TABLE_FILE=/job/hccl.json RANK_SIZE=8 JOB_ID=7
left=8
until [ $left -eq 0 ]; do
  RANK_ID=$left ASCEND_DEVICE_ID=$((left - 1)) python3 fit.py &
  ((left--))
done
wait
