#!/bin/bash
# An end without a beginning.
export JOB_ID=resnet
fi
python3 train.py
