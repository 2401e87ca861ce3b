#!/bin/bash
# Nothing here can be known: arguments, output of programs, files that are not there.
source /usr/local/Ascend/ascend-toolkit/set_env.sh
export RANK_SIZE=$1
export RANK_ID=${2:-0}
export JOB_ID=$(date +%s)
export RANK_TABLE_FILE=$3
for ((i=0; i<RANK_SIZE; i++)); do
  export ASCEND_DEVICE_ID=$i
  python3 train.py &
done
while read -r line; do export HCCL_IF_IP=$line; done < hosts
eval "$4"
python3 eval.py
