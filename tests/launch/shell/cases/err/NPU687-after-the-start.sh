#!/bin/bash
# A misspelt name after the last start is found, too.
export JOB_ID=resnet
python3 train.py &
export RANK_TABEL_FILE=$1
