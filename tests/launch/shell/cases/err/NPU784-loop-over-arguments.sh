#!/bin/bash
export RANK_TABLE_FILE=/job/table.json RANK_SIZE=8 JOB_ID=1
for rank in "$@"; do RANK_ID=$rank ASCEND_DEVICE_ID=0 python3 train.py & done
wait
for rank; do
    RANK_ID=$rank ASCEND_DEVICE_ID=0 python3 train.py > $rank.log 2>&1 &
done
wait
