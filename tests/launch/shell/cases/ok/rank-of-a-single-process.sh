#!/bin/bash
# Without a rank table nothing hands the rank of a single process on.
export RANK_SIZE=1 JOB_ID=one
for i in 0 1 2 3 4 5 6 7; do
  RANK_ID=$i ASCEND_DEVICE_ID=$i python3 train.py &
done
RANK_ID=4 RANK_TABLE_FILE=$1 python3 train.py
export NCCL_ALGO=Ring NCCL_SOCKET_IFNAME=eth0
