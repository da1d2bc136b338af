#!/bin/bash
# SPDX-License-Identifier: MIT
# mkfs: how fast mkfs.fat formats, against dosfstools 4.2 and blkdiscard -z of the same area, in one
# run. Prints a table; fails where one of issue 3's figures is missed.
#
# Needs some GB of room in TMPDIR (the peer writes FATs out); as root it uses loop devices, else files.
set -eu
work=$(mktemp -d "${TMPDIR:-/dev/shm}/fatwise-perf.XXXXXX")
loop=
trap '[ -z "$loop" ] || losetup -d "$loop"; rm -rf "$work"' EXIT
ours=$FATWISE_BIN/mkfs.fat
peer=${PEER:-/usr/sbin/mkfs.fat}
[ -x "$peer" ] || peer=
failed=0

# target SIZE: a fresh image, or a loop device on it, in $target
target() {
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	rm -f "$work/image"
	truncate -s "$1" "$work/image"
	target=$work/image
	if [ "$2" = loop ]; then
		loop=$(losetup -f --show "$work/image")
		target=$loop
	fi
	sync
	[ "$(id -u)" -ne 0 ] || echo 3 >/proc/sys/vm/drop_caches
}

# timed LOG COMMAND...: seconds of wall clock, in $seconds
timed() {
	rm -f "$work/log"
	"$O/tests/perf/measure" "$work/log" "$@" >"$work/out" 2>&1
	read -r seconds _ memory _ <"$work/log"
}

check() { # check WORDS CONDITION-OF-AWK
	if awk "BEGIN { exit !($2) }"; then echo "  ok: $1"; else
		echo "  MISSED: $1"
		failed=1
	fi
}

# row SIZE KIND RATIO: ours against the peer, and against zeroing the metadata
row() {
	size=$1 kind=$2 ratio=$3
	target "$size" "$kind"
	timed "$ours" -F32 -s 8 --stats "$target"
	our_seconds=$seconds our_memory=$memory
	reads=$(sed -n 's/^reads: [0-9]* requests, \([0-9]*\) bytes.*/\1/p' "$work/out")
	writes=$(sed -n 's/^writes: \([0-9]*\) requests.*/\1/p' "$work/out")
	disk=$(du -k "$work/image" | cut -f1)
	zero_seconds=0
	if [ "$kind" = loop ]; then
		area=$(($(stat -c %s "$work/image") * 8 / 4096 / 1048576 + 1))
		target "$size" loop
		timed blkdiscard -z -f -l "${area}M" "$target"
		zero_seconds=$seconds
	fi
	peer_seconds=0
	if [ -n "$peer" ]; then
		target "$size" "$kind"
		timed "$peer" -F32 -s 8 "$target"
		peer_seconds=$seconds
	fi
	printf '%-6s %-5s ours %8s s  zeroing %8s s  peer %8s s  reads %6s B  writes %3s  memory %6s KiB  disk %4s KiB\n' \
		"$size" "$kind" "$our_seconds" "$zero_seconds" "$peer_seconds" "$reads" "$writes" "$our_memory" "$disk"
	check "memory under 8 MiB" "$our_memory < 8192"
	check "under 64 KiB read" "$reads <= 65536"
	[ "$kind" = loop ] || check "under 64 KiB of disk" "$disk < 64"
	[ "$kind" != loop ] || check "at most twice blkdiscard -z" "$our_seconds <= 2 * $zero_seconds + 0.02"
	[ -z "$peer" ] || check "$ratio times faster than the peer" "$peer_seconds >= $ratio * $our_seconds"
}

kind="file"
[ "$(id -u)" -ne 0 ] || kind="loop"
row 64G "$kind" 10
row 64G file 10
row 1T "$kind" 50
exit $failed
