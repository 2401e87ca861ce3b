#!/bin/bash
# The text of bash -c sets what mpirun does not.
export RANK_SIZE=8 JOB_ID=resnet
mpirun -np 8 bash -c 'RANK_ID=$OMPI_COMM_WORLD_RANK ASCEND_DEVICE_ID=$OMPI_COMM_WORLD_LOCAL_RANK python3 t.py'
mpirun -np 8 bash -c "$1"
