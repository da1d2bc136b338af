#!/bin/bash
# SPDX-License-Identifier: MIT
# mkfs: how fast mkfs.fat formats, against dosfstools 4.2 and blkdiscard -z of the same area, in one
# run. Prints tables; fails where one of issue 3's figures is missed.
#
# Needs root for loop devices, else only files, and 3 GB of room in TMPDIR, which should be on a disk
# (the peer writes FATs out). Each run is on a new sparse file, caches dropped; times are the median
# of RUNS, the peer's is of one run. What is read is counted by the kernel, so libblkid's included.
set -eu
work=$(mktemp -d "${TMPDIR:-/var/tmp}/fatwise-perf.XXXXXX")
loop=
# shellcheck disable=SC2317 # by the trap
cleanup() {
	[ -z "$loop" ] || losetup -d "$loop"
	rm -rf "$work"
}
trap cleanup EXIT
measure=$O/tests/perf/measure
ours=$FATWISE_BIN/mkfs.fat
peer=${PEER:-/usr/sbin/mkfs.fat}
[ -x "$peer" ] || peer=
runs=${RUNS:-5}
failed=0

cold() {
	sync -f "$work"
	[ ! -w /proc/sys/vm/drop_caches ] || echo 3 >/proc/sys/vm/drop_caches
}

new_loop() { # SIZE: a device over a new sparse file
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	rm -f "$work/disk"
	truncate -s "$1" "$work/disk"
	loop=$(losetup -f --show "$work/disk")
}

# Field FIELD of the median run in LOG, by wall time.
median() { # LOG FIELD
	sort -n "$1" | awk -v field="$2" '{ line[NR] = $field } END { print line[int((NR + 1) / 2)] }'
}

ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }'
}

check() { # WORDS CONDITION-OF-AWK
	awk "BEGIN { exit !($2) }" && return
	echo "  MISSED: $1"
	failed=1
}

sectors_read() {
	awk '{ print $3 }' "/sys/block/${loop#/dev/}/stat"
}

# Runs COMMAND on a new device N times; the log has a line each, $sectors what the last one read.
on_devices() { # SIZE LOG N COMMAND...
	size=$1 log=$2 n=$3
	shift 3
	rm -f "$log"
	while [ "$n" -gt 0 ]; do
		new_loop "$size"
		cold
		before=$(sectors_read)
		"$measure" "$log" "$@" "$loop" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
		sectors=$(($(sectors_read) - before))
		n=$((n - 1))
	done
}

# Bytes before the data area of the volume on the device, and its root directory's cluster.
metadata_bytes() {
	od -A n -v -t u1 -N 48 "$loop" | awk '
		{ for (i = 1; i <= NF; i++) b[n++] = $i }
		END {
			sector = b[11] + 256 * b[12]
			fat = b[36] + 256 * (b[37] + 256 * (b[38] + 256 * b[39]))
			printf "%.0f\n", (b[14] + 256 * b[15] + b[16] * fat + b[13]) * sector
		}'
}

device_row() { # SIZE TIMES-FASTER
	on_devices "$1" "$work/ours.log" "$runs" "$ours" -F 32 -s 8
	wall=$(median "$work/ours.log" 1)
	blocks=$(((sectors + 7) / 8))
	memory=$(median "$work/ours.log" 3)
	bytes=$(metadata_bytes)
	on_devices "$1" "$work/zero.log" "$runs" blkdiscard -z -l "$bytes"
	zero=$(median "$work/zero.log" 1)
	peer_wall=-1
	if [ -n "$peer" ]; then
		on_devices "$1" "$work/peer.log" 1 "$peer" -F 32 -s 8
		peer_wall=$(median "$work/peer.log" 1)
	fi
	printf '%-14s %8s %8s %7s %9s %9s %9s %7s\n' "$1 -F32 -s8" "$wall" "$memory" "$blocks" \
		"$zero" "$(ratio "$wall" "$zero")" "$peer_wall" "$(ratio "$peer_wall" "$wall")"
	check 'at most 64 blocks of 4 KiB read' "$blocks <= 64"
	check 'memory under 8 MiB' "$memory < 8192"
	check 'at most twice blkdiscard -z' "$wall <= 2 * $zero"
	[ -z "$peer" ] || check "$2 times faster than the peer" "$peer_wall >= $2 * $wall"
}

devices() {
	printf '%-14s %8s %8s %7s %9s %9s %9s %7s\n' 'loop device' 'wall s' 'KiB' '4K read' \
		'zeroing s' 'ours:zero' '4.2 s' '4.2:ours'
	device_row 64G 10
	device_row 1T 50
	losetup -d "$loop"
	loop=
	rm -f "$work/disk"
}

file_row() { # SIZE OPTIONS...
	size=$1
	shift
	rm -f "$work/disk" "$work/ours.log"
	truncate -s "$size" "$work/disk"
	"$measure" "$work/ours.log" "$ours" "$@" "$work/disk" >/dev/null
	memory=$(median "$work/ours.log" 3)
	disk=$(du -k "$work/disk" | cut -f 1)
	printf '%-24s %8s %8s %9s\n' "$size $*" "$(median "$work/ours.log" 1)" "$memory" "$disk"
	check 'memory under 8 MiB' "$memory < 8192"
	check 'under 64 KiB of disk' "$disk < 64"
	rm -f "$work/disk"
}

files() {
	printf '\n%-24s %8s %8s %9s\n' 'sparse file' 'wall s' 'KiB' 'disk KiB'
	file_row 64G -F 32 -s 8
	file_row 1T -F 32 -s 8
	file_row 2T -F 32 -s 16
	file_row 8T -F 32 -s 16 -S 4096
}

if [ "$(id -u)" -eq 0 ]; then
	devices
else
	echo 'loop devices: only as root'
fi
files
exit $failed
