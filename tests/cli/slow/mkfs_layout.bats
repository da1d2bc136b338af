#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mkfs.fat: alignment, profiles, advice.

bats_require_minimum_version 1.5.0
load ../kit

setup() {
	PATH=$FATWISE_BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return 1
}

# make_plan SIZE OPTION...: all numbers of the plan for a file of SIZE, by their names in the array "number"
declare -gA number
make_plan() {
	local line
	rm -f a
	truncate -s "$1" a
	number=()
	while read -r line; do
		[[ ! $line =~ ^\"([A-Za-z_]+)\":\ \{\"value\":\ ([0-9]+), ]] || number[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
	done < <(mkfs.fat --dry-run --json "${@:2}" a 2>/dev/null)
}

# plan SIZE KEY OPTION...: one of them
plan() {
	make_plan "$1" "${@:3}"
	echo "${number[$2]}"
}
data() { plan "$1" first_byte_of_the_data_area "${@:2}"; }

@test "--align SIZE: the data area is on the boundary, at every width, powers of two or not" {
	some 2 65536 4194304 6291456 3145728
	for align in "${chosen[@]}"; do
		[ $(($(data 30M -F12 --align $align) % align)) -eq 0 ]
		[ $(($(data 200M -F16 --align $align) % align)) -eq 0 ]
		[ $(($(data 4G -F32 --align $align) % align)) -eq 0 ]
		[ $(($(data 4G -F32 --align $align,fats) % align)) -eq 0 ]
	done
	[ "$(plan 4G reserved_sectors --align 4M,fats)" -eq 32 ]
	[ $(($(data 4G --align 6M+1536K) % 6291456)) -eq 1572864 ]
	[ $(($(data 4G --align 4M --offset 2048) % 4194304)) -eq $((4194304 - 1048576)) ]
}

@test "--align SIZE,beside: clusters are in phase, the data area follows the FATs" {
	at=$(data 4G -s 64 --align 6M+4K,beside)
	[ $(((at - 4096) % 32768)) -eq 0 ]
	[ "$(plan 4G reserved_sectors -s 64 --align 6M+4K,beside)" -lt 96 ]
}

@test "--align no, auto; senseless ones are refused" {
	[ "$(plan 64M reserved_sectors --align no)" -eq 1 ]
	[ "$(plan 64M reserved_sectors --align auto)" -eq 4 ]
	truncate -s 64M a
	for align in x 0 -4M 4M,sideways 4M+x ''; do
		run --separate-stderr mkfs.fat --align "$align" a
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "where padding cannot reach: where the volume should begin" {
	truncate -s 4G a
	run --separate-stderr mkfs.fat --align 64M a
	[ "$status" -eq 1 ]
	start=$(sed 's/.*begin at byte \([0-9]*\) .*/\1/' <<<"$stderr")
	truncate -s 5G a
	run mkfs.fat --align 64M --offset $((start / 512)) a 4194304
	[ "$status" -eq 0 ]
}

@test "--profile sdcard: the SD Association's table" {
	# size type cluster boundary
	while read -r size type cluster boundary; do
		make_plan "$size" --profile sdcard
		[ "${number[FAT_type]}" -eq "$type" ]
		[ $((number[sectors_per_cluster] * 512)) -eq "$cluster" ]
		[ $((number[first_byte_of_the_data_area] % boundary)) -eq 0 ]
	done <<-END
		4M 12 8192 8192
		8M 12 8192 8192
		9M 12 16384 16384
		30M 12 16384 16384
		120M 16 16384 32768
		250M 16 16384 32768
		480M 16 16384 65536
		980M 16 16384 65536
		1900M 16 32768 65536
		2053M 32 32768 4194304
		4G 32 32768 4194304
		15G 32 32768 4194304
		32G 32 32768 4194304
		64G 32 65536 16777216
		128G 32 65536 16777216
		256G 32 65536 33554432
		512G 32 65536 33554432
		1T 32 65536 67108864
		2000G 32 65536 67108864
	END
	# at a band's upper end the clusters are too many for its type
	[ "$(plan 64M FAT_type --profile sdcard)" -eq 16 ]
	[ "$(plan 2G FAT_type --profile sdcard)" -eq 32 ]
	[ "$(plan 2050M FAT_type --profile sdcard)" -eq 32 ]
	# FATs no longer than needed, at least 9 reserved sectors
	[ "$(plan 16G sectors_per_FAT --profile sdcard)" -eq 4095 ]
	[ "$(plan 16G reserved_sectors --profile sdcard)" -eq 8194 ]
}

@test "profiles: what they set, and what they refuse" {
	[ "$(plan 100M FAT_type --profile esp)" -eq 32 ]
	[ "$(plan 100M FAT_type --profile rpi-boot)" -eq 16 ]
	[ "$(plan 256M FAT_type --profile rpi-boot)" -eq 32 ]
	[ "$(plan 64G sectors_per_cluster --profile camera)" -eq 64 ]
	[ "$(plan 400M sectors_per_cluster --profile dos)" -eq 16 ]
	[ "$(plan 1G FAT_type --profile dos)" -eq 16 ]
	[ "$(plan 20G sectors_per_cluster --profile windows)" -eq 32 ]
	[ "$(plan 300M sectors_per_cluster --profile windows -s 32)" -eq 32 ]
	truncate -s 16M a
	run --separate-stderr mkfs.fat --profile esp a
	[ "$status" -eq 1 ]
	kib=$(sed 's/.*needs \([0-9]*\) KiB.*/\1/' <<<"$stderr")
	mkfs.fat --profile esp -C new "$kib"
	rm new
	run mkfs.fat --profile esp -C new $((kib - 1))
	[ "$status" -eq 1 ]
	for options in "-s 128 --profile camera" "-S 4096 --profile dos" "--profile toaster"; do
		run --separate-stderr mkfs.fat $options a
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	truncate -s 3G a
	run mkfs.fat --profile dos a
	[ "$status" -eq 1 ]
	truncate -s 100M a
	for options in "dos -F 32 -s 1" "rpi-boot -F 12 -s 128"; do
		# shellcheck disable=SC2086
		run --separate-stderr mkfs.fat --profile $options a
		[ "$status" -eq 1 ]
		[[ $stderr == *"its readers know no FAT"*"; leave out -F or --profile" ]]
	done
}

@test "--profile windows: KB 140365, and the other table's rows with -F" {
	while read -r size options type cluster; do
		# shellcheck disable=SC2086
		make_plan "$size" --profile windows ${options/none/}
		[ "${number[FAT_type]}" -eq "$type" ]
		[ $((number[sectors_per_cluster] * 512)) -eq "$cluster" ]
	done <<-END
		20M none 16 512
		50M none 16 1024
		100M none 16 2048
		200M none 16 4096
		511M none 16 8192
		512M none 32 4096
		8G none 32 4096
		16G none 32 8192
		32G none 32 16384
		64G none 32 32768
		50M -F32 32 512
		100M -F32 32 1024
		200M -F32 32 2048
		300M -F32 32 4096
		1G -F16 16 16384
		1900M -F16 16 32768
		3G -F16 16 65536
	END
}

@test "--advice: what fatadvise --json says, from the measurement to the volume" {
	for model in old-stick sd-card tlc-stick; do
		fatadvise --simulate $model --json >advice 2>/dev/null
		cluster=$(sed -n 's/.*"verdict": "chosen", "cluster_bytes": \([0-9]*\),.*/\1/p' advice)
		options=$(sed -n 's/.*"mkfs": "\(.*\)",.*/\1/p' advice)
		[ -n "$cluster" ] && [ -n "$options" ]
		[ $(($(plan 4G sectors_per_cluster --advice advice) * 512)) -eq "$cluster" ]
		truncate -s 4G b
		export SOURCE_DATE_EPOCH=1700000000
		mkfs.fat -q --advice advice a
		# shellcheck disable=SC2086
		mkfs.fat -q $options b
		for at in 0 3072; do
			cmp -n 512 -i $at a b
		done
		run -0 fsck.fat -n a
		rm b
	done
	# cut off, other text behind it, another program's
	cp advice whole
	for part in 100 1000 4000; do
		head -c $part whole >advice
		run --separate-stderr mkfs.fat --advice advice a
		[ "$status" -eq 1 ]
		[[ $stderr == "mkfs.fat: advice: "*"; give a file that fatadvise --json wrote" ]]
	done
	head -c -3 whole >advice
	run -1 mkfs.fat --advice advice a
	[[ $output == *"is not JSON, or not all of it"* ]]
	{ cat whole; echo '}'; } >advice
	run -1 mkfs.fat --advice advice a
	[[ $output == *"is not JSON, or not all of it"* ]]
	echo '{"recommended": {"mkfs": "-s 64"}, "program": "other"}' >advice
	run -1 mkfs.fat --advice advice a
	[[ $output == *"another program's"* ]]
	fatadvise --simulate slow-bus --json >advice 2>/dev/null
	grep -q '"verdict": "does not matter"' advice
	run --separate-stderr mkfs.fat --advice advice a
	[ "$status" -eq 0 ] || [[ $stderr == *"found no recommendation; "* ]]
}

@test "--advice: fatadvise's words are taken, later options win" {
	echo '{"device": "x", "recommended": {"verdict": "chosen", "mkfs": "-F 32 -s 64 -a -R 100"}}' >advice
	[ "$(plan 4G sectors_per_cluster --advice advice)" -eq 64 ]
	[ "$(plan 4G reserved_sectors --advice advice)" -eq 100 ]
	[ "$(plan 4G sectors_per_cluster --advice advice -s 32)" -eq 32 ]
	truncate -s 64M a
	cp --sparse=always a before
	for text in '{}' '{"recommended": {"mkfs": ""}}' '{"recommended": {"mkfs": "-C x"}}' \
		'{"recommended": {"mkfs": "-s 3"}}' '{"recommended": {"mkfs": 5}}' ''; do
		echo "$text" >advice
		run --separate-stderr mkfs.fat --advice advice a
		[ "$status" -eq 1 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
	run --separate-stderr mkfs.fat --advice missing a
	[ "$status" -eq 1 ]
	cmp a before
}
