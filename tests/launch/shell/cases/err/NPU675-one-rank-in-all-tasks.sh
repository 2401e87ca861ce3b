#!/bin/bash
export RANK_TABLE_FILE=/job/table.json JOB_ID=1 RANK_SIZE=8
srun -n 8 bash -c 'export RANK_ID=0 ASCEND_DEVICE_ID=0; python3 train.py'
srun --ntasks=8 env RANK_ID=1 python3 train.py
RANK_ID=2 srun -n 8 python3 train.py
mpirun -np 8 bash -c 'RANK_ID=3 python3 train.py'
