#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mkfs.fat: options, callers' command lines, refusals, what is written.

bats_require_minimum_version 1.5.0
setup() {
	PATH=$FATWISE_BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return 1
	unset SOURCE_DATE_EPOCH
}

image() { truncate -s "${2:-64M}" "$1"; }

# field NAME OFFSET WIDTH: a number of the boot sector of image NAME
field() { od -An -v -j "$2" -N "$3" -t "u$3" "$1" | tr -d ' '; }
type_of() { dd if="$1" bs=1 skip="${2:-54}" count=8 status=none; }

# refused TEXT ARGUMENT...: exit 1, one line on stderr that holds TEXT
refused() {
	local text=$1
	shift
	status=0
	mkfs.fat "$@" >/dev/null 2>said || status=$?
	mapfile -t stderr_lines <said
	[ "$status" -eq 1 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ ${stderr_lines[0]} == "mkfs.fat: "*"$text"*"; "* ]] # the next step is behind the semicolon
}

@test "without arguments: exit 1, usage with --mbr[= on stderr" {
	run --separate-stderr mkfs.fat
	[ "$status" -eq 1 ]
	[[ $stderr == *"--mbr[="* ]]
	[[ $stderr == *"No device specified"* ]]
	[ -z "$output" ]
}

@test "--help: exit 0, on stdout, with the version" {
	run --separate-stderr mkfs.fat --help
	[ "$status" -eq 0 ]
	[[ $output =~ mkfs\.fat\ ([0-9.]+)\ . ]]
	[ -z "$stderr" ]
}

@test "the banner is the first line of stdout; -q silences it" {
	image a
	run --separate-stderr mkfs.fat a
	[ "$status" -eq 0 ]
	[[ $output =~ ^mkfs\.fat\ [0-9.]+\ \(20[0-9-]+\)$ ]]
	[ -z "$stderr" ]
	run mkfs.fat -q a
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "bad values are refused with dosfstools' words, and touch nothing" {
	image a
	cp a before
	refused "Bad block count : abc" a abc
	refused "Bad FAT type : 8" -F 8 a
	refused "Bad FAT type : 13" -F13 a
	refused "Bad number of FATs : 0" -f 0 a
	refused "Bad number of sectors per cluster : 3" -s 3 a
	refused "Bad number of sectors per cluster : 256" -s 256 a
	refused "Bad logical sector size : 256" -S 256 a
	refused "Bad logical sector size : 1000" -S 1000 a
	refused "Bad number of root directory entries : 8" -r 8 a
	refused "Bad number of reserved sectors : 0" -R 0 a
	refused "Bad location for backup boot sector : 70000" -b 70000 a
	refused "Bad drive number : 256" -D 256 a
	refused "Bad format of geometry : 16" -g 16 a
	refused "Bad format of geometry : 0/63" -g 0/63 a
	refused "Bad number of hidden sectors : x" -h x a
	refused "must either be between 0xF8 and 0xFF or be 0xF0 : 0xf1" -M 0xf1 a
	refused "Bad number for media descriptor : x" -M x a
	refused "Volume ID must be a hexadecimal number" -i xyz a
	refused "Volume ID does not fit in 32 bit" -i 123456789 a
	refused "Unknown option for --mbr: 'q'" --mbr=q a
	refused "Bad number for offset : x" --offset=x a
	refused "Bad number for offset : -1" --offset=-1 a
	refused "FAT offset must be between 0 and" --offset=131072 a
	refused "Invalid codepage : x" --codepage=x a
	refused "Invalid codepage : 9" --codepage=9 -n A a
	refused "Need intended size with -C" -C new
	refused "file already exists" -C a 100
	refused "Label can be no longer than 11 characters" -n abcdefghijkl a
	refused "are not allowed" -n 'A*B' a
	refused "are not allowed" -n $'A\tB' a
	refused "Label can't start with a space character" -n ' A' a
	refused "Excess arguments" a 100 b
	refused "Not enough or too many clusters" -F16 -s 128 a
	image small 2M
	refused "too small or a too large filesystem" -F16 small
	refused "at least 2 reserved sectors are needed" -F32 -R 1 a
	refused "must not be same as info sector (1)" -F32 -b 1 a
	refused "must be a reserved sector" -F32 -b 40 a
	refused "70000 blocks do not fit" a 70000
	cmp a before
	[ ! -e new ]
	run --separate-stderr mkfs.fat --frobnicate a
	[ "$status" -eq 1 ]
	[[ ${stderr_lines[0]} == *"unrecognized option"*frobnicate* ]]
	[[ ${stderr_lines[1]} == Usage:* ]]
	[ -z "$output" ]
}

@test "what is no target is refused" {
	refused "unable to open" missing
	refused "unable to discover size" /dev/null
	refused "unable to" .
	: >empty
	refused "unable to discover size" empty
	printf x >one
	refused "too small or a too large" one
	[ "$(cat one)" = x ]
	image tiny 40K
	refused "Too few blocks" tiny
	[ "$(id -u)" -eq 0 ] || {
		image locked
		chmod 400 locked
		refused "unable to open" locked
	}
}

@test "a file that -C made is removed when the work fails" {
	refused "too small or a too large" -C -F16 new 2048
	[ ! -e new ]
	mkfs.fat -C new 2048
	[ "$(stat -c %s new)" -eq $((2048 * 1024)) ]
}

@test "another file system is refused unless -I, FAT is not" {
	image a 8M
	mkfs.ext2 -q a || skip "no mkfs.ext2"
	cp a before
	refused "ext2" a
	cmp a before
	mkfs.fat -I a
	mkfs.fat a
	[ "$(type_of a)" = "FAT12   " ]
	for options in "-S 8192" "-S 32768 -s 1" "-A" "--mbr=y" ""; do
		# shellcheck disable=SC2086
		run -0 mkfs.fat $options a
	done
}

@test "a partition table is refused unless -I" {
	command -v sfdisk >/dev/null || [ -x /sbin/sfdisk ] || skip "no sfdisk"
	PATH=$PATH:/sbin
	image a 8M
	echo ',,c' | sfdisk -q a
	cp a before
	refused "Partitions or virtual mappings on device, a partition table (dos), not making" a
	cmp a before
	mkfs.fat -I a
}

@test "the last sector is used, and mtools is content" {
	command -v minfo >/dev/null || skip "no mtools"
	for size in 131071 131072 131061 262143 200003; do
		rm -f a
		truncate -s $((size * 512)) a
		mkfs.fat -q a
		[ $(($(field a 19 2) + $(field a 32 4))) -eq "$size" ]
		echo text >file
		mcopy -i a file ::
		[ "$(mtype -i a ::file)" = text ]
	done
}

@test "FAT32 that firmware takes for FAT16: a warning that names the size" {
	image a 16M
	run --separate-stderr mkfs.fat -F32 a
	[ "$status" -eq 0 ]
	[[ $stderr == *warning*FAT16*KiB* ]]
	kib=$(sed 's/.*(\([0-9]*\) KiB).*/\1/' <<<"$stderr")
	rm a
	run --separate-stderr mkfs.fat -F32 -C a "$kib"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "labels: lower case warns, NO NAME and blanks are none, code pages" {
	image a
	run --separate-stderr mkfs.fat -n bootfs a
	[ "$status" -eq 0 ]
	[[ $stderr == *lowercase* ]]
	[ "$(dd if=a bs=1 skip=43 count=11 status=none)" = "bootfs     " ]
	for label in '' '   ' 'NO NAME'; do
		mkfs.fat -q -n "$label" a
		[ "$(dd if=a bs=1 skip=43 count=11 status=none)" = "NO NAME    " ]
	done
	mkfs.fat -q -n 'ÄÖÜ' a
	[ "$(od -An -t x1 -j 43 -N 4 a)" = " 8e 99 9a 20" ]
	mkfs.fat -q --codepage=437 -n 'ß' a 2>/dev/null
	[ "$(od -An -t x1 -j 43 -N 2 a)" = " e1 20" ]
}

@test "SOURCE_DATE_EPOCH and --invariant: two runs, one image" {
	for way in "env SOURCE_DATE_EPOCH=1700000000 mkfs.fat" "mkfs.fat --invariant"; do
		image a && image b
		$way -q -n X a
		sleep 0.01
		TZ=Asia/Tokyo $way -q -n X b
		cmp a b
		rm a b
	done
	image a
	SOURCE_DATE_EPOCH=soon refused "SOURCE_DATE_EPOCH" a
}

@test "what only surprises is a warning, and the volume is made" {
	image a
	# warned TEXT ARGUMENT...
	warned() {
		run --separate-stderr mkfs.fat "${@:2}"
		[ "$status" -eq 0 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *warning*"$1"* ]]
	}
	warned "-r is ignored" -F32 -s 1 -r 100 a
	warned "sector size 8192 > 4096 is non-standard" -S 8192 a
	warned "number of clusters for 32 bit FAT is less" -F32 -s 8 a
	warned "lowercase labels" -n small a
	warned "found 65536 but assuming 100" a 100
	truncate -s 3T a 2>/dev/null || return 0
	warned "space at end will be left unused" -s 128 a
	[ "$(field a 32 4)" -eq 4294967295 ]
	warned "found 3221225472 but assuming 2147483647" -s 128 a 2147483647
	run -0 --separate-stderr mkfs.fat -S 4096 a
	[ -z "$stderr" ]
	[ "$(field a 32 4)" -eq $((3 << 28)) ]
}

@test "-m: the message is in the boot sector, line ends for a BIOS" {
	image a
	printf 'one\ttwo\n' >message
	mkfs.fat -q -m message a
	grep -aq $'one     two\r' a
	mkfs.fat -q -m - a <message
	grep -aq $'one     two\r' a
	run --separate-stderr mkfs.fat -m missing a
	[ "$status" -eq 0 ]
	[[ $stderr == *warning* ]]
	head -c 5000 /dev/zero | tr '\0' x >long
	run --separate-stderr mkfs.fat -m long a
	[ "$status" -eq 0 ]
	[[ $stderr == *"cut after"* ]]
	[ "$(od -An -t x1 -j 510 -N 2 a)" = " 55 aa" ]
}

@test "--offset: nothing before the volume is touched" {
	head -c 1M /dev/urandom >a
	truncate -s 65M a
	head -c 1M a >before
	mkfs.fat -q --offset 2048 a
	cmp -n 1048576 a before
	[ "$(type_of a $((1048576 + 54)))" = "FAT16   " ]
	[ "$(field a $((1048576 + 32)) 4)" -eq 131072 ]
}

@test "BLOCKS: only that much, with a warning" {
	image a
	run --separate-stderr mkfs.fat a 8192
	[ "$status" -eq 0 ]
	[[ $stderr == *"block count mismatch: found 65536 but assuming 8192"* ]]
	[ "$(field a 19 2)" -eq 16384 ]
}

@test "old clusters and old signatures: the metadata is new, the data is not touched" {
	head -c 8M /dev/urandom >a
	mkfs.fat -q a
	off=$((512 * ($(field a 14 2) + 2 * $(field a 22 2)) + 16384))
	cp a b
	mkfs.fat -q --invariant a
	mkfs.fat -q --invariant b
	cmp a b
	[ "$(dd if=a bs=512 skip=$((off / 512)) count=100 status=none | tr -d '\0' | wc -c)" -gt 40000 ]
}

@test "64 GiB, -F32 -s 8: few requests, little disk, little memory" {
	image a 64G
	run mkfs.fat --stats -F32 -s 8 a
	[ "$status" -eq 0 ]
	writes=$(sed -n 's/^writes: \([0-9]*\) requests.*/\1/p' <<<"$output")
	memory=$(sed -n 's/^memory: \([0-9]*\) KiB.*/\1/p' <<<"$output")
	[ "$writes" -lt 100 ]
	[ "$memory" -lt 8192 ]
	[ "$(du -k a | cut -f1)" -lt 128 ]
	# it takes seconds, and 200 MB
	fsck=/usr/sbin/fsck.fat
	[ ! -x $fsck ] || [ -z "${FATWISE_FULL-}" ] || $fsck -n a
}

@test "-v: every number; -vv: with reasons" {
	image a
	run mkfs.fat -v a
	[[ $output == *"sectors per cluster"*"4"* ]]
	[[ $output == *"FAT16: 131072 sectors, 32695 clusters of 2 KiB" ]]
	# what the boot sector holds, field by field
	image b 300M
	run mkfs.fat -v -F32 -n LABEL -i 1234-ABCD -g 16/63 -h 7 -f 1 -D 0x81 b
	while read -r value words; do
		grep -qE "^$words +$value *$" <<<"$output"
	done <<-END
		512 bytes per sector
		$(field b 13 1) sectors per cluster
		$(field b 14 2) reserved sectors
		1 FATs
		0 root directory entries
		0xf8 media byte
		$(field b 36 4) sectors per FAT
		63 sectors per track
		16 heads
		7 hidden sectors
		$(field b 32 4) sectors
		2 root directory's cluster
		1 FSInfo sector
		6 backup boot sector
		0x81 drive number
		1234abcd volume id
		LABEL label
	END
	run mkfs.fat -vv -s 8 a
	[[ $output == *"as asked for"* ]]
}
