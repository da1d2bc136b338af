/* SPDX-License-Identifier: MIT */
/*
 * parse: a recipe's text into statements. Knows words, quotes, conditions; what the words mean is
 * for others.
 */
#include "recipe.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define ALL_WIDTHS     7u
#define MAX_TEXT_BYTES (64u << 10)

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

/*
 * "standard": the tree that most recipes damage. Files have several clusters and a last one that is
 * not full, whatever a cluster is.
 */
static const char *const standard_tree[] = {
	"dir /D1",
	"dir /D1/SUB",
	"file /A.BIN 5*cluster+440",
	"file /B.BIN 7*cluster+416",
	"file /D1/C.TXT 6",
	"file /D1/SUB/DEEP.BIN 5*cluster+440",
	"file \"/D1/Long file name number one.bin\" 7*cluster+416",
};

static void add_line(struct recipe *recipe, unsigned number, char *text);

static void add_standard(struct recipe *recipe, unsigned number)
{
	for (size_t i = 0; i < sizeof standard_tree / sizeof standard_tree[0]; i++) {
		char *line = xstrdup(standard_tree[i]);

		add_line(recipe, number, line);
		free(line);
	}
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
	if (strcmp(s.word[0], "standard") == 0) {
		add_standard(recipe, number);
		free(s.word[0]);
		free(s.word);
		return;
	}
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

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = xalloc(1, MAX_TEXT_BYTES + 1);

	if (!file)
		die("%s: cannot be read", path);
	if (fread(text, 1, MAX_TEXT_BYTES + 1, file) > MAX_TEXT_BYTES)
		die("%s: is too long", path);
	fclose(file);
	return text;
}

/* The text without its line "vary ..." (vary points to it) and with value for each "$". */
static char *substitute(const char *text, const char *vary, const char *value)
{
	size_t n = 0, len = strlen(value), room = strlen(text) + 1;
	char *out;

	for (const char *p = text; *p; p++)
		room += *p == '$' ? len : 0;
	out = xalloc(1, room);
	for (const char *p = text; *p; p++) {
		if (p == vary)
			p += strcspn(p, "\n");
		if (*p == '$') {
			memcpy(out + n, value, len);
			n += len;
		} else if (*p) {
			out[n++] = *p;
		}
	}
	return out;
}

static void visit(const char *path, const char *text, unsigned variant,
		  void (*each)(const struct recipe *recipe, void *ctx), void *ctx)
{
	struct recipe *recipe = recipe_parse(path, text);

	if (variant) {
		char *name = xformat("%s=%u", recipe->name, variant);

		free(recipe->name);
		recipe->name = name;
	}
	each(recipe, ctx);
	recipe_free(recipe);
}

/* vary: where in the text the line is. */
static void visit_variants(const char *path, const char *text, size_t vary,
			   void (*each)(const struct recipe *recipe, void *ctx), void *ctx)
{
	char *line = xformat("%.*s", (int)strcspn(text + vary, "\n"), text + vary);
	char *rest = line + strlen("vary"), *value;
	unsigned variant = 0;

	while ((value = next_word(&rest)) != NULL) {
		char *one = substitute(text, text + vary, value);

		visit(path, one, ++variant, each, ctx);
		free(one);
		free(value);
	}
	free(line);
}

void recipe_each(const char *path, void (*each)(const struct recipe *recipe, void *ctx), void *ctx)
{
	char *text = read_text(path);
	const char *vary = strstr(text, "\nvary");

	if (vary)
		visit_variants(path, text, (size_t)(vary - text) + 1, each, ctx);
	else
		visit(path, text, 0, each, ctx);
	free(text);
}

static int is_recipe(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 7 && strcmp(entry->d_name + len - 7, ".recipe") == 0;
}

void recipe_each_in(const char *path, void (*each)(const struct recipe *recipe, void *ctx),
		    void *ctx)
{
	struct dirent **entry;
	int n = scandir(path, &entry, is_recipe, alphasort);

	if (n < 0) {
		recipe_each(path, each, ctx);
		return;
	}
	for (int i = 0; i < n; i++) {
		char *file = xformat("%s/%s", path, entry[i]->d_name);

		recipe_each(file, each, ctx);
		free(file);
		free(entry[i]);
	}
	free(entry);
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
