#!/bin/bash
#SBATCH --export=ALL,HCCL_CONNECT_TIMEOUT=1800
# What looks alike and is right: known values stay, a container and another host get their own.
export HCCL_EXEC_TIMEOUT=1800
: "${HCCL_EXEC_TIMEOUT:=long}"
RANK_ID=none
docker run -e RANK_ID=0 image python3 train.py -e RANK_ID=none
f() { local HCCL_EXEC_TIMEOUT=long; }
f
read -r HCCL_IF_IP ignored <<< "10.0.0.1 eth0"
export HCCL_IF_IP
while read -r ASCEND_DEVICE_ID; do echo "$ASCEND_DEVICE_ID"; done <<< "none"
cat > job.yaml <<EOF
RANK_ID: none
EOF
export PYTHONPATH=$PWD/a:$PWD/b:$PYTHONPATH
python3 - <<EOF
import os
print(os.environ["RANK_ID"] == "none")
EOF
python3 train.py
