#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# boot: a kernel of Debian's, in qemu, with fsck.fat in its initramfs and a damaged FAT partition. It
# checks, repairs, mounts and goes on as boot scripts do; and does so when the plug was pulled in
# mid-repair, or while the kernel was writing. The plug is qemu's: what the guest had sent is on the
# disk, in the order in which it was sent. tests/crash has the disks that keep writes back.
bats_require_minimum_version 1.5.0

load rig.bash

start_sec=2048 # of the partition

setup_file() {
	export MTOOLS_SKIP_CHECK=1
	cd "$BATS_FILE_TMPDIR" || return 1
	"$FATWISE_BIN/tests/recipes/recipe" compile "$BATS_TEST_DIRNAME/dirty.recipe" volume >/dev/null
	# what the files hold that a repair may not touch
	mkdir tree
	mcopy -s -n -i volume ::/ tree 2>/dev/null
	(cd tree && find . -type f -exec cksum {} + | sort) >sums
	[ "$(wc -l <sums)" -gt 50 ]
}

setup() {
	boot_prepare || skip "$boot_lacks"
	export MTOOLS_SKIP_CHECK=1
	cd "$BATS_TEST_TMPDIR" || return 1
	root=$BATS_TEST_TMPDIR/root
	boot_root "$root"
	echo "/dev/vda1 /boot vfat defaults 0 2" >"$root/etc/fstab"
	boot_put "$root" "$(readlink -f "$(PATH=$PATH:/sbin:/usr/sbin command -v fsck)")" /sbin/fsck
}

teardown() {
	[ -z "${boot_qemu-}" ] || kill -9 "$boot_qemu" 2>/dev/null || true
}

# disk VOLUME: ./disk with a partition table and the volume as its only partition.
disk() {
	local bytes
	bytes=$(stat -c %s "$1")
	truncate -s $((start_sec * 512 + bytes)) disk
	echo "$start_sec,,c" | PATH=$PATH:/sbin sfdisk -q disk
	dd if="$1" of=disk bs=1M seek=1 conv=notrunc,sparse status=none
}

# The files of the partition in ./disk are those of the tree, as they were.
files_are_whole() {
	rm -rf out
	mkdir out
	mcopy -s -n -i "disk@@$((start_sec * 512))" ::/ out
	(cd out && find . -type f ! -path './FOUND*' ! -name '*.REC' ! -name new.txt -exec cksum {} + | sort) |
		diff "$BATS_FILE_TMPDIR/sums" -
}

is_clean() { run -0 "$FATWISE_BIN/fsck.fat" -n --offset $start_sec disk; }

# What every boot script does; a guest that gets as far as "started" is up.
boot_script() {
	cat <<-'EOF'
		$CHECK
		status=$?
		say "fsck $status"
		if [ $status -ge 4 ]; then
			say "emergency"
		else
			mount -t vfat /dev/vda1 /boot && say "mounted $(grep -c ' /boot vfat rw' /proc/mounts)"
			echo new >/boot/new.txt
			umount /boot
			$CHECK
			say "again $?"
			say "started"
		fi
	EOF
}

scenario() {
	{
		echo "CHECK='$1'"
		boot_script
	} >"$root/scenario"
	boot_pack "$root"
}

goes_on() {
	boot_end
	for line in "mounted 1" "again 0" started; do
		boot_said "$line" || { boot_show && false; }
	done
	run ! boot_said "kernel .*(error|corrupt|not properly)"
	is_clean
	files_are_whole
	mtype -i "disk@@$((start_sec * 512))" ::/new.txt | grep -qx new
}

@test "a boot script's fsck -A -T -a (util-linux) repairs, mount -a goes on" {
	disk "$BATS_FILE_TMPDIR/volume"
	scenario "fsck -A -T -a"
	boot_start disk
	goes_on
	boot_said "fsck 1"
}

@test "an initramfs of busybox alone calls fsck.vfat -a -w itself" {
	disk "$BATS_FILE_TMPDIR/volume"
	rm "$root/sbin/fsck"
	scenario "fsck.vfat -a -w /dev/vda1"
	boot_start disk
	goes_on
	boot_said "fsck 1"
}

@test "systemd-fsck repairs, and takes a clean volume for clean" {
	[ -x /lib/systemd/systemd-fsck ] || skip "no systemd here"
	disk "$BATS_FILE_TMPDIR/volume"
	boot_put "$root" /lib/systemd/systemd-fsck
	scenario "/lib/systemd/systemd-fsck /dev/vda1"
	boot_start disk
	goes_on
	boot_said "fsck 0" # "nothing but bit 1" is success to it
	grep -q "is corrected\|FSCK0000.REC\|saved as" "$boot_console"
}

@test "what no boot may decide leads to the emergency shell, unchanged and unmounted" {
	cp "$BATS_FILE_TMPDIR/volume" volume
	dd if=/dev/zero of=volume bs=512 count=8 conv=notrunc status=none # both boot sectors
	disk volume
	cp --sparse=always disk before
	scenario "fsck -T -t vfat -a /dev/vda1"
	boot_start disk
	boot_end
	boot_said emergency
	run ! boot_said mounted
	cmp disk before
}

# blocks_changed: blocks of 4 KiB that differ from ./before, at the start of ./disk with the FATs.
blocks_changed() {
	cmp -l -n 8M disk before | awk '{ block[int(($1 - 1) / 4096)] } END { for (b in block) n++; print n + 0 }'
}

has_changed() { [ "$(blocks_changed)" -ge "$1" ]; }

@test "cut in mid-repair and booted again: repaired, mounted, nothing lost" {
	disk "$BATS_FILE_TMPDIR/volume"
	cp --sparse=always disk before
	scenario "fsck -A -T -a"
	for writes in 1 10 40 70 100; do
		cp --sparse=always before disk
		# slow enough to be seen at work
		boot_start disk throttling.iops-write=12
		boot_until has_changed $writes
		boot_cut
		run ! boot_said fsck # it was at work
		echo "# cut with $(blocks_changed) blocks written" >&3
		run -1 "$FATWISE_BIN/fsck.fat" -n --offset $start_sec disk
		files_are_whole
		boot_start disk
		goes_on
		boot_said "fsck 1"
	done
}

@test "power cut while the kernel writes: after our check every synced file is whole" {
	"$FATWISE_BIN/mkfs.fat" -F 32 -C fresh 70000 >/dev/null
	disk fresh
	cp --sparse=always disk before
	cat >"$root/scenario" <<-'EOF'
		mount -t vfat /dev/vda1 /boot
		i=0
		while :; do
			i=$((i + 1))
			name="folder $((i % 5))/synced file number $i.bin"
			mkdir -p "/boot/folder $((i % 5))"
			head -c $((i * 7001 % 90000 + 1)) /dev/urandom >"/boot/$name"
			sum=$(md5sum <"/boot/$name")
			sync
			say "synced ${sum%% *} $name"
			head -c $((i * 3001 % 60000)) /dev/urandom >/boot/unsynced$i
			mv /boot/unsynced$i "/boot/folder $((i % 5))/moved $i"
			rm -f "/boot/folder $(((i - 3) % 5))/moved $((i - 3))"
		done
	EOF
	boot_pack "$root"
	for files in 2 6 13 21; do
		cp --sparse=always before disk
		boot_start disk throttling.iops-write=60
		has_synced() { [ "$(grep -c '^@ synced' "$boot_console")" -ge "$1" ]; }
		boot_until has_synced $files
		sleep 0.$files # into whatever it does then
		boot_cut
		run "$FATWISE_BIN/fsck.fat" -a --offset $start_sec disk
		[ "$status" -eq 1 ] # marked dirty, at the least
		is_clean
		rm -rf out
		mkdir out
		mcopy -s -n -i "disk@@$((start_sec * 512))" ::/ out
		sed -n 's/\r$//; s/^@ synced //p' "$boot_console" | sed '$d' >synced # the last line may be cut
		[ "$(wc -l <synced)" -ge $((files - 1)) ]
		while read -r sum name; do
			[ "$(md5sum <"out/$name")" = "$sum  -" ] || { echo "$name after $files files"; false; }
		done <synced
		echo "# $(wc -l <synced) synced files are whole" >&3
	done
}

@test "mkfs.fat on a partition knows where it starts" {
	disk "$BATS_FILE_TMPDIR/volume"
	cat >"$root/scenario" <<-'EOF'
		mkfs.fat -F 32 -n BOOT -s 8 /dev/vda1
		say "mkfs $?"
		fsck.fat -n /dev/vda1
		say "check $?"
		say "label $(fatlabel /dev/vda1)"
		mount -t vfat /dev/vda1 /boot && say "mounted"
		umount /boot
		fatlabel /dev/vda1 OTHER
		say "label $(fatlabel /dev/vda1)"
	EOF
	boot_pack "$root"
	boot_start disk
	boot_end
	for line in "mkfs 0" "check 0" "label BOOT" mounted "label OTHER"; do
		boot_said "$line" || { boot_show && false; }
	done
	at=$((start_sec * 512))
	[ "$(od -An -tu4 -j $((at + 28)) -N4 disk | tr -d ' ')" = $start_sec ] # hidden sectors
	# whole clusters from the start of the disk to the data
	reserved=$(od -An -tu2 -j $((at + 14)) -N2 disk) fat=$(od -An -tu4 -j $((at + 36)) -N4 disk)
	[ $(((start_sec + reserved + 2 * fat) % 8)) -eq 0 ]
}
