#!/bin/bash
# SPDX-License-Identifier: MIT
# populate: mkfs.fat -d of 20,000 files, 1 GiB, against cp -r of the same folder on the same disk.
#
# Prints a table: seconds until everything is on the disk, system calls' bytes, peak memory; best of
# three in turn. Needs 4 GiB of room in TMPDIR (a disk, not memory, to mean anything).
set -eu
work=$(mktemp -d "${TMPDIR:-/var/tmp}/fatwise-perf.XXXXXX")
trap 'rm -rf "$work"' EXIT
measure=$O/tests/perf/measure

for folder in {1..20}; do
	mkdir -p "$work/tree/Folder number $folder"
	head -c 53687000 /dev/urandom |
		split -a 4 -b 53687 --additional-suffix=.data - "$work/tree/Folder number $folder/file "
done
sync -f "$work"

# best NAME COMMAND...: the best of this run and those before, in $work/NAME
best() {
	name=$1
	shift
	rm -f "$work/log"
	start=$(date +%s%N)
	"$measure" "$work/log" "$@" >"$work/$name.out"
	sync -f "$work"
	took=$((($(date +%s%N) - start) / 1000000))
	read -r _ cpu memory _ <"$work/log"
	if [ ! -e "$work/$name" ] || [ "$took" -lt "$(cut -d' ' -f1 "$work/$name")" ]; then
		echo "$took $cpu $memory" >"$work/$name"
	fi
}

for _ in 1 2 3; do
	rm -rf "$work/copy" "$work/image"
	sync -f "$work"
	best cp cp -r "$work/tree" "$work/copy"
	best mkfs "$FATWISE_BIN/mkfs.fat" -C -d "$work/tree" --stats "$work/image"
done

printf '%-10s %10s %8s %8s\n' '' ms 'CPU s' KiB
for name in cp mkfs; do
	read -r took cpu memory <"$work/$name"
	printf '%-10s %10s %8s %8s\n' "$name" "$took" "$cpu" "$memory"
done
awk '{ t[FILENAME] = $1 } END { print "mkfs / cp:", t[ARGV[2]] / t[ARGV[1]] }' \
	"$work/cp" "$work/mkfs"
grep -E '^(reads|writes|flushes)' "$work/mkfs.out"
"$FATWISE_BIN/fsck.fat" -n "$work/image"
[ ! -x /usr/sbin/fsck.fat ] || /usr/sbin/fsck.fat -n "$work/image"
! command -v mdir >/dev/null || echo "mtools lists $(mdir -/ -b -i "$work/image" | grep -c '\.data$') files"
