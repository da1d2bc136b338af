#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# kernel: repaired volumes in the eyes of Linux' vfat. It mounts each, reads all files, writes one, deletes
# it and one that was there, and unmounts; says nothing about it, and fsck.fat finds nothing afterwards.
bats_require_minimum_version 1.5.0

load ../boot/rig.bash

n_boot=200 # volumes before one boot

setup() {
	boot_prepare || skip "$boot_lacks"
	work=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	# shellcheck source=tests/foreign/volumes.inc
	. tests/foreign/volumes.inc
}

teardown() {
	[ -z "${boot_qemu-}" ] || kill -9 "$boot_qemu" 2>/dev/null || true
}

scenario() {
	cat <<-'EOF'
		fails() { say "bad $name: $* $(cat /tmp/err)"; }
		use() {
			find /mnt -type f -exec cat {} + 2>/tmp/err >/dev/null || fails read
			say "seen $name $(find /mnt | wc -l)"
			if echo new 2>/tmp/err >"/mnt/A new file.txt"; then
				echo new | cmp - "/mnt/A new file.txt" 2>/tmp/err || fails "read what was written"
				rm "/mnt/A new file.txt" 2>/tmp/err || fails delete
			else
				grep -q "No space left" /tmp/err || fails write
			fi
			find /mnt -type f | head -n 1 | while read -r file; do
				rm -f "$file" 2>/tmp/err || fails "delete $file"
			done
			umount /mnt 2>/tmp/err || fails unmount
		}
		dmesg -c >/dev/null
		while read -r name off; do
			losetup -o "$off" /dev/loop0 /dev/vda
			mount -t vfat -o utf8,iocharset=iso8859-1 /dev/loop0 /mnt 2>/tmp/err && use || fails mount
			losetup -d /dev/loop0
			dmesg -c | grep FAT-fs >/tmp/err && fails says
		done </volumes
	EOF
}

# All volumes of ./disk, which ./volumes lists.
boot_volumes() {
	local name off count
	boot_root "$work/root"
	scenario >"$work/root/scenario"
	cut -d ' ' -f 1,2 "$work/volumes" >"$work/root/volumes"
	boot_pack "$work/root"
	boot_start "$work/disk"
	BOOT_LIMIT=1800 boot_end
	tr -d '\r' <"$boot_console" | sed -n 's/^@ //p' >"$work/heard"
	sed -n 's/^bad //p' "$work/heard" >>"$work/bad"
	while read -r name off count; do
		grep -qx "seen $name $count" "$work/heard" || echo "$name: not $count entries" >>"$work/bad"
		"$FATWISE_BIN/fsck.fat" -n --offset $((off / 512)) "$work/disk" >"$work/said" ||
			{ echo "$name: left as" && cat "$work/said"; } >>"$work/bad"
	done <"$work/volumes"
	rm -rf "$work/disk" "$work/root" "$work/volumes"
}

# The volume $image, repaired, goes to the end of ./disk.
put_on_disk() {
	local off
	case $1 in R42b-*) return ;; esac # Linux reads the first FAT, whichever is the active one
	off=$(stat -c %s "$work/disk" 2>/dev/null || echo 0)
	dd if="$image" of="$work/disk" bs=1M seek=$((off >> 20)) conv=notrunc,sparse status=none
	truncate -s %1M "$work/disk"
	# the root counts, too
	echo "$1 $off $(($("$FATWISE_BIN/fsck.fat" -nl "$image" | grep -c '^Checking file /[^ (]') + 1))" >>"$work/volumes"
	n_all=$((n_all + 1))
	[ $((n_all % n_boot)) -ne 0 ] || boot_volumes
}

@test "Linux mounts repaired volumes, reads, writes and deletes, and has nothing to say" {
	n_all=0
	: >"$work/bad"
	each_repaired put_on_disk
	[ ! -e "$work/volumes" ] || boot_volumes
	echo "# $n_all volumes" >&3
	[ $n_all -ge 30 ]
	cat "$work/bad"
	[ ! -s "$work/bad" ]
}
