#!/bin/bash
shopt -s expand_aliases
alias py='python3 -u'
alias local_py="env ASCEND_DEVICE_ID=0 python3"
export RANK_TABLE_FILE=/job/table.json RANK_SIZE=8 JOB_ID=1
RANK_ID=8 ASCEND_DEVICE_ID=0 py train.py
RANK_ID=9 local_py train.py
