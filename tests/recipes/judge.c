/* SPDX-License-Identifier: MIT */
/*
 * judge: compares a repaired volume with what the recipe's nodes are owed.
 *
 * Everything that a recipe does not mention must be as it was: path, content, all 32 bytes of the
 * entry. What turns up beyond the description must have been announced.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "lib/bytes.h"

struct judge {
	struct image *image;
	const struct expectation *expect;
	struct survey survey;
	struct notes *complaints;
	bool anything_saved;
};

static void complain(struct judge *judge, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(struct judge *judge, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	notes_addv(judge->complaints, format, args);
	va_end(args);
}

/* ---- content ------------------------------------------------------------------------------- */

/* Whether bytes [from, to) of the node's content stand at `at` of a file. */
static bool has_range(const struct judge *judge, const struct found *file, const struct node *node,
		      uint64_t from, uint64_t to, uint64_t at)
{
	uint8_t buf[512];

	if (at + (to - from) > (uint64_t)file->n_chain * judge->survey.shape.cluster_bytes)
		return false;
	if (node->hole && to - from > 2 * sizeof buf) /* a sample of a hole is enough */
		return has_range(judge, file, node, from, from + sizeof buf, at) &&
		       has_range(judge, file, node, to - sizeof buf, to,
				 at + (to - from) - sizeof buf);
	while (from < to) {
		size_t n = (size_t)min_u64(sizeof buf, to - from);
		bool same;

		if (!survey_content(&judge->survey, file, at, buf, n))
			return false;
		same = node->hole ? buf[0] == 0 && memcmp(buf, buf + 1, n - 1) == 0
				  : content_equal(node->seed, from, buf, n);
		if (!same)
			return false;
		from += n;
		at += n;
	}
	return true;
}

/* The range in some file, at the start of one of its clusters. */
static bool is_anywhere(const struct judge *judge, const struct node *node, uint64_t from,
			uint64_t to)
{
	uint32_t cluster = judge->survey.shape.cluster_bytes;

	for (size_t i = 0; i < judge->survey.n_found; i++) {
		const struct found *file = &judge->survey.found[i];

		for (size_t k = 0; !file->is_dir && k < file->n_chain; k++)
			if (has_range(judge, file, node, from, to, (uint64_t)k * cluster))
				return true;
	}
	return false;
}

/* The whole content in a file of its own, which may be longer by the rest of the last cluster. */
static bool is_file_somewhere(const struct judge *judge, const struct node *node, const char *dir)
{
	uint32_t cluster = judge->survey.shape.cluster_bytes;
	size_t dir_len = dir ? strlen(dir) : 0;

	for (size_t i = 0; i < judge->survey.n_found; i++) {
		const struct found *file = &judge->survey.found[i];

		if (file->is_dir || file->size < node->size ||
		    file->size > round_up(node->size, cluster))
			continue;
		if (dir && (strncmp(file->path, dir, dir_len) != 0 || file->path[dir_len] != '/' ||
			    strchr(file->path + dir_len + 1, '/')))
			continue;
		if (has_range(judge, file, node, 0, node->size, 0))
			return true;
	}
	return false;
}

/* ---- what is owed -------------------------------------------------------------------------- */

static const struct node *content_node(const struct judge *judge, const struct node *node)
{
	return node->content_of ? image_find(judge->image, node->content_of) : node;
}

static void want_in_place(struct judge *judge, const struct node *node)
{
	const struct found *found = survey_find(&judge->survey, node->path);
	const struct node *content = content_node(judge, node);
	uint64_t size = node->has_owed_size ? node->owed_size : content->size;

	if (!found) {
		complain(judge, "%s is not there", node->path);
		return;
	}
	if (found->is_dir != node->is_dir)
		complain(judge, "%s is a %s", node->path, found->is_dir ? "folder" : "file");
	if (node->owed == OWED_INTACT && !(node->is_dir && !node->parent) &&
	    memcmp(found->entry, node->entry, DIRENT_BYTES) != 0)
		complain(judge, "%s: its entry is not as it was", node->path);
	if (node->is_dir || found->is_dir)
		return;
	if (found->size != size)
		complain(judge, "%s has %u bytes, not %llu", node->path, found->size,
			 (unsigned long long)size);
	if (!has_range(judge, found, content, 0, min_u64(size, content->size), 0))
		complain(judge, "%s: its content is not as it was", node->path);
}

static void want_parts(struct judge *judge, const struct node *node)
{
	const struct found *found = survey_find(&judge->survey, node->path);

	for (size_t i = 0; i < node->n_parts; i++) {
		const struct owed_part *part = &node->part[i];
		bool there = part->in_place ? found && !found->is_dir && found->size >= part->to &&
						      has_range(judge, found, node, part->from,
								part->to, part->from)
					    : is_anywhere(judge, node, part->from, part->to);

		if (!there)
			complain(judge, "%s: bytes %llu to %llu are not %s", node->path,
				 (unsigned long long)part->from, (unsigned long long)part->to,
				 part->in_place ? "in their place" : "saved anywhere");
		judge->anything_saved |= !part->in_place;
	}
}

static bool tree_is_at(const struct judge *judge, const struct node *dir, const char *new_path)
{
	size_t len = strlen(dir->path);

	for (size_t i = 0; i < judge->image->n_nodes; i++) {
		const struct node *node = judge->image->node[i];
		const struct found *found;
		char *path;

		if (strncmp(node->path, dir->path, len) != 0 || node->path[len] != '/' ||
		    node->deleted)
			continue;
		path = xformat("%s%s", new_path, node->path + len);
		found = survey_find(&judge->survey, path);
		free(path);
		if (!found || found->is_dir != node->is_dir ||
		    found->size != (node->is_dir ? 0 : node->size))
			return false;
		if (!node->is_dir && !has_range(judge, found, node, 0, node->size, 0))
			return false;
	}
	return true;
}

static void want_moved(struct judge *judge, const struct node *dir)
{
	judge->anything_saved = true;
	for (size_t i = 1; i < judge->survey.n_found; i++)
		if (judge->survey.found[i].is_dir &&
		    tree_is_at(judge, dir, judge->survey.found[i].path))
			return;
	complain(judge, "%s with its tree is nowhere", dir->path);
}

static void judge_node(struct judge *judge, const struct node *node)
{
	char *dir;

	switch (node->owed) {
	case OWED_INTACT:
	case OWED_DATA:
		want_in_place(judge, node);
		break;
	case OWED_SAMEDIR:
		judge->anything_saved = true;
		dir = xformat("%.*s", (int)(node->base - node->path - 1), node->path);
		if (!is_file_somewhere(judge, node, dir))
			complain(judge, "%s: its content is not in its folder", node->path);
		free(dir);
		break;
	case OWED_SAVED:
		judge->anything_saved = true;
		if (node->size > 0 && !is_file_somewhere(judge, node, NULL))
			complain(judge, "%s: its content is in no file", node->path);
		break;
	case OWED_PARTS:
		want_parts(judge, node);
		break;
	case OWED_GONE:
		if (survey_find(&judge->survey, node->path))
			complain(judge, "%s is still there", node->path);
		break;
	case OWED_MOVED:
		want_moved(judge, node);
		break;
	case OWED_NOTHING:
	case OWED_BY_PARENT:
		break;
	}
}

/* ---- what nobody described ----------------------------------------------------------------- */

static bool is_described(const struct judge *judge, const struct found *found)
{
	const struct node *node = image_find(judge->image, found->path);

	return node && (!node->deleted || node->owed == OWED_DATA);
}

static void count_new(struct judge *judge)
{
	size_t n = 0;

	for (size_t i = 1; i < judge->survey.n_found; i++) {
		const struct found *found = &judge->survey.found[i];

		if (is_described(judge, found))
			continue;
		n++;
		if (!judge->expect->has_new && !judge->expect->may_be_new && !judge->anything_saved)
			complain(judge, "%s is new", found->path);
	}
	if (judge->expect->has_new && n != judge->expect->n_new)
		complain(judge, "%zu files and folders are new, not %zu", n, judge->expect->n_new);
}

static bool is_allowed(const struct judge *judge, const char *problem)
{
	for (size_t i = 0; i < judge->expect->n_allowed; i++)
		if (strstr(problem, judge->expect->allowed[i]))
			return true;
	return false;
}

/* ---- places -------------------------------------------------------------------------------- */

static uint64_t number_at(struct fat_dev *dev, const struct place *place)
{
	uint8_t raw[4] = { 0 }, high[2];

	get_bytes(dev, place->off, raw, place->len < 4 ? place->len : 4);
	if (place->high_off) {
		get_bytes(dev, place->high_off, high, 2);
		return get_le32(raw) | (uint32_t)get_le16(high) << 16;
	}
	return get_le32(raw);
}

/* The statement without its "expect", so that the builder's words can be read from it. */
static struct statement without_expect(const struct statement *s)
{
	struct statement rest = *s;

	rest.word++;
	rest.n_words--;
	return rest;
}

static void want_field(struct judge *judge, const struct statement *s, struct fat_dev *after)
{
	struct statement rest = without_expect(s);
	size_t i = 0;
	struct place place = place_field(judge->image, &rest, &i);
	uint64_t found = number_at(after, &place);
	char text[17] = { 0 };

	if (i + 1 >= rest.n_words)
		statement_die(judge->image->recipe, s, "'= VALUE' is missing");
	if (place.is_text) {
		get_bytes(after, place.off, text, (size_t)min_u64(place.len, 16));
		if (strncmp(text, rest.word[i + 1], strlen(rest.word[i + 1])) != 0)
			complain(judge, "line %u: it is '%s'", s->line, text);
	} else if (found != place_value(judge->image, &rest, rest.word[i + 1], found)) {
		complain(judge, "line %u: it is %llX", s->line, (unsigned long long)found);
	}
}

/* expect fat LIST = VALUE [in COPY] */
static void want_entries(struct judge *judge, const struct statement *s, struct fat_dev *after)
{
	const struct shape *shape = &judge->image->shape;
	struct statement rest = without_expect(s);
	struct clusters list = place_clusters(judge->image, &rest, rest.word[1]);
	const char *in = rest.n_words > 5 ? rest.word[5] : NULL;

	for (uint32_t copy = 0; copy < shape->n_fats; copy++)
		for (size_t i = 0; (!in || strchr(in, (int)('1' + copy))) && i < list.n; i++) {
			uint32_t found = table_get(after, shape, copy, list.clus[i]);
			uint64_t want = place_value(judge->image, &rest, rest.word[3], found);

			if (found != want &&
			    !(found >= shape_end_min(shape) && want == shape_mask(shape)))
				complain(judge, "line %u: entry %u of FAT %u is %X", s->line,
					 list.clus[i], copy + 1, found);
		}
	free(list.clus);
}

/* expect same REGION: as it was on the damaged volume */
static void want_same(struct judge *judge, const struct statement *s, struct fat_dev *before,
		      struct fat_dev *after)
{
	struct bad_range *regions;
	size_t i = 2, n = place_regions(judge->image, s, &i, &regions);

	for (size_t k = 0; k < n; k++)
		for (uint64_t at = 0; at < regions[k].len; at++) {
			uint8_t a, b;

			get_bytes(before, regions[k].off + at, &a, 1);
			get_bytes(after, regions[k].off + at, &b, 1);
			if (a != b) {
				complain(judge, "line %u: byte %llu changed", s->line,
					 (unsigned long long)(regions[k].off + at));
				break;
			}
		}
	free(regions);
}

static void want_label(struct judge *judge, const struct statement *s)
{
	char label[12] = "";

	if (judge->survey.has_root_label)
		memcpy(label, judge->survey.root_label, 11);
	if (s->n_words < 3 || strncmp(label, s->word[2], strlen(s->word[2])) != 0)
		complain(judge, "line %u: the label is '%s'", s->line, label);
}

static void judge_places(struct judge *judge, struct fat_dev *before, struct fat_dev *after)
{
	for (size_t i = 0; i < judge->image->recipe->n_statements; i++) {
		const struct statement *s = &judge->image->recipe->statement[i];

		if (strcmp(s->word[0], "expect") != 0 ||
		    !statement_holds(s, &judge->image->instance))
			continue;
		if (place_is_field(s->word[1]))
			want_field(judge, s, after);
		else if (strcmp(s->word[1], "fat") == 0)
			want_entries(judge, s, after);
		else if (strcmp(s->word[1], "same") == 0)
			want_same(judge, s, before, after);
		else if (strcmp(s->word[1], "label") == 0)
			want_label(judge, s);
	}
}

void expect_judge(struct image *image, const struct expectation *expect, struct fat_dev *before,
		  struct fat_dev *after, struct notes *complaints)
{
	struct judge judge = { .image = image, .expect = expect, .complaints = complaints };

	if (expect->unjudged)
		return;
	survey_read(&judge.survey, after);
	for (size_t i = 0; i < judge.survey.problems.n; i++)
		if (!is_allowed(&judge, judge.survey.problems.line[i]))
			complain(&judge, "%s", judge.survey.problems.line[i]);
	if (judge.survey.n_found > 0) {
		for (size_t i = 0; i < image->n_nodes; i++)
			judge_node(&judge, image->node[i]);
		count_new(&judge);
		judge_places(&judge, before, after);
	}
	survey_free(&judge.survey);
}
