# SPDX-License-Identifier: MIT
# kit: what the files of tests/cli share. `load kit`.

# text_off TEXT FILE: at which byte a file has a text first, among its first 2 MiB: there the folders of all
# test volumes are, and behind them grep would take seconds for zeros.
text_off() {
	head -c 2M "$2" | LC_ALL=C grep -obUaF "$1" | head -n 1 | cut -d: -f1
}

# some N VALUE...: every N-th of them, into the array "chosen"; all in `make check-full`.
some() {
	local every=$1 n=0 value
	shift
	[ -z "${FATWISE_FULL-}" ] || every=1
	chosen=()
	for value; do
		[ $((n++ % every)) -ne 0 ] || chosen+=("$value")
	done
}
