#!/bin/bash
export RANK_TABLE_FILE=/data/rank_table.json RANK_SIZE=8
export CM_CHIEF_IP=10.0.0.1
env RANK_ID=0 timeout -s KILL 3600 taskset -c 0-3 python3 train.py
