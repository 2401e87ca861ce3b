#!/bin/bash
mpirun -np 8 -x HCCL_CONNECT_TIMEOUT=thousand -x PATH ./train
mpiexec -n 8 -env HCCL_EXEC_TIMEOUT long ./train
