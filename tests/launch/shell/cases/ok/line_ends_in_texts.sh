#!/bin/bash
export A=1 # x
cat > t.bat <<EOF
echo off
rem
EOF
x='a
b'
echo "c
d" $'e
f'
