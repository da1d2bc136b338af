#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# install: into a folder of our own with an odd PREFIX; the tools run from there under all their
# names; uninstall leaves nothing. And the makefile's other promises.
bats_require_minimum_version 1.5.0

repo=$BATS_TEST_DIRNAME/../..

setup() {
	dest=$BATS_TEST_TMPDIR/dest
	prefix=/opt/odd-1.0+x
	sbin=$dest$prefix/sbin
	man=$dest$prefix/share/man
}

# The makefile, for the build that is being tested.
build() {
	make -s -C "$repo" O="$O" DESTDIR="$dest" PREFIX="$prefix" "$@" 3>&-
}

# The tools that were built.
tools() {
	for tool in mkfs.fat fsck.fat fatlabel fatundo fatadvise; do
		[ ! -x "$FATWISE_BIN/$tool" ] || echo "$tool"
	done
}

aliases_of() {
	case $1 in
	mkfs.fat) echo mkdosfs mkfs.msdos mkfs.vfat ;;
	fsck.fat) echo dosfsck fsck.msdos fsck.vfat ;;
	fatlabel) echo dosfslabel ;;
	esac
}

@test "installed tools run from where they are, under every name of theirs" {
	build install
	for tool in $(tools); do
		for name in $tool $(aliases_of "$tool"); do
			run env -i PATH=/usr/bin:/bin "$sbin/$name" --help
			[[ $output == *"$tool"* ]] || { echo "$name: $output"; false; }
		done
	done
}

@test "each tool and alias has its manual page, readable where it was put" {
	build install
	for tool in $(tools); do
		for name in $tool $(aliases_of "$tool"); do
			grep -q '^\.TH' "$man/man8/$name.8"
		done
	done
	[ "$(find "$man" -type f -perm 644 | wc -l)" -eq "$(find "$man" -type f | wc -l)" ]
}

@test "links stay inside what was installed" {
	build install
	find "$dest" -type l | while read -r link; do
		[[ $(readlink "$link") != /* ]]
		[ -e "$link" ]
	done
}

@test "uninstall leaves no file" {
	build install install-dev
	[ -n "$(find "$dest" -type f)" ]
	build uninstall uninstall-dev
	[ -z "$(find "$dest" ! -type d)" ]
	[ ! -e "$dest$prefix/share/doc/fatwise" ]
}

# Every folder variable, each with a folder of its own.
folders="SBINDIR=/o/s LIBDIR=/o/l INCLUDEDIR=/o/i MANDIR=/o/m DOCDIR=/o/d PKGCONFIGDIR=/o/p
	BASHCOMPDIR=/o/b ZSHCOMPDIR=/o/z UDEVDIR=/o/u"

@test "each folder variable moves its files, and nothing goes elsewhere" {
	# shellcheck disable=SC2086
	build $folders install install-dev
	for file in s/mkfs.fat s/fsck.vfat l/libfat.a i/libfat.h m/man8/mkfs.vfat.8 m/man5/fat-undo.5 \
		m/man3/libfat.3 d/LICENSE p/libfat.pc b/mkfs.fat b/fsck.vfat z/_mkfs.fat \
		u/rules.d/90-fatadvise.rules; do
		[ -s "$dest/o/$file" ] || { echo "$file"; false; }
	done
	[ -d "$dest/o/u/hwdb.d" ]
	[ ! -e "$dest$prefix" ]
	# the makefile names no folder that is not tested here
	run -0 sed -nE 's/^([A-Z]+DIR) \?=.*/\1/p' "$repo/packaging/install.mk"
	for variable in $output; do
		[ "$variable" = DESTDIR ] || [[ $folders == *"$variable="* ]]
	done
}

@test "uninstall leaves no file in any of these folders" {
	# shellcheck disable=SC2086
	build $folders install install-dev
	# shellcheck disable=SC2086
	build $folders uninstall uninstall-dev
	[ -z "$(find "$dest" ! -type d)" ]
	[ ! -e "$dest/o/u/hwdb.d" ]
}

@test "libfat(3)'s example is compiled with the installed library, and runs" {
	build install-dev
	mandoc -T ascii -O width=100 "$dest$prefix/share/man/man3/libfat.3" | sed 's/.\x08//g' |
		sed -n '/#include <stdio.h>/,/^SEE ALSO/{/^SEE ALSO/!p}' >"$BATS_TEST_TMPDIR/body"
	{
		echo '#include <libfat.h>'
		cat "$BATS_TEST_TMPDIR/body"
	} >"$BATS_TEST_TMPDIR/names.c"
	export PKG_CONFIG_PATH=$dest$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
	[ "$(pkg-config --modversion libfat)" = "$(sed -n 's/^VERSION := //p' "$repo/Makefile")" ]
	case $FATWISE_BIN in
	*/asan) extra=-fsanitize=address,undefined ;;
	*/cov) extra=--coverage ;;
	*) extra= ;;
	esac
	# shellcheck disable=SC2046,SC2086 # words
	${CC:-cc} -std=c11 -Wall -Werror -o "$BATS_TEST_TMPDIR/names" "$BATS_TEST_TMPDIR/names.c" \
		$(pkg-config --cflags --libs libfat) $extra
	for bits in 12 16 32; do
		rm -f "$BATS_TEST_TMPDIR/image"
		"$FATWISE_BIN/mkfs.fat" -F $bits -C "$BATS_TEST_TMPDIR/image" 40000 >&2
		mkdir -p "$BATS_TEST_TMPDIR/f"
		printf 12345 | mcopy -i "$BATS_TEST_TMPDIR/image" - ::HELLO.TXT
		mmd -i "$BATS_TEST_TMPDIR/image" ::FOLDER
		run -0 "$BATS_TEST_TMPDIR/names" "$BATS_TEST_TMPDIR/image"
		[ "$output" = "         5 HELLO.TXT
         0 FOLDER" ]
	done
	run -1 "$BATS_TEST_TMPDIR/names" "$BATS_TEST_TMPDIR/none"
}

@test "udev's hardware database takes what fatadvise --hwdb prints, and finds it as the rule asks" {
	command -v systemd-hwdb >/dev/null || skip "no systemd-hwdb here"
	build install
	mkdir -p "$dest/etc/udev/hwdb.d"
	cd "$BATS_TEST_TMPDIR"
	"$FATWISE_BIN/fatadvise" -q --simulate old-stick --record measured
	sed -i 's/^model .*/model Some Maker A-1 Stick/' measured
	"$FATWISE_BIN/fatadvise" --replay measured --hwdb >"$dest/etc/udev/hwdb.d/90-fatadvise.hwdb"
	systemd-hwdb --strict --root="$dest" update
	# as udev spells vendor and model
	run -0 systemd-hwdb --root="$dest" query "fatadvise:Some_Maker_A-1_Stick:8388608"
	[[ $output == *FATADVISE_ERASE_BLOCK_BYTES=4194304* ]]
	[[ $output == *"FATADVISE_MKFS="*"-s "* ]]
	run -0 systemd-hwdb --root="$dest" query "fatadvise:Some_Maker_B-2_Stick:8388608"
	[ -z "$output" ]
	grep -qF "hwdb 'fatadvise:\$env{ID_VENDOR}_\$env{ID_MODEL}:\$attr{size}'" \
		"$dest$prefix/lib/udev/rules.d/90-fatadvise.rules"
}

@test "uninstall leaves what others put there" {
	build install
	touch "$sbin/other" "$dest$prefix/share/doc/fatwise/other"
	build uninstall
	[ -e "$sbin/other" ]
	[ -e "$dest$prefix/share/doc/fatwise/other" ]
}

@test "a second install over the first changes nothing" {
	build install
	before=$(cd "$dest" && find . -type f -exec cksum {} + | sort)
	build install
	[ "$before" = "$(cd "$dest" && find . -type f -exec cksum {} + | sort)" ]
}

@test "the files of a Debian package are not overwritten" {
	dpkg -S /sbin/mkfs.fat || dpkg -S /usr/sbin/mkfs.fat || skip "no dosfstools package here"
	before=$(cksum /usr/sbin/mkfs.fat)
	run ! make -s -C "$repo" O="$O" DESTDIR= PREFIX=/usr SBINDIR=/usr/sbin install 3>&-
	[[ $output == *"belongs to a Debian package"* ]]
	[ "$before" = "$(cksum /usr/sbin/mkfs.fat)" ]
}

@test "help names the targets, an unknown BUILD is refused" {
	run -0 build help
	for target in demo check install uninstall man clean BUILD V=1; do
		[[ $output == *"$target"* ]]
	done
	run ! make -s -C "$repo" BUILD=nonsense help
	[[ $output == *"BUILD is release, debug, asan or cov, not nonsense"* ]]
}

@test "compile_commands.json is JSON with an entry a source file" {
	build compile_commands.json
	if command -v python3 >/dev/null; then
		n=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' \
			"$repo/compile_commands.json")
	elif command -v jq >/dev/null; then
		n=$(jq length "$repo/compile_commands.json")
	else
		skip "nothing here that reads JSON"
	fi
	[ "$n" -ge "$(find "$repo/lib" -name '*.c' | wc -l)" ]
}
