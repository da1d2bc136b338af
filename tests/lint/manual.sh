#!/bin/sh
# SPDX-License-Identifier: MIT
# manual: each tool's manual page, its --help and its completions have the same options; built pages
# are in step. --help is printed from the table that getopt's strings are made of.
# shellcheck source=tests/lint/tap.inc
. "$(dirname "$0")/tap.inc"

# The options on lines of stdin: each -x and --name, one a line.
options() { grep -oE '(^|[^A-Za-z0-9-])--?[A-Za-z0-9?][A-Za-z0-9-]*' | grep -oE -- '--?[A-Za-z0-9?][A-Za-z0-9-]*' |
	grep -E '^(-[A-Za-z0-9?]|--[A-Za-z0-9][A-Za-z0-9-]+)$' | sort -u; }

completion() { # completion SHELL TOOL
	"$O/$2" --help 2>&1 | awk -v shell="$1" -v tool="$2" -v aliases= -f packaging/completions/generate.awk
}

for tool in mkfs.fat fsck.fat fatlabel fatundo fatadvise; do
	[ -x "$O/$tool" ] || continue
	page=man/$tool.8.scd
	if [ ! -e "$page" ]; then
		echo "$page is not there" | check "$tool has a manual page"
		continue
	fi
	# "  -n, --name NAME   what it does": only the part before the description
	"$O/$tool" --help 2>&1 | sed -n 's/^ \{2,8\}\(-[^ ].*\)/\1/p' | sed 's/  .*//' | options >"$work/help"
	# "*-n* _NAME_, *--name* _NAME_" at the start of a line
	grep -E '^\*-' "$page" | tr -d '*_' | options >"$work/page"
	[ -s "$work/help" ] || echo "--help lists no option" >"$work/help"
	{
		comm -23 "$work/help" "$work/page" | sed "s|^|not in $page: |"
		comm -13 "$work/help" "$work/page" | sed "s|^|not in $tool --help: |"
	} | check "$tool: manual page and --help have the same options"

	# what bash offers for a "-", asked of bash; zsh's list as it is written
	completion bash "$tool" >"$work/bash"
	bash -c '. "$0"; COMP_WORDS=("$1" -) COMP_CWORD=1
		"$(complete -p "$1" | sed "s/.*-F \([^ ]*\).*/\1/")" "$1" - "$1"
		printf "%s\n" "${COMPREPLY[@]}"' "$work/bash" "$tool" 2>&1 | sort |
		diff "$work/help" - | check "$tool: bash completes the options of --help"
	completion zsh "$tool" | sed -nE "s/^\t'(--?[^][+=]*).*/\1/p" | sort |
		diff "$work/help" - | check "$tool: zsh completes the options of --help"
done

# A source of a rule that a comment names is one that fat-format(7) explains.
grep -rhoE '\[(FATSPEC|SD|LINUX|COMPAT|PROBING)[ ,][^]]*\]|\[[A-Z]{2,}( [0-9][^]]*)\]' lib mkfs fsck label advisor --include='*.[ch]' |
	grep -oE '^\[[A-Z]+' | sort -u | while read -r tag; do
	grep -qF "*$tag" man/fat-format.7.scd || echo "$tag: not in man/fat-format.7.scd"
done | check "fat-format(7) lists the sources that comments name"

for page in man/*.scd; do
	[ -e "$page" ] || continue
	built=man/built/$(basename "$page" .scd)
	if [ ! -e "$built" ]; then
		echo "$built is not there: make man" | check "$page has a built copy"
	elif ! command -v scdoc >/dev/null; then
		skip "$built is in step" "no scdoc here"
	else
		# the version of scdoc stands in a comment
		man/build "$page" 2>&1 | grep -v '^\.\\"' >"$work/new"
		grep -v '^\.\\"' "$built" | diff - "$work/new" | check "$built is in step with $page"
	fi
done

if command -v mandoc >/dev/null; then
	mandoc -T lint man/built/* 2>&1 | check "mandoc finds nothing in the manual pages"
else
	skip "mandoc finds nothing" "no mandoc here"
fi

awk -f man/fat-faults.awk fsck/faults.def | diff man/fat-faults.7.scd - |
	check "man/fat-faults.7.scd is made from fsck/faults.def"

# What is committed is what a machine without scdoc installs.
if git rev-parse --git-dir >/dev/null 2>&1; then
	for page in $(git ls-files 'man/*.scd'); do
		[ -z "$(git status --porcelain -- "$page")" ] || continue # being worked on
		git status --porcelain -- "man/built/$(basename "$page" .scd)" |
			sed 's/^...\(.*\)/\1 is to be committed with its source/'
	done | check "built pages are committed"
fi

for page in man/built/*; do
	[ -e "$page" ] || continue
	[ -e "man/$(basename "$page").scd" ] || echo "$page has no source in man/"
done | check "each built page has a source"

# Elsewhere a last digit may be another.
if [ "$(uname -m)" = x86_64 ]; then
	"$O/fatadvise" --simulate old-stick --svg "$work/svg" >"$work/shown" 2>&1
	sed -n '/^## What fatadvise shows/,/^!/p' README.md | sed '1,/^```$/d; /^```$/,$d' | grep -vF '[...]' |
		grep -vxFf "$work/shown" | check "what the README shows of fatadvise is what it prints"
	cmp "$work/svg" docs/fatadvise.svg 2>&1 | check "the README's chart is the one it draws: make pictures"
else
	skip "what the README shows of fatadvise" "made on x86_64"
fi
done_testing
