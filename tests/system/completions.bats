#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# completions: what TAB offers after a few beginnings, asked of bash and of zsh itself. That all
# options are there is for tests/lint/manual.sh to see.
bats_require_minimum_version 1.5.0

repo=$BATS_TEST_DIRNAME/../..

setup_file() {
	make -s -C "$repo" O="$O" DESTDIR="$BATS_FILE_TMPDIR" PREFIX=/p install >/dev/null 3>&-
}

setup() {
	bash_folder=$BATS_FILE_TMPDIR/p/share/bash-completion/completions
	zsh_folder=$BATS_FILE_TMPDIR/p/share/zsh/site-functions
	PATH=$BATS_FILE_TMPDIR/p/sbin:$PATH
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here" || return 1
	touch disk.img "with blank.img"
	mkdir folder
}

# offers WORD...: what bash completes the last of these words to, one a line, as readline asks it
# ("=" stands as a word of its own).
offers() {
	bash -c '. "$0/$1"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		function=$(complete -p "$1" | sed "s/.*-F \([^ ]*\).*/\1/")
		"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' "$bash_folder" "$@" | sort
}

@test "bash: options by their beginning, under each name of a tool" {
	for name in mkfs.fat mkdosfs mkfs.vfat mkfs.msdos; do
		[ "$(offers $name --di)" = --discard ]
	done
	[ "$(offers fsck.vfat --fr)" = --free-lost ]
	[ "$(offers dosfslabel --re)" = --reset ]
	[ "$(offers fatundo --dr)" = --dry-run ]
}

@test "bash: values that are a few words" {
	[ "$(offers mkfs.fat -F '')" = $'12\n16\n32' ]
	[ "$(offers mkfs.fat --profile s)" = sdcard ]
	[ "$(offers mkfs.fat --align = a)" = auto ]
	[ "$(offers mkfs.fat --mbr =)" = $'a\nn\ny' ]
	[ "$(offers mkfs.fat -n '')" = "" ]
}

@test "bash: values that the tool names itself" {
	[ "$(offers fatadvise --simulate old)" = old-stick ]
	[[ $(offers fatadvise --for '') == *camera* ]]
}

@test "bash: files, folders, blanks in names" {
	[ "$(offers mkfs.fat -d '')" = folder ]
	[ "$(offers mkfs.fat --rootdir = f)" = folder ]
	[ "$(offers fsck.fat w)" = "with blank.img" ]
	[ "$(offers fatundo --stats d)" = disk.img ]
	[[ $(offers fsck.fat --undo '') == *disk.img* ]]
}

@test "zsh: TAB completes options, words, simulated devices, files" {
	command -v zsh >/dev/null || skip "no zsh here"
	# types each beginning, TAB, then "echo" in front of it; the terminal's echo is told apart by "-> "
	cat >"$BATS_TEST_TMPDIR/tab.zsh" <<-'EOF'
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "unsetopt zle_bracketed_paste; bindkey -e; fpath=($1 \$fpath)"
		zpty -w shell "autoload -U compinit; compinit -u -D"
		shift
		for try; do
			zpty -w shell "$try"$'\t\001'"echo '->' "
		done
		zpty -w shell "exit"
		while zpty -r shell line; do print -r -- "$line"; done
	EOF
	run -0 zsh -f "$BATS_TEST_TMPDIR/tab.zsh" "$zsh_folder" "mkfs.fat --disc" "mkfs.vfat --profile=sdc" \
		"fatadvise --simulate=old" "fsck.fat disk"
	for line in "mkfs.fat --discard" "mkfs.vfat --profile=sdcard" "fatadvise --simulate=old-stick" \
		"fsck.fat disk.img"; do
		grep -qE "^(.*[^'])?-> $line" <<<"$output" || { echo "$line: $output" | cat -v; false; }
	done
}
