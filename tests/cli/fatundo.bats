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
