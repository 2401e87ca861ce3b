
chief=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
CM_CHIEF_IP=$(srun --nodes=1 --ntasks=1 --nodelist="$chief" hostname -I | awk '{print $1}')
export CM_CHIEF_IP
export CM_WORKER_SIZE=$SLURM_NTASKS

# Each task is one rank; --kill-on-bad-exit ends all when one fails.
srun --kill-on-bad-exit=1 bash -eu -c '
  CM_WORKER_IP=$(hostname -I | cut -d" " -f1)
  export CM_WORKER_IP
  export ASCEND_DEVICE_ID=$SLURM_LOCALID
  exec "$@"
' npu-task @command@
