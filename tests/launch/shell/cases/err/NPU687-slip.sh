#!/bin/bash
export RANK_TABEL_FILE=/data/rank_table.json
python3 train.py
