/* SPDX-License-Identifier: MIT */
/*
 * advice: options from what fatadvise --json has measured.
 *
 * Takes one string out of the file: "mkfs" in "recommended", options as a person would type them.
 * Only those that shape the layout are taken from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"

#define MAX_ADVICE_BYTES 65536u
#define MAX_DEPTH	 16u
#define BLANKS		 " \t\r\n"

static bool refuse(const char *path, const char *why)
{
	cli_error(&mkfs_program, "%s: %s; give a file that fatadvise --json wrote", path, why);
	return false;
}

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = in ? calloc(1, MAX_ADVICE_BYTES) : NULL;
	size_t n;

	if (!text) {
		refuse(path, strerror(errno));
		if (in)
			fclose(in);
		return NULL;
	}
	n = fread(text, 1, MAX_ADVICE_BYTES - 1, in);
	text[n] = '\0';
	fclose(in);
	return text;
}

/* The quote that ends a string; NULL: none does. */
static const char *string_end(const char *quote)
{
	for (const char *at = quote + 1; *at; at++) {
		if (*at == '"')
			return at;
		if (*at == '\\' && *++at == '\0')
			break;
	}
	return NULL;
}

/* One object and nothing behind it, with strings and brackets closed: no file that was cut off. */
static bool is_whole_object(const char *text)
{
	char open[MAX_DEPTH];
	size_t depth = 0;

	text += strspn(text, BLANKS);
	if (*text != '{')
		return false;
	do {
		if (*text == '"')
			text = string_end(text);
		else if (*text == '{' || *text == '[')
			open[depth++] = *text;
		else if ((*text == '}' || *text == ']') &&
			 open[--depth] != (*text == '}' ? '{' : '['))
			return false;
		if (!text || !*text || depth == MAX_DEPTH)
			return false;
		text++;
	} while (depth > 0);
	return text[strspn(text, BLANKS)] == '\0';
}

/* The string behind "key": in an object's text, ended in place; NULL if there is none. */
static char *find_string(char *text, const char *key)
{
	char quoted[32];
	char *at, *end;

	snprintf(quoted, sizeof quoted, "\"%s\"", key);
	at = strstr(text, quoted);
	if (!at)
		return NULL;
	at += strlen(quoted);
	at += strspn(at, BLANKS ":");
	end = *at == '"' ? strchr(at + 1, '"') : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	return at + 1;
}

static bool is_layout_option(const char *word)
{
	return strcmp(word, "-F") == 0 || strcmp(word, "-s") == 0 || strcmp(word, "-S") == 0 ||
	       strcmp(word, "-R") == 0 || strcmp(word, "--align") == 0;
}

/* mkfs_take is the option parser's own judge of a value. */
static bool take_words(const char *path, char *words, struct mkfs_options *options,
		       mkfs_take take)
{
	char *rest = NULL;
	char *word = strtok_r(words, " ", &rest);

	for (; word; word = strtok_r(NULL, " ", &rest)) {
		char *value;

		if (strcmp(word, "-a") == 0) {
			options->no_align = true;
			continue;
		}
		value = is_layout_option(word) ? strtok_r(NULL, " ", &rest) : NULL;
		if (!value)
			return refuse(path, "its advice is not one for a layout");
		if (!take(options, word, value))
			return false;
	}
	return true;
}

bool mkfs_advice_read(const char *path, struct mkfs_options *options, mkfs_take take)
{
	char *text = read_file(path);
	bool is_whole = text && is_whole_object(text);
	char *recommended = is_whole ? strstr(text, "\"recommended\"") : NULL;
	bool is_ours = recommended && strstr(recommended, "\"verdict\"");
	char *words = recommended ? find_string(recommended, "mkfs") : NULL;
	bool is_right;

	if (!text)
		return false;
	if (!is_whole)
		is_right = refuse(path, "is not JSON, or not all of it");
	else if (!recommended)
		is_right = refuse(path, "there is no advice in it");
	else if (!is_ours || !words)
		is_right = refuse(path, "is another program's");
	else if (!*words)
		is_right = refuse(path, "the measurement found no recommendation");
	else
		is_right = take_words(path, words, options, take);
	free(text);
	return is_right;
}
