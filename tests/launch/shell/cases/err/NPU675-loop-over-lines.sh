#!/bin/bash
export RANK_TABLE_FILE=/job/hccl.json RANK_SIZE=8 JOB_ID=7
while read -r rank device; do
  RANK_ID=$rank ASCEND_DEVICE_ID=$device python3 fit.py &
done <<EOF
0 0
1 1
2 1
EOF
wait
