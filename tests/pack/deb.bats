#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deb: the Debian package is built, lintian finds no error in it, and in a root of its own it takes the
# place of dosfstools, is found by mkfs and fsck, and goes again. As root, with debootstrap and the
# network; PACK_ROOT=FOLDER gives a Debian root to copy instead.
bats_require_minimum_version 1.5.0

repo=$BATS_TEST_DIRNAME/../..

setup_file() {
	local program
	lacks=
	for program in dpkg-buildpackage dh lintian; do
		command -v $program >/dev/null || lacks="no $program here"
	done
	[ -n "$lacks" ] || lacks=$(dpkg-checkbuilddeps -P nocheck "$repo/packaging/debian/control" 2>&1 | tail -n 1)
	export lacks
	[ -z "$lacks" ] || return 0
	DEB_BUILD_OPTIONS=nocheck make -s -C "$repo" deb >/dev/null 3>&-
	deb=$(ls "$repo"/build/deb/fatwise_*_*.deb)
	export deb
	make_root
}

# $root: a Debian system with dosfstools; none where that cannot be had.
make_root() {
	root_lacks=''
	if [ "$(id -u)" -ne 0 ]; then
		root_lacks="only root can have a root of its own"
	elif [ -n "${PACK_ROOT-}" ]; then
		cp -a "$PACK_ROOT" "$BATS_FILE_TMPDIR/root"
	elif ! PATH=$PATH:/usr/sbin debootstrap --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" \
		"$BATS_FILE_TMPDIR/root" >"$BATS_FILE_TMPDIR/log" 2>&1 3>&-; then
		root_lacks="debootstrap made no root: $(tail -n 1 "$BATS_FILE_TMPDIR/log")"
	fi
	root=$BATS_FILE_TMPDIR/root
	if [ -z "$root_lacks" ]; then
		cp /etc/resolv.conf "$root/etc/"
		cp "$deb" "$root/fatwise.deb"
		inside "apt-get update && apt-get install -y --no-install-recommends dosfstools initramfs-tools" \
			>"$BATS_FILE_TMPDIR/log" 2>&1 || root_lacks="dosfstools cannot be installed in the root"
	fi
	export root root_lacks
}

inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/ LC_ALL=C \
		chroot "$root" sh -c "$1" </dev/null 3>&-
}

setup() {
	[ -z "$lacks" ] || skip "$lacks"
}

needs_root() {
	[ -z "$root_lacks" ] || skip "$root_lacks"
}

@test "lintian finds no error, and no warning" {
	run lintian --allow-root --tag-display-limit 0 "$repo"/build/deb/fatwise_*.changes
	[ "$status" -eq 0 ]
	run ! grep -E '^[EW]: ' <<<"$output"
}

@test "built twice it is the same" {
	cp "$deb" "$BATS_TEST_TMPDIR/first.deb"
	DEB_BUILD_OPTIONS=nocheck make -s -C "$repo" deb >/dev/null 3>&-
	cmp "$deb" "$BATS_TEST_TMPDIR/first.deb"
}

@test "it takes dosfstools' place, and every name is there" {
	needs_root
	inside "dpkg -s dosfstools" | grep -q '^Status: install ok installed'
	run -0 inside "apt-get install -y /fatwise.deb"
	run ! inside "dpkg -s dosfstools"
	for name in mkfs.fat mkdosfs mkfs.msdos mkfs.vfat fsck.fat dosfsck fsck.msdos fsck.vfat fatlabel \
		dosfslabel fatundo fatadvise; do
		run inside "$name --help 2>&1"
		[[ $output == *"Usage: "*" [OPTIONS]"* ]] || { echo "$name: $output"; false; }
	done
	# who needs dosfstools is content
	run -0 inside "apt-get check"
	[[ $(inside "dpkg -s fatwise") == *"Provides: dosfstools (= "* ]]
	run -0 inside "dpkg -V fatwise"
	[ -z "$output" ]
}

@test "mkfs -t vfat and fsck -t vfat find ours" {
	needs_root
	run -0 inside "rm -f /image; truncate -s 40M /image && mkfs -t vfat -F 32 --stats /image 2>&1"
	[[ $output == *"mkfs.fat $(sed -n 's/^VERSION := //p' "$repo/Makefile") "* && $output == *flushes* ]]
	run -0 inside "fsck -t vfat /image -v 2>&1"
	[[ $output == *"fsck.fat $(sed -n 's/^VERSION := //p' "$repo/Makefile") "* && $output == *"bytes per cluster"* ]]
	run -0 inside "fsck -t msdos -n /image"
}

@test "an initramfs has fsck.fat under the names that fsck looks for, and its libraries" {
	needs_root
	inside "mkdir -p /lib/modules/1.0 && touch /lib/modules/1.0/modules.order /lib/modules/1.0/modules.builtin &&
		echo CONFIG_RD_GZIP=y >/boot/config-1.0; depmod 1.0; mkinitramfs -o /initrd 1.0" >&2
	run -0 inside "lsinitramfs /initrd"
	for name in fsck.fat fsck.vfat fsck.msdos; do
		grep -qE "^(usr/)?sbin/$name\$" <<<"$output"
	done
	grep -q libc.so.6 <<<"$output"
	inside "mkdir -p /unpacked && unmkinitramfs /initrd /unpacked" >&2
	chroot "$root/unpacked" /sbin/fsck.vfat --version | grep -q '^fsck.fat '
}

@test "removed, nothing of it is left, and dosfstools comes back" {
	needs_root
	files=$(inside "dpkg -L fatwise")
	run -0 inside "dpkg -P fatwise"
	run ! grep -i warning <<<"$output"
	for file in $files; do
		[ -d "$root$file" ] || [ ! -e "$root$file" ] || { echo "$file"; false; }
	done
	run -0 inside "apt-get install -y --no-install-recommends dosfstools && fsck.vfat --help; fsck.fat --help 2>&1 | head -1"
	[ -e "$root/usr/sbin/mkfs.vfat" ]
	run -0 inside "apt-get install -y /fatwise.deb && apt-get install -y dosfstools"
	[ -e "$root/usr/sbin/mkfs.vfat" ]
	run ! inside "dpkg -s fatwise | grep 'Status: install ok installed'"
}
