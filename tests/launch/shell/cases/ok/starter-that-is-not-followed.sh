#!/bin/bash
# Nothing that is known to start training, but a script of another framework is named.
export RANK_SIZE=8 RANK_ID=8
srun --nodes 2 python ../../started/spore.py
