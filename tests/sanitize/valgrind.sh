#!/bin/sh
# SPDX-License-Identifier: MIT
# valgrind: it finds nothing in one run of each tool.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/../lint/tap.inc"

: "${FATWISE_BIN:=$PWD/$O}"

# runs STATUS TOOL ARGUMENT...: valgrind finds nothing, and the tool ends with that status.
runs() {
	expected=$1 tool=$2
	shift 2
	if ! command -v valgrind >/dev/null; then
		skip "valgrind: $tool $1" "no valgrind"
		return
	fi
	status=0
	valgrind -q --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=99 \
		--log-file="$work/valgrind" "$FATWISE_BIN/$tool" "$@" >"$work/log" 2>&1 || status=$?
	{
		[ $status -eq "$expected" ] || echo "status $status, not $expected"
		cat "$work/valgrind"
	} | check "valgrind: $tool $1"
}

image=$work/image
mkdir "$work/tree"
seq 30000 >"$work/tree/A long name for a file.txt"
runs 0 mkfs.fat -F 16 -d "$work/tree" -C "$image" 20000
printf '\377\377\377\377' | dd of="$image" bs=1 seek=6144 conv=notrunc status=none
runs 1 fsck.fat -n -l "$image"
runs 1 fsck.fat -a --undo "$work/undo" "$image"
runs 0 fatundo "$work/undo" "$image"
runs 0 fatlabel "$image" NEW
runs 0 fatadvise --simulate sd-card --quick --json
done_testing
