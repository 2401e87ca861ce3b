#!/usr/bin/env bash
# Starts the launchers of @count@ servers over ssh. Written by npu-config.
# Usage: bash @name@ [COMMAND [ARGUMENT...]]
# On every server the ranks run in the folder of the same path as the one that this is called in.
# NPU_SSH        how a server is reached; default: ssh -o BatchMode=yes -tt
# NPU_COPY       how files are copied; default: scp -q -o BatchMode=yes; "none": not at all
# NPU_DIRECTORY  another folder for the ranks, on every server
# Log files: npu_logs/TIME/SERVER.log; those of the ranks are fetched to npu_logs/TIME/SERVER/, or
# are in npu_logs/TIME where that is a shared folder. When one server fails, the others are
# stopped.
# Exit code: the first that is not 0 of a server; 2 when files cannot be copied or fetched.
set -u
trap 'exit 130' INT # bash forgets an INT without a trap while it waits for a command

hosts=(@hosts@)
copies=(@copies@) # the same for scp
scripts=(@scripts@)
table=@table@

here=$(cd -- "$(dirname -- "$0")" && pwd) || exit 2
read -r -a ssh <<<"${NPU_SSH:-ssh -o BatchMode=yes -tt}"
read -r -a copy <<<"${NPU_COPY:-scp -q -o BatchMode=yes}"
directory=${NPU_DIRECTORY:-$PWD}
printf -v time '%(%Y%m%d_%H%M%S)T_%d' -1 $$
logs=npu_logs/$time
mkdir -p -- "$logs" || exit 2
for script in "${scripts[@]}"; do cp -- "$here/$script" "$logs/" || exit 2; done
say() { printf 'npu-start: %s\n' "$*" >&2; }
quoted=
for word in "$@"; do printf -v word %q "$word" && quoted+=" $word"; done
printf -v remote 'cd %q && NPU_LAUNCH_LOGS=%s bash %s/' "$directory" "$logs" "$logs"

# On a server: make the folders; 64, + 1 if the launcher is not there, + 2 if the table is not.
printf -v folder %q "$directory/$logs"
folders=$folder
same=
if [ -n "$table" ]; then
  printf -v word ' %q' "${table%/*}/"
  folders+=$word
  if [ -r "$table" ]; then
    sum=$(cksum <"$table")
    printf -v same '[ "$(cksum <%q)" = "%s" ] || code=$((code + 2)); ' "$table" "$sum"
  else
    say "$table is not on this machine, and is not copied"
  fi
fi

apart=() # the servers whose folder is another than this one
if [ "${copy[0]}" != none ]; then
  for i in "${!hosts[@]}"; do
    "${ssh[@]}" "${hosts[i]}" "mkdir -p -- $folders || exit 1; code=64; \
[ -e $folder/${scripts[i]} ] || code=65; ${same}exit \$code" \
      </dev/null >"$logs/${hosts[i]}.log" 2>&1
    code=$?
    if [ "$((code & ~3))" -ne 64 ]; then
      say "$directory cannot be made on ${hosts[i]} (code $code), log: $logs/${hosts[i]}.log"
      exit 2
    fi
    if [ "$((code & 1))" -ne 0 ]; then
      apart+=("$i")
      if ! "${copy[@]}" "$logs/${scripts[i]}" "${copies[i]}:$directory/$logs/"; then
        say "${scripts[i]} cannot be copied to ${hosts[i]}:$directory/$logs"
        exit 2
      fi
    fi
    if [ "$((code & 2))" -ne 0 ] && ! "${copy[@]}" "$table" "${copies[i]}:$table"; then
      say "$table cannot be copied to ${hosts[i]}"
      exit 2
    fi
  done
fi

pids=()
status=0
stop() { # code to end with, unless there is one already
  [ "$status" -ne 0 ] || status=$1
  kill ${pids[@]+"${pids[@]}"} 2>/dev/null
}
trap 'say "got SIGINT; stopping"; stop 130' INT
trap 'say "got SIGTERM; stopping"; stop 143' TERM
trap 'say "got SIGHUP; stopping"; stop 129' HUP

# No command substitution below: bash may lose a signal that comes while it makes one.
for i in "${!hosts[@]}"; do
  [ "$status" -eq 0 ] || break
  "${ssh[@]}" "${hosts[i]}" "$remote${scripts[i]}$quoted" </dev/null \
    >>"$logs/${hosts[i]}.log" 2>&1 &
  pids[i]=$!
  say "${hosts[i]}: ${scripts[i]}, log: $logs/${hosts[i]}.log"
done
[ "$status" -eq 0 ] || stop "$status"

while [ "${#pids[@]}" -gt 0 ]; do
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" 2>/dev/null && continue
    wait "${pids[i]}"
    code=$?
    unset "pids[i]"
    say "${hosts[i]} ended with code $code"
    [ "$code" -eq 0 ] || stop "$code"
  done
  [ "${#pids[@]}" -eq 0 ] || sleep 0.2
done

for i in ${apart[@]+"${apart[@]}"}; do
  if ! "${copy[@]}" -r "${copies[i]}:$directory/$logs" "$logs/${hosts[i]}"; then
    say "the log files of ${hosts[i]} cannot be fetched"
    [ "$status" -ne 0 ] || status=2
  fi
done
exit "$status"
