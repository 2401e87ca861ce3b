#!/bin/bash
# A default that is assigned where nothing else is given, in both forms, and one that is exported.
: "${HCCL_CONNECT_TIMEOUT:=thousand}"
: ${HCCL_EXEC_TIMEOUT=long}
export HCCL_CONNECT_TIMEOUT HCCL_EXEC_TIMEOUT HCCL_IF_IP="${HCCL_IF_IP:-eth0}"
python3 ../../started/npu.py
