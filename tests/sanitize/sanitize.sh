#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitize: the tests that run in process, under what a compiler and valgrind can see.
#
# ASan and UBSan: unit tests, recipes, the crash sample. Clang's check of conversions that lose bits:
# unit tests and recipes. (Its check of unsigned arithmetic that wraps is not used: hashes and
# checksums wrap on purpose.) Valgrind: one run of each tool. Of the recipes every ninth volume;
# SANITIZE=all takes all of them.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/../lint/tap.inc"

: "${FATWISE_BIN:=$PWD/$O}"

# kinds WHAT KINDS FOLDER MAKE-ARGUMENT...: their tests pass; what failed is shown, and what was said.
# Without the advisor's, which compute for minutes and touch no strange data.
kinds() {
	what=$1 kinds=$2 folder=$3 programs=
	shift 3
	for kind in $kinds; do
		for source in "tests/$kind"/test_*.c; do
			case $source in
			*/test_advisor*) ;;
			*) programs="$programs $folder/${source%.c}" ;;
			esac
		done
	done
	MAKEFLAGS='' JOBS=2 make -s -j2 "$@" KINDS="$kinds" T="$programs" run-tests >"$work/log" 2>&1 </dev/null
	{
		tail -n 1 "$work/log" | grep -qE '^[1-9][0-9]* passed, 0 failed' ||
			grep -E '^not ok|runtime error|ERROR:|SUMMARY|error:|failed' "$work/log" | tail -n 60
	} | check "$what: $(tail -n 1 "$work/log")"
}

export RECIPES_EVERY=9
[ "${SANITIZE:-}" != all ] || RECIPES_EVERY=1

kinds "ASan, UBSan" "unit recipes crash" build/asan BUILD=asan

lossy='-fsanitize=implicit-conversion -fno-sanitize-recover=all'
# shellcheck disable=SC2086 # words
if ! echo 'int main(void) { return 0; }' | clang $lossy -x c -o "$work/try" - 2>/dev/null; then
	skip "conversions" "no clang with sanitizers"
else
	kinds "conversions" "unit recipes" build/conversions O=build/conversions BUILD=debug CC=clang \
		CFLAGS="$lossy" LDFLAGS="$lossy"
fi

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
