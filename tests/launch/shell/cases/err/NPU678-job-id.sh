#!/bin/bash
# Without "unset" the JOB_ID may come from outside.
export RANK_SIZE=16 RANK_TABLE_FILE=$1 RANK_ID=$2
python3 train.py
unset JOB_ID
python3 train.py
