#!/bin/bash
export {HCCL_CONNECT_TIMEOUT,HCCL_EXEC_TIMEOUT}=long
for device in {-1,0}; do
  ASCEND_DEVICE_ID=$device python3 train.py
done
