#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mkfs.fat as other programs call it, by their names: the command line is accepted, gives the volume
# that the caller wants, and prints what it parses.

bats_require_minimum_version 1.5.0
load ../cli/kit
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir -p bin tree/EFI/BOOT
	for name in mkfs.fat mkdosfs mkfs.msdos mkfs.vfat; do
		ln -s "$FATWISE_BIN/mkfs.fat" "bin/$name"
	done
	head -c 70000 /dev/urandom >tree/EFI/BOOT/BOOTX64.EFI
	echo text >"tree/a long name.text"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$BATS_FILE_TMPDIR/tree" tree
	PATH=$BATS_FILE_TMPDIR/bin:$FATWISE_BIN:$PATH:/sbin:/usr/sbin
	unset SOURCE_DATE_EPOCH MTOOLS_SKIP_CHECK
	export LC_ALL=C.UTF-8 TZ=UTC
}

teardown() {
	[ ! -e loop ] || losetup -d "$(cat loop)" 2>/dev/null || true
}

image() { truncate -s "${2:-64M}" "$1"; }

# attach FILE [OPTION...]: a loop device for it, in $loop; skips where there is none to be had
attach() {
	[ "$(id -u)" -eq 0 ] || skip "only root attaches loop devices"
	loop=$(losetup -f --show "${@:2}" "$1" 2>/dev/null) || skip "no loop device"
	echo "$loop" >loop
}

# field IMAGE OFFSET WIDTH: a number of the boot sector
field() { od -An -v -j "$2" -N "$3" -t "u$3" "$1" | tr -d ' '; }

# is_fat TYPE IMAGE [LABEL [ID]]: a volume of that type, sound, that fills its space
is_fat() {
	local at=54 label_at=43 id_at=39
	[ "$1" -ne 32 ] || { at=82 label_at=71 id_at=67; }
	[ "$(dd if="$2" bs=1 skip=$at count=8 status=none)" = "FAT$1   " ]
	run -0 fsck.fat -n "$2"
	if [ -x /usr/sbin/fsck.fat ]; then run -0 /usr/sbin/fsck.fat -n "$2"; fi
	[ -z "${3-}" ] || [ "$(fatlabel "$2")" = "$3" ]
	[ -z "${3-}" ] || [ "$(dd if="$2" bs=1 skip=$label_at count=11 status=none)" = "$(printf %-11s "$3")" ]
	[ -z "${4-}" ] || [ "$(field "$2" $id_at 4)" -eq $((0x$4)) ]
}

# takes_files IMAGE: mcopy, which is particular about geometry, fills it and reads it back
takes_files() {
	command -v mcopy >/dev/null || return 0
	mcopy -i "$1" -s -p -Q -m tree/* ::
	mcopy -i "$1" ::/EFI/BOOT/BOOTX64.EFI - | cmp - tree/EFI/BOOT/BOOTX64.EFI
}

@test "systemd-makefs and repart: an ESP, quiet, the same each time, then mcopy" {
	export SOURCE_DATE_EPOCH=1700000000
	for sector in 512 4096; do
		rm -f one two
		image one $((sector * 75))K && image two $((sector * 75))K
		for file in one two; do
			run -0 --separate-stderr mkfs.vfat -i 1a2b3c4d -n ESP -F 32 -S $sector $file
			[ -z "$stderr" ]
		done
		cmp -n 4194304 one two # as far as there is anything
		is_fat 32 one ESP 1a2b3c4d
		[ "$(field one 11 2)" -eq $sector ]
		takes_files one
	done
	rm one
	image one 40M
	mkfs.vfat -i 1a2b3c4d -n ESP -F 32 one >&-
	run -0 --separate-stderr bash -c 'mkfs.vfat -i 1a2b3c4d -n ESP -F 32 one >/dev/null'
	[ -z "$stderr" ]
}

@test "mkosi: mtools at an offset of the image" {
	image a 70M
	mkfs.vfat -n ESP -F 32 --offset 2048 a 40960 2>/dev/null
	command -v mcopy >/dev/null || skip "no mtools"
	mmd -D s -i a@@1048576 ::/loader
	mcopy -o -i a@@1048576 "tree/a long name.text" ::/loader
	[ "$(mtype -i a@@1048576 "::/loader/a long name.text")" = text ]
}

@test "libblockdev, udisks: the probe of --help, then with and without --mbr" {
	run -0 mkfs.vfat --help
	[[ $output =~ mkfs\.fat[[:space:]]+([0-9.]+).+ ]]
	[[ ${BASH_REMATCH[1]} =~ ^(4\.([2-9]|[1-9][0-9])|[5-9]) ]]
	image a
	run -0 --separate-stderr mkfs.vfat -n LABEL -i 2E24EC82 -I --mbr=no a
	[ -z "$stderr" ]
	is_fat 16 a LABEL 2E24EC82
	[ "$(field a 450 1)" -eq 0 ] # the type of a partition
	run -0 mkfs.vfat -I --mbr=y a
	[ "$(field a 450 1)" -eq 6 ]
	is_fat 16 a
}

@test "libguestfs: the probe without arguments, then -s" {
	run -1 --separate-stderr mkfs.fat
	[[ $stderr == *"--mbr[="* ]]
	image a
	run -0 mkfs.vfat -I --mbr=n -s 8 -n LABEL a
	is_fat 16 a LABEL
	[ "$(field a 13 1)" -eq 8 ]
}

@test "GParted: -F16 -v -I -n" {
	image a
	run -0 mkfs.fat -F16 -v -I -n LABEL a
	is_fat 16 a LABEL
	run -0 mkfs.fat -F32 -v -I a
	is_fat 32 a
}

@test "KDE Partition Manager, Calamares: everything attached" {
	image a 300M
	run -0 mkfs.fat -S512 -s8 -F32 -I -v a
	is_fat 32 a
	run -0 mkfs.fat -S4096 -s1 -F32 -I -v a
	is_fat 32 a
	run -0 mkfs.fat -F16 -I -v a
	is_fat 16 a
	truncate -s 10M a
	run -0 mkfs.fat -F12 -I -v a
	is_fat 12 a
}

@test "curtin: one sector a cluster where blocks are large, the UUID by blkid" {
	image a 300M
	attach a -b 4096
	run -0 --separate-stderr mkfs.vfat -S 4096 -s 1 -I -n efi -F 32 "$loop"
	is_fat 32 "$loop" efi
	[ "$(field "$loop" 11 2)" -eq 4096 ]
	[ "$(field "$loop" 13 1)" -eq 1 ]
	command -v blkid >/dev/null || skip "no blkid"
	uuid=$(blkid -p -o value -s UUID "$loop")
	[ "$((0x${uuid/-/}))" -eq "$(field "$loop" 67 4)" ]
	[ "$(blkid -p -o value -s LABEL "$loop")" = efi ]
}

@test "curtin: FAT12 and FAT16" {
	image a 16M
	run -0 mkfs.vfat -I -n cidata -F 16 a
	is_fat 16 a cidata
	truncate -s 4M a
	run -0 mkfs.vfat -I -F 12 a
	is_fat 12 a
}

@test "snapd: 512 and 1, then mcopy -s" {
	image a 80M
	run -0 mkfs.vfat -S 512 -s 1 -F 32 -n ubuntu-seed a
	is_fat 32 a ubuntu-seed
	[ "$(field a 13 1)" -eq 1 ]
	command -v mcopy >/dev/null || skip "no mtools"
	mcopy -s -i a tree/EFI "tree/a long name.text" ::
	[ "$(mtype -i a "::/a long name.text")" = text ]
	# what goes wrong is in what snapd shows
	run -1 mkfs.vfat -S 512 -s 1 -F 32 -n "much too long a label" a
	[[ $output == *"no longer than 11 characters"* ]]
}

@test "osbuild: an id, a geometry; and a y on standard input" {
	image a 100M
	run -0 mkfs.fat -I -i 7B7795E7 -n EFI -F 16 -g 16/63 a
	is_fat 16 a EFI 7B7795E7
	[ "$(field a 26 2)" -eq 16 ]
	[ "$(field a 24 2)" -eq 63 ]
	[ $(($(field a 32 4) % 63)) -eq 0 ]
	image b 100M
	run -0 mkfs.fat -n ANACONDA b <<<y
	is_fat 16 b ANACONDA
	run -0 mkfs.fat -n ANACONDA b <<<y
}

@test "OE-Core: -C, the id behind the operands, then mcopy" {
	run -0 mkdosfs -F 32 -n BOOT -S 512 -C hdd.img 70000 -i 0a1b2c3d
	is_fat 32 hdd.img BOOT 0a1b2c3d
	[ "$(stat -c %s hdd.img)" -eq $((70000 * 1024)) ]
	run -1 mkdosfs -F 32 -n BOOT -S 512 -C hdd.img 70000
	[[ $output == *"already exists"* ]]
	is_fat 32 hdd.img BOOT 0a1b2c3d
	run -0 mkfs.vfat -S 512 -C rootfs.vfat 8200
	command -v mcopy >/dev/null || skip "no mtools"
	mcopy -i rootfs.vfat -vsmpQ tree/* ::/
	is_fat 12 rootfs.vfat
}

@test "meta-balena: -C with and without -F 32" {
	run -0 mkfs.vfat -n resin-boot -S 512 -C boot.img 40960
	is_fat 16 boot.img resin-boot
	run -0 mkfs.vfat -n resin-boot -S 512 -C -F 32 boot32.img 40960
	is_fat 32 boot32.img resin-boot
}

@test "genimage: a file of a fixed size, no more, then mmd and mcopy" {
	image a 32M
	run -0 bash -c "mkdosfs -F 16 -s 1 -n 'boot' 'a'"
	[ "$(stat -c %s a)" -eq 33554432 ]
	is_fat 16 a boot
	command -v mcopy >/dev/null || skip "no mtools"
	MTOOLS_SKIP_CHECK=1 mmd -DsS -i a '::EFI'
	MTOOLS_SKIP_CHECK=1 mcopy -sp -i a "tree/a long name.text" '::'
	[ "$(mtype -i a "::/a long name.text")" = text ]
}

@test "archiso: -C, stdout thrown away, FAT32 from 36864 KiB" {
	run -0 --separate-stderr bash -c 'mkfs.fat -C -n ARCHISO_EFI -F 32 efi32.img 36864 >/dev/null'
	[ -z "$output$stderr" ]
	is_fat 32 efi32.img ARCHISO_EFI
	run -0 --separate-stderr bash -c 'mkfs.fat -C -n ARCHISO_EFI efi.img 20480 >/dev/null'
	[ -z "$output$stderr" ]
	is_fat 16 efi.img ARCHISO_EFI
}

@test "pi-gen and NOOBS: a label in small letters" {
	image a 512M
	run -0 mkdosfs -n bootfs -F 32 -s 4 -v a
	is_fat 32 a bootfs
	[ "$(field a 13 1)" -eq 4 ]
	truncate -s 30M a
	run -0 mkdosfs -n bootfs -F 16 -s 1 -v a
	is_fat 16 a bootfs
	takes_files a
}

@test "NixOS: --invariant with 0x in front of the id; a partition's ESP" {
	image a 30M && image b 30M
	run -0 mkfs.vfat --invariant -i 0x2178694e -n FIRMWARE a
	run -0 mkfs.vfat --invariant -i 0x2178694e -n FIRMWARE b
	cmp a b
	is_fat 16 a FIRMWARE 2178694e
	run -0 mkfs.vfat -n ESP a
}

@test "disko: where blkid finds nothing, extra arguments first" {
	image a 500M
	command -v blkid >/dev/null || skip "no blkid"
	run ! blkid -p -o value -s TYPE a
	run -0 mkfs.vfat -F 32 -n BOOT a
	[ "$(blkid -p -o value -s TYPE a)" = vfat ]
	[ "$(blkid -p -o value -s LABEL_FATBOOT a)" = BOOT ]
	is_fat 32 a BOOT
}

@test "OpenWrt: --invariant, -S behind the file" {
	run -0 mkfs.fat --invariant -n kernel -C kernel.img -S 512 20480
	is_fat 16 kernel.img kernel 1234ABCD
	takes_files kernel.img
}

@test "kiwi: -F32 -I -n" {
	image a 100M
	run -0 mkdosfs -F32 -I -n EFI a
	is_fat 32 a EFI
}

@test "U-Boot: truncate, each type on whatever size, then mcopy -vsmpQ" {
	some 2 12:1M 12:16M 16:16M 16:64M 32:64M 32:128M
	for case in "${chosen[@]}"; do
		rm -f a
		image a ${case#*:}
		run -0 mkfs.vfat -F ${case%:*} a
		is_fat ${case%:*} a
		takes_files a
	done
}

# FAT12 and FAT16 of a few thousand clusters, FAT32 of as many as it takes; each pair at one width.
@test "GRUB's tests: each sector size with each cluster size" {
	local clusters=([12]=3000 [16]=9000 [32]=67500) types=(12 16 32) turn=0 type pair S s
	some 5 {512,1024,2048,4096}:{1,2,4,8,16,32,64,128}
	for pair in "${chosen[@]}"; do
		S=${pair%:*} s=${pair#*:} type=${types[turn++ % 3]}
		rm -f a
		truncate -s $(((clusters[type] + 8) * S * s + 65536)) a
		mkfs.vfat -q -S "$S" -F "$type" -s "$s" -n 'G~!@#$%^&(_' a
		[ "$(field a 11 2)" -eq "$S" ]
		[ "$(field a 13 1)" -eq "$s" ]
		fsck.fat -n a >/dev/null
	done
}

@test "EVE, ReaR, installers: attached values, hexadecimal numbers with 0x" {
	image a 300M
	run -0 mkfs.fat -F32 -nEFI -f 2 -I -s 2 a
	is_fat 32 a EFI
	run -0 mkfs.fat -S 4096 -r 512 -D0x80 -M0xF8 -i 0x0000D105 a
	is_fat 16 a "" D105
	[ "$(field a 36 1)" -eq 128 ]
	[ "$(field a 21 1)" -eq 248 ]
	[ "$(field a 17 2)" -ge 512 ]
	run -0 mkfs.msdos -i 1234-ABCD a
	is_fat 16 a "" 1234ABCD
}
