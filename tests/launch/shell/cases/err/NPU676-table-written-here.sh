#!/bin/bash
# The table that the script writes is known: it has four devices; the ranks are named once.
devices=4
cat << EOF > table.json
{"version": "1.0", "status": "completed", "server_count": "1",
 "server_list": [{"server_id": "10.0.0.1", "device": [
   {"device_id": "0", "device_ip": "192.168.1.10", "rank_id": "0"},
   {"device_id": "1", "device_ip": "192.168.1.11", "rank_id": "1"},
   {"device_id": "2", "device_ip": "192.168.1.12", "rank_id": "2"},
   {"device_id": "3", "device_ip": "192.168.1.13", "rank_id": "3"}]}]}
EOF
export RANK_TABLE_FILE=table.json RANK_SIZE=8 JOB_ID=resnet
for ((i = 0; i < devices; i++)); do
  export RANK_ID=$i
  export ASCEND_DEVICE_ID=$((i + 4))
  python3 train.py &
done
