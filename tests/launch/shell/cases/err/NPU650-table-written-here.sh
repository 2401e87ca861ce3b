#!/bin/bash
# What is wrong in a table that the script writes is at its place in the script.
cat > table.json <<'END'
{"version": "1.0", "status": "completed", "server_count": "1",
 "server_list": [{"server_id": "10.0.0.1", "device": [
   {"device_id": "0", "device_ip": "192.168.1.10", "rank_id": "0"},
   {"device_id": "1", "device_ip": "192.168.1.11", "rank_id": "0"}]}]}
END
RANK_TABLE_FILE=table.json RANK_SIZE=2 RANK_ID=0 JOB_ID=resnet python3 train.py
