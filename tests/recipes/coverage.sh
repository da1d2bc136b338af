#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage: each row of fsck/faults.def has a recipe that expects its code. Those that are still in
# todo/ are named.
n=0 bad=0
# Limits of memory: no volume of a test's size reaches them.
limits="F2206 F4003"

for code in $(sed -n 's/^FAULT(\([0-9]*\),.*/F\1/p' fsck/faults.def); do
	case " $limits " in *" $code "*) continue ;; esac
	n=$((n + 1))
	if grep -qsE "^(\[.*\] )?expect +faults.* $code( |\$)" tests/recipes/faults/"$code"*.recipe; then
		echo "ok $n - $code"
	elif grep -qsE "expect" tests/recipes/todo/"$code"*.recipe; then
		echo "ok $n - $code (in todo)"
	else
		echo "not ok $n - $code has no recipe"
		bad=1
	fi
done
echo "1..$n"
exit $bad
