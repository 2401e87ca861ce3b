#!/bin/bash
# The other host gets none of the variables that are exported here.
export RANK_SIZE=none
ssh -p 22 "$HOST" "cd $PWD; export HCCL_CONNECT_TIMEOUT=thousand; python3 train.py"
ssh node2 <<EOF
export HCCL_EXEC_TIMEOUT=long RANK_ID=$1
./train
EOF
unset RANK_SIZE
