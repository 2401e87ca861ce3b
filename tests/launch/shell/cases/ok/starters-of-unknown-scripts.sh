#!/bin/bash
# Scripts that cannot be found, scripts that are not for the NPU (yet), jobs of one process.
horovodrun -np 8 python3 missing.py
mpirun -np 8 python3 "$1"
mpirun -np 8 ./train
horovodrun -np 8 python3 ../../started/gpu.py
horovodrun -np 1 python3 ../../started/npu.py
python3 -m pip install horovod
