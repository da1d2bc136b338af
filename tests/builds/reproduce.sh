#!/bin/sh
# SPDX-License-Identifier: MIT
# reproduce: the same source in two folders, at two times, gives the same bytes; debugging data included.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/../lint/tap.inc"

tools="mkfs.fat fsck.fat fatlabel fatundo fatadvise"
export CCACHE_DISABLE=1

# build FOLDER JOBS: a copy of what builds the tools, built in there
build() {
	mkdir -p "$1"
	for folder in lib lib/cli lib/host mkfs fsck label advisor; do
		mkdir -p "$1/$folder"
		cp $folder/*.[ch] "$1/$folder"
	done
	cp fsck/*.def "$1/fsck"
	cp -r Makefile packaging man "$1"
	mkdir -p "$1/tests"
	cp tests/tests.mk "$1/tests"
	for tool in $tools; do
		echo "build/release/$tool"
	done | MAKEFLAGS='' xargs env TZ="$3" make -s -C "$1" -j"$2" 2>&1 | grep -E 'rror|arning'
}

build "$work/a" 2 UTC | check "builds in one folder"
build "$work/longer.name/b" 1 Asia/Tokyo 2>&1 | check "builds in another"
for tool in $tools; do
	cmp "$work/a/build/release/$tool" "$work/longer.name/b/build/release/$tool" 2>&1 |
		check "$tool: the same bytes"
done
done_testing
