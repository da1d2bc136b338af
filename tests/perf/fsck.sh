#!/bin/bash
# SPDX-License-Identifier: MIT
# fsck: how fsck.fat scales, against dosfstools 4.2 and plain reading of the same bytes, in one run.
#
# Prints a table: CPU seconds and peak memory of both, read calls of ours. Needs a few GB of sparse
# room in TMPDIR and the peer for its columns; takes a few minutes, most of them the peer's. As root: a
# cold loop device over a file in COLD_DIR too, on a disk; ROWS=cold: that alone.
set -eu
work=$(mktemp -d "${TMPDIR:-/dev/shm}/fatwise-perf.XXXXXX")
cold_image='' loop=''
trap 'rm -rf "$work"; [ -z "$cold_image" ] || { losetup -d "$loop" || :; rm -f "$cold_image"; }' EXIT
measure=$O/tests/perf/measure
generate=$O/tests/perf/generate
ours=$FATWISE_BIN/fsck.fat
peer=${PEER:-/usr/sbin/fsck.fat}
[ -x "$peer" ] || peer=
image=$work/image

fresh() { # fresh SIZE CLUSTER-SECTORS
	rm -f "$image"
	truncate -s "$1" "$image"
	"$FATWISE_BIN/mkfs.fat" -F 32 -s "$2" -q "$image" >/dev/null
}

# one LABEL PEER-TIMEOUT FSCK-OPTIONS...: a row of the table. The peer gets its own copy.
row() {
	label=$1 limit=$2
	shift 2
	rm -f "$work"/*.log
	if [ -n "$peer" ] && [ "$limit" -gt 0 ]; then
		[ "$1" = -n ] || cp --sparse=always "$image" "$work/copy"
		"$measure" "$work/peer.log" timeout "$limit" "$peer" "$@" \
			"$([ "$1" = -n ] && echo "$image" || echo "$work/copy")" >/dev/null 2>&1 || true
		rm -f "$work/copy"
	else
		echo "0 0 0 -" >"$work/peer.log"
	fi
	"$measure" "$work/ours.log" "$ours" "$@" --stats "$image" >"$work/out" 2>&1 || true
	read -r _ cpu memory status <"$work/ours.log"
	read -r _ peer_cpu peer_memory peer_status <"$work/peer.log"
	reads=$(sed -n 's/^reads: \([0-9]*\) requests.*/\1/p' "$work/out")
	printf '%-42s %8s %8s %6s %8s | %9s %9s %6s\n' "$label" "$cpu" "$memory" "$status" "$reads" \
		"$peer_cpu" "$peer_memory" "$peer_status"
}

# Bytes that the device was asked for, and wall time: of plain reading, of ours.
cold_row() { # cold_row LABEL COMMAND...
	label=$1
	shift
	sync
	echo 3 >/proc/sys/vm/drop_caches
	before=$(awk '{ print $3 }' "/sys/block/${loop#/dev/}/stat")
	rm -f "$work/cold.log"
	"$measure" "$work/cold.log" "$@" <"$work/extents" >/dev/null
	after=$(awk '{ print $3 }' "/sys/block/${loop#/dev/}/stat")
	read -r wall _ <"$work/cold.log"
	printf '%-42s %8s s %12s bytes\n' "$label" "$wall" $(((after - before) * 512))
}

cold() {
	[ "$(id -u)" = 0 ] || { echo 'a cold loop device: only root can have one' && return; }
	cold_image=$(mktemp "${COLD_DIR:-/var/tmp}/fatwise-perf.XXXXXX")
	truncate -s 8G "$cold_image"
	"$FATWISE_BIN/mkfs.fat" -F 32 -s 8 -q "$cold_image" >/dev/null
	"$generate" "$cold_image" files 200000 2000
	"$O/tests/perf/metadata" "$cold_image" >"$work/extents"
	loop=$(losetup -f --show -r "$cold_image")
	awk '{ n += $2 } END { print "8 GiB, 200,000 files, cold: " n " bytes of metadata in " NR " extents" }' \
		"$work/extents"
	cold_row '  plain reading in disk order' "$O/tests/perf/metadata" -r "$loop"
	cold_row '  fsck.fat -n' "$ours" -n "$loop"
	[ -z "$peer" ] || cold_row '  4.2' timeout 300 "$peer" -n "$loop"
	losetup -d "$loop"
	rm -f "$cold_image"
	cold_image=''
}

[ "${ROWS:-}" != cold ] || { cold && exit; }
printf '%-42s %8s %8s %6s %8s | %9s %9s %6s\n' '' 'CPU s' 'KiB' status reads '4.2 CPU s' 'KiB' status
fresh 64G 8
row 'empty 64 GiB, 4 KiB clusters' 120 -n
fresh 1T 8
row 'empty 1 TiB, 4 KiB clusters' 120 -n
reserved=$(od -A n -t u2 -j 14 -N 2 "$image" | tr -d ' ')
sectors=$(od -A n -t u4 -j 36 -N 4 "$image" | tr -d ' ')
"$measure" "$work/cmp.log" cmp -i $((reserved * 512)):$(((reserved + sectors) * 512)) \
	-n $((sectors * 512)) "$image" "$image"
read -r _ cpu memory _ <"$work/cmp.log"
printf '%-42s %8s %8s\n' '  (cmp of its two FATs)' "$cpu" "$memory"
fresh 8G 8
"$generate" "$image" files 200000 2000
row '8 GiB, 200,000 files in 2,000 folders' 120 -n
fresh 64G 8
"$generate" "$image" fragments 400 32768
row '400 files of 128 MiB in single clusters' 300 -n
fresh 8G 8
"$generate" "$image" folder 60000
row '60,000 files in one folder' 120 -n
fresh 2T 128
"$generate" "$image" files 2000000 20000
row '2 TiB, 2 million files in 20,000 folders' 300 -n
fresh 8G 8
"$generate" "$image" lost 4000
row 'repair of 4,000 lost chains' "${LOST_LIMIT:-60}" -a
fresh 8G 8
"$generate" "$image" lost 800000
row '800,000 lost chains, in two runs: the first' 0 -a
row '  the second' 0 -a
fresh 8G 8
"$generate" "$image" crosslinks 20000
row 'repair of 20,000 cross-links' "${LOST_LIMIT:-60}" -a
fresh 1T 8
dd if=/dev/urandom of="$image" bs=1M count=64 seek=1 conv=notrunc status=none
row 'repair of 268 M clusters, 64 MiB garbage' 0 -a
cold
