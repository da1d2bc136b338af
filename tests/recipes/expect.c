/* SPDX-License-Identifier: MIT */
/* expect: the statements "expect ...". See expect.h. */
#include "expect.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char *word_at(const struct image *image, const struct statement *s, size_t i)
{
	if (i >= s->n_words)
		statement_die(image->recipe, s, "the line ends too early");
	return s->word[i];
}

static struct node *node_at(const struct image *image, const struct statement *s, size_t i)
{
	struct node *node = image_find(image, word_at(image, s, i));

	if (!node)
		statement_die(image->recipe, s, "there is no '%s'", s->word[i]);
	return node;
}

/* "0-1024": bytes from and up to, in the node's content */
static void add_part(struct image *image, const struct statement *s, struct node *node,
		     const char *range, bool in_place)
{
	const char *dash = strchr(range, '-');
	char *from = dash ? xformat("%.*s", (int)(dash - range), range) : NULL;

	if (!from)
		statement_die(image->recipe, s, "FROM-TO in bytes");
	node->owed = OWED_PARTS;
	GROW_ARRAY(node->part, node->n_parts);
	node->part[node->n_parts++] = (struct owed_part){
		.from = place_value(image, s, from, node->size),
		.to = place_value(image, s, dash + 1, node->size),
		.in_place = in_place,
	};
	free(from);
}

/* Its children come back with a folder that may turn up elsewhere. */
static void owe_moved(struct image *image, struct node *dir)
{
	size_t len = strlen(dir->path);

	dir->owed = OWED_MOVED;
	for (size_t i = 0; i < image->n_nodes; i++)
		if (strncmp(image->node[i]->path, dir->path, len) == 0 &&
		    image->node[i]->path[len] == '/')
			image->node[i]->owed = OWED_BY_PARENT;
}

static const struct {
	const char *word;
	enum owed owed;
} owed_words[] = {
	{ "intact", OWED_INTACT }, { "data", OWED_DATA }, { "samedir", OWED_SAMEDIR },
	{ "saved", OWED_SAVED },   { "gone", OWED_GONE }, { "nothing", OWED_NOTHING },
	{ "moved", OWED_MOVED },
};

static void owe_one(struct image *image, struct node *node, enum owed owed)
{
	node->owed = owed;
	if (owed == OWED_MOVED)
		owe_moved(image, node);
}

/* "lost" is all chains without an entry; a path may be a pattern. */
static void owe(struct image *image, const struct statement *s, size_t i, enum owed owed)
{
	const char *word = s->word[i];
	bool lost = strcmp(word, "lost") == 0, any = lost;

	for (size_t k = 0; k < image->n_nodes; k++) {
		struct node *node = image->node[k];

		if (lost ? node->is_lost : fnmatch(word, node->path, 0) == 0) {
			owe_one(image, node, owed);
			any = true;
		}
	}
	if (!any)
		statement_die(image->recipe, s, "there is no '%s'", word);
}

/* expect saved PATH..., keeps PATH FROM-TO, rescued PATH FROM-TO, size PATH N, content PATH of P */
static bool read_owed(struct image *image, const struct statement *s)
{
	const char *verb = s->word[1];

	for (size_t k = 0; k < sizeof owed_words / sizeof owed_words[0]; k++) {
		if (strcmp(verb, owed_words[k].word) != 0)
			continue;
		for (size_t i = 2; i < s->n_words; i++)
			owe(image, s, i, owed_words[k].owed);
		return true;
	}
	if (strcmp(verb, "keeps") == 0 || strcmp(verb, "rescued") == 0) {
		add_part(image, s, node_at(image, s, 2), word_at(image, s, 3), verb[0] == 'k');
	} else if (strcmp(verb, "size") == 0) {
		struct node *node = node_at(image, s, 2);

		if (node->owed == OWED_INTACT)
			node->owed = OWED_DATA;
		node->has_owed_size = true;
		node->owed_size = place_value(image, s, word_at(image, s, 3), node->size);
	} else if (strcmp(verb, "content") == 0) {
		node_at(image, s, 2)->owed = OWED_DATA;
		node_at(image, s, 2)->content_of = node_at(image, s, 4)->path;
	} else {
		return false;
	}
	return true;
}

static void add_text(const char ***list, size_t *n, const char *text)
{
	GROW_ARRAY(*list, *n);
	(*list)[(*n)++] = text;
}

static int status_at(const struct image *image, const struct statement *s)
{
	const char *word = word_at(image, s, 2);

	return strcmp(word, "any") == 0 ? ANY_STATUS : (int)strtol(word, NULL, 10);
}

static bool read_answer(struct image *image, const struct statement *s, struct expectation *expect)
{
	const char *verb = s->word[1];

	if (strcmp(verb, "check") == 0) {
		expect->check = status_at(image, s);
	} else if (strcmp(verb, "repair") == 0) {
		expect->repair = status_at(image, s);
	} else if (strcmp(verb, "again") == 0) {
		expect->again = status_at(image, s);
	} else if (strcmp(verb, "clean") == 0) {
		expect->clean = expect->refuses = expect->has_codes = true;
		expect->check = expect->repair = expect->again = 0;
	} else if (strcmp(verb, "refuses") == 0) {
		expect->refuses = expect->unjudged = true;
		expect->check = expect->repair = expect->again = status_at(image, s);
	} else if (strcmp(verb, "unharmed") == 0) {
		expect->unharmed = true;
	} else if (strcmp(verb, "faults") == 0) {
		expect->has_codes = true;
		for (size_t i = 2; i < s->n_words; i++)
			add_text(&expect->code, &expect->n_codes, s->word[i]);
	} else if (strcmp(verb, "new") == 0) {
		expect->has_new = true;
		expect->n_new = (size_t)strtoul(word_at(image, s, 2), NULL, 10);
	} else if (strcmp(verb, "allow") == 0) {
		add_text(&expect->allowed, &expect->n_allowed, word_at(image, s, 2));
	} else {
		return false;
	}
	return true;
}

/* Statements about places in the image are looked at when it is judged. */
static bool is_about_place(const struct statement *s)
{
	return strcmp(s->word[1], "fat") == 0 || strcmp(s->word[1], "same") == 0 ||
	       strcmp(s->word[1], "label") == 0 || place_is_field(s->word[1]);
}

void expect_read(struct image *image, struct expectation *expect)
{
	*expect = (struct expectation){ .check = 1, .repair = 1 };
	for (size_t i = 0; i < image->recipe->n_statements; i++) {
		const struct statement *s = &image->recipe->statement[i];

		if (strcmp(s->word[0], "expect") != 0 || !statement_holds(s, &image->instance))
			continue;
		word_at(image, s, 1);
		if (!read_answer(image, s, expect) && !read_owed(image, s) && !is_about_place(s))
			statement_die(image->recipe, s, "'%s' cannot be expected", s->word[1]);
	}
}

void expect_free(struct expectation *expect)
{
	free(expect->code);
	free(expect->allowed);
}

static bool has_text(const char *const *list, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

void expect_codes(const struct expectation *expect, const char *const *found, size_t n_found,
		  struct notes *complaints)
{
	for (size_t i = 0; expect->has_codes && i < n_found; i++)
		if (!has_text(expect->code, expect->n_codes, found[i]) &&
		    !has_text(found, i, found[i]))
			notes_add(complaints, "found %s, which is not expected", found[i]);
	for (size_t i = 0; i < expect->n_codes; i++)
		if (!has_text(found, n_found, expect->code[i]))
			notes_add(complaints, "did not find %s", expect->code[i]);
}
