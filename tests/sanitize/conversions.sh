#!/bin/sh
# SPDX-License-Identifier: MIT
# conversions: the unit tests and the recipes under clang's check of conversions that lose bits. (Its
# check of unsigned arithmetic that wraps is not used: hashes and checksums wrap on purpose.)
# shellcheck source=tests/sanitize/kinds.inc
. "$(dirname "$0")/kinds.inc"

lossy='-fsanitize=implicit-conversion -fno-sanitize-recover=all'
# shellcheck disable=SC2086 # words
if ! echo 'int main(void) { return 0; }' | clang $lossy -x c -o "$work/try" - 2>/dev/null; then
	skip "conversions" "no clang with sanitizers"
else
	kinds "conversions" "unit recipes" build/conversions O=build/conversions BUILD=debug CC=clang \
		CFLAGS="$lossy" LDFLAGS="$lossy"
fi
done_testing
