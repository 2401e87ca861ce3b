#!/bin/bash
# The text of bash -c is read: it sets nothing for the ranks.
export RANK_SIZE=8 JOB_ID=resnet
mpirun -np 8 bash -c 'export OMP_NUM_THREADS=4; python3 ../../started/npu.py'
