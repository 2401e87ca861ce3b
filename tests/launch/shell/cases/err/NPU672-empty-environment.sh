#!/bin/bash
export RANK_TABLE_FILE=/job/hccl.json RANK_SIZE=8 JOB_ID=7
env -i RANK_ID=0 ASCEND_DEVICE_ID=0 JOB_ID=7 RANK_TABLE_FILE=/job/hccl.json python3 fit.py
