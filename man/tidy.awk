# SPDX-License-Identifier: MIT
# tidy: makes of scdoc's output a page that `mandoc -T lint` has nothing to say about. Titles are in
# capitals, a paragraph begins only where there is none yet, lines end before column 80.

function emit(line) {
	print line
	after_heading = line ~ /^\.S[HS] /
}

# Breaks a line of text at blanks; a line must not begin like a request.
function fold(line, cut) {
	while (length(line) > 80) {
		for (cut = 80; cut > 1; cut--)
			if (substr(line, cut, 1) == " " && substr(line, cut + 1, 1) !~ /[.' ]/)
				break
		if (cut == 1)
			break
		emit(substr(line, 1, cut - 1))
		line = substr(line, cut + 1)
	}
	emit(line)
}

{ sub(/ +$/, "") }
/^\.P$/ { paragraph = 1; next }
/^\.TH / { $2 = toupper($2) }
/^\.RE$/ { emit($0); next } # the paragraph begins behind it
paragraph && !/^\.(S[HS] |TS)/ && !after_heading { emit(".P") }
{ paragraph = 0 }
/^\.nf$/ { literal = 1 }
/^\.fi$/ { literal = 0 }
literal || /^\./ { emit($0); next }
{ fold($0) }
