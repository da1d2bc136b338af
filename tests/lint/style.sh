#!/bin/sh
# SPDX-License-Identifier: MIT
# style: what every file of the tree has in common.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/tap.inc"

demo=$(ls -d demo 2>/dev/null)
# shellcheck disable=SC2086 # lists of folders
c_files=$(find $rooms tests -name '*.[ch]' | sort)
# shellcheck disable=SC2086 # lists of folders
scripts=$(find tests .ci man packaging $demo -type f -exec awk '
	FNR == 1 && /^#!.*\/(env )?(ba)?sh$/ { print FILENAME }
	{ nextfile }' {} + | sort)
bats=$(find tests -name '*.bats' | sort)

# shellcheck disable=SC2086 # lists of files without blanks
{
	awk 'FNR == 1 && $0 != "/* SPDX-License-Identifier: MIT */" { print FILENAME ":1: no SPDX line" }
		FNR == 2 && !/^\/\*/ { print FILENAME ":2: no first comment that says what the file knows" }
	' $c_files
	awk 'FNR == 1 { seen = 0 }
		FNR <= 3 && $0 == "# SPDX-License-Identifier: MIT" { seen = 1 }
		FNR == 3 && !seen { print FILENAME ": no SPDX line" }' $scripts $bats
} | check "each file begins with its licence, and with what it is"

# A tab is eight columns; a character is one.
# shellcheck disable=SC2086
awk '{
	line = $0
	if (length(line) + 7 * gsub(/\t/, "\t", line) <= 100)
		next # cannot be too long
	gsub(/[\200-\277]/, "", line)
	columns = 0
	for (i = 1; i <= length(line); i++)
		columns += substr(line, i, 1) == "\t" ? 8 - columns % 8 : 1
	if (columns > 100)
		print FILENAME ":" FNR ": " columns " columns"
}' $c_files | check "no line of C is longer than 100 columns"

# shellcheck disable=SC2086
awk '/^        / { print FILENAME ":" FNR ": indented with blanks" }
	/[ \t]$/ { print FILENAME ":" FNR ": blank at the end" }
	/\r/ { print FILENAME ":" FNR ": carriage return" }' $c_files $scripts |
	check "tabs indent, and no line ends in a blank"

# In this style a function starts with "{" and ends with "}" in the first column.
# shellcheck disable=SC2086
awk '/^\{$/ { start = FNR }
	/^\}$/ && start {
		if (FNR - start - 1 > 60)
			print FILENAME ":" start ": a function of " FNR - start - 1 " lines"
		start = 0
	}' $c_files | check "no function is longer than 60 lines"

# shellcheck disable=SC2086
grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $c_files $scripts $bats Makefile tests/tests.mk |
	grep -v '^tests/lint/style.sh:' | grep -vE 'X{4,}|X{6}' | check "nothing is left for later"

if command -v shellcheck >/dev/null; then
	# shellcheck disable=SC2086
	shellcheck -x $scripts 2>&1 | check "shellcheck finds nothing in the scripts"
	# shellcheck disable=SC2086
	[ -z "$bats" ] || shellcheck -S warning -e SC2154,SC2164 $bats 2>&1 | check "shellcheck finds nothing in bats files"
else
	skip "shellcheck finds nothing" "no shellcheck here"
fi

# README.md and its like name files of the tree: those must be there.
for doc in README.md CONTRIBUTING.md SECURITY.md lib/README.md tests/README.md; do
	[ -e "$doc" ] || continue
	grep -oE '\]\([^)#:]+\)' "$doc" | sed 's/^](//; s/)$//' | while read -r target; do
		[ -e "$(dirname "$doc")/$target" ] || echo "$doc: link to $target, which is not there"
	done
done | check "the documents' links lead somewhere"
done_testing
