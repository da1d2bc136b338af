/* SPDX-License-Identifier: MIT */
/*
 * options: one table per tool becomes getopt's strings and the usage text.
 */
#include "cli.h"

#include <getopt.h>
#include <string.h>

#define MAX_OPTIONS 96

static int has_arg(const struct cli_option *option)
{
	if (!option->value)
		return no_argument;
	return option->value[0] == '[' ? optional_argument : required_argument;
}

static void build_tables(const struct cli_program *program, char *letters, struct option *names)
{
	for (size_t i = 0; i < program->n_options && i < MAX_OPTIONS; i++) {
		const struct cli_option *option = &program->options[i];
		int arg = has_arg(option);

		if (option->letter) {
			*letters++ = option->letter;
			for (int k = 0; k < arg; k++)
				*letters++ = ':';
		}
		if (option->name)
			*names++ = (struct option){ option->name, arg, NULL, option->code };
	}
	*letters = '\0';
	*names = (struct option){ NULL, 0, NULL, 0 };
}

static int code_of_letter(const struct cli_program *program, int letter)
{
	for (size_t i = 0; i < program->n_options; i++)
		if (program->options[i].letter == letter)
			return program->options[i].code;
	return letter;
}

/* Whether getopt may repeat the arguments as they are: it escapes nothing. */
static bool is_plain(char *const *argv)
{
	for (; *argv; argv++) {
		const char *text = *argv;

		while (*text) {
			uint32_t c = 0;
			size_t length = cli_decode_utf8(text, &c);

			if (length == 0 || cli_is_unsafe(c))
				return false;
			text += length;
		}
	}
	return true;
}

/* What getopt would have said. Of a letter only the letter is known: others may stand before it. */
static void refuse_option(const struct cli_program *program, const struct cli_args *args)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	bool is_letter = optopt > 0 && optopt < CLI_LONG;

	cli_error(program, "%s: no such option, or its value is missing or one too many",
		  is_letter ? letter : args->argv[optind - 1]);
}

int cli_next(const struct cli_program *program, struct cli_args *args)
{
	char letters[3 * MAX_OPTIONS + 1];
	struct option names[MAX_OPTIONS + 1];
	int code;

	build_tables(program, letters, names);
	if (optind == 1) /* nothing is taken yet */
		opterr = is_plain(args->argv);
	code = getopt_long(args->argc, args->argv, letters, names, NULL);
	if (code == '?' && !opterr)
		refuse_option(program, args);
	args->value = optarg;
	args->first_operand = optind;
	if (code > 0 && code < CLI_LONG && code != '?')
		return code_of_letter(program, code);
	return code;
}

static void print_option(const struct cli_option *option, FILE *out)
{
	char left[64];
	const char *value = option->value ? option->value : "";
	bool optional = value[0] == '[';
	int n = 0;

	if (option->letter)
		n += snprintf(left, sizeof left, "-%c", option->letter);
	else
		n += snprintf(left, sizeof left, "   ");
	if (option->name)
		n += snprintf(left + n, sizeof left - (size_t)n, "%s--%s",
			      option->letter ? ", " : " ", option->name);
	if (*value && optional)
		snprintf(left + n, sizeof left - (size_t)n, "[=%s", value + 1);
	else if (*value)
		snprintf(left + n, sizeof left - (size_t)n, " %s", value);
	if (strlen(left) > 25)
		fprintf(out, "  %s\n  %-25s  %s\n", left, "", option->help);
	else
		fprintf(out, "  %-25s  %s\n", left, option->help);
}

void cli_usage(const struct cli_program *program, FILE *out)
{
	fprintf(out, "Usage: %s %s\n%s\n\nOptions:\n", program->name, program->synopsis,
		program->purpose);
	for (size_t i = 0; i < program->n_options; i++)
		if (program->options[i].help)
			print_option(&program->options[i], out);
}

void cli_banner(const struct cli_program *program, FILE *out)
{
	fprintf(out, "%s %s (%s)\n", program->name, FATWISE_VERSION, FATWISE_DATE);
}
