#!/bin/bash
# The quote does not end: it takes the rest of the script.
export JOB_ID="resnet
for i in 0 1; do
  python3 train.py &
done
