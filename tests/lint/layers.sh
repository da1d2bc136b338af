#!/bin/sh
# SPDX-License-Identifier: MIT
# layers: who may include whom. Dependencies run strictly down: tools -> lib/cli, lib/host -> libfat
# -> libc; lib/host alone knows libblkid and libudev.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/tap.inc"

# includes FILES...: "file line name" of each #include "name"; angled ones keep their brackets.
includes() {
	[ $# -gt 0 ] && [ -e "$1" ] || return 0
	awk '/^[ \t]*#[ \t]*include/ {
		name = $0
		sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
		sub(/[ \t]*\/\*.*/, "", name)
		gsub(/"/, "", name)
		print FILENAME, FNR, name
	}' "$@"
}

# only_from FILES... -- FOLDERS...: quoted includes that are in none of the folders.
only_from() {
	files=
	while [ "$1" != -- ]; do
		files="$files $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # the words are meant to be split
	includes $files | while read -r file line name; do
		case $name in '<'*) continue ;; esac
		allowed=
		for folder in "$@"; do
			[ ! -e "$folder/$name" ] || allowed=1
		done
		case $name in ../*) allowed= ;; esac
		[ -n "$allowed" ] || echo "$file:$line: may not include \"$name\""
	done
}

only_from lib/*.[ch] -- lib | check "libfat includes nothing but itself"
only_from lib/cli/*.[ch] -- lib/cli lib | check "lib/cli includes libfat and itself"
only_from lib/host/*.[ch] -- lib/host lib | check "lib/host includes libfat and itself"
for room in mkfs fsck label advisor; do
	ls $room/*.[ch] >/dev/null 2>&1 || continue
	only_from $room/*.[ch] -- $room lib/cli lib/host lib | check "$room includes no other tool"
done

includes lib/*.[ch] | grep -E '<(stdio|time|sys/time|locale|signal|getopt|unistd_ext|wchar|termios|sys/random|pthread|threads)\.h>' |
	check "libfat includes no header of stdio, clocks, locale, signals, terminals"
# shellcheck disable=SC2086 # a list
find $rooms tests -name '*.[ch]' ! -path 'lib/host/*' -exec \
	grep -nE '#[ 	]*include[ 	]*<(blkid/)?(blkid|libudev)\.h>' /dev/null {} + |
	check "only lib/host includes <blkid.h> and <libudev.h>"
# Each is a translation unit of its own here; the option is for headers with functions.
${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Ilib -Ilib/cli -Ilib/host -fsyntax-only -Wall -Wno-unused-function \
	-x c lib/*.h lib/cli/*.h lib/host/*.h mkfs/*.h fsck/*.h label/*.h advisor/*.h 2>&1 |
	check "each header can be included alone"
# shellcheck disable=SC2086 # a list
grep -rnE '(/work/|\.\./)shared' $rooms tests .ci Makefile |
	grep -v '^tests/lint/layers.sh:' | check "nothing reads a folder outside the tree"
done_testing
