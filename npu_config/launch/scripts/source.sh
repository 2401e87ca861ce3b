
if [ ! -r @path@ ]; then
  echo "npu-launch: cannot be read: "@path@ >&2
  exit 2
fi
set +u
. @path@
set -u
