#!/bin/sh
# SPDX-License-Identifier: MIT
# judges: fresh volumes, and repaired ones, in the eyes of programs that share nothing with fatwise.
#
# dosfstools' fsck.fat finds nothing wrong; mtools and sleuthkit see the files that fsck.fat -l sees;
# sleuthkit and fatcat know what the volume is. A sample of the recipes; FOREIGN=all takes all.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/../lint/tap.inc"

: "${FATWISE_BIN:=$PWD/$O}"
# shellcheck source=tests/foreign/volumes.inc
. tests/foreign/volumes.inc
PATH=$FATWISE_BIN:$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1
peer=
for place in /usr/sbin /sbin /usr/bin; do
	[ -n "$peer" ] || [ ! -x $place/fsck.fat ] || peer=$place/fsck.fat
done
image=$work/image

differs() { diff -i "$work/ours" "$work/theirs" >"$work/diff" || sed "s/^/$1: /" "$work/diff"; }

# What is in $image, as three programs list it: paths without a slash in front, sorted.
compare_lists() {
	fsck.fat -nl "$image" 2>/dev/null | sed -n 's,^Checking file /,,p' |
		sed 's, ([^()]*)$,,' | grep -v '^$' | sort -f >"$work/ours"
	if command -v mdir >/dev/null && [ "${1:-}" != blank-in-name ]; then
		mdir -a -b -/ -i "$image" :: 2>/dev/null | sed 's,^::/,,; s,/$,,' | sort -f >"$work/theirs"
		differs mtools
	fi
	if command -v fls >/dev/null && [ -z "${1:-}" ]; then
		fls -r -p -u "$image" | sed -n 's,^[rd]/[rd] [0-9]*:	,,p' |
			grep -v 'Volume Label Entry' | sort -f >"$work/theirs"
		differs fls
	fi
}

# What others cannot do, and say so: fatcat wants sectors of 512 bytes, dosfstools at most two FATs;
# sleuthkit takes long slots that are marked deleted for the name of the entry behind them, and like mtools
# ends a short name at its first blank.
beyond_them='Bytes per sector is not 512|only 1 or 2 FATs'

# All that is wrong with $image in others' eyes; nothing if it is right.
judge() {
	[ -z "$peer" ] || "$peer" -n "$image" >"$work/said" 2>&1 || grep -qE "$beyond_them" "$work/said" ||
		sed 's/^/dosfstools: /' "$work/said"
	compare_lists "$@"
	for program in "fsstat $image" "fatcat $image -i"; do
		! command -v "${program%% *}" >/dev/null || $program >"$work/said" 2>&1 ||
			grep -qE "$beyond_them" "$work/said" || sed "s/^/${program%% *}: /" "$work/said"
	done
}

for type in 12:4000 16:40000 32:70000; do
	for options in "" "-n LABEL" "-a -f 1" "-S 1024"; do
		rm -f "$image"
		# shellcheck disable=SC2086 # options are words
		mkfs.fat -F "${type%:*}" $options -C "$image" "${type#*:}" >/dev/null 2>&1
		seq 20000 >"$work/file"
		mmd -i "$image" ::/folder "::/folder/Another, deeper one"
		mcopy -i "$image" "$work/file" "::/folder/A long name for a file.txt"
		mcopy -i "$image" "$work/file" ::/SHORT.TXT
		judge 2>&1 | check "fresh FAT${type%:*} $options"
	done
done

# shellcheck disable=SC2317 # each_repaired calls it
judge_as() {
	case $1 in
	R27-* | F2203-* | long-part-of-another.*) judge deleted-slots ;;
	names-all-with-control.*) judge blank-in-name ;;
	R42b-*) peer='' judge ;; # dosfstools compares FATs that are not mirrored
	*) judge ;;
	esac 2>&1 | check "$1"
}
each_repaired judge_as
done_testing
