#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [TARGET...]: the fuzz targets side by side, for $FUZZ_SECONDS (20). Finds stay in build/fuzz, and
# so does what led to new paths (build/fuzz/TARGET.corpus), where the next run goes on. The same $FUZZ_SEED
# on an empty corpus: the same inputs in the same order.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/../lint/tap.inc"

[ $# -gt 0 ] || set -- tests/fuzz/fuzz_*.c

# fuzz TARGET: prints the end of what the fuzzer said if it found something.
fuzz() {
	program=build/fuzz/fuzz_$1 corpus=build/fuzz/fuzz_$1.corpus
	mkdir -p "$corpus"
	[ ! -d "tests/fuzz/seeds/$1" ] || cp "tests/fuzz/seeds/$1"/* "$corpus"
	head -c 600 /dev/zero | tr '\000' '\001' >"$corpus/seed"
	# A small quarantine, for pages that are used again cost nothing. -timeout is for hangs: on a loaded
	# machine a run takes seconds. -close_fd_mask: what the code under test says is of no interest
	ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=4:thread_local_quarantine_size_kb=64:clear_shadow_mmap_threshold=1000000000 "$program" \
		-max_total_time="${FUZZ_SECONDS:-20}" -seed="${FUZZ_SEED:-0}" -timeout=120 -len_control=0 -max_len=4096 \
		-rss_limit_mb=512 -artifact_prefix="$program." -print_final_stats=1 \
		-close_fd_mask=3 "$corpus" >"$work/$1.log" 2>&1 ||
		{ echo "status $?" && tail -n 40 "$work/$1.log"; }
}

if ! echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
	${FUZZ_CC:-clang} -fsanitize=fuzzer,address -x c -o "$work/try" - 2>/dev/null; then
	for target; do
		skip "$target" "no clang with libFuzzer"
	done
	done_testing
fi
targets=$(printf '%s\n' "$@" | sed 's,.*/,,; s,^fuzz_,,; s,\.c$,,')
for target in $targets; do
	MAKEFLAGS='' make -s -j2 T="$target" fuzz-build 2>&1 | grep -E 'error|warning' |
		check "fuzz_$target builds"
done
for target in $targets; do
	fuzz "$target" >"$work/$target.found" &
done
wait
for target in $targets; do
	ran=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
	paths=$(find "build/fuzz/fuzz_$target.corpus" -type f | wc -l)
	check "fuzz_$target: ${ran:-no} runs in ${FUZZ_SECONDS:-20} s, corpus $paths" <"$work/$target.found"
done
done_testing
