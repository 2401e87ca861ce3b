#!/bin/bash
# A name that the started script reads is none of ours that is misspelt.
export RANK_IDX=0
python3 ../../started/npu.py
