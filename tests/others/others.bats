#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# others: other programs in front of ours and behind them, the real ones of Debian. Ours are installed
# under all their names and come first in PATH.
bats_require_minimum_version 1.5.0

repo=$BATS_TEST_DIRNAME/../..

setup_file() {
	make -s -C "$repo" O="$O" DESTDIR="$BATS_FILE_TMPDIR" PREFIX=/p install >/dev/null 3>&-
}

setup() {
	export PATH=$BATS_FILE_TMPDIR/p/sbin:$PATH:/usr/sbin:/sbin
	unset MTOOLS_SKIP_CHECK # mtools is to be content without it
	cd "$BATS_TEST_TMPDIR" || return 1
	loop=
}

teardown() {
	[ -z "$loop" ] || losetup -d "$loop"
}

needs() {
	local program
	for program; do
		[ -n "$(type -P "$program")" ] || [ -x "$program" ] || skip "no $program here"
	done
}

# attach FILE: as $loop
attach() {
	[ "$(id -u)" -eq 0 ] || skip "only root has loop devices"
	loop=$(losetup -f --show "$1" 2>&1) || { loop='' && skip "no loop devices here"; }
}

is_clean() { run -0 fsck.fat -n "$@"; }

@test "mtools: all sizes and types that mkfs.fat makes are read and filled, and fsck.fat is content" {
	head -c 3000 /dev/urandom >small
	head -c 60000 /dev/urandom >large
	for make in "-F 12 -C image 1440" "-F 12 -C image 360" "-F 12 -C image 5003" "-F 16 -C image 20011" \
		"-F 16 -s 32 -C image 100003" "-F 32 -s 1 -C image 40001" "-F 32 -s 64 -C image 3000000" \
		"-F 32 -S 4096 -s 1 -C image 300000" "-a -F 16 -C image 30000" "-f 1 -r 32 -F 12 -C image 720"; do
		rm -f image
		# shellcheck disable=SC2086 # words
		mkfs.fat $make >/dev/null
		mmd -i image "::/a folder with a long name"
		mcopy -i image small "::/a folder with a long name/small one.txt"
		mcopy -i image large ::/LARGE.BIN
		mmove -i image ::/LARGE.BIN "::/a folder with a long name/"
		mren -i image "::/a folder with a long name/small one.txt" "other.txt"
		mattrib -i image +h "::/a folder with a long name/other.txt"
		mlabel -i image "::MTOOLS"
		is_clean image
		mcopy -n -i image "::/a folder with a long name/other.txt" back
		cmp small back
		[ "$(fatlabel image)" = MTOOLS ]
		mdeltree -i image "::/a folder with a long name"
		is_clean image
		minfo -i image :: >/dev/null
	done
}

@test "mtools: what mformat makes is clean to fsck.fat, and fatlabel names it" {
	for geometry in "-f 1440" "-f 720" "-t 80 -h 4 -s 32" "-F -t 600 -h 16 -s 63"; do
		rm -f image
		# shellcheck disable=SC2086 # words
		mformat -C -i image $geometry -v MADEBYM ::
		mcopy -i image "$repo/README.md" ::
		is_clean image
		[ "$(fatlabel image)" = MADEBYM ]
		fatlabel image OURS
		mlabel -s -i image :: | grep -q OURS
	done
}

@test "mtools: a volume inside a larger image, by offset" {
	truncate -s 60M image
	mkfs.fat -F 32 --offset 2048 image >/dev/null
	mcopy -i image@@1M "$repo/LICENSE" ::
	is_clean --offset 2048 image
	mtype -i image@@1M ::LICENSE | cmp - "$repo/LICENSE"
}

@test "blkid: type, label, id and sizes as they were asked for" {
	for bits in 12 16 32; do
		rm -f image
		mkfs.fat -F $bits -n "A LABEL" -i 1234abcd -C image 40000 >/dev/null
		run -0 blkid -p -o export image
		for line in TYPE=vfat "LABEL=A\\ LABEL" UUID=1234-ABCD VERSION=FAT$bits SEC_TYPE=msdos; do
			[ "$line$bits" = SEC_TYPE=msdos32 ] || grep -qxF "$line" <<<"$output"
		done
		fatlabel image OTHER
		[ "$(blkid -p -s LABEL -o value image)" = OTHER ]
		fatlabel -i image 0BADCAFE
		[ "$(blkid -p -s UUID -o value image)" = 0BAD-CAFE ]
		fatlabel image --reset
		[ -z "$(blkid -p -s LABEL -o value image)" ]
	done
}

@test "wipefs: finds our volume, takes it away, and mkfs.fat leaves no trace of another" {
	needs wipefs mkfs.ext4
	mkfs.fat -F 32 -C image 40000 >/dev/null
	run -0 wipefs --noheadings -O TYPE image
	[ "$(sort -u <<<"$output")" = vfat ]
	wipefs -q -a image
	run ! blkid -p image
	run ! fsck.fat -n image
	mkfs.ext4 -q -F image
	run -1 mkfs.fat -F 32 image </dev/null
	[ "$(blkid -p -s TYPE -o value image)" = ext4 ]
	mkfs.fat -I -F 32 image >/dev/null
	run -0 wipefs --noheadings -O TYPE image
	[ "$(sort -u <<<"$output")" = vfat ]
}

@test "util-linux fsck and mkfs in front: types by name and by themselves, exit codes added up" {
	needs /sbin/fsck
	mkfs -t vfat -F 32 -C clean 40000 >/dev/null
	[ "$(blkid -p -s TYPE -o value clean)" = vfat ]
	cp clean dirty
	printf '\1' | dd of=dirty bs=1 seek=65 conv=notrunc status=none # marked dirty
	cp clean broken
	cp dirty again
	dd if=/dev/zero of=broken bs=512 count=8 conv=notrunc status=none
	run -0 fsck -T -t vfat "$PWD/clean" -a
	[[ $output == *"/clean: "*" clusters"* ]]
	run -0 fsck -T "$PWD/clean" -n # by blkid
	[[ $output == *"/clean: "*" clusters"* ]]
	run -1 fsck -T -t msdos "$PWD/dirty" -a
	run -0 fsck -T -t vfat "$PWD/dirty" -a
	run -8 fsck -T -t vfat "$PWD/broken" -a
	run -9 fsck -T -t vfat "$PWD/broken" "$PWD/again" -a
	attach clean
	printf '%s /nowhere vfat defaults 0 2\n' "$loop" >fstab
	FSTAB_FILE=$PWD/fstab run -0 fsck -A -T -a
	[[ $output == *"$loop: "*" clusters"* ]]
	printf '\1' | dd of="$loop" bs=1 seek=65 conv=notrunc status=none
	FSTAB_FILE=$PWD/fstab run -1 fsck -A -T -M -a
	FSTAB_FILE=$PWD/fstab run -0 fsck -A -T -M -a -f
}

@test "libblockdev (udisks, Cockpit, Anaconda): makes, checks, repairs, labels, asks for space" {
	/usr/bin/python3 -c 'import gi; gi.require_version("BlockDev", "2.0"); from gi.repository import BlockDev' \
		2>/dev/null || skip "no libblockdev 2 for python here"
	truncate -s 64M image
	attach image
	run -0 --separate-stderr /usr/bin/python3 "$BATS_TEST_DIRNAME/blockdev.py" "$loop"
	id=$(sed -nE '2s/^FROMBD ([0-9A-F]{4}-[0-9A-F]{4}) .*/\1/p' <<<"$output")
	diff - <(echo "$output") <<-EOF
		True
		FROMBD $id 2048 32695 32695
		True True True
		other $id 2048 32695 32695
		True
		 $id 2048 32695 32695
		True
	EOF
	run ! blkid -p "$loop"
}

@test "GParted's command lines, as it gives them, on a device" {
	truncate -s 300M image
	attach image
	run -0 mkfs.fat -F32 -v -I -n GPARTED "$loop"
	run -0 fatlabel --version
	[[ $output =~ fatlabel\ [0-9]+\.[0-9]+ ]]
	[ "$(fatlabel "$loop" | tail -n 1)" = GPARTED ]
	run -0 fatlabel "$loop" NEWNAME
	run -0 mlabel -c -i "$loop" ::
	[ -z "$(fatlabel "$loop")" ]
	run -0 mlabel -s -n -i "$loop" ::
	run -0 fsck.fat -a -w -v "$loop"
	[[ $output == *"bytes per cluster"* ]]
	run -0 mkfs.fat -F16 -v -I "$loop"
	run -0 fsck.fat -a -w -v "$loop"
	run -0 minfo -i "$loop" ::
	run -0 mdir -f -i "$loop" ::
}

@test "systemd-repart makes an EFI system partition, systemd-makefs a volume" {
	needs systemd-repart /lib/systemd/systemd-makefs
	[ "$(id -u)" -eq 0 ] || skip "only root has loop devices"
	mkdir defs
	printf '[Partition]\nType=esp\nFormat=vfat\nSizeMinBytes=64M\nLabel=ESP\n' >defs/10-esp.conf
	run -0 systemd-repart --empty=create --size=200M --dry-run=no --definitions=defs image
	start=$(sfdisk -q -l -o Start image | tail -n 1 | tr -d " ")
	is_clean --offset "$start" image
	[ "$(blkid -p -O $((start * 512)) -s TYPE -o value image)" = vfat ]
	[ "$(blkid -p -O $((start * 512)) -s LABEL -o value image)" = ESP ]
	truncate -s 64M volume
	run -0 /lib/systemd/systemd-makefs vfat volume
	is_clean volume
	cp volume before
	run -0 /lib/systemd/systemd-makefs vfat volume # there is one already
	cmp volume before
}

@test "udev: a disk gets what fatadvise --hwdb wrote for its kind, by the rule that is installed" {
	needs udevadm systemd-hwdb unshare
	[ "$(id -u)" -eq 0 ] || skip "only root can put its own folder in place of /etc/udev"
	unshare -m true 2>/dev/null || skip "no mount namespaces here"
	disk=$(ls /sys/block | head -n 1)
	[ -n "$disk" ] || skip "no disk here"
	mkdir -p udev/rules.d udev/hwdb.d
	cp "$BATS_FILE_TMPDIR/p/lib/udev/rules.d/90-fatadvise.rules" udev/rules.d/
	# what udev's own rules would have found
	echo "KERNEL==\"$disk\", ENV{ID_VENDOR}=\"Some_Maker\", ENV{ID_MODEL}=\"A-1_Stick\"" >udev/rules.d/61-test.rules
	fatadvise -q --simulate old-stick --record measured 2>/dev/null
	sed -i 's/^model .*/model Some Maker A-1 Stick/' measured
	fatadvise --replay measured --hwdb 2>/dev/null |
		sed -E "s/^(fatadvise:.*:)[0-9]+/\1$(cat "/sys/block/$disk/size")/" >udev/hwdb.d/90-fatadvise.hwdb
	run -0 unshare -m sh -c "mount --bind udev /etc/udev && systemd-hwdb update && udevadm test -a add /sys/block/$disk 2>&1"
	[[ $output == *FATADVISE_ERASE_BLOCK_BYTES=4194304* ]]
	[[ $output == *"FATADVISE_MKFS=-F 32 -s 128"* ]]
}
