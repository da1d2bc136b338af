#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fatlabel on the command line. What it wrote is looked at with other programs' eyes: raw bytes,
# blkid, mtools, fsck.fat.
bats_require_minimum_version 1.5.0

setup() {
	PATH=$FATWISE_BIN:$PATH:/usr/sbin:/sbin
	export MTOOLS_SKIP_CHECK=1
	unset SOURCE_DATE_EPOCH
	cd "$BATS_TEST_TMPDIR" || return 1
}

# make TYPE [OPTIONS]: a volume in ./image
make() {
	local size=4096
	[ "$1" = 16 ] && size=16384
	[ "$1" = 32 ] && size=40000
	rm -f image
	mkfs.fat -F "$1" "${@:2}" -C image $size >/dev/null 2>&1
}

# bytes OFFSET LENGTH: of the image, as text
bytes() { dd if=image bs=1 skip="$1" count="$2" status=none; }

boot_label() { [ "$1" = 32 ] && bytes 71 11 || bytes 43 11; }
boot_id() { bytes "$([ "$1" = 32 ] && echo 67 || echo 39)" 4 | xxd -e -g4 | cut -d' ' -f2; }

# What fsck.fat thinks; label letters beyond ASCII are a fault to dosfstools 4.2, so not asked then.
is_sound() { run -0 fsck.fat -n image; }

@test "--help and --version go to stdout, with exit 0" {
	run -0 --separate-stderr fatlabel --help
	[[ ${lines[0]} == "Usage: fatlabel [OPTIONS] DEVICE [NEW]" ]]
	[ -z "$stderr" ]
	run -0 --separate-stderr fatlabel -h
	[[ $output == *--volume-id* ]]
	run -0 --separate-stderr fatlabel -V
	[[ $output =~ ^fatlabel\ [0-9.]+\ .+$ ]] # GParted, libblockdev
	[ -z "$stderr" ]
}

@test "wrong usage goes to stderr, with exit 1" {
	for args in "" "a b c" "-z a"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr fatlabel $args
		[ -z "$output" ]
		[[ $stderr == *"Usage: fatlabel [OPTIONS] DEVICE [NEW]"* ]]
	done
}

@test "GParted: DEV prints, DEV LABEL sets; boot sector, backup and root agree" {
	for type in 12 16 32; do
		make $type
		run -0 fatlabel image
		[ -z "$output" ]
		run -0 fatlabel image "MY DISK"
		[ -z "$output" ]
		run -0 fatlabel image
		[ "$output" = "MY DISK" ]
		[ "$(boot_label $type)" = "MY DISK    " ]
		[ "$type" != 32 ] || [ "$(bytes $((6 * 512 + 71)) 11)" = "MY DISK    " ]
		[ "$(blkid -p -o value -s LABEL image)" = "MY DISK" ]
		[[ $(mlabel -s -i image ::) == *"MY DISK"* ]]
		is_sound
	done
}

@test "libblockdev: DEV --reset removes the label" {
	for type in 12 16 32; do
		make $type -n OLDLABEL
		run -0 fatlabel image --reset
		run -0 fatlabel image
		[ -z "$output" ]
		[ "$(boot_label $type)" = "NO NAME    " ]
		[ "$type" != 32 ] || [ "$(bytes $((6 * 512 + 71)) 11)" = "NO NAME    " ]
		[[ $(mlabel -s -i image ::) == *"no label"* ]]
		is_sound
	done
}

@test "libblockdev: -i DEV XXXXXXXX and -i DEV --reset" {
	for type in 12 32; do
		make $type -n KEPT
		run -0 fatlabel -i image 2e24ec82
		[ "$(boot_id $type)" = 2e24ec82 ]
		run -0 fatlabel -i image
		[ "$output" = 2e24ec82 ]
		run -0 fatlabel -i image --reset
		run -0 fatlabel -i image
		[[ $output =~ ^[0-9a-f]{8}$ ]]
		[ "$output" != 2e24ec82 ]
		[ "$(boot_id $type)" = "$output" ]
		[ "$(fatlabel image)" = KEPT ]
		is_sound
	done
}

@test "kpmcore: DEV LABEL, and DEV -r for an empty one" {
	make 16
	run -0 fatlabel image KDE
	[ "$(fatlabel image)" = KDE ]
	run -0 fatlabel image -r
	[ -z "$(fatlabel image)" ]
}

@test "libguestfs: dosfslabel DEV LABEL; balena: fatlabel DEV LABEL" {
	make 32
	ln -s "$FATWISE_BIN/fatlabel" dosfslabel
	run -0 ./dosfslabel image resin-boot
	[ "$(fatlabel image)" = resin-boot ]
}

@test "scripts: -ir DEV, -i DEV ABCD1234, with 0x or a dash" {
	make 12 -i 11111111
	run -0 fatlabel -ir image
	[ "$(fatlabel -i image)" != 11111111 ]
	run -0 fatlabel -i image ABCD1234
	[ "$(fatlabel -i image)" = abcd1234 ]
	run -0 fatlabel -i image 0x0000D105
	[ "$(fatlabel -i image)" = 0000d105 ]
	run -0 fatlabel -i image 1A2B-3C4D
	[ "$(fatlabel --volume-id image)" = 1a2b3c4d ]
}

@test "'' removes the label" {
	make 16 -n SOMETHING
	run -0 fatlabel image ''
	[ -z "$(fatlabel image)" ]
	[ "$(boot_label 16)" = "NO NAME    " ]
}

@test "what is no label or id is refused, and nothing is written" {
	make 16 -n BEFORE
	cp image before
	for label in "   " " X" "TWELVE CHARS" 'A*B' 'A"B' 'A/B' $'A\tB' $'\xff\xfe' "日本"; do
		run -1 fatlabel image "$label"
		[[ $output == "fatlabel: labels "* ]]
		cmp image before
	done
	run -1 fatlabel image -c 99999 X
	cmp image before
	run -1 fatlabel -i image xyz
	[ "$output" = "fatlabel: volume ID must be a hexadecimal number" ]
	run -1 fatlabel -i image 123456789
	[ "$output" = "fatlabel: given volume ID does not fit in 32 bit" ]
	run -1 fatlabel -i image ''
	run -1 fatlabel --reset image NEW
	[[ $output == "fatlabel: giving new value with --reset not allowed"* ]]
	cmp image before
}

@test "small letters are taken, with a warning" {
	make 16
	run -0 --separate-stderr fatlabel image bootfs
	[ "$stderr" = "fatlabel: warning - lowercase labels might not work properly on some systems" ]
	[ "$(fatlabel image)" = bootfs ]
}

@test "letters beyond ASCII, by code page" {
	make 32
	run -0 --separate-stderr fatlabel image ÜBUNG
	[ -z "$stderr" ]
	[ "$(boot_label 32 | xxd -p)" = 9a42554e47202020202020 ]
	[ "$(fatlabel image)" = ÜBUNG ]
	run -0 fatlabel -c 437 image ΣΩ
	[ "$(boot_label 32 | xxd -p)" = e4ea202020202020202020 ]
	[ "$(fatlabel --codepage=437 image)" = ΣΩ ]
	[ "$(fatlabel image)" = õÛ ] # the same bytes in page 850
}

@test "a first letter of E5h is not taken for a deleted entry" {
	make 16
	run -0 fatlabel image ÕX
	[ "$(fatlabel image)" = ÕX ]
	[ "$(boot_label 16 | xxd -p)" = e558202020202020202020 ]
}

@test "printing a label takes little, whatever the size" {
	truncate -s 64G image
	mkfs.fat -F 32 -s 8 -n LARGE image >/dev/null
	run -0 --separate-stderr fatlabel --stats image
	[ "$output" = LARGE ]
	[[ $stderr =~ reads:\ [0-9]+\ requests,\ ([0-9]+)\ bytes ]]
	[ "${BASH_REMATCH[1]}" -le 65536 ]
	[[ $stderr =~ memory:\ ([0-9]+)\ KiB ]]
	[ "${BASH_REMATCH[1]}" -lt 4096 ]
	run -0 --separate-stderr fatlabel --stats image OTHER
	[[ $stderr =~ reads:\ [0-9]+\ requests,\ ([0-9]+)\ bytes ]]
	[ "${BASH_REMATCH[1]}" -le 65536 ]
}

@test "--json" {
	make 32 -n "A B" -i 0000beef
	run -0 fatlabel --json image
	[ "$output" = '{"device": "image", "type": "FAT32", "label": "A B", "boot_label": "A B", "volume_id": "0000beef"}' ]
	make 12 -i 1
	ln -s image $'quote"\xff'
	run -0 fatlabel --json $'quote"\xff'
	[ "$output" = '{"device": "quote\"\ufffd", "type": "FAT12", "label": "", "boot_label": "", "volume_id": "00000001"}' ]
	run -1 fatlabel --json image NEW
	[ -z "$(fatlabel image)" ]
}

@test "a deleted entry's place is taken first, then the end mark's" {
	make 16
	echo one >one && echo two >two
	mcopy -i image one two ::
	mdel -i image ::one
	run -0 fatlabel image LABEL
	is_sound
	mcopy -n -i image ::two back && cmp back two
	[ "$(fatlabel image)" = LABEL ]
	run -0 fatlabel image -r
	run -0 fatlabel image AGAIN
	is_sound
	[ "$(fatlabel image)" = AGAIN ]
}

@test "what lies behind the end mark does not come to life" {
	make 16
	local root
	root=$((($(bytes 14 2 | xxd -e -g2 | cut -d' ' -f2 | sed 's/^/0x/') +
		2 * $(bytes 22 2 | xxd -e -g2 | cut -d' ' -f2 | sed 's/^/0x/')) * 512))
	printf 'GHOST   TXT ' | dd of=image bs=1 seek=$((root + 32)) conv=notrunc status=none
	run -0 fatlabel image LABEL
	[ "$(bytes $root 5)" = LABEL ]
	run mdir -b -i image ::
	[[ $output != *GHOST* ]]
	is_sound
}

@test "a full root directory: FAT12 refuses, and nothing is written" {
	make 12 -r 16
	local n
	n=$(bytes 17 2 | xxd -e -g2 | cut -d' ' -f2)
	for ((i = 0; i < 0x$n; i++)); do echo $i >f$i; done
	mcopy -i image f* ::
	cp image before
	run -1 fatlabel image LABEL
	[[ $output == *"no room for a label"* ]]
	cmp image before
}

@test "a full root directory: FAT32 gets one more cluster" {
	make 32 -s 1
	for i in {1..16}; do echo $i >F$i; done
	mcopy -i image F* ::
	run -0 fatlabel image LABEL
	[ "$(fatlabel image)" = LABEL ]
	is_sound
	for i in {1..16}; do [ "$(mtype -i image ::F$i)" = $i ]; done
	[ "$(blkid -p -o value -s LABEL image)" = LABEL ]
}

@test "a full root directory on a full volume: refused" {
	make 32 -s 1
	for i in {1..15}; do echo $i >F$i; done
	mcopy -i image F* ::
	local free
	free=$(mdir -i image :: | tail -2 | tr -dc 0-9)
	head -c "$free" /dev/zero >F16
	mcopy -i image F16 ::
	cp image before
	run -1 fatlabel image LABEL
	[[ $output == *"no cluster is free"* ]]
	cmp image before
}

@test "files are left alone" {
	make 32 -n A
	head -c 3M /dev/urandom >data
	mcopy -i image data ::
	run -0 fatlabel image B
	run -0 fatlabel -i image 12345678
	mcopy -n -i image ::data back
	cmp data back
	is_sound
}

@test "a backup that is none is left alone" {
	make 32
	printf 'something else' | dd of=image bs=512 seek=6 conv=notrunc status=none
	bytes 3072 512 >backup
	run -0 --separate-stderr fatlabel image LABEL
	[[ $stderr == *"sector 6 is no backup"*"run fsck.fat"* ]]
	[ "$(fatlabel image)" = LABEL ]
	bytes 3072 512 | cmp - backup
}

@test "what is no FAT volume is refused, and not touched" {
	head -c 1M /dev/urandom >noise
	: >empty
	head -c 100 /dev/zero >short
	truncate -s 1M zeros
	for file in noise empty short zeros missing . /dev/null; do
		cp "$file" before 2>/dev/null || true
		run -1 fatlabel "$file"
		[[ $output == "fatlabel: $file: "* ]]
		run -1 fatlabel "$file" LABEL
		[ ! -f "$file" ] || cmp "$file" before
	done
}

@test "a volume in use is refused, unless --force is given" {
	make 16 -n BEFORE
	exec 9<image
	flock 9
	run -1 fatlabel image AFTER
	[[ $output == *"--force"* ]]
	[ "$(fatlabel image)" = BEFORE ] # looking is free
	run -0 fatlabel --force image AFTER
	[ "$(fatlabel image)" = AFTER ]
	exec 9<&-
}

@test "a mounted volume is refused" {
	truncate -s 4M image
	mkfs.ext4 -q image
	mkdir mnt
	mount -o loop image mnt 2>/dev/null || skip "needs root and loop devices"
	run fatlabel image LABEL
	umount mnt
	[ "$status" -eq 1 ]
	[[ $output == *"mounted at $PWD/mnt"*"; unmount it first, or use --force" ]]
}

@test "SOURCE_DATE_EPOCH gives time and id, so that it can be done twice" {
	make 16
	cp image copy
	SOURCE_DATE_EPOCH=1700000000 run -0 fatlabel image LABEL
	SOURCE_DATE_EPOCH=1700000000 run -0 fatlabel -ir image
	sleep 1
	SOURCE_DATE_EPOCH=1700000000 TZ=Asia/Tokyo run -0 fatlabel copy LABEL
	SOURCE_DATE_EPOCH=1700000000 TZ=Asia/Tokyo run -0 fatlabel copy -ir
	cmp image copy
	[ "$(fatlabel -i image)" = 6553f100 ]
	SOURCE_DATE_EPOCH=soon run -1 fatlabel image LABEL
	[[ $output == *"SOURCE_DATE_EPOCH is no number"* ]]
}

@test "stdout that cannot be written is an error" {
	[ -e /dev/full ] || skip "no /dev/full"
	make 16 -n LABEL
	run -1 bash -c 'fatlabel image >/dev/full'
	[[ $output == *"cannot write to standard output"* ]]
}
