# SPDX-License-Identifier: MIT
# generate: a tool's --help becomes its completion, so that the two cannot differ.
#   TOOL --help | awk -v shell=bash|zsh -v tool=TOOL -v aliases="NAME..." -f generate.awk
# Reads lines like "  -n, --name VALUE   what it does", where a long first part has its second on
# the next line. What a value can be is taken from its name (FILE, DIR, SIZE|auto|no), from a
# description that is a list ("12, 16 or 32"), or asked of the tool ('"list" names them').

/^  +-/ { begin(); next }
described_later && /^ +[^ ]/ { sub(/^ +/, ""); help[n] = $0 }
{ described_later = 0 }

function begin(left, at) {
	n++
	sub(/^ +/, "")
	at = match($0, /   */)
	left = at ? substr($0, 1, at - 1) : $0
	help[n] = at ? substr($0, at + RLENGTH) : ""
	described_later = !at
	if (match(left, /\[=.*\]$/)) {
		is_optional[n] = 1
		value[n] = substr(left, RSTART + 2, RLENGTH - 3)
		left = substr(left, 1, RSTART - 1)
	} else if (match(left, / [^- ][^ ]*$/)) {
		value[n] = substr(left, RSTART + 1)
		left = substr(left, 1, RSTART - 1)
	}
	names[n] = left
}

# The words that the value of option i may be, as far as they are known.
function words_of(i, list) {
	if (value[i] ~ /\|/) {
		list = value[i]
		gsub(/\|/, " ", list)
		gsub(/[A-Z]+ ?/, "", list)
	} else if (help[i] ~ /^([^,]*: )?[a-z0-9-]+(, [a-z0-9-]+)* or [a-z0-9-]+$/) {
		list = help[i]
		sub(/^[^,]*: /, "", list)
		sub(/ or /, " ", list)
		gsub(/,/, "", list)
	}
	return list
}

function is_asked(i) { return help[i] ~ /"list" names them/ }
function is_file(i) { return value[i] ~ /FILE/ }
function is_folder(i) { return value[i] ~ /^DIR/ }

# ---- bash

function bash_pattern(i, pattern) {
	pattern = names[i]
	gsub(/, /, " | ", pattern)
	if (is_optional[i])
		return pattern "="
	if (match(pattern, /--.*/))
		pattern = pattern " | " substr(pattern, RSTART) "="
	return pattern
}

function bash_action(i, option) {
	option = names[i]
	sub(/, .*/, "", option)
	if (is_asked(i))
		return "-W \"$(\"$1\" " option " list 2>/dev/null | cut -d ' ' -f 1)\""
	if (words_of(i))
		return "-W '" words_of(i) "'"
	return is_folder(i) ? "-d" : is_file(i) ? "-f" : ""
}

function bash_end(i, id, all, action) {
	for (i = 1; i <= n; i++)
		all = all (i > 1 ? " " : "") names[i]
	gsub(/,/, "", all)
	id = tool
	gsub(/[^a-z]/, "_", id)
	print "# bash completion for " tool "; made from its --help"
	print "_fatwise_" id "() {"
	print "\tlocal word=$2 before=$3 how=-f"
	print "\t# \"=\" is a word of its own"
	print "\t[[ $word != = ]] || word="
	print "\t[[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD - 2]}="
	print "\t[[ $2 != = ]] || before+=="
	print "\tcase $before in"
	for (i = 1; i <= n; i++) {
		if (!value[i])
			continue
		action = bash_action(i)
		if (action ~ /^-W/)
			print "\t" bash_pattern(i) ") mapfile -t COMPREPLY < <(compgen " action " -- \"$word\") && return ;;"
		else
			print "\t" bash_pattern(i) ") " (action ? "how=" action : "return") " ;;"
	}
	print "\t*) if [[ $word == -* ]]; then"
	print "\t\tmapfile -t COMPREPLY < <(compgen -W '" all "' -- \"$word\")"
	print "\t\treturn"
	print "\tfi ;;"
	print "\tesac"
	print "\tcompopt -o filenames 2>/dev/null"
	print "\tmapfile -t COMPREPLY < <(compgen \"$how\" -- \"$word\")"
	print "}"
	print "complete -F _fatwise_" id " " tool (aliases ? " " aliases : "")
}

# ---- zsh

function zsh_quote(text) {
	gsub(/'/, "'\\''", text)
	gsub(/\[|\]|:/, "\\\\&", text)
	return text
}

function zsh_action(i, option) {
	option = names[i]
	sub(/, .*/, "", option)
	if (is_asked(i))
		return "(${(f)\"$($words[1] " option " list 2>/dev/null | cut -d \" \" -f 1)\"})"
	if (words_of(i))
		return "(" words_of(i) ")"
	return is_folder(i) ? "_files -/" : is_file(i) ? "_files" : " "
}

function zsh_spec(i, name, spec) {
	spec = name
	if (value[i])
		spec = spec (is_optional[i] ? "=-" : name ~ /^--/ ? "=" : "+")
	spec = spec "[" zsh_quote(help[i]) "]"
	if (value[i])
		spec = spec (is_optional[i] ? "::" : ":") zsh_quote(value[i]) ":" zsh_action(i)
	return spec
}

function zsh_end(i, k, count, part) {
	print "#compdef " tool (aliases ? " " aliases : "")
	print "# zsh completion for " tool "; made from its --help"
	print "_arguments -s -S \\"
	for (i = 1; i <= n; i++) {
		count = split(names[i], part, ", ")
		for (k = 1; k <= count; k++)
			print "\t'" zsh_spec(i, part[k]) "' \\"
	}
	print "\t'*:file or device:_files'"
}

END {
	if (!n) {
		print "generate.awk: " tool " --help lists no option" >"/dev/stderr"
		exit 1
	}
	if (shell == "bash")
		bash_end()
	else
		zsh_end()
}
