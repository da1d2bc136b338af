#!/bin/sh
# SPDX-License-Identifier: MIT
# report: lines and branches that a run of the tests in build/cov has taken, a line a room; with a
# folder's name, its files and the branches that none took.
#
#   report.sh [FOLDER]
cd "$(dirname "$0")/../.." || exit 2
if [ $# -gt 0 ]; then
	exec gcovr -r . --object-directory build/cov --filter "$1/[^/]*\.[ch]" --branches --sort-uncovered \
		--gcov-ignore-parse-errors build/cov
fi
for room in lib lib/cli lib/host fsck mkfs label advisor; do
	gcovr -r . --object-directory build/cov --filter "$room/[^/]*\.[ch]" --json-summary-pretty \
		--gcov-ignore-parse-errors build/cov 2>/dev/null |
		jq -r --arg room $room '"\($room): lines \(.line_percent) %, branches \(.branch_percent) %" +
			" (\(.branch_total - .branch_covered) of \(.branch_total) not taken)"'
done
