#!/bin/bash
export A=1 # x
cat > t.bat <<EOF
echo off
EOF
export RANK_SIZE=8
python3 train.py
