#!/bin/bash
# Each rank has a device 0 of its own, or a word of its command may choose the device.
export RANK_TABLE_FILE=/data/table.json RANK_SIZE=4 JOB_ID=1
for i in 0 1 2 3; do
  ssh node$i RANK_TABLE_FILE=/data/table.json RANK_SIZE=4 JOB_ID=1 RANK_ID=$i ASCEND_DEVICE_ID=0 python3 train.py &
done
wait
for i in 0 1 2 3; do
  docker run --device=/dev/davinci$i -e RANK_TABLE_FILE=/data/table.json -e RANK_SIZE=4 -e JOB_ID=1 -e RANK_ID=$i -e ASCEND_DEVICE_ID=0 image python3 train.py &
done
wait
for i in 0 1 2 3; do
  RANK_ID=$i ASCEND_DEVICE_ID=0 python3 train.py --device=$i &
done
wait
for i in 0 1 2 3; do
  CHIP=$i RANK_ID=$i ASCEND_DEVICE_ID=0 python3 train.py &
done
wait
