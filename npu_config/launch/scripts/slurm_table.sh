
# Each task is one rank; --kill-on-bad-exit ends all when one fails.
srun --kill-on-bad-exit=1 bash -eu -c '
  for address in $(hostname -I) $(hostname) $(hostname -s); do
    case $address in
@cases@
      *) continue ;;
    esac
    set -- $((SLURM_LOCALID + 1)) "$@"
    number=$1
    shift
    RANK_ID=$(echo $ranks | cut -d" " -f"$number")
    ASCEND_DEVICE_ID=$(echo $devices | cut -d" " -f"$number")
    export RANK_ID ASCEND_DEVICE_ID
    exec "$@"
  done
  echo "npu-task: $(hostname) is not a server of the rank table" >&2
  exit 2
' npu-task @command@
