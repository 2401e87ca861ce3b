#!/bin/bash
# The number of ranks has a name of its own: RANK_SIZE must not stand beside CM_WORKER_SIZE.
export RANK_SIZES=16 JOB_ID=job
python3 prepare.py
export CM_CHIEF_IP=10.0.0.1 CM_CHIEF_PORT=6000 CM_CHIEF_DEVICE=0
export CM_WORKER_SIZE=16 CM_WORKER_IP=10.0.0.2 ASCEND_DEVICE_ID=0
python3 train.py
