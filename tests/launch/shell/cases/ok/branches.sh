#!/bin/bash
# One way or the other: a rank table, or CM_ variables.
if [ -n "$TABLE" ]; then
  export RANK_TABLE_FILE=$TABLE RANK_ID=0 RANK_SIZE=8
else
  export CM_CHIEF_IP=10.0.0.1 CM_CHIEF_PORT=60001 CM_CHIEF_DEVICE=0
  export CM_WORKER_SIZE=8 CM_WORKER_IP=10.0.0.1
fi
case $1 in
  a) export HCCL_EXEC_TIMEOUT=600 ;;
  *) unset HCCL_EXEC_TIMEOUT ;;
esac
export JOB_ID=bert ASCEND_DEVICE_ID=0
python3 train.py
