#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fsck.fat on media with sectors that cannot be read, stopped by signals, at a terminal.
bats_require_minimum_version 1.5.0
load ../kit

setup_file() {
	"${CC:-cc}" -shared -fPIC -O1 -x c -o "$BATS_FILE_TMPDIR/medium.so" "$BATS_TEST_DIRNAME/medium.inc" -ldl
	cd "$BATS_FILE_TMPDIR" && MTOOLS_SKIP_CHECK=1 build_volume
}

setup() {
	fsck="$FATWISE_BIN/fsck.fat"
	medium="$BATS_FILE_TMPDIR/medium.so"
	cd "$BATS_TEST_TMPDIR"
	export MTOOLS_SKIP_CHECK=1
	! ldd "$fsck" | grep -q asan || skip "a sanitizer does not go with preloading"
}

# FAT32, clusters of a sector: 32 reserved, FAT 1 at byte 16384, FAT 2 behind, cluster 2 at $data.
build_volume() {
	fsck="$FATWISE_BIN/fsck.fat"
	truncate -s 40M image
	"$FATWISE_BIN/mkfs.fat" -F 32 -s 1 image >/dev/null
	seq 1 2000 >a.bin
	mmd -i image ::/D1
	mcopy -i image a.bin ::/A.BIN
	mcopy -i image a.bin ::/D1/B.BIN
	"$fsck" -nv image >said
	sed -n 's/^ *\([0-9]*\) bytes per FAT.*/fat_bytes=\1/p; s/^Data area starts at byte \([0-9]*\).*/data=\1/p' said >numbers
}

make_volume() {
	cp "$BATS_FILE_TMPDIR"/{image,a.bin} .
	# shellcheck source=/dev/null
	. "$BATS_FILE_TMPDIR/numbers"
}

# The size of /A.BIN is a lie.
damage() {
	at=$(text_off 'A       BIN' image)
	printf '\0\0\1\0' | dd of=image bs=1 seek=$((at + 28)) conv=notrunc status=none
}

sick() { # sick "OFF LEN ..." COMMAND...
	MEDIUM_BAD=$1 LD_PRELOAD=$medium "${@:2}"
}

@test "a sector of one FAT, a boot sector, FSInfo: the run goes on, repairs all, and writes them anew" {
	make_volume
	some 3 "$((16384 + 512)) 512" "$((16384 + fat_bytes)) 512" "16384 512" "0 512" "512 512" "3072 512" \
		"0 1024 16384 4096 $((16384 + fat_bytes + 8192)) 512"
	for place in "${chosen[@]}"; do
		damage
		cp image before
		run -1 sick "$place" "$fsck" -n image
		[[ $output == *"cannot be read"* && $output == *"/A.BIN: 65536 bytes"* ]]
		cmp image before
		run -1 sick "$place" "$fsck" -a image
		[[ $output == *"cannot be read"* && $output == *"/A.BIN: 65536 bytes"* ]]
		run -0 "$fsck" -n image
		mcopy -n -i image ::/D1/B.BIN got
		cmp got a.bin
		rm got
	done
}

@test "where it cannot be written anew either, the rest is repaired, and 4 says that something is left" {
	make_volume
	damage
	run -5 --separate-stderr env MEDIUM_STAYS=1 MEDIUM_BAD="$((16384 + 512)) 512" LD_PRELOAD="$medium" "$fsck" -a image
	[[ $stderr == *"cannot be written either"* ]]
	[[ $output == *"the size is now that of the chain"* ]]
	run -0 "$fsck" -n image
}

@test "both FATs, the root, a folder: what can be repaired is, nothing is given up, 4" {
	make_volume
	folder=$((data + 512))
	for place in "$((16384 + 5120)) 512 $((16384 + fat_bytes + 5120)) 512" "$folder 512"; do
		damage
		run -5 sick "$place" "$fsck" -a image
		[[ $output == *"the size is now that of the chain"* ]]
		[[ $output != *REC* ]]
		run -4 sick "$place" "$fsck" -a image
		run "$fsck" -nl image
		[ "$status" -eq 0 ]
		[[ $output == *"/D1/B.BIN"* ]]
	done
	cp image before
	run -4 sick "$data 512" "$fsck" -a image
	[[ $output == *"/: 512 bytes of this folder cannot be read"* ]]
	cmp image before
}

@test "file data: only -t reads it; the file keeps what can be read, in its place" {
	make_volume
	at=$((data + 2 * 512)) # behind the root and /D1
	run -0 sick "$((at + 1024)) 512" "$fsck" -a image
	run -1 sick "$((at + 1024)) 512" "$fsck" -a -t image
	[[ $output == *"/A.BIN: 1 of its clusters cannot be read"* ]]
	run -0 "$fsck" -n image
	mcopy -n -i image ::/A.BIN got
	cmp <(head -c 1024 got) <(head -c 1024 a.bin)
	cmp <(tail -c +1537 got) <(tail -c +1537 a.bin)
	[ "$(head -c 1536 got | tail -c 512 | tr -d '\0' | wc -c)" -eq 0 ]
}

@test "the whole medium gone: exit 8, one line" {
	make_volume
	run -8 --separate-stderr sick "0 41943040" "$fsck" -a image
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == "fsck.fat: image: "*read* ]]
}

# A block device that fails in single sectors: a loop device over a FUSE file that does.
@test "a block device: only the sick sector is lost, not the page around it" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	command -v nbdfuse >/dev/null || skip "no nbdfuse here"
	command -v nbdkit >/dev/null || skip "no nbdkit here"
	[ -e /dev/fuse ] || skip "no FUSE here"
	make_volume
	damage
	: >file
	nbdfuse file --command env LD_PRELOAD="$medium" MEDIUM_BAD="16900 100" nbdkit -s file image 3>&- 4>&- 2>nbd.log &
	pid=$!
	for _ in $(seq 50); do
		[ "$(stat -c %s file)" -eq 0 ] || break
		sleep 0.1
	done
	dev=$(losetup -f --show --direct-io=on file 2>/dev/null) || { fusermount3 -u file || umount file; skip "no loop device over FUSE"; }
	run "$fsck" -n "$dev"
	losetup -d "$dev"
	umount file || fusermount3 -u file
	wait "$pid" || true
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"FAT 1 cannot be read where it has the entries of clusters 128 to 255"* ]]
	[[ $output == *"/A.BIN: 65536 bytes"* ]]
}

# ---- signals ----

@test "SIGTERM in mid-check: exit 32, the volume is as it was" {
	make_volume
	damage
	cp image before
	for nth in 1 5 20; do
		run -32 --separate-stderr env MEDIUM_SIGNAL="read $nth" LD_PRELOAD="$medium" "$fsck" -a image
		[[ $stderr == *"stopped by a signal"* ]]
		cmp image before
	done
}

@test "SIGTERM in mid-commit: what was begun is written whole, 32 is in the status, and the volume is sound" {
	make_volume
	for call in "write 1" "write 2" "sync 1" "sync 2"; do
		damage
		run -33 env MEDIUM_SIGNAL="$call" LD_PRELOAD="$medium" "$fsck" -a image
		run -0 "$fsck" -n image
	done
}

@test "SIGINT from outside while it waits for an answer" {
	make_volume
	damage
	cp image before
	mkfifo answers
	"$fsck" -r image <answers >out 2>err &
	pid=$!
	exec 5>answers
	for _ in $(seq 100); do
		! grep -q '12?q' out || break
		sleep 0.05
	done
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	exec 5>&-
	[ "$status" -eq 32 ]
	cmp image before
}

# ---- a terminal ----

terminal() { # terminal ANSWERS COMMAND: at a terminal of its own; its output to "shown"
	printf "%b" "$1" | script -qec "$2" shown >/dev/null
}

@test "-r at a terminal: prompts, answers, help, end of input" {
	make_volume
	damage
	cp image before
	run -1 terminal '?\n1\n1\n' "$fsck -r image"
	grep -q '1) Repair it (the size is now that of the chain)' shown
	grep -q '1) Write changes' shown
	run -0 "$fsck" -n image
	cp before image
	run -4 terminal '1\n2\n' "$fsck -r image"
	cmp image before
	run -4 terminal '2\n' "$fsck -r image"
	run -4 terminal 'q\n' "$fsck -r image"
	run -4 terminal '' "$fsck -r image"
	cmp image before
}

@test "a bar at a terminal once it takes long, and no trace of it afterwards" {
	make_volume
	run -0 terminal '' "env MEDIUM_SLOW=60 LD_PRELOAD=$medium $fsck -a -t image"
	grep -q 'reading all clusters \[#* *\]  *[0-9]*%' shown
	tr '\r' '\n' <shown | tail -3 >end
	run ! grep -q '\[#' end
	# not at a file, and not with -C FD
	run -0 env MEDIUM_SLOW=20 LD_PRELOAD="$medium" "$fsck" -n image
	[[ $output != *"["* ]]
}
