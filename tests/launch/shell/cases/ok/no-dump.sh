#!/bin/bash
# 0 dumps nothing, as without the variable.
export DUMP_GE_GRAPH=0 DUMP_GRAPH_LEVEL=0
python3 train.py
