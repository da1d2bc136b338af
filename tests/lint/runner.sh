#!/bin/sh
# SPDX-License-Identifier: MIT
# runner: tests/run counts what was said, and notices what was not.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/tap.inc"

# sums WHAT EXPECTED-SUM EXPECTED-STATUS LINES...: a program that prints those lines
sums() {
	{
		echo '#!/bin/sh'
		# shellcheck disable=SC2016 # $0 is the program's
		echo 'sed 1,3d "$0"; '"$6"
		echo 'exit'
		printf '%b' "$5"
	} >"$work/program"
	chmod +x "$work/program"
	status=0
	TEST_TIMEOUT=${7:-60} TEST_BUDGET=${8:-} tests/run "$work/program" >"$work/out" 2>&1 || status=$?
	{
		last=$(tail -n 1 "$work/out")
		[ "$last" = "$2" ] || echo "last line: $last; wanted: $2"
		[ "$status" -eq "$3" ] || echo "status $status, wanted $3"
		[ -z "$4" ] || grep -q "$4" "$work/out" || echo "not said: $4"
	} | check "$1"
}

sums "passed and skipped" "1 passed, 0 failed, 1 skipped" 0 "why not" '1..2\nok 1 - a\nok 2 - b # skip why not\n' ''
sums "cmocka's way to skip" "1 passed, 0 failed, 1 skipped" 0 '' '1..2\nok 1 - a\nnot ok 2 # SKIP b\n' ''
sums "a failure, and its output" "1 passed, 1 failed, 0 skipped" 1 "# because" \
	'1..2\nok 1 - a\nnot ok 2 - b\n# because\n' 'exit 1'
sums "fewer results than planned" "1 passed, 1 failed, 0 skipped" 1 "1 of 3" '1..3\nok 1 - a\n' ''
sums "a crash after the last result" "1 passed, 1 failed, 0 skipped" 1 '' '1..1\nok 1 - a\n' 'kill -SEGV $$'
sums "nothing said at all" "0 passed, 1 failed, 0 skipped" 1 '' '' ''
sums "nothing but skips is no success" "0 passed, 0 failed, 1 skipped" 1 '' '1..1\nok 1 - a # skip x\n' ''
sums "a program that hangs" "0 passed, 1 failed, 0 skipped" 1 "status 124" '' 'sleep 30' 1
sums "no time left" "0 passed, 0 failed, 1 skipped" 1 "skip: .*had not begun" '1..1\nok 1 - a\n' '' 60 0
done_testing
