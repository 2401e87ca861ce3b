#!/bin/bash
port=65530
export CM_CHIEF_PORT="$port"
run() {
  local device=$1
  export ASCEND_DEVICE_ID="$device"
  python3 train.py
}
run -1
