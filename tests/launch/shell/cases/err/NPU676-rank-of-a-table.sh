#!/bin/bash
# With a rank table, RANK_SIZE is the number of its devices; one fault of several ranks is said once.
export RANK_SIZE=1 JOB_ID=one RANK_TABLE_FILE=/data/table.json
export RANK_ID=1; python3 train.py &
export RANK_ID=2; python3 train.py &
export RANK_ID=3; python3 train.py &
