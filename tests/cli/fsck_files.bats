#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fsck.fat on single files and names: -d, -u, -l, -c, -S, -U, and --json, --stats, -C.
bats_require_minimum_version 1.5.0
load kit

setup() {
	fsck="$FATWISE_BIN/fsck.fat"
	cd "$BATS_TEST_TMPDIR"
	export MTOOLS_SKIP_CHECK=1
}

# A volume of each width with two folders and files that have their content from their name.
build_volume() { # build_volume WIDTH
	local size=4M options=()
	[ "$1" != 16 ] || size=20M
	[ "$1" != 32 ] || { size=40M options=(-s 1); }
	truncate -s $size image
	"$FATWISE_BIN/mkfs.fat" -F "$1" "${options[@]}" image >/dev/null 2>&1
	seq 1 2000 >a.bin
	seq 5000 9000 >b.bin
	mmd -i image ::/D1
	mcopy -i image a.bin ::/A.BIN
	mcopy -i image b.bin ::/B.BIN
	mcopy -i image b.bin "::/D1/Long file name.txt"
	mcopy -i image a.bin ::/D1/C.BIN
}

# Built once a file.
make_volume() { # make_volume WIDTH
	local built=$BATS_FILE_TMPDIR/$1
	[ -d "$built" ] || (mkdir "$built" && cd "$built" && build_volume "$1")
	cp -f "$built"/{image,a.bin,b.bin} .
}

has() { # has PATH FILE
	mcopy -n -i image "::$1" got && cmp got "$2" && rm got
}

@test "-d deletes files, by long and short names in any case, several, and frees their clusters" {
	for width in 12 16 32; do
		make_volume $width
		before=$(used)
		run -1 "$fsck" -a -d /a.bin -d "/d1/LONG file NAME.txt" image
		[[ $output == *"/a.bin: to be deleted"* ]]
		run -0 "$fsck" -nl image
		[[ $output != *A.BIN* && $output != *Long* && $output != *REC* ]]
		has /B.BIN b.bin
		has /D1/C.BIN a.bin
		[ "$(used)" -lt "$before" ]
		run -1 "$fsck" -a -d /D1/C.BIN -d /D1 image
		run -0 "$fsck" -nl image
		[[ $output != *D1* ]]
	done
}

used() {
	"$fsck" -n image | sed -n 's|.* \([0-9]*\)/[0-9]* clusters$|\1|p'
}

@test "-d: a folder that is not empty is left, told, and 4; what is not there is told; nothing is written" {
	make_volume 12
	cp image before
	run -4 "$fsck" -a -d /NO.BIN -d /D1 -d /A.BIN/X -d /D1/NO.TXT image
	[ "$(grep -c "not deleted" <<<"$output")" -eq 4 ]
	run -0 "$fsck" -a -d /NO.BIN -d /A.BIN/X image
	[ "$(grep -c "not deleted: there is no such file" <<<"$output")" -eq 2 ]
	cmp image before
}

@test "-d deletes the file and repairs what else is wrong, in one run" {
	make_volume 32
	run -1 "$fsck" -a -d /A.BIN image
	# the FSInfo count follows
	run -0 "$fsck" -n image
}

@test "-u brings a deleted file back with its long name" {
	for width in 12 16 32; do
		make_volume $width
		mdel -i image ::/B.BIN "::/D1/Long file name.txt"
		run -1 "$fsck" -a -u /B.BIN -u "/D1/long file name.TXT" image
		[ "$(grep -c "brought back" <<<"$output")" -ge 2 ]
		run -0 "$fsck" -nl image
		[[ $output == *"/D1/Long file name.txt (LONGFI~1.TXT)"* ]]
		has /B.BIN b.bin
		has "/D1/Long file name.txt" b.bin
	done
}

@test "-u by the short name of a file with a long one" {
	make_volume 16
	mdel -i image "::/D1/Long file name.txt"
	run -1 "$fsck" -a -u "/D1/LONGFI~1.TXT" image
	has "/D1/LONGFI~1.TXT" b.bin
	run -0 "$fsck" -n image
}

@test "-u refuses clusters in use and what is not there: 4, and says why; what is there is told" {
	make_volume 12
	mdel -i image ::/A.BIN
	mcopy -i image b.bin ::/NEW.BIN
	cp image before
	run -4 "$fsck" -a -u /A.BIN image
	[[ $output == *"/A.BIN: not brought back: "*"in use"* || $output == *"no deleted file"* ]]
	run -4 "$fsck" -a -u /NEVER.BIN image
	[[ $output == *"/NEVER.BIN: not brought back: no deleted file of that name"* ]]
	run -0 "$fsck" -a -u /B.BIN image
	[[ $output == *"/B.BIN: not brought back: it is there"* ]]
	cmp image before
}

@test "paths with bytes of the code page, as UTF-8 and in octal" {
	make_volume 12
	for path in /ÄB.BIN '/\216B.BIN'; do
		mcopy -o -i image a.bin ::/XB.BIN
		at=$(text_off 'XB      BIN' image)
		printf '\216' | dd of=image bs=1 seek="$at" conv=notrunc status=none
		run -0 "$fsck" -nl image
		[[ $output == *"/ÄB.BIN"* ]]
		run -0 "$fsck" -nl -c 437 image
		run -1 "$fsck" -a -c 850 -d "$path" image
		run -0 "$fsck" -nl image
		[[ $output != *"ÄB"* ]]
	done
}

@test "-r asks for -d too" {
	make_volume 12
	cp image before
	run -4 "$fsck" -d /A.BIN image <<<2
	cmp image before
	run -1 "$fsck" -d /A.BIN image <<<$'1\n1'
	run -0 "$fsck" -nl image
	[[ $output != *A.BIN* ]]
}

@test "-l lists as 4.2 does" {
	make_volume 12
	[ -x /usr/sbin/fsck.fat ] || skip "no dosfstools here"
	LC_ALL=C.UTF-8 /usr/sbin/fsck.fat -nl image | grep ^Checking | sort >theirs
	"$fsck" -nl image | grep ^Checking | sort >ours
	[ -s ours ]
	diff theirs ours
	# of the volume as it is afterwards
	run -1 "$fsck" -a -l -d /A.BIN image
	[[ $output != *"Checking file /A.BIN"* && $output == *"Checking file /B.BIN"* ]]
}

@test "-t -l together: reads every cluster, and lists" {
	make_volume 16
	run -0 "$fsck" -a -t -l --stats image
	[[ $output == *"Checking file /A.BIN"* ]]
	bytes=$(sed -n 's/^reads: .* requests, \([0-9]*\) bytes/\1/p' <<<"$output")
	requests=$(sed -n 's/^reads: \([0-9]*\) requests.*/\1/p' <<<"$output")
	[ "$bytes" -gt 19000000 ]
	[ "$requests" -lt 300 ]
}

@test "-S: a blank within a short name; without it that is none" {
	make_volume 12
	mcopy -i image a.bin ::/XYZ.BIN
	at=$(text_off 'XYZ     BIN' image)
	printf ' ' | dd of=image bs=1 seek=$((at + 1)) conv=notrunc status=none
	run -0 "$fsck" -n image
	run -1 "$fsck" -n -S image
	run -1 "$fsck" -a -S image
	[[ $output == *"renamed to X_Z.BIN"* ]]
	run -0 "$fsck" -n -S image
	has /X_Z.BIN a.bin
}

@test "-U: small letters in the label become capitals; without it they are none" {
	for width in 12 32; do
		make_volume $width
		"$FATWISE_BIN/fatlabel" image Small 2>/dev/null
		run -0 "$fsck" -n image
		run -1 "$fsck" -n -U image
		run -1 "$fsck" -a -U image
		run -0 "$fsck" -n -U image
		[ "$("$FATWISE_BIN/fatlabel" image)" = SMALL ]
	done
}

@test "-b looks at the boot sector alone, and writes nothing" {
	make_volume 32
	printf '\1' | dd of=image bs=1 seek=65 conv=notrunc status=none
	cp image before
	run -1 "$fsck" -b -a --stats image
	[[ $output == *"Dirty bit"* && $output != *" files, "* ]]
	cmp image before
}

@test "-F 2 believes the second FAT" {
	make_volume 16
	fat=$((4 * 512)) # mkfs' default: four reserved sectors
	printf '\0\0' | dd of=image bs=1 seek=$((fat + 6)) conv=notrunc status=none
	run "$fsck" -a -F 2 image
	[ "$status" -eq 1 ]
	has /A.BIN a.bin
	run -8 "$fsck" -n -F 3 image
}

@test "-V looks again where nothing was repaired" {
	make_volume 32
	once=$("$fsck" -n --stats image | sed -n 's/^reads: .*, \([0-9]*\) bytes/\1/p')
	twice=$("$fsck" -n -V --stats image | sed -n 's/^reads: .*, \([0-9]*\) bytes/\1/p')
	[ "$twice" -gt $((once + once / 2)) ]
}

# The members of an object are those that the manual lists for its type, and all that it does not put in
# parentheses are there.
check_schema() { # check_schema < lines
	sed -n '/^# JSON/,/^# EXIT/{ s/\\//g; p; }' "$BATS_TEST_DIRNAME/../../man/fsck.fat.8.scd" >manual
	jq -r '"\(.type) \(del(.type) | keys | join(" "))"' | sort -u | awk '
		function fail(what) { print $1 ": " what; bad = 1 }
		NR == FNR && /^\*[a-z]+\*$/ { type = substr($0, 2, length($0) - 2); lists[type] = "" ; next }
		NR == FNR { type = $0 == "" ? "" : type; if (type) lists[type] = lists[type] " " $0; next }
		!($1 in lists) { fail("is not in the manual"); next }
		{
			for (i = 2; i <= NF; i++)
				if (!index(lists[$1], "_" $i "_"))
					fail($i " is not in the manual")
			must = lists[$1]
			gsub(/\([^)]*\)/, "", must)
			while (match(must, /_[a-z_]+_/)) {
				member = substr(must, RSTART + 1, RLENGTH - 2)
				must = substr(must, RSTART + RLENGTH)
				if (!index($0 " ", " " member " "))
					fail("no " member)
			}
		}
		END { exit bad }' manual -
}

@test "--json: what it prints is what the manual says; the last line is the summary" {
	for width in 12 32; do
		make_volume $width
		"$fsck" -n --json -l --stats image | check_schema
		at=$(text_off 'A       BIN' image)
		printf '\0\0\1\0' | dd of=image bs=1 seek=$((at + 28)) conv=notrunc status=none
		run -1 "$fsck" -n --json image
		check_schema <<<"$output"
		[ "$(jq -r 'select(.type == "fault") | .action' <<<"$output" | sort -u)" = found ]
		run -1 "$fsck" -a --json --stats image
		check_schema <<<"$output"
		[ "$(tail -1 <<<"$output" | jq -c '[.type, .status, .left, .written]')" = '["summary",1,0,true]' ]
		[ "$(jq -r 'select(.type == "fault") | .path' <<<"$output")" = /A.BIN ]
		run -4 "$fsck" -a --json -d /D1 image
		[ "$(jq -r 'select(.type == "fault") | .code + .action' <<<"$output")" = F6003left ]
	done
}

@test "--json: a hostile name is still JSON; a device that is not there ends with a summary" {
	make_volume 12
	at=$(text_off 'A       BIN' image)
	printf '"\\\1' | dd of=image bs=1 seek="$at" conv=notrunc status=none
	run -1 "$fsck" -n --json image
	jq -e . <<<"$output" >/dev/null
	run -8 --separate-stderr "$fsck" -n --json missing
	[ "$(jq -c '[.type, .status, .written]' <<<"$output")" = '["summary",8,false]' ]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "-C FD writes e2fsck's lines: passes ascending, never going back, the device's name" {
	make_volume 32
	at=$(text_off 'A       BIN' image)
	printf '\0\0\1\0' | dd of=image bs=1 seek=$((at + 28)) conv=notrunc status=none
	"$fsck" -a -C 3 image 3>lines >/dev/null || [ $? -eq 1 ]
	grep -vE '^[1-5] [0-9]+ [0-9]+ image$' lines && return 1
	[ "$(head -c 2 lines)" = "1 " ]
	[ "$(tail -1 lines | cut -d' ' -f1)" = 5 ]
	awk '{ at = $1 * 2000 + $2 * 1000 / $3; if (at < last) exit 1; last = at }' lines
	# a reader that is gone does not matter
	"$fsck" -n -C 3 image 3> >(true)
	run -0 "$fsck" -n -C 0 image
	run -0 "$fsck" -n -C 77 image
}

@test "--stats: all its numbers are there" {
	make_volume 16
	run -0 "$fsck" -n --stats image
	for line in '^reads: [1-9][0-9]* requests, [1-9][0-9]* bytes$' '^read-ahead: [0-9]* requests, ' \
		'^writes: 0 requests, 0 bytes$' '^flushes: 0$' '^errors: 0$' '^memory: [1-9][0-9]* KiB' '^cpu: [0-9.]* s$'; do
		grep -qE "$line" <<<"$output"
	done
}

@test "an Atari's volume: seen as such, and repaired with its own width; the boot sector stays" {
	rm -f image
	truncate -s 4M image
	"$FATWISE_BIN/mkfs.fat" -A image >/dev/null
	# code where others keep a second sector count and the extended record
	printf '\1\2\3\4\5\51\6' | dd of=image bs=1 seek=32 conv=notrunc status=none
	for options in "" -A --variant=atari; do
		run -0 "$fsck" -n $options image
		[[ ${lines[-1]} == "image: 0 files, 0/4063 clusters" ]]
	done
	fat_bytes=$("$fsck" -nv image | sed -n 's/^ *\([0-9]*\) bytes per FAT.*/\1/p')
	for copy in 0 1; do # clusters 1000 and 1001, which no entry leads to, by 16-bit entries
		printf '\351\3\377\377' | dd of=image bs=1 seek=$((512 + copy * fat_bytes + 2000)) conv=notrunc status=none
	done
	head -c 512 image >boot
	run -1 "$fsck" -n image
	[[ $output == *"2 clusters from cluster 1000 on belong to no file"* ]]
	run -1 "$fsck" -a -U image
	head -c 512 image | cmp boot
	run -0 "$fsck" -nl image
	[[ $output == *"/FSCK0000.REC"* ]]
	# a floppy of theirs has 12 bits
	rm image
	truncate -s 720K image
	"$FATWISE_BIN/mkfs.fat" -A image >/dev/null
	run -0 "$fsck" -nv image
	[[ $output == *"12 bit entries"* ]]
}
