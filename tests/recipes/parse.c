/* SPDX-License-Identifier: MIT */
/*
 * parse: a recipe's text into statements. Knows words, quotes, conditions; what the words mean is
 * for others.
 */
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

#define ALL_WIDTHS 7u

void statement_die(const struct recipe *recipe, const struct statement *s, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	die("%s:%u: %s", recipe->path, s->line, text ? text : format);
}

static unsigned width_bit(const char *word)
{
	if (strcmp(word, "fat12") == 0)
		return 1;
	if (strcmp(word, "fat16") == 0)
		return 2;
	return strcmp(word, "fat32") == 0 ? 4 : 0;
}

bool statement_holds(const struct statement *s, const struct instance *instance)
{
	return s->widths & (instance->bits == 12 ? 1u : instance->bits == 16 ? 2u : 4u);
}

/* The next word of a line, or NULL; *text moves on. Quotes keep blanks together. */
static char *next_word(char **text)
{
	char *p = *text + strspn(*text, " \t");
	char *word = p, *to = p;
	bool quoted = false;

	if (*p == '\0' || *p == '#')
		return NULL;
	for (; *p && (quoted || (*p != ' ' && *p != '\t')); p++) {
		if (*p == '"')
			quoted = !quoted;
		else
			*to++ = *p;
	}
	*text = *p ? p + 1 : p;
	*to = '\0';
	return xstrdup(word);
}

/* "[fat12 fat16]" before a statement says at which widths it holds. */
static void take_condition(struct statement *s)
{
	size_t n = 0;
	unsigned widths = 0;

	if (s->n_words == 0 || s->word[0][0] != '[')
		return;
	for (bool last = false; !last; n++) {
		char *word = s->word[n];

		if (n + 1 == s->n_words)
			die("line %u: a condition that does not end", s->line);
		last = word[strlen(word) - 1] == ']';
		word[strlen(word) - last] = '\0';
		widths |= width_bit(word + (n == 0));
	}
	for (size_t i = 0; i < n; i++)
		free(s->word[i]);
	s->n_words -= n;
	memmove(s->word, s->word + n, s->n_words * sizeof *s->word);
	s->widths = widths;
}

static void add_line(struct recipe *recipe, unsigned number, char *text)
{
	struct statement s = { .line = number, .widths = ALL_WIDTHS };
	char *word;

	while ((word = next_word(&text)) != NULL) {
		GROW_ARRAY(s.word, s.n_words);
		s.word[s.n_words++] = word;
	}
	if (s.n_words == 0)
		return;
	take_condition(&s);
	GROW_ARRAY(recipe->statement, recipe->n_statements);
	recipe->statement[recipe->n_statements++] = s;
}

static bool is_known(const char *word)
{
	return strcmp(word, "title") == 0 || strcmp(word, "options") == 0 ||
	       strcmp(word, "expect") == 0 || strcmp(word, "tier") == 0 || image_shape_word(word) ||
	       tree_word(word) || damage_word(word);
}

struct recipe *recipe_parse(const char *name, const char *text)
{
	struct recipe *recipe = xalloc(1, sizeof *recipe);
	const char *slash = strrchr(name, '/');
	char *all = xstrdup(text), *line = all;

	recipe->path = xstrdup(name);
	recipe->name = xstrdup(slash ? slash + 1 : name);
	recipe->name[strcspn(recipe->name, ".")] = '\0';
	for (unsigned number = 1; line; number++) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		add_line(recipe, number, line);
		line = end ? end + 1 : NULL;
	}
	free(all);
	for (size_t i = 0; i < recipe->n_statements; i++)
		if (!is_known(recipe->statement[i].word[0]))
			statement_die(recipe, &recipe->statement[i], "unknown word '%s'",
				      recipe->statement[i].word[0]);
	return recipe;
}

struct recipe *recipe_read(const char *path)
{
	FILE *file = fopen(path, "re");
	struct recipe *recipe;
	char *text = NULL;
	size_t room = 0;

	if (!file)
		die("%s: cannot be read", path);
	if (getdelim(&text, &room, '\0', file) < 0)
		die("%s: is empty", path);
	fclose(file);
	recipe = recipe_parse(path, text);
	free(text);
	return recipe;
}

void recipe_free(struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->n_statements; i++) {
		for (size_t k = 0; k < recipe->statement[i].n_words; k++)
			free(recipe->statement[i].word[k]);
		free(recipe->statement[i].word);
	}
	free(recipe->statement);
	free(recipe->path);
	free(recipe->name);
	free(recipe);
}

static const struct statement *find_statement(const struct recipe *recipe, const char *word)
{
	for (size_t i = 0; i < recipe->n_statements; i++)
		if (strcmp(recipe->statement[i].word[0], word) == 0)
			return &recipe->statement[i];
	return NULL;
}

size_t recipe_instances(const struct recipe *recipe, struct instance list[MAX_INSTANCES])
{
	const struct statement *at = find_statement(recipe, "at");
	const struct statement *sectors = find_statement(recipe, "sectors");
	size_t n = 0;

	for (unsigned bit = 0; bit < 3; bit++) {
		unsigned widths = at ? 0 : ALL_WIDTHS;

		for (size_t i = 1; at && i < at->n_words; i++)
			widths |= width_bit(at->word[i]);
		if (!(widths & 1u << bit))
			continue;
		for (size_t i = 1; i < (sectors ? sectors->n_words : 2) && n < MAX_INSTANCES; i++)
			list[n++] = (struct instance){
				.bits = bit == 0   ? 12
					: bit == 1 ? 16
						   : 32,
				.sector_bytes =
					sectors ? (uint32_t)strtoul(sectors->word[i], NULL, 0)
						: 512,
			};
	}
	return n;
}

char *recipe_instance_name(const struct recipe *recipe, const struct instance *instance)
{
	return xformat("%s.fat%u.%u", recipe->name, instance->bits, instance->sector_bytes);
}
