#!/bin/bash
export RANK_TABLE_FILE=$(cd "$(dirname "$0")"; pwd)
export RANK_ID=0 RANK_SIZE=8
python3 train.py
