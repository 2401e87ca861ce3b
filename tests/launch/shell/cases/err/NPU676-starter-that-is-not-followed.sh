#!/bin/bash
# A comment names torchrun, the script is one for the NPU.
export RANK_SIZE=8 RANK_ID=8
srun --nodes 2 python ../../started/npu.py
