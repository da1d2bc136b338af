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

# Shows a command and what it prints; ends the demo if its exit status is not the one expected.
run() { # run EXPECTED-STATUS COMMAND...
	want=$1
	shift
	printf '$ %s\n' "$*"
	status=0
	"$@" >"$scratch/out" 2>&1 || status=$?
	sed 's/^/  /' "$scratch/out"
	if [ "$status" -ne "$want" ]; then
		echo "demo: $1 ended with $status, not $want" >&2
		exit 1
	fi
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
run 0 fatadvise "$target"
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
status=0
printf '$ %s\n' "fsck.fat -n $target"
fsck.fat -n "$target" >"$scratch/out" 2>&1 || status=$?
sed 's/^/  /' "$scratch/out"
if [ "$status" -eq 0 ]; then
	echo "demo: fsck.fat did not see the damage" >&2
	exit 1
fi
echo "(exit status $status)"

say "6. What a real difference looks like: a slow old USB stick, simulated in virtual time"
run 0 fatadvise --simulate old-stick

say "Done. Nothing is left behind: the scratch image$([ -z "$loop" ] || echo " and its loop device") will be removed."
echo "On a real stick: fatadvise /dev/sdX (what it holds stays as it is), then the command it prints."
