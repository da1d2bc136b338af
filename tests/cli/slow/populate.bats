#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mkfs.fat -d and --size-for: a folder becomes a volume, or is refused as a whole. What came of it is
# read back with mtools and checked with both fsck.fat.
bats_require_minimum_version 1.5.0
load ../kit

setup_file() {
	cd "$BATS_FILE_TMPDIR" && build_tree tree
}

setup() {
	PATH=$FATWISE_BIN:$PATH
	export LC_ALL=C.UTF-8 MTOOLS_SKIP_CHECK=1 TZ=UTC
	unset SOURCE_DATE_EPOCH
	cd "$BATS_TEST_TMPDIR" || return 1
}

# A tree with a little of everything.
build_tree() {
	mkdir -p "$1/EFI/BOOT" "$1/Folder with a long name/deeper" "$1/empty folder"
	printf 'efi' >"$1/EFI/BOOT/BOOTX64.EFI"
	: >"$1/empty"
	printf '%s' "ä" >"$1/Folder with a long name/größe übung.text"
	head -c 70000 /dev/urandom >"$1/Folder with a long name/deeper/data.bin"
	head -c 512 /dev/urandom >"$1/lower.txt"
	head -c 300001 /dev/urandom >"$1/UPPER.TXT"
}

make_tree() { cp -a "$BATS_FILE_TMPDIR/tree" "$1"; }

# The volume holds what the folder does, and both checkers like it.
is_copy_of() { # IMAGE FOLDER
	run -0 fsck.fat -n "$1"
	if [ -x /usr/sbin/fsck.fat ]; then run -0 /usr/sbin/fsck.fat -n "$1"; fi
	rm -rf back && mkdir back
	mcopy -s -n -i "$1" ::/ back
	diff -r "$2" back
}

@test "every type of volume, and every byte is there" {
	make_tree tree
	some 2 "-F 12 -s 64" "-F 16" "-F 32 -f 1" "-F 32 -s 1 -S 1024"
	for options in "${chosen[@]}"; do
		rm -f image
		# shellcheck disable=SC2086
		run -0 mkfs.fat $options -n LABEL -C -d tree image 70000
		is_copy_of image tree
		[[ $(mlabel -s -i image ::) == *LABEL* ]]
	done
}

@test "onto what is there already; old bytes are gone" {
	make_tree tree
	head -c 8M /dev/zero | tr '\0' Z >image
	run -0 mkfs.fat -I --rootdir tree image
	is_copy_of image tree
	# behind the end of a file, and in a folder's last cluster
	mcopy -i image ::/lower.txt - | cmp - tree/lower.txt
	run -0 mdir -i image "::/empty folder"
	[[ $output == *"2 files"* ]]
}

@test "-C without BLOCKS: the smallest that holds it; --size-for tells" {
	make_tree tree
	some 3 "" "-F 16" "-F 12 -s 1" "-F 12 -s 16 -n LABEL" "-r 32" "-f 1 -S 2048" "-a"
	for options in "${chosen[@]}"; do
		rm -f image
		# shellcheck disable=SC2086
		run -0 --separate-stderr mkfs.fat $options --size-for tree
		size=$output
		[ -z "$stderr" ]
		[[ $size =~ ^[0-9]+$ ]]
		# shellcheck disable=SC2086
		run -0 mkfs.fat $options -C -d tree image
		[ "$(stat -c %s image)" = $((size * 1024)) ]
		is_copy_of image tree
		rm image
		# shellcheck disable=SC2086
		run -1 mkfs.fat $options -C -d tree image $((size - 1))
		[ ! -e image ]
	done
}

@test "FAT32 without BLOCKS is one that firmware takes for FAT32" {
	make_tree tree
	run -0 --separate-stderr mkfs.fat -F 32 -C -d tree image
	[ -z "$stderr" ]
	is_copy_of image tree
	[[ $(fsck.fat -n image) =~ /([0-9]+)\ clusters ]]
	[ "${BASH_REMATCH[1]}" -ge 65525 ]
}

@test "twice the same: whatever the order of names, the time zone and the language" {
	make_tree tree
	mkdir again
	for entry in lower.txt UPPER.TXT empty "Folder with a long name" EFI "empty folder"; do
		cp -r --preserve=timestamps "tree/$entry" again/
	done
	touch -r tree again
	export SOURCE_DATE_EPOCH=1700000000
	mkfs.fat -C -d tree one >/dev/null
	TZ=Asia/Tokyo LC_ALL=C mkfs.fat -C -d again two >/dev/null
	cmp one two
	unset SOURCE_DATE_EPOCH
	mkfs.fat --invariant -C -d tree three >/dev/null
	TZ=America/New_York mkfs.fat --invariant -C -d again four >/dev/null
	cmp three four
}

@test "times: local, or UTC and no later than SOURCE_DATE_EPOCH" {
	mkdir tree
	touch -d '2020-02-03 04:05:06 UTC' tree/old
	touch -d '2030-01-01 00:00:00 UTC' tree/new
	touch -d '1975-01-01 00:00:00 UTC' tree/ancient
	TZ=UTC-5 mkfs.fat -C -d tree image >/dev/null
	run -0 mdir -i image ::
	[[ $output =~ old\ +0\ 2020-02-03\ +9:05 ]]
	[[ $output =~ ancient\ +0\ 1980-01-01\ +0:00 ]]
	rm image
	SOURCE_DATE_EPOCH=1700000000 TZ=UTC-5 mkfs.fat -C -d tree image >/dev/null
	run -0 mdir -i image ::
	[[ $output =~ old\ +0\ 2020-02-03\ +4:05 ]]
	[[ $output =~ new\ +0\ 2023-11-14\ +22:13 ]]
}

@test "all that speaks against it at once, and nothing is made" {
	make_tree tree
	: >"tree/a:b"
	: >"tree/dot."
	: >tree/TWICE
	: >tree/twice
	: >"$(printf 'tree/not utf-8 \377')"
	: >"$(printf 'tree/line\nfeed')"
	truncate -s 4G tree/large
	mkfifo tree/pipe
	ln -s /etc tree/out
	ln -s nowhere tree/dangling
	ln -s .. tree/EFI/loop
	run -1 mkfs.fat -C -d tree image
	[ ! -e image ]
	[[ $output == *"tree/a:b: the name holds a character that FAT does not allow"* ]]
	[[ $output == *"tree/dot.: the name ends in a dot or a blank"* ]]
	[[ $output == *"tree/twice: the name is that of another one"*": tree/TWICE; rename one"* ]]
	[[ $output == *'tree/not utf-8 \xFF: the name is not valid UTF-8'* ]]
	[[ $output == *'tree/line\x0Afeed: the name holds a character'* ]]
	[[ $output == *"tree/large: the file is larger than 4 GiB - 1; leave it out"* ]]
	[[ $output == *"tree/pipe: is a pipe, which FAT cannot hold"* ]]
	[[ $output == *"tree/out: is a symbolic link that leads out of the folder"* ]]
	[[ $output == *"tree/dangling: is a symbolic link that leads nowhere"* ]]
	[[ $output == *"tree/EFI/loop: is a symbolic link to a folder that it lies in"* ]]
	[ "$(grep -c '^mkfs.fat: tree/' <<<"$output")" -eq 10 ]
	truncate -s 8M image
	run -1 mkfs.fat -d tree image
	cmp -n 8388608 image /dev/zero
}

@test "links inside the tree are followed, hard links are copies" {
	make_tree tree
	ln -s UPPER.TXT tree/link
	ln -s ../EFI "tree/Folder with a long name/efi"
	ln tree/lower.txt tree/hard
	ln -s "$PWD/tree/lower.txt" tree/absolute
	run -0 mkfs.fat -C -d tree image
	cp -rL tree flat
	is_copy_of image flat
	ln -s tree by-link
	rm image
	run -0 mkfs.fat -C -d by-link image
	is_copy_of image flat
}

@test "a folder that is none, the volume in its own folder" {
	make_tree tree
	run -1 mkfs.fat -C -d missing image 1000
	run -1 mkfs.fat -C -d tree/lower.txt image 1000
	[[ $output == *"is no folder"* ]]
	[ ! -e image ]
	truncate -s 4M tree/image
	run -1 mkfs.fat -d tree tree/image
	[[ $output == *"tree/image: is the volume itself"* ]]
	cmp -n 4194304 tree/image /dev/zero
	rm tree/image
	run -0 mkfs.fat -C -d tree tree/image
	mv tree/image image
	is_copy_of image tree
}

@test "too small: what is needed and what is there" {
	make_tree tree
	run -1 mkfs.fat -C -d tree image 200
	[[ $output =~ "the volume has too few clusters: "[0-9]+" needed, "[0-9]+" there" ]]
	[ ! -e image ]
	mkdir many
	for i in {1..200}; do : >"many/$i"; done
	run -1 mkfs.fat -r 112 -a -C -d many image 1440
	[[ $output == *"too few entries: 200 needed, 112 there; use -r, or FAT32"* ]]
	truncate -s 10M tree/large
	run -1 mkfs.fat -F 12 -s 1 --size-for tree
	[[ $output == *"no volume with these options holds it"* ]]
}

@test "many names in the root: it becomes large enough, aliases differ" {
	mkdir tree
	for i in {1..700}; do : >"tree/the same beginning $i.text"; done
	run -0 mkfs.fat -F 16 -C -d tree image
	is_copy_of image tree
	run -0 mdir -i image ::
	[[ $output == *"THESAM~1 TEX"* && $output == *"THESAM~4 TEX"* ]]
	[ "$(grep -oE '^[^ ]{8} TEX' <<<"$output" | sort -u | wc -l)" = 700 ]
}

@test "short names in small letters need no long name" {
	mkdir tree
	for i in {1..15}; do echo $i >"tree/file$i.txt"; done
	run -0 mkfs.fat -F 32 -s 1 -C -d tree image
	is_copy_of image tree # 15 slots and no more: the root has one cluster
	[[ $(fsck.fat -n image) == *" 16/"* ]]
}

@test "the smallest holds with every option that shapes the layout" {
	make_tree tree
	mapfile -t options_lines <<-END
		--profile sdcard
		--profile camera --offset 2048
		--profile windows -F 32
		--align 4M --offset 2048
		--align 3M+512,fats -F 16
		--align 1M,beside -s 8
		-a -r 1000
		-R 100 -b 12 -F 32 -s 1
		-S 4096 -s 2
	END
	some 4 "${options_lines[@]}"
	for options in "${chosen[@]}"; do
		rm -f image
		# shellcheck disable=SC2086
		run -0 --separate-stderr mkfs.fat $options --size-for tree
		[ -z "$stderr" ]
		size=$output
		# shellcheck disable=SC2086
		run -0 mkfs.fat $options -C -d tree image
		offset=0
		[[ $options != *--offset* ]] || offset=1048576
		[ "$(stat -c %s image)" = $((size * 1024 + offset)) ]
		dd if=image of=part bs=1M skip=$((offset >> 20)) status=none
		is_copy_of part tree
		# and the same for whoever gives the size himself
		rm image
		# shellcheck disable=SC2086
		run -0 mkfs.fat $options -C -d tree image "$size"
	done
}

@test "--offset: the defaults are those of the whole file; alignment counts from its start" {
	mkdir tree
	head -c 300000 /dev/urandom >tree/file
	export SOURCE_DATE_EPOCH=1700000000
	for offset in 3 2048 1048576; do
		rm -f image other
		run -0 mkfs.fat --offset $offset -C -d tree image
		truncate -s "$(stat -c %s image)" other
		run -0 mkfs.fat --offset $offset -d tree other
		cmp image other
	done
	rm image
	run -0 mkfs.fat --offset 3 --align 1M --json -q -C -d tree image
	[[ $output =~ first_byte_of_the_data_area\":\ .\"value\":\ ([0-9]+) ]]
	[ $(((BASH_REMATCH[1] + 3 * 512) % 1048576)) -eq 0 ]
}

@test "a profile's rules hold for a filled volume, and choose its size" {
	make_tree tree
	run -0 mkfs.fat --profile esp -C -d tree image
	is_copy_of image tree
	[[ $(fatlabel --json image) == *FAT32* ]]
	[[ $(fsck.fat -n image) =~ /([0-9]+)\ clusters ]]
	[ "${BASH_REMATCH[1]}" -ge 65525 ]
	rm image
	run -1 mkfs.fat --profile dos -F 32 -C -d tree image
	[[ $output == *"no volume with these options holds it"* ]]
	[ ! -e image ]
	run -0 mkfs.fat --profile esp -C -d tree image 40000
	is_copy_of image tree
	[[ $(fatlabel --json image) == *FAT32* ]]
}

# Each read takes 0.4 s, so that the work takes longer than the second without a bar.
@test "long work: a bar at a terminal, nothing anywhere else" {
	command -v script >/dev/null || skip "no script"
	command -v strace >/dev/null || skip "no strace, which makes it slow"
	mkdir tree
	for i in 1 2 3 4 5; do head -c 100000 /dev/urandom >tree/$i; done
	slow="strace -f -o trace -e trace=pread64 -e inject=pread64:delay_enter=400000 mkfs.fat -q -C -d tree image"
	run -0 script -qec "$slow" /dev/null
	grep -q 'pread64.*DELAYED' trace || skip "this strace cannot delay"
	[[ $output =~ copying\ \[\#+\ *\]\ +[1-9][0-9]*%\ +[0-9]+:[0-9]{2}\ left ]]
	[[ $output == *$'\r\E[K' ]] # and it is gone in the end
	rm image
	# shellcheck disable=SC2086
	run -0 --separate-stderr $slow
	[ -z "$output$stderr" ]
	truncate -s 6M b
	run -0 script -qec "${slow%-C*} -c b" /dev/null
	[[ $output =~ reading\ \[\#+\ *\]\ +[1-9][0-9]*%\ +[0-9]+:[0-9]{2}\ left ]]
	is_copy_of image tree
}

@test "holes stay holes" {
	mkdir tree
	truncate -s 200M tree/sparse
	printf end >>tree/sparse
	printf start | dd of=tree/sparse conv=notrunc status=none
	[ "$(du -k tree/sparse | cut -f1)" -lt 1000 ] || skip "no holes in $PWD"
	run -0 mkfs.fat -F 32 -C -d tree image
	[ "$(du -k image | cut -f1)" -lt 8192 ] # the FATs, mostly
	mcopy -i image ::/sparse - | cmp - tree/sparse
	run -0 fsck.fat -n image
}

@test "behind an offset, around bad blocks, with an undo file" {
	make_tree tree
	head -c 9M /dev/urandom >image
	cp image before
	printf '%s\n' 100 101 300 500 >list
	run -0 mkfs.fat -I --offset 2048 -l list --undo undo -d tree image
	dd if=image of=part bs=1M skip=1 status=none
	is_copy_of part tree
	run -0 fatundo undo image
	cmp image before
}

@test "an interrupted -C leaves nothing, or all of it" {
	mkdir tree
	head -c 40M /dev/urandom >blob
	split -n 40 blob tree/
	for delay in 0.01 0.03 0.06 0.1; do
		rm -f image
		run timeout -s INT $delay mkfs.fat -C -d tree image
		[ ! -e image ] || is_copy_of image tree
	done
}

@test "what is read and written, and how much memory it takes" {
	mkdir tree
	head -c 5M /dev/urandom >blob
	split -a 3 -n 500 blob tree/
	run -0 --separate-stderr mkfs.fat -F 32 -C -d tree --stats image
	[ -z "$stderr" ]
	[[ $output =~ reads:\ 0\ requests ]]
	[[ $output =~ writes:\ ([0-9]+)\ requests,\ ([0-9]+)\ bytes ]]
	[ "${BASH_REMATCH[1]}" -le 30 ]
	[[ $output =~ memory:\ ([0-9]+)\ KiB ]]
	[ "${BASH_REMATCH[1]}" -lt 8192 ]
}
