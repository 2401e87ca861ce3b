#!/bin/bash
export RANK_TABLE_FILE=/job/hccl.json RANK_SIZE=8 JOB_ID=7
mapfile -t ranks < <(seq 0 7)
for rank in "${ranks[@]}"; do
  RANK_ID=$rank ASCEND_DEVICE_ID=$rank python3 fit.py &
done
left=7
while ((left >= 0)); do
  RANK_ID=$left ASCEND_DEVICE_ID=$left JOB_ID=8 python3 fit.py &
  ((left--))
done
seq 0 7 | xargs -P 8 -I{} env RANK_ID={} ASCEND_DEVICE_ID={} python3 fit.py
seq 0 7 | xargs -P 8 -I@ bash -c "RANK_ID=@ ASCEND_DEVICE_ID=@ python3 fit.py"
parallel -j8 "RANK_ID={} ASCEND_DEVICE_ID={} python3 fit.py" ::: 0 1 2 3 4 5 6 7
