#!/bin/bash
export HCCL_CONNECT_TIMEOUT=600
horovodrun -np 8 python3 train.py
python3 -m torch.distributed.launch --nproc_per_node 8 train.py
