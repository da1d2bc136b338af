#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints TAP: fatadvise on real block devices, in real time: a loop device over a FUSE file that is
# as slow as a simulated device must get the answer of virtual time, or "don't know"; a plain loop
# device must get no pages or erase blocks. About half a minute. Needs root, FUSE, loop devices.
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build/release} FATWISE_BIN=${FATWISE_BIN:-$PWD/$O}
dir=$(mktemp -d) loop='' server=''

clean() {
	[ -z "$loop" ] || losetup -d "$loop"
	loop=''
	mountpoint -q "$dir/disk" && umount "$dir/disk"
	[ -z "$server" ] || wait "$server"
	server=''
}
trap 'clean; rm -rf "$dir"' EXIT

skip() { echo "ok 1 - loop devices # SKIP $1"; echo 1..1; exit 0; }
[ "$(id -u)" -eq 0 ] || skip "needs root"
[ -c /dev/fuse ] || skip "no FUSE here"
command -v jq >/dev/null || skip "needs jq"
mkdir -p "$O/tests/realdev"
${CC:-cc} -O2 -D_GNU_SOURCE -I. -Ilib -o "$O/tests/realdev/serve" tests/realdev/serve.c \
	"$O/libadvisor.a" "$O/libfat.a" -lm || exit 1

n=0
result() { # STATUS WHAT
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

attach() { # FILE
	loop=$(losetup --show --direct-io=on -f "$1" 2>/dev/null) || skip "no loop device here"
}

# Measures $loop; the answer is in $dir/out. Its first 64 MiB must be as they were.
measure() {
	before=$(head -c 64M "$1" | cksum)
	"$FATWISE_BIN/fatadvise" --json --time 15 "$loop" >"$dir/out" 2>"$dir/err" || [ $? -eq 2 ] ||
		sed 's/^/# /' "$dir/err"
	[ "$before" = "$(head -c 64M "$1" | cksum)" ]
	result $? "$2: the content is as it was"
}

answer_is() { # WHAT JQ-EXPRESSION
	jq -e "$2" "$dir/out" >/dev/null
	result $? "$1"
	jq -r '"# " + .recommended.verdict + ": " + .recommended.reason' "$dir/out"
}

for model in tlc-stick slow-bus; do
	: >"$dir/disk"
	"$O/tests/realdev/serve" "$model" "$dir/disk" "$dir/backing" &
	server=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do mountpoint -q "$dir/disk" || sleep 0.2; done
	mountpoint -q "$dir/disk" || skip "FUSE cannot be mounted here"
	head -c 64M /dev/urandom | dd of="$dir/backing" conv=notrunc status=none
	attach "$dir/disk"
	measure "$dir/backing" "$model"
	"$FATWISE_BIN/fatadvise" --json --simulate "$model" >"$dir/virtual" 2>/dev/null
	answer_is "$model: pages and blocks as in virtual time, or unknown" \
		"(.page_bytes == null or .page_bytes == $(jq .page_bytes "$dir/virtual")) and
		(.erase_block_bytes == null or
		.erase_block_bytes == $(jq .erase_block_bytes "$dir/virtual"))"
	answer_is "$model: the advice of virtual time, or none" \
		".recommended.verdict == \"do not know\" or .recommended.cluster_bytes == \
		$(jq .recommended.cluster_bytes "$dir/virtual")"
	clean
	rm -f "$dir/backing"
done

truncate -s 512M "$dir/plain"
head -c 64M /dev/urandom | dd of="$dir/plain" conv=notrunc status=none
attach "$dir/plain"
measure "$dir/plain" "a plain loop device"
answer_is "a plain loop device: no erase block" ".erase_block_bytes == null"
clean
echo "1..$n"
