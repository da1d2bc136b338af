#!/bin/sh
# SPDX-License-Identifier: MIT
# demo FOLDER: the main job from end to end, with the tools built in FOLDER: measure, format by the
# advice, check; the same with damage; and a slow stick, simulated.
#
# Works on a scratch image in a temporary folder (as root on a loop device over it) and removes
# both at its end, however that comes about. Ends with 0 only if every step did what it says.
set -eu
tools=$(cd "${1:?usage: demo/demo.sh FOLDER}" && pwd)
PATH=$tools:$PATH
for tool in fatadvise mkfs.fat fsck.fat; do
	[ -x "$tools/$tool" ] || {
		echo "demo: no $tool in $tools: run make" >&2
		exit 2
	}
done
megabytes=512
scratch=$(mktemp -d "${TMPDIR:-/tmp}/fatwise-demo.XXXXXX")
loop=

clean_up() {
	[ -z "$loop" ] || losetup -d "$loop" || true
	rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

say() { printf '\n== %s\n' "$*"; }

# Shows a command and what it prints; ends the demo if its exit status is none of those expected.
run() { # run "STATUS..." COMMAND...
	expected=$1
	shift
	printf '$ %s\n' "$*"
	status=0
	"$@" >"$scratch/out" 2>&1 || status=$?
	sed 's/^/  /' "$scratch/out"
	case " $expected " in
	*" $status "*) ;;
	*)
		echo "demo: $1 ended with status $status" >&2
		exit 1
		;;
	esac
}

say "1. A scratch image of $megabytes MiB stands in for a stick or a card"
image=$scratch/image
truncate -s "${megabytes}M" "$image"
target=$image
if [ "$(id -u)" -eq 0 ] && loop=$(losetup -f --show "$image" 2>/dev/null); then
	target=$loop
	echo "It is attached to $loop: from here on it is a block device like any other."
else
	loop=
	echo "It stays a file (a loop device takes root): $image"
fi

say "2. fatadvise measures it, and says how to format it"
run "0 2" fatadvise "$target"
if [ "$status" -eq 2 ]; then
	echo "It does not know, and says why: something else keeps this machine's disk busy."
	echo "What it prints then is the usual layout for this size."
fi
advice=$(sed -n 's/^ *\(mkfs\.fat .*\)/\1/p' "$scratch/out" | head -n 1)
if [ -z "$advice" ]; then
	echo "demo: fatadvise printed no command line" >&2
	exit 1
fi

say "3. mkfs.fat: that command line, taken literally"
# shellcheck disable=SC2086 # it is a command line
run 0 $advice

say "4. fsck.fat -n checks it: clean, exit status 0"
run 0 fsck.fat -n "$target"

say "5. The same volume with two bytes of its first FAT overwritten: faults are named, status not 0"
reserved=$(od -A n -t u1 -j 14 -N 1 "$target" | tr -d ' ')
printf '\125\125' | dd of="$target" bs=1 seek=$((reserved * 512 + 402)) conv=notrunc status=none
sync
run "1 4" fsck.fat -n "$target"
echo "(exit status $status)"

say "6. What a real difference looks like: a slow old USB stick, simulated in virtual time"
run 0 fatadvise --simulate old-stick

say "Done. Nothing is left behind: the scratch image$([ -z "$loop" ] || echo " and its loop device") will be removed."
echo "On a real stick: fatadvise /dev/sdX (what it holds stays as it is), then the command it prints."
