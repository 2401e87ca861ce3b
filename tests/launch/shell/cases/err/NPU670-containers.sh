#!/bin/bash
# Only what stands before the program is given to the container; quotes are none in its files.
docker run --rm -e HCCL_CONNECT_TIMEOUT=thousand -e ASCEND_DEVICE_ID image python3 train.py -e RANK_ID=x
podman run --env=HCCL_EXEC_TIMEOUT=long --env-file ../../started/container.env image
