#!/bin/bash
# The script that is started is for the NPU, or is for TensorFlow in an environment of the NPU.
horovodrun -np 8 python3 ../../started/npu.py
SCRIPT=../../started/helped.py
python3 -m torch.distributed.launch --nproc_per_node 8 $SCRIPT
accelerate launch ../../started/npu.py
export HCCL_CONNECT_TIMEOUT=600
horovodrun -np 8 python3 ../../started/gpu.py
