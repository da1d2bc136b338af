#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# dist: the release tarball is the same each time, and builds where there is little: no scdoc, cmocka,
# bats, git, libblkid, libudev. And the static build needs no library when it runs.
bats_require_minimum_version 1.5.0

repo=$BATS_TEST_DIRNAME/../..

setup_file() {
	make -s -C "$repo" dist >/dev/null 3>&-
	version=$(sed -n 's/^VERSION := //p' "$repo/Makefile")
	export version tarball=$repo/build/fatwise-$version.tar.gz
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# A folder with a shell, the usual small programs and a C compiler, and nothing else.
bare_path() {
	local name
	mkdir bin
	for name in sh bash env ls cat cp mv rm ln mkdir rmdir touch chmod test echo printf sed awk grep find \
		sort tr cut head tail basename dirname expr uname id date sleep install tar gzip xargs make \
		gcc ar as ld cpp ranlib strip tee wc cmp diff true false readlink mktemp; do
		[ -z "$(type -P $name)" ] || ln -s "$(type -P $name)" bin/$name
	done
	ln -s gcc bin/cc
}

@test "the tarball is the same each time" {
	cp "$tarball" first
	sleep 1.1 # another time on the clock
	touch "$repo/README.md"
	(umask 077 && make -s -C "$repo" dist >/dev/null 3>&-)
	cmp first "$tarball"
}

@test "it holds what is in git, in order, owned by nobody, with the manual pages built" {
	tar -tf "$tarball" | sed "s,^fatwise-$version/,," >names
	git -C "$repo" ls-files | LC_ALL=C sort | diff - names
	run -0 tar --numeric-owner -tvf "$tarball"
	[ -z "$(grep -v ' 0/0 ' <<<"$output")" ]
	grep -qx man/built/mkfs.fat.8 names
}

@test "it builds and installs with nothing but make and a compiler" {
	bare_path
	tar -xf "$tarball"
	cd "fatwise-$version"
	# no scdoc, no git, no pkg-config: no library is found
	run -0 env -i PATH="$BATS_TEST_TMPDIR/bin" HOME=/nonexistent make -j2 install DESTDIR="$BATS_TEST_TMPDIR/d"
	run -0 env -i "$BATS_TEST_TMPDIR/d/usr/local/sbin/mkfs.fat" -C "$BATS_TEST_TMPDIR/image" 5000
	run -0 env -i "$BATS_TEST_TMPDIR/d/usr/local/sbin/fsck.fat" -n "$BATS_TEST_TMPDIR/image"
	run ldd "$BATS_TEST_TMPDIR/d/usr/local/sbin/mkfs.fat"
	[[ $output != *blkid* && $output != *udev* ]]
	cmp man/built/mkfs.fat.8 "$BATS_TEST_TMPDIR/d/usr/local/share/man/man8/mkfs.fat.8"
}

@test "versions agree: makefile, header, package" {
	grep -q "FATWISE_VERSION \"$version\"" "$repo/lib/cli/cli.h"
	head -n 1 "$repo/packaging/debian/changelog" | grep -q "^fatwise ($version-"
}

@test "STATIC=1: all five tools run in an empty root" {
	make -s -C "$repo" -j2 STATIC=1 all >/dev/null 3>&-
	mkdir root
	for tool in mkfs.fat fsck.fat fatlabel fatundo fatadvise; do
		cp "$repo/build/release-static/$tool" root
		[[ $(readelf -d -W root/$tool) != *NEEDED* ]]
	done
	[ "$(id -u)" -eq 0 ] || skip "only root can change the root folder"
	chroot root /mkfs.fat -F 32 -n ALONE -C /image 40000
	chroot root /fsck.fat -n /image
	[ "$(chroot root /fatlabel /image)" = ALONE ]
	mkdir root/proc
	chroot root /fatadvise -q --simulate sd-card | grep -q -- -F
	chroot root /mkfs.fat --undo /undo /image
	chroot root /fatundo /undo /image
	[ "$(chroot root /fatlabel /image)" = ALONE ]
}
