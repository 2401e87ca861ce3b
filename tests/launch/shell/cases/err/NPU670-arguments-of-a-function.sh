#!/bin/bash
# What a function is given to run is run with the variables before it; a default is one, too.
run() {
  local device=$1; shift
  RANK_ID=$device HCCL_BUFFSIZE=${BUFFER:-200M} "$@"
}
run 0 env HCCL_CONNECT_TIMEOUT=long python3 train.py
# What is run here is not known, but what it is given is.
HCCL_EXEC_TIMEOUT=forever PRINT_MODEL=${MODEL:-yes} "$PROGRAM" train.py
