#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fatadvise on the command line: what it prints, what it refuses, what it leaves alone.
bats_require_minimum_version 1.5.0

load kit

setup() {
	fatadvise="$FATWISE_BIN/fatadvise"
	cd "$BATS_TEST_TMPDIR"
}

# An image on a file system that takes O_DIRECT; skips where there is none.
make_image() {
	head -c "$1" /dev/urandom >image
	dd if=image of=/dev/null bs=4096 count=1 iflag=direct 2>/dev/null ||
		skip "no O_DIRECT in $PWD"
}

@test "--help lists every option, --version names the program" {
	run -0 "$fatadvise" --help
	for option in --json --quick --thorough --time --max-bytes --files --simulate --stats \
		--quiet; do
		[[ $output == *"$option"* ]]
	done
	run -0 "$fatadvise" --version
	[[ $output == "fatadvise "* ]]
}

@test "a simulated old stick gets 64 KiB clusters and a command line" {
	run -0 "$fatadvise" --simulate old-stick
	[[ $output == *"Advice: clusters of 64 KiB"* ]]
	[[ $output == *"mkfs.fat -F 32 -s 128 old-stick"* ]]
}

@test "where the bus is all there is, cluster size does not matter" {
	run -0 "$fatadvise" --simulate slow-bus
	[[ $output == *"Cluster size does not matter here"* ]]
}

@test "--simulate list names the models, an unknown one is refused" {
	run -0 "$fatadvise" --simulate list
	[[ $output == *old-stick* && $output == *disk-64k* ]]
	run -1 "$fatadvise" --simulate nosuch
	[[ $output == *"no such model"*"nosuch"* ]]
}

@test "--json holds the promised keys" {
	command -v python3 >/dev/null || skip "needs python3 to read JSON"
	"$fatadvise" --simulate sd-card --json >out.json 2>notice
	python3 - <<-'END'
		import json
		r = json.load(open("out.json"))
		for k in ("device", "size_bytes", "page_bytes", "erase_block_bytes",
		          "erase_offset_bytes", "open_segments", "confidence", "clusters",
		          "recommended", "written_bytes", "seconds"):
		    assert k in r, k
		for k in ("cluster_bytes", "align_bytes", "reserved_sectors", "mkfs", "reason"):
		    assert k in r["recommended"], k
		assert r["page_bytes"] == 16384
		assert r["written_bytes"] <= 64 << 20
		assert {c["cluster_bytes"] for c in r["clusters"]} >= {4096, 32768}
	END
	grep -q "writes back what it has read, at most 64 MiB" notice
}

@test "-q prints only mkfs.fat's options" {
	run -0 --separate-stderr "$fatadvise" -q --simulate old-stick
	[[ $output == "-F 32 -s "* ]]
	[ "${#lines[@]}" -eq 1 ]
}

@test "a record replayed gives the same advice" {
	"$fatadvise" --json --simulate slow-bus --record rec >direct 2>/dev/null
	run -0 --separate-stderr "$fatadvise" --json --replay rec
	diff <(grep -v '"device"' direct) <(grep -v '"device"' <<<"$output")
}

@test "a damaged record is refused with its line" {
	"$fatadvise" -q --simulate slow-bus --record rec >/dev/null 2>&1
	for bad in "list seek 0 99999 1" "nosuch 1" "request 1 2" "rehearsal 99 1 1 1 1 1 1"; do
		{ head -5 rec; echo "$bad"; } >bad
		run -1 "$fatadvise" --replay bad
		[[ $output == *"bad: line 6: not a record"* ]]
	done
	head -c 200 /dev/urandom >bad
	run -1 "$fatadvise" --replay bad
	run -1 "$fatadvise" --replay missing
}

@test "--svg draws a chart with the choice in it" {
	run -0 "$fatadvise" -q --simulate old-stick --svg chart.svg
	grep -q '<svg xmlns' chart.svg
	grep -q 'advised' chart.svg
	grep -q 'erase block 4 MiB' chart.svg
	[ "$(tail -n 1 chart.svg)" = '</svg>' ]
	run -1 "$fatadvise" -q --simulate slow-bus --svg nowhere/chart.svg
	[[ $output == *"nowhere/chart.svg: cannot write it"* ]]
}

@test "--hwdb prints an entry" {
	run -0 --separate-stderr "$fatadvise" --hwdb --simulate tlc-stick
	[[ $output == *FATADVISE_ERASE_BLOCK_BYTES=6291456* ]]
}

@test "--for weighs, and lists what it knows" {
	run -0 "$fatadvise" --for list
	[[ $output == *camera* && $output == *backup* ]]
	run -0 --separate-stderr "$fatadvise" -q --for backup --simulate old-stick
	[ "$output" = "-F 32 -s 32" ] # 64 KiB for all purposes alike
	run -1 "$fatadvise" --for nosuch --simulate sd-card
	[[ $output == *"no such purpose"* ]]
}

@test "--files bounds what the ends of files may waste, and says so" {
	run -0 "$fatadvise" --files 100000 --simulate tlc-stick
	[[ $output == *"Advice: clusters of 8 KiB"*"larger ones would waste too much"* ]]
	[[ $output == *"The ends of the files expected waste 390.6 MiB."* ]]
}

@test "--read-only writes nothing and does not know" {
	make_image 20M
	run -2 "$fatadvise" --read-only --time 1 --stats image
	[[ $output == *"writes: 0 requests"* ]]
	[[ $output == *"nothing was written"* ]]
	run -2 "$fatadvise" --read-only --stats --simulate sd-card
	[[ $output == *"writes: 0 requests"* ]]
	[[ $output == *"erase block 4 MiB"*"nothing was written"* ]]
}

@test "--format asks, and runs mkfs.fat only after yes" {
	make_image 20M
	mkdir bin
	printf '#!/bin/sh\necho "mkfs.fat ran: $*"\n' >bin/mkfs.fat
	chmod +x bin/mkfs.fat
	PATH=$PWD/bin:$PATH run bash -c "echo no | '$fatadvise' --format --time 1 image"
	[[ $output != *"mkfs.fat ran"* ]]
	PATH=$PWD/bin:$PATH run bash -c "echo yes | '$fatadvise' --format --time 1 image"
	[[ $output == *"mkfs.fat ran: -F "*" -- image"* || $output == *"Don't know"* ]]
}

@test "an image holds afterwards what it held before" {
	make_image 20M
	cp image before
	run "$fatadvise" --quick --time 1 image
	[ "$status" -eq 0 ] || [ "$status" -eq 2 ]
	cmp image before
}

@test "--max-bytes bounds what is written" {
	# simulated: a slow device would stay below the bound by itself; this one writes 20 MB without it
	for mib in 2 8; do
		run "$fatadvise" --max-bytes "${mib}M" --json --stats --simulate old-stick
		written=$(sed -n 's/^writes: .* \([0-9]*\) bytes$/\1/p' <<<"$output")
		[ "$written" -le $((mib << 20)) ]
		[ "$written" -gt $((mib * 1000 * 1000)) ]
	done
}

@test "the time given is kept to within a tenth" {
	some 3 "old-stick 3" "old-stick 10" "old-stick 20" "tlc-stick 3" "tlc-stick 10" "tlc-stick 20" \
		"slow-bus 3" "slow-bus 10" "slow-bus 20" "disk-64k 20" "disk-64k 3" "disk-64k 10"
	for chosen in "${chosen[@]}"; do
		seconds=${chosen#* }
		"$fatadvise" --simulate "${chosen% *}" --time "$seconds" --json 2>/dev/null |
			awk -v s="$seconds" '/"seconds"/ { n = $2 } END { exit !(n > 0 && n <= 1.1 * s) }'
	done
}

@test "--stats prints what the device was asked" {
	run -0 "$fatadvise" --stats --simulate slow-bus
	for line in reads: writes: flushes: errors:; do
		[[ $output == *"$line"* ]]
	done
}

@test "a signal ends it with the content as it was" {
	make_image 20M
	cp image before
	# a shell's background jobs do not hear SIGINT
	env --default-signal=INT "$fatadvise" --time 60 image >out 2>&1 &
	until grep -q "writes back what it has read" out; do sleep 0.05; done
	kill -INT $!
	wait $! || status=$?
	[ "${status-0}" -eq 1 ]
	grep -q "stopped; the content is as it was" out
	cmp image before
}

@test "what is no device is refused in one line" {
	mkdir folder
	: >empty
	printf x >tiny
	for path in folder empty tiny /dev/null missing; do
		run --separate-stderr "$fatadvise" "$path"
		[ "$status" -eq 1 ] || [ "$status" -eq 2 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "fatadvise: $path: "* ]]
	done
	[ ! -s empty ]
	[ "$(cat tiny)" = x ]
}

@test "an image too small to measure: don't know" {
	make_image 1M
	run -2 "$fatadvise" image
	[[ $output == *"don't know"*"too small"* ]]
}

@test "bad options are refused and nothing is touched" {
	make_image 9M
	cp image before
	for option in --time=0 --time=x --max-bytes=x --files=x --nosuch --simulate=nosuch; do
		run -1 "$fatadvise" "$option" image
	done
	run -1 "$fatadvise"
	run -1 "$fatadvise" image image
	cmp image before
}

@test "a read-only image is refused" {
	[ "$(id -u)" -ne 0 ] || skip "root may write anything"
	make_image 9M
	chmod 444 image
	run -1 "$fatadvise" image
}

@test "a locked image is refused" {
	make_image 9M
	exec 9<>image
	flock -n 9
	run -1 "$fatadvise" image
	[[ $output == *"somebody else has it"* ]]
}

@test "an image behind a loop device is refused, the loop device is measured" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	make_image 20M
	cp image before
	loop=$(losetup --show --direct-io=on -f image 2>/dev/null) || skip "no loop device here"
	run "$fatadvise" image
	image_status=$status
	run "$fatadvise" --quick --time 2 "$loop"
	losetup -d "$loop"
	[ "$image_status" -eq 1 ]
	[ "$status" -eq 0 ] || [ "$status" -eq 2 ]
	cmp image before
}
