#!/bin/bash
# Runs the tests named FullDisk on a file system of 4 MiB, in a mount namespace of its own. Exit code 77: skipped.
#   full_disk_test.sh <test program>
set -u
program=$1
folder=$(mktemp -d)
trap 'rmdir "$folder" 2>/dev/null' EXIT
if ! unshare -m true 2>/dev/null; then
  echo "skipped: this user may not make a mount namespace"
  exit 77
fi
unshare -m bash -c '
  mount -t tmpfs -o size=4m tmpfs "$1" || { echo "skipped: cannot mount a tmpfs"; exit 77; }
  OMNIGRAPH_TEST_TINY_DISK=$1 "$2" --gtest_filter="FullDisk.*"
' full_disk "$folder" "$program"
