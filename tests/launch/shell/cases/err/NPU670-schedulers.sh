#!/bin/bash
#SBATCH --nodes=2
#SBATCH --export=ALL,HCCL_CONNECT_TIMEOUT=thousand
srun --ntasks=8 --export=ALL,HCCL_EXEC_TIMEOUT=long python3 train.py
