#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files that a tool makes beside what it was made for: charts, records, undo files, images. None follows
# a link, none overwrites what it should not, all are their owner's alone.
bats_require_minimum_version 1.5.0

setup() {
	PATH=$FATWISE_BIN:$PATH:/usr/sbin:/sbin
	cd "$BATS_TEST_TMPDIR"
}

# advise OPTION FILE
advise() { fatadvise -q --simulate slow-bus "$@"; }

# Nothing is left of a file that was begun.
no_parts() { [ -z "$(find . -name '*.??????')" ]; }

@test "--svg and --record: a new file, mode 600, whatever the umask; a regular one is replaced whole" {
	for option in --svg --record; do
		rm -f file other
		(umask 0 && advise $option file >/dev/null)
		[ "$(stat -c %a file)" = 600 ]
		[ -s file ]
		mv file expected
		seq 100000 >file
		ln file other
		advise $option file >/dev/null
		cmp file expected
		[ "$(wc -l <other)" -eq 100000 ]
		no_parts
	done
}

@test "--svg and --record: links, folders, pipes, devices are refused before anything is measured" {
	echo precious >target
	ln -s target link
	ln -s nowhere dangling
	mkfifo pipe
	mkdir folder
	for option in --svg --record; do
		for file in link dangling pipe folder /dev/null /dev/zero .; do
			run -1 timeout 20 fatadvise --simulate tlc-stick $option "$file"
			[[ $output == "fatadvise: $file: cannot write it: it exists and is no regular file"* ]]
			[ "${#lines[@]}" -eq 1 ]
		done
	done
	[ "$(cat target)" = precious ]
	[ ! -e nowhere ]
	[ -c /dev/null ]
	no_parts
}

@test "--record on a block device does not write to it" {
	[ "$(id -u)" -eq 0 ] || skip "needs root for a loop device"
	seq 200000 >disk
	truncate -s 2M disk
	cp disk before
	loop=$(losetup --show -f disk) || skip "no loop devices"
	run advise --record "$loop"
	losetup -d "$loop"
	[ "$status" -eq 1 ]
	[[ $output == *"is no regular file"* ]]
	cmp disk before
}

@test "a full disk: the old file stays, nothing else does, the status is 1" {
	echo old >file
	(
		trap '' XFSZ
		ulimit -f 1
		run -1 advise --svg file
		[[ $output == *"file: cannot write it: "* ]]
	)
	[ "$(cat file)" = old ]
	no_parts
}

@test "a measurement that is refused leaves no file" {
	run -1 fatadvise --svg file --record other nowhere
	[ ! -e file ]
	[ ! -e other ]
	run -1 fatadvise --replay nowhere --svg file
	[ ! -e file ]
	no_parts
}

@test "--undo of mkfs.fat and fsck.fat: new, mode 600; links, pipes, devices, what is there: refused" {
	mkfs.fat -q -C image 1440
	dd if=/dev/urandom of=image bs=512 seek=1 count=3 conv=notrunc status=none
	cp image before
	echo precious >target
	ln -s target link
	ln -s nowhere dangling
	mkfifo pipe
	for file in target link dangling pipe /dev/null . image; do
		run -8 timeout 20 fsck.fat -a --undo "$file" image
		[[ $output == *"fsck.fat: $file: cannot be the undo file: "* ]]
		run -1 timeout 20 mkfs.fat --undo "$file" image
		[[ $output == *"mkfs.fat: $file: cannot be the undo file: "* ]]
	done
	cmp image before
	[ "$(cat target)" = precious ]
	[ ! -e nowhere ]
	(umask 0 && mkfs.fat -q --undo undo image)
	[ "$(stat -c %a undo)" = 600 ]
	dd if=/dev/urandom of=image bs=512 seek=1 count=3 conv=notrunc status=none
	(umask 0 && fsck.fat -a --undo again image) || true
	[ "$(stat -c %a again)" = 600 ]
}

@test "mkfs.fat -C: never through a link, never over a file" {
	echo precious >target
	ln -s target link
	ln -s nowhere dangling
	for file in target link dangling; do
		run -1 mkfs.fat -C "$file" 1440
	done
	[ "$(cat target)" = precious ]
	[ ! -e nowhere ]
}
