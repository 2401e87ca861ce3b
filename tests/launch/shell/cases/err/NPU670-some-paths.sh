#!/bin/bash
[ -n "$X" ] && export HCCL_CONNECT_TIMEOUT=long
case $1 in
  a) export RANK_SIZE=1 ;;
  b) export RANK_SIZE=eight ;;
  c) export RANK_SIZE=never; exit 1 ;;
esac
if [ "$2" = x ]; then
  export JOB_ID=""
fi
JOB_ID=resnet
eval 'export ASCEND_DEVICE_ID=-1'
python3 train.py
