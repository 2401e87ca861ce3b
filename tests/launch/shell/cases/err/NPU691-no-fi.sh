#!/bin/bash
# The innermost block that does not end.
while true; do
  if [ -f table.json ]; then
    python3 train.py
done
