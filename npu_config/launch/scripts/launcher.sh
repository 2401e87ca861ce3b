#!/usr/bin/env bash
# @what@
# Written by npu-config.
# Usage: bash @name@ @usage@
# Log files: $NPU_LAUNCH_LOGS, else npu_logs/<time>_<process> in the current directory.
# When a process fails the others get TERM, and KILL after $NPU_LAUNCH_GRACE (10) seconds.
set -u
trap 'exit 130' INT # bash forgets an INT without a trap while it waits for a command

command=(@command@)
if [ "$#" -gt 0 ]; then command=("$@"); fi
if [ "${#command[@]}" -eq 0 ]; then
  echo "usage: bash $0 COMMAND [ARGUMENT...]" >&2
  exit 2
fi

ranks=(@ranks@)
devices=(@devices@)
@pods@
environment() { # number of a process: its environment
  unset @absent@
@exports@
}
@sources@@table@
printf -v logs 'npu_logs/%(%Y%m%d_%H%M%S)T_%d' -1 $$
logs=${NPU_LAUNCH_LOGS:-$logs}
grace=${NPU_LAUNCH_GRACE:-10}
if ! mkdir -p -- "$logs"; then
  echo "npu-launch: no directory for log files: $logs" >&2
  exit 2
fi

pids=()
groups=()
status=0
killed=
deadline=
signals=0
names=([1]=HUP [2]=INT [3]=QUIT [4]=ILL [6]=ABRT [7]=BUS [8]=FPE [9]=KILL
  [11]=SEGV [13]=PIPE [15]=TERM)

exec 3>&2 2>/dev/null # bash would report killed processes in its own words
say() { printf 'npu-launch: %s\n' "$*" >&3; }

signal_all() { # name of a signal: to every process and its children
  local group
  for group in ${groups[@]+"${groups[@]}"}; do kill "-$1" -- "-$group"; done
}

stop() { # code to end with, unless there is one already
  [ "$status" -ne 0 ] || status=$1
  [ -z "$deadline" ] || return 0
  deadline=$((SECONDS + grace + 1))
  signal_all TERM
}

on_signal() { # name and number of a signal
  signals=$((signals + 1))
  if [ -n "$deadline" ]; then
    say "got SIG$1 again; killing"
    deadline=$SECONDS
  else
    say "got SIG$1; stopping"
  fi
  stop $((128 + $2))
}
trap 'on_signal HUP 1' HUP
trap 'on_signal INT 2' INT
trap 'on_signal TERM 15' TERM
trap 'signal_all KILL' EXIT

report_end() { # number of a process, its code
  local who="rank ${ranks[$1]} (device ${devices[$1]}, process ${groups[$1]})"
  local how="failed with code $2"
  [ "$2" -le 128 ] || [ -z "${names[$2 - 128]-}" ] || how="was terminated by SIG${names[$2 - 128]}"
  [ "$2" -eq 0 ] || say "$who $how; log: $logs/rank_${ranks[$1]}.log"
}

set -m # a process group for each process
for i in "${!ranks[@]}"; do
  [ -z "$deadline" ] || break
  (
    trap - HUP INT TERM EXIT
    environment "$i"
    exec "${command[@]}"
  ) 2>&3 </dev/null >>"$logs/rank_${ranks[i]}.log" 2>&1 3>&- &
  pids[i]=$!
  groups[i]=$!
  say "rank ${ranks[i]} on device ${devices[i]}: process $!, log: $logs/rank_${ranks[i]}.log"
done
set +m
[ -z "$deadline" ] || signal_all TERM

while [ "${#pids[@]}" -gt 0 ]; do
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" && continue
    before=
    while [ "$before" != "$signals" ]; do # a signal interrupts wait
      before=$signals
      wait "${pids[i]}"
      code=$?
    done
    unset "pids[$i]"
    report_end "$i" "$code"
    kill -0 -- "-${groups[i]}" || unset "groups[$i]" # the number may become that of others
    if [ "$code" -ne 0 ]; then
      if [ -z "$deadline" ] && [ "${#pids[@]}" -gt 0 ]; then say "stopping the others"; fi
      stop "$code"
    fi
  done
  if [ -n "$deadline" ] && [ -z "$killed" ] && [ "$SECONDS" -ge "$deadline" ]; then
    killed=1
    signal_all KILL
  fi
  [ "${#pids[@]}" -eq 0 ] || sleep 0.1
done

if [ "$status" -eq 0 ]; then
  trap - EXIT
  say "all ${#ranks[@]} processes have finished"
fi
exit "$status"
