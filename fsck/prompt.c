/* SPDX-License-Identifier: MIT */
/*
 * prompt: single answers, one a line. At end of input everything that is not yet answered is left
 * as it is.
 */
#include "prompt.h"

#include <string.h>

#include "report.h"

/* The first character of the next line of input; 0: there is none. */
static int read_answer(struct prompt *prompt)
{
	char line[64];
	int answer;

	fflush(stdout);
	if (prompt->over || !fgets(line, sizeof line, stdin)) {
		prompt->over = true;
		printf("\n");
		return 0;
	}
	answer = (unsigned char)line[strspn(line, " \t")];
	while (!strchr(line, '\n') && fgets(line, sizeof line, stdin))
		;
	return answer;
}

bool prompt_ask(struct prompt *prompt, const struct fault *fault)
{
	char text[1024];

	if (prompt->over)
		return false;
	report_fault(prompt->options, fault, REPORT_FOUND, NULL);
	fault_text(fault_kind(fault->id)->fix, fault, text, sizeof text);
	for (;;) {
		int answer;

		printf("1) Repair it (");
		cli_put_text(stdout, text);
		printf(")\n2) Leave it\n[12?q]? ");
		answer = read_answer(prompt);
		if (answer == 'q')
			prompt->over = true;
		if (answer == '1')
			return true;
		if (answer == '2' || prompt->over)
			return false;
	}
}

bool prompt_write(struct prompt *prompt)
{
	for (;;) {
		int answer;

		printf("\n1) Write changes\n2) Leave filesystem unchanged\n[12?q]? ");
		answer = read_answer(prompt);
		if (answer == '1')
			return true;
		if (answer == '2' || answer == 'q' || prompt->over)
			return false;
	}
}
