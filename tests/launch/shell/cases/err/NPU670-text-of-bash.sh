#!/bin/bash
# What the text of bash -c exports is judged, at the place of the command.
export JOB_ID=resnet
nohup bash -lc "export ASCEND_DEVICE_ID=-1; python3 train.py" > train.log 2>&1 &
