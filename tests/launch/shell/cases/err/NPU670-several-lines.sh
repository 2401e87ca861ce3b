#!/bin/bash
# The finding is at the word, not at the beginning of the command.
docker run --rm \
  -e RANK_SIZE=1 \
  --env=HCCL_BUFFSIZE=200M \
  -e "HCCL_EXEC_TIMEOUT=long" \
  image python3 train.py
env HCCL_CONNECT_TIMEOUT='10 m' \
  python3 train.py
