#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fatundo: options, refusals. What it restores is tested with mkfs.fat --undo and fsck.fat --undo.

bats_require_minimum_version 1.5.0
setup() {
	PATH=$FATWISE_BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return 1
	head -c 1M /dev/urandom >image
	cp image before
}

teardown() {
	cmp image before
}

@test "usage goes to stdout on --help, with exit 0" {
	run --separate-stderr fatundo --help
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "Usage: fatundo "* ]]
	[ -z "$stderr" ]
}

@test "too few, too many and equal operands are refused" {
	run fatundo
	[ "$status" -eq 1 ]
	run fatundo a b c
	[ "$status" -eq 1 ]
	run fatundo image image
	[ "$status" -eq 1 ]
	[[ $output == *"the same"* ]]
	run fatundo --frobnicate a b
	[ "$status" -eq 1 ]
}

@test "what is no undo file is refused" {
	: >empty
	head -c 5000 /dev/zero >zeros
	for file in empty zeros missing .; do
		run fatundo "$file" image
		[ "$status" -eq 1 ]
		[[ $output == "fatundo: $file: "* ]]
	done
	run fatundo before image
	[ "$status" -eq 1 ]
	[[ $output == *"not an undo file"* ]]
}

# number FILE OFFSET BYTES: little endian
number() { od -An -v -tu1 -j "$2" -N "$3" "$1" | tr -s ' ' '\n' | awk '{ n += $1 * 256 ^ (NR - 2) } END { printf "%.0f", n }'; }

@test "an undo file is as fat-undo(5) says: read by that page alone, it gives the device back" {
	cp image volume
	mkfs.fat --undo saved volume >/dev/null
	[ "$(head -c 7 saved)" = FATUNDO ]
	[ "$(number saved 8 4)" = 1 ]
	[ "$(number saved 16 8)" = 1048576 ]
	[ "$(dd if=saved bs=1 skip=32 count=16 status=none | tr -d '\0')" = mkfs.fat ]
	at=512 sequence=0 kinds=
	while [ "$at" -lt "$(stat -c %s saved)" ]; do
		[ "$(dd if=saved bs=1 skip=$at count=4 status=none)" = FUrc ]
		[ "$(number saved $((at + 8)) 8)" = $sequence ]
		kind=$(number saved $((at + 4)) 4) offset=$(number saved $((at + 24)) 8)
		bytes=$(number saved $((at + 32)) 8) payload=$(number saved $((at + 40)) 4)
		if [ "$kind" = 1 ]; then
			[ "$payload" = "$bytes" ]
			dd if=saved of=volume bs=1 skip=$((at + 64)) seek="$offset" count="$bytes" conv=notrunc status=none
		elif [ "$kind" = 2 ]; then
			dd if=/dev/zero of=volume bs=1 seek="$offset" count="$bytes" conv=notrunc status=none
		fi
		kinds=$kinds$kind
		sequence=$((sequence + 1))
		at=$(((at + 64 + payload + 511) / 512 * 512))
	done
	[[ $kinds =~ ^[12]+3$ ]]
	cmp volume image
}
