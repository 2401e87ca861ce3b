#!/bin/bash
python3 - <<EOF
import os
os.environ["HCCL_CONNECT_TIMEOUT"] = "thousand"
from npu_bridge.npu_init import *
EOF
python3 -c 'import os; os.environ.update(HCCL_EXEC_TIMEOUT="long"); import train'
