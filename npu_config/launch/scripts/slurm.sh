#!/bin/bash
#SBATCH --job-name=@job_name@
#SBATCH --nodes=@nodes@
#SBATCH --ntasks-per-node=@devices@
#SBATCH --gres=npu:@devices@
#SBATCH --output=%x-%j.out
# Written by npu-config; submit it with: sbatch @name@
@sources@set -eu
unset @absent@
@exports@
