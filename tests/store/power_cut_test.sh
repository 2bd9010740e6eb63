#!/bin/bash
# P1 on the real kernel: puts into ext4 in an image file, with and without a journal; the image is copied after each ack,
# repaired as after a power cut, and every acked object must be in it, whole. Exit code 77: skipped.
#   power_cut_test.sh <store_power_cut>
set -u
program=$1
for tool in mkfs.ext4 e2fsck debugfs losetup; do
  command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
PATH=$PATH:/usr/sbin:/sbin
if ! unshare -m true 2>/dev/null; then
  echo "skipped: this user may not make a mount namespace"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

content() { # size: the bytes that store_power_cut wrote
  python3 - "$1" <<'PY' 2>/dev/null || awk -v size="$1" 'BEGIN { for (i = 0; i < size; i++) printf "%c", 97 + (int(i / 512) + size) % 26 }'
import sys
size = int(sys.argv[1])
sys.stdout.write("".join(chr(97 + (i // 512 + size) % 26) for i in range(size)))
PY
}

judge() { # copies list
  local bad=0 copy object size last=
  while read -r copy object size; do
    if [ "$copy" != "$last" ]; then
      e2fsck -fy "$copy" >/dev/null 2>&1
      last=$copy
    fi
    [ -e "$work/want.$size" ] || content "$size" >"$work/want.$size"
    rm -f "$work/got"
    debugfs -R "dump /graph/root/$object $work/got" "$copy" >/dev/null 2>&1
    cmp -s "$work/want.$size" "$work/got" || { echo "lost or broken after ack: $object of $size bytes in $(basename "$copy")"; bad=1; }
  done <"$1"
  return $bad
}

failed=0
for journal in has_journal ^has_journal; do
  rm -rf "$work/copies" "$work/image"
  mkdir -p "$work/copies" "$work/mount"
  truncate -s 40M "$work/image"
  mkfs.ext4 -q -O "$journal" "$work/image" || exit 1
  unshare -m bash -c '
    mount -o loop "$1/image" "$1/mount" || { echo "skipped: cannot mount an image"; exit 77; }
    "$2" "$1/mount" "$1/image" "$1/copies" >"$1/acked"
    status=$?
    umount "$1/mount"
    exit $status
  ' power_cut "$work" "$program"
  status=$?
  [ $status = 0 ] || exit $status
  judge "$work/acked" || failed=1
  echo "ext4 -O $journal: $(cut -d' ' -f1 "$work/acked" | sort -u | wc -l) copies judged"
done
exit $failed
