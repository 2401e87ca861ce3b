#!/bin/bash
# The graph engine looks for the first ".json" in the path, and wants it at its end.
export JOB_ID=resnet RANK_ID=0 RANK_SIZE=8
RANK_TABLE_FILE=/data/hccl_8p.txt python3 train.py
RANK_TABLE_FILE=/data/old.json.d/hccl_8p.json python3 train.py
RANK_TABLE_FILE=/data/hccl_8p.json python3 train.py
