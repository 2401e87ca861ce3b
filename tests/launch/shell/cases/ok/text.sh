#!/bin/bash
: <<'COMMENT'
export RANK_SIZE=wrong
COMMENT
cat > env.sh <<END
export RANK_ID=$NOTHING
END
echo "export ASCEND_DEVICE_ID=-1"
export RANK_SIZE={RANK_SIZE}
export JOB_ID="<name of the job>"
