
(
  environment 0
  if [ ! -r "$RANK_TABLE_FILE" ]; then
    echo "npu-launch: the rank table cannot be read: $RANK_TABLE_FILE" >&2
    exit 2
  fi
) || exit 2
