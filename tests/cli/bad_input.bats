#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bad input: what is no medium, what is no volume, what cannot be read or written, and wrong values.
# For each tool: one clear line on stderr, the right exit status, the target untouched.
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PATH=$FATWISE_BIN:$PATH
	cp -r --sparse=always "$BATS_FILE_TMPDIR/." .
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	mkdir folder
	: >empty
	printf x >one
	head -c 65536 /dev/urandom >random
	truncate -s 8M blank
}

teardown() {
	[ ! -d small ] || umount small || true
}

# built TOOL: skips the test if this tree has no such tool
built() { [ -x "$FATWISE_BIN/$1" ] || skip "$1 is not built"; }

# refuses STATUS TOOL ARGUMENTS... TARGET: as it is to refuse
refuses() {
	local want=$1 target=${*: -1}
	shift
	[ ! -f "$target" ] || cp --sparse=always "$target" before
	run --separate-stderr "$@" </dev/null
	echo "$*: status $status, not $want, or more than a line: $stderr"
	[ "$status" -eq "$want" ]
	[[ $stderr != *$'\n'* ]]
	[[ $stderr == "$1: $target: "?* ]]
	[ ! -f "$target" ] || cmp before "$target"
}

@test "mkfs.fat: no medium" {
	built mkfs.fat
	for target in none folder /dev/null empty one; do refuses 1 mkfs.fat "$target"; done
}

@test "fsck.fat: no medium, no volume" {
	built fsck.fat
	for target in none folder /dev/null empty one random blank; do
		refuses 8 fsck.fat -n "$target"
	done
}

@test "fatadvise: no medium, too small" {
	built fatadvise
	for target in none folder /dev/null empty; do refuses 1 fatadvise "$target"; done
	for target in one random; do refuses 2 fatadvise "$target"; done
}

@test "fatlabel: no medium, no volume" {
	built fatlabel
	for target in none folder /dev/null empty one random blank; do
		refuses 1 fatlabel "$target"
	done
}

@test "fsck.fat: a volume cut short" {
	built fsck.fat
	built mkfs.fat
	mkfs.fat blank
	truncate -s 300K blank
	before=$(cksum <blank)
	run --separate-stderr fsck.fat -n blank
	[ "$status" -ne 0 ]
	[ "$before" = "$(cksum <blank)" ]
}

# failing_reads FROM-BYTE: a library that, loaded before libc, fails reads from there on
failing_reads() {
	case $O in */asan | */cov) skip "instrumented build" ;; esac
	cat >failing.c <<-END
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <sys/types.h>
		typedef ssize_t read_at(int fd, void *buf, size_t n, off64_t off);
		ssize_t pread64(int fd, void *buf, size_t n, off64_t off)
		{
			if (off + (off64_t)n <= $1)
				return ((read_at *)dlsym(RTLD_NEXT, "pread64"))(fd, buf, n, off);
			errno = EIO;
			return -1;
		}
		ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t off, size_t room)
		{
			(void)room;
			return pread64(fd, buf, n, off);
		}
	END
	"${CC:-cc}" -shared -fPIC -o failing.so failing.c -ldl
}

@test "a device that cannot be read from its first byte" {
	built fsck.fat
	built mkfs.fat
	mkfs.fat blank
	failing_reads 0
	export LD_PRELOAD=$PWD/failing.so
	refuses 8 fsck.fat -n blank
	[[ $stderr == *"Input/output error"* ]]
	refuses 1 fatadvise blank
	[[ $stderr == *"Input/output error"* ]]
}

@test "mkfs.fat: a full disk below the image" {
	built mkfs.fat
	[ "$(id -u)" -eq 0 ] || skip "a file system of one's own takes root"
	mkdir small
	mount -t tmpfs -o size=4k tmpfs small || skip "no tmpfs here"
	truncate -s 64M small/image
	run --separate-stderr mkfs.fat -F 16 small/image
	[ "$status" -eq 1 ]
	[[ $stderr == *"No space left on device"* ]]
	# no half of a volume: there is no boot sector
	[ "$(od -A n -t x1 -j 510 -N 2 small/image | tr -d ' ')" = 0000 ]
}

@test "mkfs.fat: every wrong value is refused before the device is looked at" {
	built mkfs.fat
	before=$(cksum <blank)
	while read -r arguments; do
		# shellcheck disable=SC2086 # arguments, to be split
		status=0
		mkfs.fat $arguments blank </dev/null >/dev/null 2>said || status=$?
		echo "$arguments: status $status"
		[ "$status" -eq 1 ]
		[ -s said ]
	done <<-END
		-F 8
		-F x
		-F -1
		-f 0
		-f 5
		-s 0
		-s 3
		-s 256
		-S 256
		-S 513
		-S 65536
		-r 8
		-r 32769
		-R 0
		-R 65536
		-b 70000
		-D 256
		-g 16
		-g 0/0
		-h x
		-h 4294967296
		-M 0xf1
		-M x
		-i xyz
		-i 123456789
		--mbr=q
		--offset=x
		--offset=-1
		--offset=99999999999999999999
		--codepage=x
		-n waytoolonglabel
		-n a*b
		--nonsense
		-Z
	END
	[ "$before" = "$(cksum <blank)" ]
}

@test "fsck.fat: wrong arguments are usage, 16" {
	built fsck.fat
	before=$(cksum <blank)
	for arguments in "blank blank" "-Z blank" "--nonsense blank" "" "-F x blank"; do
		# shellcheck disable=SC2086 # arguments, to be split
		run --separate-stderr fsck.fat $arguments </dev/null
		echo "$arguments: status $status, stderr $stderr"
		[ "$status" -eq 16 ]
		[ -n "$stderr" ]
	done
	[ "$before" = "$(cksum <blank)" ]
}

@test "--stats: what the device was asked, on each tool" {
	built mkfs.fat
	built fsck.fat
	for command in "mkfs.fat --stats blank" "fsck.fat -n --stats blank" "fatadvise --time 1 --stats blank"; do
		# shellcheck disable=SC2086 # a command line
		run $command
		echo "$command: $output"
		for word in reads read-ahead writes zeroed flushes errors memory; do
			[[ $output == *"$word: "[0-9]* ]]
		done
	done
	run fsck.fat -n --stats blank
	[[ $output == *"writes: 0 requests, 0 bytes"* ]]
	[[ $output == *"flushes: 0"* ]]
}

@test "stdout that cannot be written is an error" {
	[ -e /dev/full ] || skip "no /dev/full here"
	if [ -x "$FATWISE_BIN/fsck.fat" ] && [ -x "$FATWISE_BIN/mkfs.fat" ]; then
		mkfs.fat blank
		status=0
		fsck.fat -n -v blank >/dev/full 2>error || status=$?
		[ "$status" -eq 8 ]
		grep -q "fsck.fat: .*No space left on device" error
	fi
	built fatadvise
	status=0
	fatadvise --help >/dev/full 2>error || status=$?
	[ "$status" -eq 1 ]
	grep -q "fatadvise: .*No space left on device" error
}

@test "stdout that could not be written long before the end is an error, with no reason made up" {
	[ -e /dev/full ] || skip "no /dev/full here"
	built mkfs.fat
	built fsck.fat
	mkfs.fat blank
	for n in $(seq 200); do echo "$n" >"a file with a name of some length $n"; done
	mmd -i blank ::D
	mcopy -i blank "a file"* ::D
	status=0
	fsck.fat -n -l blank >/dev/full 2>error || status=$? # more than stdio keeps
	[ "$status" -eq 8 ]
	grep -qE "fsck.fat: cannot write to standard output: (No space left on device|an earlier write failed)$" error
	fsck.fat -n -l blank >&- 2>error
	[ ! -s error ]
}

@test "mkfs.fat: with stdout or stderr closed nothing is printed into the volume" {
	built mkfs.fat
	mkfs.fat --invariant -v blank
	cp blank usual
	for closed in '>&-' '2>&-' '<&-' '>&- 2>&- <&-'; do
		truncate -s 0 blank
		truncate -s 8M blank
		eval "mkfs.fat --invariant -v blank $closed" || [ "$closed" != '<&-' ]
		cmp blank usual
	done
}

@test "fsck.fat: with stdout or stderr closed nothing is printed into the volume" {
	built mkfs.fat
	built fsck.fat
	mkfs.fat --invariant blank
	cp blank usual
	for closed in '>&-' '2>&-'; do
		eval "fsck.fat -n -v blank $closed" || true
		cmp blank usual
	done
}

@test "a message is whole however long the path is" {
	built fatadvise
	path=$(printf 'x%.0s' $(seq 3000))
	run --separate-stderr fatadvise "$path"
	[ "$status" -eq 1 ]
	[[ $stderr == *"File name too long" ]]
}
