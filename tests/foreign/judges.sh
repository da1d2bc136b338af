#!/bin/sh
# SPDX-License-Identifier: MIT
# judges: fresh volumes, and repaired ones, in the eyes of programs that share nothing with fatwise.
#
# dosfstools' fsck.fat finds nothing wrong; mtools and sleuthkit see the files that fsck.fat -l sees;
# sleuthkit and fatcat know what the volume is. A sample of the recipes; FOREIGN=all takes all.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/../lint/tap.inc"

: "${FATWISE_BIN:=$PWD/$O}"
PATH=$FATWISE_BIN:$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1
recipe=$FATWISE_BIN/tests/recipes/recipe
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
	if command -v mdir >/dev/null; then
		mdir -a -b -/ -i "$image" :: 2>/dev/null | sed 's,^::/,,; s,/$,,' | sort -f >"$work/theirs"
		differs mtools
	fi
	if command -v fls >/dev/null && [ "${1:-}" != deleted-slots ]; then
		fls -r -p -u "$image" | sed -n 's,^[rd]/[rd] [0-9]*:	,,p' |
			grep -v 'Volume Label Entry' | sort -f >"$work/theirs"
		differs fls
	fi
}

# What others cannot do, and say so: fatcat wants sectors of 512 bytes, dosfstools at most two FATs;
# sleuthkit takes long slots that are marked deleted for the name of the entry behind them.
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

# What no repair makes whole, or what needs a device that is sick, is no case for others.
n=0
grep -LE '^ *(tier|options|unreadable|truncate|expect +(refuses|unharmed|clean|repair|again|allow))' \
	tests/recipes/cases/*.recipe tests/recipes/faults/*.recipe tests/recipes/kinds/*.recipe |
	sort >"$work/recipes"
while read -r file; do
	n=$((n + 1))
	[ "${FOREIGN:-}" = all ] || [ $((n % 8)) -eq 0 ] || continue
	"$recipe" list "$file" >"$work/names"
	[ "${FOREIGN:-}" = all ] || sed -n "$((n / 8 % $(wc -l <"$work/names") + 1))p" "$work/names" >"$work/one"
	[ "${FOREIGN:-}" = all ] || mv "$work/one" "$work/names"
	while read -r name; do
		"$recipe" compile "$file" "$image" "$name" >/dev/null
		fsck.fat -a "$image" >/dev/null 2>&1
		fsck.fat -n "$image" >/dev/null 2>&1 || continue # not all of it could be repaired
		case $name in
		R27-*) judge deleted-slots ;;
		*) judge ;;
		esac 2>&1 | check "$name"
		rm -f "$image"
	done <"$work/names"
done <"$work/recipes"
done_testing
