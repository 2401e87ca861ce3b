#!/bin/bash
# Bash takes all of this, and the words of blocks are not what they seem.
echo done fi esac "if" 'do'  # then done
if [ [ $1 -eq 'a' ] -o [ $1 -eq 'b' ] ]; then
  python3 train.py
fi
for x; do echo $x; done
case $1 in (a) echo if;; *) ;; esac
cat <<E1
it's "one
for i in 1 2; do
E1
export A=1 B='x = 8' "C=2"
