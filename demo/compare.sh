#!/bin/bash
# SPDX-License-Identifier: MIT
# compare [BIN]: measures these tools (BIN, or build/release) and dosfstools' in /usr/sbin at the same
# work, and prints a table with the command of each figure. Needs strace and GNU time; a terabyte that
# takes no space; minutes, most of them dosfstools'. Counts of requests, bytes and memory, no speeds.
set -u
cd "$(dirname "$0")/.." || exit 2
ours=$(realpath "${1:-build/release}")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
made=() checked=() labelled=()
recipe=$ours/tests/recipes/recipe
[ -x "$recipe" ] || make -s "${recipe#"$PWD"/}" >/dev/null || exit

row() { printf '| %s | %s | %s |\n' "$@"; }

# memory COMMAND...: its largest size, or how it ended
memory() {
	local kib
	command time -o "$work/time" -f %M timeout 600 "$@" >/dev/null 2>&1
	kib=$(tail -n 1 "$work/time")
	case $(head -n 1 "$work/time") in
	*"signal"*) echo "ends by a $(sed -n '1s/.*\(signal [0-9]*\).*/\1/p' "$work/time"), $((kib / 1024)) MiB" ;;
	*) echo "$((kib / 1024)) MiB" ;;
	esac
}

# calls PATTERN COMMAND...: number of such system calls, bytes that they moved
calls() {
	local pattern=$1
	shift
	strace -f -o "$work/calls" -e "trace=$pattern" "$@" >/dev/null 2>&1
	awk -F'= ' '/= [0-9]+$/ { n++; bytes += $NF } END { printf "%d calls, %.1f KiB", n, bytes / 1024 }' "$work/calls"
}

# fresh SIZE
fresh() { rm -f "$work/image" && truncate -s "$1" "$work/image"; }

# repaired FSCK: what its summary counts after it has repaired the damaged volume
repaired() {
	cp "$work/damaged" "$work/image"
	"$1" -a "$work/image" 2>&1 | sed -n 's/.*: \([0-9]*\) files, \([0-9]*\)\/.*/\1 files, \2 clusters/p'
}

row "" "fatwise $("$ours/fsck.fat" --version | cut -d ' ' -f 2)" "dosfstools $(/usr/sbin/fatlabel --version | cut -d ' ' -f 2)"
row --- --- ---
for bin in "$ours" /usr/sbin; do
	fresh 64G
	made[${#made[@]}]="$(calls write,pwrite64,fallocate "$bin/mkfs.fat" -F 32 -s 8 "$work/image"); $(du -k "$work/image" | cut -f 1) KiB of disk"
	checked[${#checked[@]}]="$(calls read,pread64 "$bin/fsck.fat" -n "$work/image"), $(memory "$bin/fsck.fat" -n "$work/image")"
	labelled[${#labelled[@]}]="$(calls read,pread64 "$bin/fatlabel" "$work/image"), $(memory "$bin/fatlabel" "$work/image")"
done
row "\`mkfs.fat -F 32 -s 8\` on 64 GiB" "${made[@]}"
row "\`fsck.fat -n\` of it" "${checked[@]}"
row "\`fatlabel\` of it" "${labelled[@]}"

fresh 1T
"$ours/mkfs.fat" -F 32 -s 8 "$work/image" >/dev/null
row "\`fsck.fat -n\` of 1 TiB, clusters of 4 KiB" "$(memory "$ours/fsck.fat" -n "$work/image")" \
	"$(memory /usr/sbin/fsck.fat -n "$work/image")"

printf '%s\n' 'title damaged' 'at fat32' standard 'entry /B.BIN size = 1000' 'fat /D1/C.TXT[0] = /A.BIN[3]' \
	'entry /D1/C.TXT size = 1500' 'expect faults F2401' >"$work/damage.recipe"
"$recipe" compile "$work/damage.recipe" "$work/damaged" >/dev/null || exit 1
row "\`fsck.fat -a\`: a size too small, two files that share clusters" \
	"$(repaired "$ours/fsck.fat")" "$(repaired /usr/sbin/fsck.fat)"
