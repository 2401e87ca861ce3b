#!/bin/bash
# The table is written before it is used, and fits.
cat > ./made_here.json <<EOF
{"version": "1.0", "status": "completed", "server_count": "1",
 "server_list": [{"server_id": "10.0.0.1", "device": [
   {"device_id": "0", "device_ip": "192.168.1.10", "rank_id": "0"},
   {"device_id": "1", "device_ip": "192.168.1.11", "rank_id": "1"}]}]}
EOF
export RANK_TABLE_FILE=./made_here.json RANK_SIZE=2 JOB_ID=resnet
for i in 0 1; do
  RANK_ID=$i ASCEND_DEVICE_ID=$i python3 train.py &
done
