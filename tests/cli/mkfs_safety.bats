#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mkfs.fat: never the wrong device, dry runs, undo, bad blocks, Atari's variant.

bats_require_minimum_version 1.5.0
load kit
setup() {
	PATH=$FATWISE_BIN:$PATH:/sbin:/usr/sbin
	cd "$BATS_TEST_TMPDIR" || return 1
	unset SOURCE_DATE_EPOCH
}

teardown() {
	[ ! -e mnt ] || umount mnt 2>/dev/null || true
	[ ! -e loop ] || { delpart "$(cat loop)" 1; losetup -d "$(cat loop)"; } 2>/dev/null || true
}

image() { truncate -s "${2:-64M}" "$1"; }

# attach FILE [OPTION...]: a loop device for it, in $loop; skips where there is none to be had
attach() {
	[ "$(id -u)" -eq 0 ] || skip "only root attaches loop devices"
	loop=$(losetup -f --show "${@:2}" "$1" 2>/dev/null) || skip "no loop device"
	echo "$loop" >loop
}

# partition FILE START COUNT [OPTION...]: a partition of a loop device, in $part; sectors of 512 bytes
partition() {
	command -v addpart >/dev/null || skip "no addpart"
	attach "$1" "${@:4}"
	addpart "$loop" 1 "$2" "$3" 2>/dev/null || skip "this kernel makes no partitions of loop devices"
	part=${loop}p1
	for _ in {1..50}; do
		[ ! -b "$part" ] || return 0
		sleep 0.1
	done
	skip "no node for $part"
}

# number OFFSET WIDTH: of the partition's boot sector
number() { od -An -t "u$2" -j "$1" -N "$2" "$part" | tr -d ' '; }

# data_off: where the data area begins on the disk, in bytes; takes the partition's START
data_off() {
	local fat root sector
	sector=$(number 11 2)
	fat=$(number 22 2)
	[ "$fat" -ne 0 ] || fat=$(number 36 4)
	root=$(($(number 17 2) * 32 / sector))
	echo $(($1 * 512 + ($(number 14 2) + $(number 16 1) * fat + root) * sector))
}

@test "a mounted file system is refused, also with -I, and by its image" {
	image a 8M
	mkfs.ext2 -q a
	attach a
	mkdir mnt
	mount "$loop" mnt 2>/dev/null || skip "ext2 cannot be mounted here"
	for target in "$loop" a; do
		run --separate-stderr mkfs.fat -I "$target"
		[ "$status" -eq 1 ]
		[[ $stderr == *"contains a mounted filesystem"*unmount* ]]
	done
	umount mnt
}

@test "an image that is attached to a loop device is refused, unless -I" {
	image a 8M
	attach a
	run --separate-stderr mkfs.fat a
	[ "$status" -eq 1 ]
	[[ $stderr == *"${loop##*/}"*-I* ]]
	mkfs.fat -I a
	mkfs.fat "$loop"
}

@test "a read-only device is refused" {
	image a 8M
	attach a -r
	run --separate-stderr mkfs.fat "$loop"
	[ "$status" -eq 1 ]
	[[ $stderr == *write-protected* ]]
}

@test "all objections at once" {
	image a 8M
	mkfs.ext2 -q a
	attach a -r
	run --separate-stderr mkfs.fat "$loop"
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 2 ]
	run --separate-stderr mkfs.fat -I "$loop"
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "sectors of 4096 bytes: the device's, hidden sectors in them, -S below is raised" {
	image a 80M
	printf 'label: dos\n16384,,c\n' | sfdisk -q a
	attach a -P -b 4096
	run --separate-stderr mkfs.fat -I -S 512 -n A "$loop"
	[ "$status" -eq 0 ]
	[[ $stderr == *"smaller than the device's"* ]]
	[ "$(od -An -t u2 -j 11 -N 2 a | tr -d ' ')" -eq 4096 ]
	run /usr/sbin/fsck.fat -n "$loop"
	[ "$status" -eq 0 ]
}

@test "a partition: hidden sectors, and clusters aligned from the start of the disk" {
	image a 80M
	partition a 63 100000
	mkfs.fat -q -s 8 "$part"
	[ "$(number 28 4)" -eq 63 ]
	[ $(($(data_off 63) % 4096)) -eq 0 ]
	mkfs.fat -q -h 7 "$part"
	[ "$(number 28 4)" -eq 7 ]
	for options in "65536 -F16" "1048576 -F32 -s 1" "3145728,fats -F16" "6291456"; do
		# shellcheck disable=SC2086
		mkfs.fat -q --align $options "$part"
		options=${options%% *}
		[ $(($(data_off 63) % ${options%,fats})) -eq 0 ]
		[ "$(number 28 4)" -eq 63 ]
		run -0 fsck.fat -n "$part"
	done
	mkfs.fat -q --profile sdcard "$part"
	[ $(($(data_off 63) % 32768)) -eq 0 ]
}

@test "a disk with partitions is refused unless -I, whatever its first sector looks like" {
	image a 80M
	mkfs.fat -q a
	cp a before
	partition a 2048 100000
	run --separate-stderr mkfs.fat "$loop"
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"Partitions or virtual mappings on device, 1 of them"*"; use -I to override" ]]
	cmp a before
	mkfs.fat -q "$part"
	mkfs.fat -q -I "$loop"
}

@test "swap space is refused, also with -I" {
	image a 8M
	attach a
	mkswap "$loop" >/dev/null 2>&1 || skip "no mkswap"
	run --separate-stderr mkfs.fat "$loop"
	[[ $status -eq 1 && $stderr == *"holds a file system (swap); use -I to override" ]]
	swapon "$loop" 2>/dev/null || skip "no swap space may be added here"
	run --separate-stderr mkfs.fat -I "$loop"
	swapoff "$loop"
	[ "$status" -eq 1 ]
	[[ $stderr == *"used as swap space; swapoff it first" ]]
}

@test "a partition on blocks of 4096 bytes: hidden sectors are logical ones" {
	image a 300M
	partition a 2048 500000 -b 4096
	mkfs.fat -q --align 1M "$part"
	[ "$(number 11 2)" -eq 4096 ]
	[ "$(number 28 4)" -eq 256 ]
	[ $(($(data_off 2048) % 1048576)) -eq 0 ]
	run -0 fsck.fat -n "$part"
}

@test "where reserved sectors cannot pad that far: where the partition should begin" {
	image a 200M
	partition a 63 200000
	run --separate-stderr mkfs.fat --align 64M "$part"
	[ "$status" -eq 1 ]
	[[ $stderr =~ "let the volume begin at byte "([0-9]+)" of the disk" ]]
	start=$((BASH_REMATCH[1] / 512))
	[ "$start" -gt 63 ]
	delpart "$loop" 1
	losetup -d "$loop"
	partition a "$start" 200000
	mkfs.fat -q --align 64M "$part"
	[ $(($(data_off "$start") % 67108864)) -eq 0 ]
	[ "$(number 28 4)" -eq "$start" ]
}

@test "a question at a terminal: n leaves it, y formats" {
	command -v script >/dev/null || skip "no script"
	image a 8M
	mkfs.ext2 -q a
	cp a before
	run script -qec "mkfs.fat a" /dev/null <<<n
	[[ $output == *"[y/N]"* ]]
	cmp a before
	run script -qec "mkfs.fat a" /dev/null <<<y
	run ! cmp -s a before
	run mkfs.fat a <<<y
	[ "$status" -eq 0 ]
}

@test "--dry-run: reasons, objections, nothing opened for writing" {
	image a 8M
	mkfs.ext2 -q a
	chmod 400 a
	cp a before
	run --separate-stderr mkfs.fat --dry-run a
	[ "$status" -eq 1 ]
	[[ $stderr == *ext2* ]]
	[[ $output == *"the usual value"* ]]
	cmp a before
	run mkfs.fat --dry-run -C new 8192
	[ "$status" -eq 0 ]
	[ ! -e new ]
	if command -v strace >/dev/null; then
		image b 8M
		strace -o trace -e trace=openat,open mkfs.fat -q --dry-run b
		run grep -E 'O_RDWR|O_WRONLY|O_CREAT' trace
		[ "$status" -ne 0 ]
	fi
}

@test "--json is JSON" {
	command -v python3 >/dev/null || skip "no python3"
	image a
	mkfs.fat --json --dry-run a | python3 -c '
import json, sys
plan = json.load(sys.stdin)
assert plan["clusters"]["value"] == 32695 and plan["written"] is False'
}

@test "--undo: fatundo brings ext4 and FAT back, bit for bit" {
	some 2 "mkfs.ext4 -qF" "mkfs.fat -q -F32 -n OLD" "mkfs.fat -q -F16"
	for old in "${chosen[@]}"; do
		rm -f a undo
		head -c 40M /dev/urandom >a
		$old a
		cp a before
		for new in "-F16" "-F32 -s 2" "-F12 -s 128"; do
			mkfs.fat -q -I --undo undo $new a
			run ! cmp -s a before
			fatundo undo a
			cmp a before
			rm undo
		done
	done
	: >undo
	run --separate-stderr mkfs.fat --undo undo a
	[ "$status" -eq 1 ]
	cmp a before
}

@test "-l: bad clusters are marked, counted, and kept off by the root directory" {
	image a 40M
	for block in 650 651 652 5000; do echo "$block"; done >list
	mkfs.fat -q -F32 -R 32 -f 1 -s 1 -l list a 2>/dev/null
	data=$((512 * (32 + $(od -An -t u4 -j 36 -N 4 a))))
	first=$(((data + 1023) / 1024))
	seq "$first" $((first + 3)) >list
	mkfs.fat -q -F32 -f 1 -s 1 -l list a 2>/dev/null
	run /usr/sbin/fsck.fat -nv a
	[ "$status" -eq 0 ]
	root=$(od -An -t u4 -j 44 -N 4 a | tr -d ' ')
	[ "$root" -ge 10 ] || [ "$root" -eq 2 ]
	total=$(((81920 - data / 512)))
	free=$(od -An -t u4 -j $((512 + 488)) -N 4 a | tr -d ' ')
	[ "$free" -eq $((total - 8 - 1)) ]
}

@test "-l: what is no list is refused" {
	image a
	cp a before
	while read -r content words; do
		echo "$content" >list
		run --separate-stderr mkfs.fat -l list a
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"$words"*"; "* ]]
	done <<-END
		x Badly formed number in bad blocks file line 1
		1.5 Badly formed number in bad blocks file line 1
		-3 Badly formed number in bad blocks file line 1
		99999999 Block number 99999999 is behind end of filesystem
		0 Block number 0 is before data area
	END
	run --separate-stderr mkfs.fat -l missing a
	[[ $stderr == *"Can't open file of bad blocks"* ]]
	run --separate-stderr mkfs.fat -c -l list a
	[[ $stderr == *"-c and -l are incompatible"* ]]
	cmp a before
	mkfs.fat -q -c a
}

@test "-A: Atari's variant" {
	image a 40M
	mkfs.fat -q --invariant -A a 2>/dev/null
	[ "$(od -An -t x1 -N 11 a)" = " 60 1c 6d 6b 64 6f 73 66 cd ab 34" ]
	[ "$(od -An -t u2 -j 11 -N 2 a | tr -d ' ')" -eq 1024 ]
	mkfs.fat -q --variant=standard a
	mkfs.fat -q -A -A a
	[ "$(od -An -t x1 -j 510 -N 2 a)" = " 55 aa" ]
	run --separate-stderr mkfs.fat --variant=foo a
	[[ $stderr == *"Unknown variant: foo"* ]]
	run --separate-stderr mkfs.fat -A -S 512 a
	[[ $stderr == *"GEMDOS can't handle more than 65531 sectors"* ]]
	run --separate-stderr mkfs.fat -A -h 70000 a
	[[ $stderr == *"doesn't fit in 16bit field"* ]]
}

@test "--verify: a sound file is; with --undo and --offset too" {
	image a 40M
	mkfs.fat -q --verify a
	mkfs.fat -q --verify --undo undo --offset 2048 -F32 a 2>/dev/null
	fatundo undo a
	run /usr/sbin/fsck.fat -n a
	[ "$status" -eq 0 ]
}

@test "--discard: block devices by default, not with --nodiscard nor --undo" {
	image a 40M
	attach a
	run mkfs.fat --stats "$loop"
	[[ $output == *"discarded: 1 requests"* ]] || skip "this loop device takes no discards"
	run mkfs.fat --stats --nodiscard "$loop"
	[[ $output == *"discarded: 0 requests"* ]]
	run mkfs.fat --stats --undo undo "$loop"
	[[ $output == *"discarded: 0 requests"* ]]
	losetup -d "$loop"
	mkfs.fat -q --discard a
}
