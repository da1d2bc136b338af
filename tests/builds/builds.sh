#!/bin/sh
# SPDX-License-Identifier: MIT
# builds: other compilers, C libraries, word sizes and byte orders give the same programs.
#
# Each is built with all warnings as errors, runs every ninth recipe (BUILDS=all: every one), and must
# make the image that the build under test makes. What this machine has no compiler for is skipped.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/../lint/tap.inc"

headers=/usr/include/$(uname -m)-linux-gnu # where Debian keeps the kernel's, for compilers without
: "${FATWISE_BIN:=$PWD/$O}"
export RECIPES_EVERY=9
[ "${BUILDS:-}" != all ] || RECIPES_EVERY=1

# formats PROGRAM...: one image of each type; prints their sums.
formats() {
	for type in 12:4000 16:40000 32:70000; do
		rm -f "$work/image"
		"$@" -C "$work/image" -F "${type%:*}" -n LABEL -i 1234abcd --invariant \
			"${type#*:}" >"$work/formats.out" || cat "$work/formats.out"
		sha256sum <"$work/image"
	done
}

# build NAME RUNNER COMPILER...: RUNNER is empty, or what runs the programs of another machine.
build() {
	name=$1 runner=$2
	shift 2
	if ! echo 'int main(void) { return 0; }' | "$@" -x c -o "$work/try" - 2>/dev/null ||
		! $runner "$work/try" 2>/dev/null; then
		for what in builds recipes formats; do
			skip "$name: $what" "no working $*, or nothing to run its programs"
		done
		return
	fi
	out=build/$name
	{ MAKEFLAGS='' make -j2 O="$out" BUILD=debug CC="$*" HAVE_BLKID='' HAVE_UDEV='' CMOCKA_LIBS='' \
		all "$out/tests/recipes/test_recipes" 2>&1 || echo "make failed"; } |
		grep -E 'error|warning|undefined|failed' | check "$name: builds without a warning"
	{ $runner "$out/tests/recipes/test_recipes" || echo "status $?"; } | grep -v '^ok' |
		grep -v '^1\.\.' | check "$name: the recipes"
	formats "$FATWISE_BIN/mkfs.fat" >"$work/ours"
	# shellcheck disable=SC2086 # a runner has arguments
	formats $runner "$out/mkfs.fat" | diff "$work/ours" - | check "$name: the same images"
}

build clang '' clang
build m32 qemu-i386 gcc -m32 -idirafter "$headers"
build musl '' musl-gcc -idirafter /usr/include -idirafter "$headers"
build s390x 'qemu-s390x -L /usr/s390x-linux-gnu' s390x-linux-gnu-gcc-12

done_testing
