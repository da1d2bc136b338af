#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Names and labels made by strangers: whatever a tool prints of them does a terminal no harm.
bats_require_minimum_version 1.5.0
load kit

setup() {
	PATH=$FATWISE_BIN:$PATH:/usr/sbin:/sbin
	cd "$BATS_TEST_TMPDIR"
}

# hostile: ./image with a label, short names and long names that hold escape sequences, line feeds,
# C1 controls, bidirectional marks, lone surrogates; their chains are broken, so that they are named.
hostile() {
	cat >hostile.recipe <<-'END'
		title hostile names
		at fat16
		dir "/Folder with a long name"
		file "/Folder with a long name/Long name one.bin" 3*cluster
		file "/Long name number two.txt" 2*cluster
		file /SHORT.BIN 2*cluster
		file /OK.TXT 10
		root-label HOSTILE
		boot label = x:1B5B324A0A9B333120200A
		lfn "/Folder with a long name" 1 char1 = 0x202E
		lfn "/Folder with a long name" 1 char2 = 0x009B
		lfn "/Folder with a long name/Long name one.bin" 1 char1 = 0x2066
		lfn "/Folder with a long name/Long name one.bin" 1 char2 = 0xD800
		lfn "/Folder with a long name/Long name one.bin" 1 char3 = 0xFEFF
		lfn "/Long name number two.txt" 1 char1 = 0x001B
		lfn "/Long name number two.txt" 1 char2 = 0x005B
		lfn "/Long name number two.txt" 1 char3 = 0x000A
		entry /SHORT.BIN name = x:1B5B324A0A7F2020202020
		slot / 0 name = x:1B5D303B0A9B333120200A
		fat "/Folder with a long name/Long name one.bin[1]" = free
		fat "/Long name number two.txt[1]" = free
		fat /SHORT.BIN[1] = free
	END
	"$FATWISE_BIN/tests/recipes/recipe" compile hostile.recipe image
}

# harmless: of $output, every byte is part of text that only prints
harmless() {
	[ -n "$output" ] &&
		printf '%s' "$output" >printed &&
		iconv -f UTF-8 -t UTF-8 printed >/dev/null &&
		! LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf' printed
}

@test "harmless() sees what is not" {
	for bytes in '\x1b[2J' '\xc2\x9b' '\xe2\x80\xae' '\xe2\x81\xa6' '\xff' '\xef\xbb\xbf' '\x7f'; do
		output=$(printf "a${bytes}b")
		if harmless 2>/dev/null; then return 1; fi
	done
	output=$'\xc3\x9cber\tall\n'
	harmless
}

@test "fsck.fat: faults, -v, -l, codes, a repair, questions" {
	hostile
	cp image before
	for options in -n -nv -nl -nlv "-a -w" -av; do
		cp before image
		run fsck.fat $options image
		harmless
		[[ $output == *'\u{202E}\u{009B}lder with a long name/\u{2066}'* ]]
		[[ $output == *'\x1B['* ]]
		[ "$(grep -c '^image: .*clusters$' <<<"$output")" -eq 1 ]
	done
	cp before image
	run fsck.fat -r image <<<"$(yes n | head -n 200)"
	harmless
}

@test "fsck.fat --json: escaped, so that nothing is lost and nothing shows" {
	hostile
	run fsck.fat -n --json image
	harmless
	grep '^{' <<<"$output" | jq -e . >/dev/null
	[ "$(grep '^{' <<<"$output" | jq -r '.path // empty' | grep -c $'^/\xe2\x80\xae\xc2\x9blder')" -ge 1 ]
}

@test "fsck.fat -d and -u: names from the command line in what it says" {
	hostile
	run fsck.fat -a -d $'/no\x1b[2J\xe2\x80\xae.txt' image
	harmless
	[[ $output == *'/no\x1B[2J\u{202E}.txt'* ]]
	run fsck.fat -a -u $'/no\x1b[2J\xe2\x80\xae.txt' image
	harmless
}

@test "fatlabel: the label and --json, a new one that is refused" {
	hostile
	run -0 fatlabel image
	harmless
	[[ $output == *'\x1B]0;'* ]]
	[ "${#lines[@]}" -eq 1 ]
	run -0 fatlabel --json image
	harmless
	jq -e . <<<"$output" >/dev/null
	for label in $'\x1b[2J' $'a\xe2\x80\xaeb' $'a\nb'; do
		run -1 fatlabel image "$label"
		harmless
	done
}

@test "mkfs.fat: labels, a file tree, lists, names of images" {
	for label in $'\x1b[2J' $'a\xe2\x80\xaeb' $'a\nb'; do
		run -1 mkfs.fat -n "$label" -C new 1440
		harmless
	done
	mkdir tree
	: >"tree/$(printf 'a\x1b[2J\x0a')"
	: >"tree/$(printf '\xe2\x80\xaegpj.exe')"
	: >"tree/$(printf '\xff\xfe')"
	ln -s "$(printf 'x\x1b[31m')" "tree/$(printf 'l\xe2\x80\xae')"
	run mkfs.fat -v -d tree -C new 1440
	harmless
	[ "$status" -ne 0 ]
	printf '\x1b[2J\n' >list
	run mkfs.fat -l list -C new 1440
	harmless
	run mkfs.fat $'no\x1b[2J\xe2\x80\xae'
	harmless
}

@test "mkfs.fat --advice, fatadvise --replay, fatundo: files that are none of theirs" {
	printf '{"device": "\x1b[2J", "recommended": {"mkfs": "\x1b[31m"}}\n' >advice
	run mkfs.fat --advice advice -C new 1440
	harmless
	printf 'fatadvise \x1b[2J\nmodel \x1b[2J\n' >record
	run -1 fatadvise --replay record
	harmless
	truncate -s 1M device
	printf '\x1b[2JFATUNDO\xff' >undo
	run fatundo undo device
	harmless
}

@test "fatadvise --replay: the model's name in the text, in JSON, in the chart" {
	fatadvise -q --simulate slow-bus --record record >/dev/null
	printf '2s/.*/model A\\x1b[2J\\xe2\\x80\\xae\\xff<b>/' >edit
	LC_ALL=C sed -f edit record >hostile
	LC_ALL=C grep -q "$(printf '\xff<b>')" hostile
	run -0 fatadvise --replay hostile
	harmless
	run -0 fatadvise --replay hostile --json --svg chart
	harmless
	jq -e . <<<"$output" >/dev/null
	output=$(cat chart)
	harmless
	[[ $output != *'<b>'* ]]
	run -0 fatadvise --replay hostile --hwdb
	harmless
}

@test "fatundo: who made the undo file, as the file says" {
	truncate -s 2M image
	mkfs.fat -q --undo undo image
	size=$(stat -c %s undo)
	at=$(text_off mkfs.fat undo)
	[ -n "$at" ]
	printf '\x1b[2J\xff' | dd of=undo bs=1 seek="$at" conv=notrunc status=none
	[ "$(stat -c %s undo)" -eq "$size" ]
	run fatundo --dry-run undo image
	harmless
}

@test "all tools: a device, and what a glob makes an option of, with such a name" {
	name=$'v\x1b[2J\xe2\x80\xae\xff'
	mkfs.fat -q -n NAME -C "$name" 1440
	for tool in "fsck.fat -n" "fsck.fat -nv --json" fatlabel "fatlabel --json" "fatadvise --json" \
		"fatundo nowhere" "mkfs.fat -v --undo undo" "fatundo --dry-run undo" "fatundo undo"; do
		run $tool "$name"
		harmless
	done
	for tool in fsck.fat fatlabel mkfs.fat fatadvise fatundo; do
		for option in "--$name" "-$name" $'-\x9b2J' $'-h\x1b' "--stats=$name"; do
			run $tool "$option" "$name"
			harmless
		done
	done
	run fsck.fat "--$name"
	[ "$status" -eq 16 ]
	[[ $output == 'fsck.fat: --v\x1B[2J\u{202E}\xFF: no such option, '* ]]
}
