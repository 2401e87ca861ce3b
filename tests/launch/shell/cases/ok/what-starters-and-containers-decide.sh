#!/bin/bash
export RANK_TABLE_FILE=/job/table.json JOB_ID=1 RANK_SIZE=8
srun -n 8 bash -c 'export RANK_ID=$SLURM_PROCID ASCEND_DEVICE_ID=$SLURM_LOCALID; python3 train.py'
srun -n 1 env RANK_ID=0 python3 train.py
srun -n 1 env RANK_ID=0 python3 train.py : -n 7 env RANK_ID=$SLURM_PROCID python3 train.py
RANK_SIZE=1 RANK_ID=0 srun -n 4 python3 train.py
for rank in "$@"; do RANK_ID=$rank ASCEND_DEVICE_ID=$rank python3 train.py & done
for rank in "$@"; do RANK_ID=$rank ASCEND_DEVICE_ID=0 python3 train.py; done
alias py='python3 -u'
RANK_ID=8 ASCEND_DEVICE_ID=0 py train.py
unset RANK_TABLE_FILE RANK_SIZE
docker run --rm -e RANK_ID=0 -e RANK_TABLE_FILE=/w/rt.json -e JOB_ID=1 image python3 train.py
