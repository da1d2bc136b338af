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
	build install
	[ -n "$(find "$dest" -type f)" ]
	build uninstall
	[ -z "$(find "$dest" ! -type d)" ]
	[ ! -e "$dest$prefix/share/doc/fatwise" ]
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
