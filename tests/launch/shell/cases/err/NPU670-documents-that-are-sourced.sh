#!/bin/bash
# The lines of the here-documents are the places.
source /dev/stdin <<EOF
export HCCL_CONNECT_TIMEOUT=thousand
EOF
. <(cat <<'EOF'
export HCCL_EXEC_TIMEOUT=long
EOF
)
cat > job.env <<EOF
HCCL_IF_IP=$PWD
export ASCEND_DEVICE_ID=-1
EOF
source job.env
python3 train.py
