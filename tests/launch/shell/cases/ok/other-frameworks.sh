#!/bin/bash
# Jobs of other frameworks: what their processes read is not ours to judge.
export HCCL_CONNECT_TIMEOUT=9999 RANK_SIZE=8 RANK_ID=8 DEVICE_ID=x RANKSIZE=8
unset JOB_ID RANK_TABLE_FILE
torchrun --nproc_per_node 8 ../../started/torch_train.py
torchrun --nproc_per_node 8 -m package.missing
python -m torch.distributed.launch --nproc_per_node=8 ../../started/torch_train.py
python -m torch.distributed.run --nnodes 2 missing.py
deepspeed --num_gpus 8 missing.py
accelerate launch --multi_gpu missing.py
msrun --worker_num=8 ../../started/spore.py
mpirun -n 8 python ../../started/spore.py
SCRIPT=../../started/torch_train.py
python3 -u $SCRIPT
python3 ../../started/later.py
python -m paddle.distributed.launch missing.py
vllm serve model
for i in 0 1 2 3 4 5 6 7; do
  RANK_ID=$i DEVICE_ID=$i python ../../started/spore.py &
done
