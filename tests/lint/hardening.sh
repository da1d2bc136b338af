#!/bin/sh
# SPDX-License-Identifier: MIT
# hardening: the programs are built as SECURITY.md says.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/tap.inc"

: "${FATWISE_BIN:=$PWD/$O}"

# has PROGRAM WHAT PATTERN READELF-OPTION...
has() {
	program=$1 what=$2 pattern=$3
	shift 3
	readelf -W "$@" "$FATWISE_BIN/$program" | grep -qE "$pattern" || echo "no $what"
}

for program in mkfs.fat fsck.fat fatundo fatlabel fatadvise; do
	if [ "$(basename "$FATWISE_BIN")" != release ]; then
		skip "$program" "no release build"
		continue
	fi
	{
		has "$program" "position independence" 'Type: *DYN' -h
		has "$program" "read-only relocations" GNU_RELRO -l
		has "$program" "binding at the start" 'FLAGS.*(BIND_NOW|NOW)' -d
		has "$program" "stack protector" __stack_chk_fail --dyn-syms
		has "$program" "fortified functions" '__[a-z]+_chk(@|$)' --dyn-syms
		has "$program" "stack without execution" 'GNU_STACK.* RW ' -l
		readelf -W -d "$FATWISE_BIN/$program" | grep -E 'RPATH|RUNPATH|TEXTREL'
		readelf -W -l "$FATWISE_BIN/$program" | grep -E 'LOAD.* RWE'
	} | check "$program is hardened"
done
done_testing
