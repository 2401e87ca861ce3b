#!/bin/bash
export RANK_TABLE_FILE=../../../../rank_table/cases/err/NPU647-initializing.json
export JOB_ID=resnet RANK_ID=0 RANK_SIZE=2
python3 train.py
