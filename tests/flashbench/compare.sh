#!/bin/sh
# SPDX-License-Identifier: MIT
# compare.sh [DEVICES]: how many erase blocks flashbench shows right, on the devices of tests/sim.
#
# flashbench -a prints what a read costs across the multiples of each power of two. Read as its
# README does: from large to small, the erase block is the last size before the first clear fall.
cd "$(dirname "$0")/../.." || exit 1
devices=${1:-100} O=${O:-build/release}
command -v flashbench >/dev/null || { echo "# flashbench: not installed, skipped"; exit 0; }
mkdir -p "$O/tests/flashbench"
so=$O/tests/flashbench/preload.so describe=$O/tests/flashbench/describe
# shellcheck disable=SC2086
${CC:-cc} -O2 -D_GNU_SOURCE -fPIC -shared -I. -Ilib -o "$so" tests/flashbench/preload.c \
	tests/sim/random_device.c advisor/sim.c -ldl -lm &&
	${CC:-cc} -O2 -D_GNU_SOURCE -I. -Ilib -o "$describe" tests/flashbench/describe_main.c \
		tests/sim/random_device.c advisor/sim.c -lm || exit 1
shown=0 right=0 seed=0
while [ $((seed += 1)) -le "$devices" ]; do
	truth=$("$describe" "$seed") # erase block and offset, where reads show it; else nothing
	[ -n "$truth" ] || continue
	shown=$((shown + 1))
	said=$(SIM_DEVICE=/dev/simulated SIM_SEED=$seed LD_PRELOAD=$PWD/$so \
		flashbench -a --blocksize=1024 /dev/simulated 2>/dev/null 0<>/dev/null | awk '
		{ value = $NF; sub(/[^0-9.].*/, "", value)
		  unit = $NF ~ /ms$/ ? 1000 : $NF ~ /ns$/ ? 0.001 : 1
		  diff = value * unit
		  if ($NF ~ /^-/) diff = 0
		  if (NR > 2 && diff < 0.75 * last && !found) found = size
		  size = $2; last = diff }
		END { print found + 0 }')
	[ "$said 0" = "$truth" ] && right=$((right + 1))
done
echo "# flashbench -a: erase block right in $right of $shown devices that show it to reads"
