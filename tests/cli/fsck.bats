#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fsck.fat on the command line: options, exit status, the lines that other programs match, bad input.
bats_require_minimum_version 1.5.0

setup() {
	fsck="$FATWISE_BIN/fsck.fat"
	cd "$BATS_TEST_TMPDIR"
}

# A FAT12 floppy of 1440 KiB by its bytes: boot sector, two FATs of 9 sectors, an empty root.
setup_file() {
	cd "$BATS_FILE_TMPDIR"
	truncate -s 1474560 image
	poke 0 '\xeb\x3c\x90TESTTEST\x00\x02\x01\x01\x00\x02\xe0\x00\x40\x0b\xf0\x09\x00\x12\x00\x02\x00'
	poke 38 '\x29\x78\x56\x34\x12NO NAME    FAT12   '
	poke 510 '\x55\xaa'
	poke 512 '\xf0\xff\xff'
	poke 5120 '\xf0\xff\xff'
}

make_floppy() { cp "$BATS_FILE_TMPDIR/image" image; }

poke() {
	printf "$2" | dd of=image bs=1 seek="$1" conv=notrunc status=none
}

@test "a clean volume: banner, summary, exit 0, nothing else" {
	make_floppy
	run -0 "$fsck" -n image
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} =~ ^fsck\.fat\ [0-9.]+\ \([0-9-]+\)$ ]]
	[ "${lines[1]}" = "image: 0 files, 0/2847 clusters" ]
}

@test "-nv prints a line with the bytes per cluster" {
	make_floppy
	run -0 "$fsck" -nv image
	[[ $output == *"       512 bytes per cluster"* ]]
	[[ ${lines[-1]} == "image: 0 files, 0/2847 clusters" ]]
}

@test "a lost chain is named, exit 1, and nothing is written" {
	make_floppy
	poke 515 '\xff\x0f'
	poke 5123 '\xff\x0f'
	cp image before
	run -1 "$fsck" -n image
	[[ $output == *"1 clusters from cluster 2 on belong to no file"* ]]
	cmp image before
}

@test "a file's fault is named with its path and cluster" {
	make_floppy
	poke 9728 'A       TXT '
	poke 9754 '\x05\x00\x64\x00\x00\x00'
	run -1 "$fsck" -n image
	[[ $output == *"/A.TXT: the chain runs into free cluster 5 after 0 clusters"* ]]
}

@test "a hostile name does no harm to the terminal" {
	make_floppy
	poke 9728 'A\x1b[2J   TXT '
	run -1 "$fsck" -n image
	[[ $output != *$'\x1b'* ]]
	[[ $output == *'A\x1B[2J.TXT'* ]]
}

@test "usage errors: exit 16 and a line on stderr" {
	make_floppy
	for arguments in "" "-Z image" "image image" "-n -w image" "-n -t image" "-c 31 image" \
		"-F x image" "-a -d relative image" "-a -u relative image" "-a -d /A*.B image" \
		"-n -d /A.B image" "-n -u /A.B image" "-r --json image" "-C x image" "--variant=foo image"; do
		run -16 --separate-stderr "$fsck" $arguments
		[ -n "$stderr" ]
	done
}

@test "an empty argument is ignored" {
	make_floppy
	run -0 "$fsck" "" -n image ""
}

@test "bad input: one line on stderr, exit 8, the target untouched" {
	: >empty
	printf x >one
	head -c 65536 /dev/zero >zeros
	head -c 65536 /dev/urandom >random
	for target in empty one zeros random . /dev/null missing; do
		[ ! -f "$target" ] || cp "$target" before
		run -8 --separate-stderr "$fsck" -n "$target"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "fsck.fat: $target: "* ]]
		[ ! -f "$target" ] || cmp "$target" before
	done
}

@test "a truncated image is not clean and not touched" {
	make_floppy
	truncate -s 700000 image
	cp image before
	run -4 "$fsck" -n image
	[[ $output == *"the end is missing"* ]]
	cmp image before
}

@test "--offset finds a volume inside an image" {
	make_floppy
	mv image volume
	truncate -s 4096 image
	cat volume >>image
	run -8 "$fsck" -n image
	run -0 "$fsck" -n --offset 8 image
	[[ ${lines[-1]} == "image: 0 files, 0/2847 clusters" ]]
}

@test "--stats counts what the device layer did" {
	make_floppy
	run -0 "$fsck" -n --stats image
	[[ $output == *"writes: 0 requests, 0 bytes"* ]]
	[[ $output =~ reads:\ [1-9] ]]
}

@test "-a repairs and exits 1, and the second run finds nothing: in each spelling" {
	for mode in -a -p -y "-a -f" "-p -f -y" "-a -w -v" "-aw" "-a -y"; do
		make_floppy
		poke 515 '\xff\x0f'
		poke 5123 '\xff\x0f'
		run -1 "$fsck" $mode image
		[[ $output == *"saved as FSCK0000.REC"* ]]
		run -0 "$fsck" -n image
		[[ ${lines[-1]} == "image: 1 files, 1/2847 clusters" ]]
		rm image
	done
}

@test "a clean volume is not written to" {
	make_floppy
	cp image before
	run -0 "$fsck" -a --stats image
	[[ $output == *"writes: 0 requests, 0 bytes"* ]]
	cmp image before
}

@test "-r asks; end of input leaves everything, exit 4, nothing written" {
	make_floppy
	poke 515 '\xff\x0f'
	poke 5123 '\xff\x0f'
	cp image before
	run -4 "$fsck" image </dev/null
	cmp image before
	run -4 "$fsck" -r image <<<2
	cmp image before
	run -1 "$fsck" -r image <<<$'1\n1'
	run -0 "$fsck" -n image
}

@test "--free-lost frees lost chains instead of saving them" {
	make_floppy
	poke 515 '\xff\x0f'
	poke 5123 '\xff\x0f'
	run -1 "$fsck" -a --free-lost image
	run -0 "$fsck" -n image
	[[ ${lines[-1]} == "image: 0 files, 0/2847 clusters" ]]
}

@test "--undo: fatundo brings back what was, bit for bit; nothing repaired leaves no file" {
	make_floppy
	poke 515 '\xff\x0f'
	poke 5123 '\xff\x0f'
	cp image before
	run -1 "$fsck" -a --undo saved image
	run -0 "$FATWISE_BIN/fatundo" saved image
	cmp image before
	rm saved
	run -1 "$fsck" -a image
	run -0 "$fsck" -a --undo saved image
	[ ! -e saved ]
}

@test "a difference between FATs names both, the one that is believed last" {
	truncate -s 64M a
	"$FATWISE_BIN/mkfs.fat" -F 16 a >/dev/null
	for copy in 1 2; do
		cp a b
		printf '\125\125' | dd of=b bs=1 seek=$(((4 + (copy - 1) * 128) * 512 + 400)) \
			conv=notrunc status=none
		run "$fsck" -n b
		[ "$status" -eq 1 ]
		[[ $output == *"FAT $copy differs from FAT $((3 - copy)) in 1 entries"* ]]
	done
}
