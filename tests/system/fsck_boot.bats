#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fsck.fat as boot scripts run it: behind util-linux' fsck, with systemd-fsck's and dracut's words, in an initramfs
# that has nothing but libc. In a mount namespace of its own, where /sbin/fsck.vfat is ours.
bats_require_minimum_version 1.5.0
load ../cli/kit

setup() {
	cd "$BATS_TEST_TMPDIR"
	export MTOOLS_SKIP_CHECK=1
	truncate -s 20M image
	"$FATWISE_BIN/mkfs.fat" -F 16 image >/dev/null
	echo hello >hello
	mcopy -i image hello ::/HELLO.TXT
}

teardown() {
	[ ! -e device ] || losetup -d "$(cat device)"
}

need_fsck() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	command -v fsck >/dev/null || skip "no util-linux fsck here"
	[ -e /usr/sbin/fsck.vfat ] || skip "no /usr/sbin/fsck.vfat to put ours over"
	unshare -m true 2>/dev/null || skip "no mount namespaces here"
	losetup -f --show image >device 2>/dev/null || { rm -f device; skip "no loop devices here"; }
	dev=$(cat device)
}

# As in the namespace of a system where fatwise is installed.
booted() {
	unshare -m sh -c '
		mount --make-rprivate / && mount --bind "$1" "$(readlink -f /usr/sbin/fsck.vfat)" || exit 99
		[ ! -e fstab ] || mount --bind fstab /etc/fstab || exit 99
		shift
		exec "$@"' sh "$FATWISE_BIN/fsck.fat" "$@"
}

# The size of the only file is a lie: found, and set right.
damage() {
	at=$(text_off 'HELLO   TXT' image)
	printf '\0\0\1\0' | dd of="${1-$dev}" bs=1 seek=$((at + 28)) conv=notrunc status=none
	sync "${1-$dev}"
}

# Nothing that tells where anything is.
ruin() {
	dd if=/dev/urandom of="$dev" bs=512 count=8 conv=notrunc status=none
	sync "$dev"
}

@test "fsck -T -t vfat -a: clean, repaired, clean again; the status goes through" {
	need_fsck
	run -0 booted fsck -T -t vfat -a "$dev"
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[0]} == "fsck.fat "* ]]
	[[ ${lines[1]} =~ ^$dev:\ 1\ files,\ 1/[0-9]+\ clusters$ ]]
	damage
	run -1 booted fsck -T -t vfat -a "$dev"
	[[ $output == *"/HELLO.TXT"* ]]
	run -0 booted fsck -T -t vfat -a "$dev"
	ruin
	run -8 booted fsck -T -t vfat -a "$dev"
}

@test "fsck finds the type by itself; -p, -y, -n and -f as callers combine them" {
	need_fsck
	some 4 "-a" "-p" "-y" "-n" "-a -f" "-y -f" "-n -f" "-C0 -a" "-C -a"
	for options in "${chosen[@]}"; do
		run -0 booted fsck -T $options "$dev"
		[[ ${lines[-1]} == "$dev: 1 files, "* ]]
	done
	damage
	run -1 booted fsck -T -n "$dev"
	run -1 booted fsck -T -y -f "$dev"
	run -0 booted fsck -T -n "$dev"
}

@test "fsck -A takes the volume from fstab, with its pass number" {
	need_fsck
	echo "$dev /mnt vfat defaults 0 2" >fstab
	run -0 booted fsck -A -T -a
	[[ $output == *"$dev: 1 files, "* ]]
	damage
	run -1 booted fsck -A -T -a -t vfat
	run -0 booted fsck -A -T -a -t vfat
	echo "$dev /mnt vfat defaults 0 0" >fstab
	run -0 booted fsck -A -T -a
	[[ $output != *"$dev"* ]]
}

@test "systemd-fsck's lines: -a -T -l -M -C<fd>, with -f, -y, -n" {
	need_fsck
	some 3 "-a" "-y" "-n" "-a -f" "-y -f"
	for options in "${chosen[@]}"; do
		booted fsck $options -T -l -M -C3 "$dev" 3>progress >out
		[[ $(tail -1 out) == "$dev: 1 files, "* ]]
	done
	damage
	run -1 booted fsck -a -T -l -M -C3 "$dev" 3>progress
	run -0 booted fsck -a -T -l -M -C3 "$dev" 3>progress
}

@test "dracut's line: fsck -M -T DEV -- -a; a mounted volume is left out with -M" {
	need_fsck
	run -0 booted fsck -M -T "$dev" -- -a
	[[ ${lines[-1]} == "$dev: 1 files, "* ]]
	damage
	run -1 booted fsck -M -T "$dev" -- -a
	run -0 booted fsck -M -T "$dev" -- -a
}

# Not `run ... <&-`: there the shell gives number 0 to the pipe that it reads the output from.
without_input() { sh -c 'exec "$@" <&-' sh "$@"; }

@test "standard input closed, as fsck closes it for several devices" {
	damage image
	run -1 without_input "$FATWISE_BIN/fsck.fat" -a image
	run -0 without_input "$FATWISE_BIN/fsck.fat" -a image
	damage image
	run -4 without_input "$FATWISE_BIN/fsck.fat" image
}

@test "stdout and stderr closed: the volume does not get the words" {
	damage image
	"$FATWISE_BIN/fsck.fat" -a image >&- 2>&- || [ $? -eq 1 ]
	run -0 "$FATWISE_BIN/fsck.fat" -n image
}

@test "a reader of the output that goes away does not stop a repair" {
	damage image
	"$FATWISE_BIN/fsck.fat" -a -v image 2>/dev/null | true
	sleep 0.2
	run -0 "$FATWISE_BIN/fsck.fat" -n image
}

# The libraries that a program needs, and the loader.
libraries() { ldd "$1" | grep -o '/[^ ]*'; }

@test "in an initramfs: nothing but libc, no environment, no /proc, no /dev, no locale" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	for library in $(libraries "$FATWISE_BIN/fsck.fat"); do
		[[ $library == */libc.so.6 || $library == */ld-linux* || $library == *asan* || $library == *ubsan* ]] || {
			echo "needs $library"
			return 1
		}
		mkdir -p "root$(dirname "$library")"
		cp -L "$library" "root$library"
	done
	mkdir -p root/sbin
	cp "$FATWISE_BIN/fsck.fat" root/sbin/fsck.vfat
	mv image root/volume
	run -0 env -i /usr/sbin/chroot root /sbin/fsck.vfat -a /volume
	[ "${#lines[@]}" -eq 2 ]
	cp root/volume image
	damage root/volume
	run -1 env -i /usr/sbin/chroot root /sbin/fsck.vfat -a -C 77 /volume
	run -0 env -i /usr/sbin/chroot root /sbin/fsck.vfat -n -c 437 /volume
	run -16 env -i /usr/sbin/chroot root /sbin/fsck.vfat -n -c 932 /volume
	[[ $output == *"Invalid codepage"* ]]
}
