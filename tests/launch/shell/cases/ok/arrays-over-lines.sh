#!/bin/bash
# The end of an array may be indented; the script is read once more for the words of blocks.
if [[ -n "$JOB" && -s "$LOG" ]]; then
    ARGS=(
        --steps 10  # of (each
        "$JOB"
    )
    echo "done; fi ;"
fi
if true; then python3 train.py "${ARGS[@]}"; fi; for x in 1; do echo done; done
MORE=(
)
