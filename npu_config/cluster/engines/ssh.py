"""One bash script that starts the launcher of every server over ssh and looks after them."""

import shlex
from typing import Mapping, Optional

_SCRIPT = r"""#!/usr/bin/env bash
# Starts the launchers of {count} servers over ssh. Written by npu-config.
# Usage: bash {name} [COMMAND [ARGUMENT...]]
# NPU_SSH        how a server is reached; default: ssh -o BatchMode=yes -tt
# NPU_COPY       how files are copied; default: scp -q -o BatchMode=yes; "none" for a shared folder
# NPU_DIRECTORY  the folder on every server; default: this one
# Log files: npu_logs/TIME/SERVER.log here, those of the processes are fetched to
# npu_logs/TIME/SERVER/. When one server fails, the others are stopped.
set -u
trap 'exit 130' INT # bash forgets an INT without a trap while it waits for a command

hosts=({hosts})
scripts=({scripts})
table={table}

cd -- "$(dirname -- "$0")" || exit 2
read -r -a ssh <<<"${{NPU_SSH:-ssh -o BatchMode=yes -tt}}"
read -r -a copy <<<"${{NPU_COPY:-scp -q -o BatchMode=yes}}"
directory=${{NPU_DIRECTORY:-$PWD}}
printf -v time '%(%Y%m%d_%H%M%S)T_%d' -1 $$
logs=npu_logs/$time
mkdir -p -- "$logs" || exit 2
say() {{ printf 'npu-start: %s\n' "$*" >&2; }}
quoted=
for word in "$@"; do printf -v word %q "$word" && quoted+=" $word"; done
printf -v remote 'cd %q && NPU_LAUNCH_LOGS=npu_logs/%s bash' "$directory" "$time"

if [ "${{copy[0]}}" != none ]; then
  for i in "${{!hosts[@]}}"; do
    if ! "${{copy[@]}}" "${{scripts[i]}}" "${{hosts[i]}}:$directory/"; then
      say "${{scripts[i]}} cannot be copied to ${{hosts[i]}}:$directory"
      exit 2
    fi
    if [ -n "$table" ] && ! "${{copy[@]}}" "$table" "${{hosts[i]}}:$table"; then
      say "$table cannot be copied to ${{hosts[i]}}"
      exit 2
    fi
  done
fi

pids=()
status=0
stop() {{ # code to end with, unless there is one already
  [ "$status" -ne 0 ] || status=$1
  kill ${{pids[@]+"${{pids[@]}}"}} 2>/dev/null
}}
trap 'say "got SIGINT; stopping"; stop 130' INT
trap 'say "got SIGTERM; stopping"; stop 143' TERM
trap 'say "got SIGHUP; stopping"; stop 129' HUP

# No command substitution below: bash may lose a signal that comes while it makes one.
for i in "${{!hosts[@]}}"; do
  [ "$status" -eq 0 ] || break
  "${{ssh[@]}}" "${{hosts[i]}}" "$remote ${{scripts[i]}}$quoted" </dev/null \
    >"$logs/${{hosts[i]}}.log" 2>&1 &
  pids[i]=$!
  say "${{hosts[i]}}: ${{scripts[i]}}, log: $logs/${{hosts[i]}}.log"
done
[ "$status" -eq 0 ] || stop "$status"

while [ "${{#pids[@]}}" -gt 0 ]; do
  for i in "${{!pids[@]}}"; do
    kill -0 "${{pids[i]}}" 2>/dev/null && continue
    wait "${{pids[i]}}"
    code=$?
    unset "pids[i]"
    say "${{hosts[i]}} ended with code $code"
    [ "$code" -eq 0 ] || stop "$code"
  done
  [ "${{#pids[@]}}" -eq 0 ] || sleep 0.2
done

if [ "${{copy[0]}}" != none ]; then
  for i in "${{!hosts[@]}}"; do
    "${{copy[@]}}" -r "${{hosts[i]}}:$directory/npu_logs/$time" "$logs/${{hosts[i]}}" ||
      say "the log files of ${{hosts[i]}} cannot be fetched"
  done
fi
exit "$status"
"""


def ssh_script(scripts: Mapping[str, str], table: Optional[str], name: str) -> str:
    """The script that starts the launcher of every server.

    Args:
        scripts: host to the file name of its launcher.
        table: the rank table, which stands at the same path on every server; None without one.
        name: the name of the script, for its usage line.
    """
    return _SCRIPT.format(
        count=len(scripts),
        name=shlex.quote(name),
        hosts=" ".join(map(shlex.quote, scripts)),
        scripts=" ".join(map(shlex.quote, scripts.values())),
        table=shlex.quote(table or ""),
    )
