# SPDX-License-Identifier: MIT
# Makes fat-faults(7), as scdoc source, from fsck/faults.def: awk -f man/fat-faults.awk fsck/faults.def

BEGIN {
	head["0"] = "BOOT SECTOR"
	head["1"] = "FILE ALLOCATION TABLES"
	head["2"] = "DIRECTORIES, NAMES AND CHAINS"
	head["4"] = "LOST CLUSTERS"
	head["5"] = "SUMMARY"
	head["6"] = "ON REQUEST"
	does["FIX"] = "yes"
	does["LEAVE"] = "no"
	print "fat-faults(7)\n\n# NAME\n\nfat-faults - the faults of a FAT volume that fsck.fat knows\n"
	print "# DESCRIPTION\n"
	print "Each fault has a code, which never changes its meaning; *fsck.fat*(8) prints it with *-v* and in JSON. The first digit"
	print "is the part of the check that finds it. Words in _italics_ stand for what is filled in.\n"
	print "*cosmetic*: no driver minds. *minor*: drivers put up with it. *damage*: files are wrong, hidden or in danger."
	print "*danger*: using the volume as it is makes things worse. *fatal*: nothing can be done.\n"
	print "What _is repaired_ is repaired by *-a*, *-p* and *-y* without a question; *-r* asks first; *-n* only tells it, and ends with"
	print "status 1. No repair loses what could be read. What _is left_ needs a person: every mode tells it, leaves it as it"
	print "is, and ends with status 4.\n"
	print "This page is made from _fsck/faults.def_."
}

/^FAULT\(/ { row = "" }
/^FAULT\(/ || row != "" { sub(/^ +/, ""); row = row (row == "" ? "" : " ") $0 }
row ~ /"\)$/ { put(row); row = "" }

function plain(text) {
	gsub(/\\"/, "\"", text)
	gsub(/[*_#<>`\\~\[\]]/, "\\\\&", text)
	gsub(/\{path\}/, "_path_", text)
	gsub(/\{(text)\}/, "_text_", text)
	gsub(/\{[a-z]+\}/, "_N_", text)
	return text
}

# code, id, severity, auto, level, how, "message", "fix"
function put(row,   part, code, message, fix, split_at, rest) {
	split(row, part, /, */)
	code = substr(part[1], 7)
	if (substr(code, 1, 1) != section) {
		section = substr(code, 1, 1)
		print "\n# " head[section]
	}
	rest = substr(row, index(row, "\"") + 1)
	split_at = match(rest, /", +"/)
	message = substr(rest, 1, split_at - 1)
	fix = substr(rest, split_at + RLENGTH)
	sub(/"\)$/, "", fix)
	printf "\n*F%s* %s (%s)\n\t%s.\n\n\t", code, plain(part[2]), tolower(part[3]), plain(message)
	if (part[4] == "FIX")
		printf "_Is repaired_: %s.\n", plain(fix == "" ? "with the rest" : fix)
	else if (part[4] == "LEAVE")
		printf "_Is left._\n"
	else
		printf "_Is only told_; the volume counts as clean.\n"
}

END {
	print "\n# SEE ALSO\n\n*fsck.fat*(8), *fat-format*(7)"
}
