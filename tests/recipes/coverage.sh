#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage: each row of fsck/faults.def has a recipe that expects its code. Those that are still in
# todo/ are named. Limits of memory have none: no volume of a test's size reaches them.
limits="F2206 F4003"

cd tests/recipes || exit 1
awk -v limits="$limits" '
	FILENAME ~ /faults.def$/ {
		if (match($0, /^FAULT\([0-9]+/))
			codes[++n] = "F" substr($0, 7, RLENGTH - 6)
		next
	}
	/expect +faults/ {
		for (i = 1; i <= NF; i++)
			if (FILENAME ~ "/" $i "[^0-9]")
				found[$i] = FILENAME
	}
	END {
		for (k = 1; k <= n; k++) {
			code = codes[k]
			if (index(limits, code))
				continue
			if (!(code in found))
				bad = 1
			print (code in found ? "" : "not ") "ok " ++shown " - " code \
				(found[code] ~ /todo/ ? " (in todo)" : "")
		}
		print "1.." shown
		exit bad
	}' ../../fsck/faults.def ./*/F*.recipe
