/* SPDX-License-Identifier: MIT */
/*
 * place: the places in an image that statements name, and the values they put there.
 *
 * Places are those of the sound volume as described; damage does not move them.
 */
#include "recipe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/* ---- clusters ------------------------------------------------------------------------------ */

static _Noreturn void bad_word(struct image *image, const struct statement *s, const char *word)
{
	statement_die(image->recipe, s, "'%s' is not understood", word);
}

static const char *word_at(struct image *image, const struct statement *s, size_t i)
{
	if (i >= s->n_words)
		statement_die(image->recipe, s, "the line ends too early");
	return s->word[i];
}

static struct node *need_node(struct image *image, const struct statement *s, const char *path)
{
	struct node *node = image_find(image, path);

	if (!node)
		statement_die(image->recipe, s, "there is no '%s'", path);
	return node;
}

static void add_clus(struct clusters *list, uint32_t clus)
{
	GROW_ARRAY(list->clus, list->n);
	list->clus[list->n++] = clus;
}

/* "[2]", "[*]", "[-1]", "[1-3]" of a chain; returns what follows. */
static const char *add_indexed(struct image *image, const struct statement *s,
			       const struct node *node, const char *index, struct clusters *list)
{
	char *end;
	long from, to;

	if (strncmp(index, "[*]", 3) == 0) {
		for (size_t i = 0; i < node->n_chain; i++)
			add_clus(list, node->chain[i]);
		return index + 3;
	}
	from = to = strtol(index + 1, &end, 0);
	if (*end == '-')
		to = end[1] == ']' ? (end++, (long)node->n_chain - 1) : strtol(end + 1, &end, 0);
	if (*end != ']')
		bad_word(image, s, index);
	if (from < 0)
		from = to = from + (long)node->n_chain;
	for (; from <= to; from++) {
		if (from < 0 || from >= (long)node->n_chain)
			statement_die(image->recipe, s, "%s has only %zu clusters", node->path,
				      node->n_chain);
		add_clus(list, node->chain[from]);
	}
	return end + 1;
}

/* A chain's path ends where its "[" begins. */
static const char *add_of_path(struct image *image, const struct statement *s, const char *word,
			       struct clusters *list)
{
	const char *index = strchr(word, '[');
	char *path;

	if (!index)
		statement_die(image->recipe, s, "'%s': which cluster? [0], [-1], [*]", word);
	path = xformat("%.*s", (int)(index - word), word);
	index = add_indexed(image, s, need_node(image, s, path), index, list);
	free(path);
	return index;
}

struct clusters place_clusters(struct image *image, const struct statement *s, const char *word)
{
	struct clusters list = { 0 };

	if (word[0] == '/' || strncmp(word, "lost:", 5) == 0) {
		if (*add_of_path(image, s, word, &list))
			bad_word(image, s, word);
		return list;
	}
	while (*word) {
		char *part = xformat("%.*s", (int)strcspn(word, ","), word);
		char *dash = isdigit((unsigned char)part[0]) ? strchr(part, '-') : NULL;
		uint32_t from, to;

		word += strlen(part) + (word[strlen(part)] == ',');
		if (dash)
			*dash = '\0';
		from = (uint32_t)place_value(image, s, part, 0);
		to = dash ? (uint32_t)place_value(image, s, dash + 1, 0) : from;
		for (; from <= to; from++) {
			if (from >= image->shape.n_clus + 2)
				statement_die(image->recipe, s, "there is no cluster %u", from);
			add_clus(&list, from);
		}
		free(part);
	}
	return list;
}

/* ---- values -------------------------------------------------------------------------------- */

static uint64_t named_value(struct image *image, const struct statement *s, const char *word,
			    size_t len, uint64_t old)
{
	const struct shape *shape = &image->shape;
	const struct {
		const char *name;
		uint64_t value;
	} names[] = {
		{ "free", 0 },
		{ "end", shape_mask(shape) },
		{ "mask", shape_mask(shape) },
		{ "bad", shape_bad(shape) },
		{ "last", shape->n_clus + 1 },
		{ "old", old },
		{ "cluster", shape->cluster_bytes },
		{ "sector", shape->sector_bytes },
		{ "total", shape->total_sec },
		{ "per-cluster", shape->cluster_sec },
		{ "reserved", shape->reserved_sec },
		{ "fat-sectors", shape->fat_sec },
		{ "bits", shape->bits },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i].name) == len && strncmp(names[i].name, word, len) == 0)
			return names[i].value;
	bad_word(image, s, word);
}

static uint64_t term(struct image *image, const struct statement *s, const char **word,
		     uint64_t old)
{
	size_t len = 0;
	uint64_t value;

	if (**word == '/' || strncmp(*word, "lost:", 5) == 0) {
		struct clusters list = { 0 };

		*word = add_of_path(image, s, *word, &list);
		value = list.clus[0];
		free(list.clus);
		return value;
	}
	if (isdigit((unsigned char)**word)) {
		char *end;

		value = strtoull(*word, &end, 0);
		*word = end;
		return value;
	}
	while (islower((unsigned char)(*word)[len]) ||
	       ((*word)[len] == '-' && len > 0 && islower((unsigned char)(*word)[len + 1])))
		len++;
	value = named_value(image, s, *word, len, old);
	*word += len;
	return value;
}

static uint64_t product(struct image *image, const struct statement *s, const char **word,
			uint64_t old)
{
	uint64_t value = term(image, s, word, old);

	while (**word == '*' || **word == '/') {
		bool times = *(*word)++ == '*';
		uint64_t by = term(image, s, word, old);

		value = times ? value * by : by ? value / by : 0;
	}
	return value;
}

static uint64_t apply(struct image *image, const struct statement *s, uint64_t a, char op,
		      uint64_t b)
{
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '^':
		return a ^ b;
	case '|':
		return a | b;
	case '&':
		return a & b;
	default:
		statement_die(image->recipe, s, "there is no operator '%c'", op);
	}
}

uint64_t place_value(struct image *image, const struct statement *s, const char *word, uint64_t old)
{
	uint64_t value = product(image, s, &word, old);

	while (*word) {
		char op = *word++;

		value = apply(image, s, value, op, product(image, s, &word, old));
	}
	return value;
}

/* ---- fields -------------------------------------------------------------------------------- */

struct field {
	const char *name;
	uint16_t off;
	uint8_t len;
	bool is_text;
};

static const struct field boot_common[] = {
	{ "jump", 0, 3, true },           { "oem", 3, 8, true },
	{ "sector", 11, 2, false },       { "cluster", 13, 1, false },
	{ "reserved", 14, 2, false },     { "fats", 16, 1, false },
	{ "root-entries", 17, 2, false }, { "total16", 19, 2, false },
	{ "media", 21, 1, false },        { "fat16-sectors", 22, 2, false },
	{ "track", 24, 2, false },        { "heads", 26, 2, false },
	{ "hidden", 28, 4, false },       { "total32", 32, 4, false },
	{ "signature", 510, 2, false },   { NULL, 0, 0, false },
};

static const struct field boot_old[] = {
	{ "drive", 36, 1, false },  { "state", 37, 1, false }, { "extsig", 38, 1, false },
	{ "serial", 39, 4, false }, { "label", 43, 11, true }, { "type", 54, 8, true },
	{ NULL, 0, 0, false },
};

static const struct field boot_32[] = {
	{ "fat32-sectors", 36, 4, false },
	{ "flags", 40, 2, false },
	{ "version", 42, 2, false },
	{ "root", 44, 4, false },
	{ "fsinfo", 48, 2, false },
	{ "backup", 50, 2, false },
	{ "drive", 64, 1, false },
	{ "state", 65, 1, false },
	{ "extsig", 66, 1, false },
	{ "serial", 67, 4, false },
	{ "label", 71, 11, true },
	{ "type", 82, 8, true },
	{ NULL, 0, 0, false },
};

static const struct field fsinfo_fields[] = {
	{ "lead", 0, 4, false },   { "struct", 484, 4, false }, { "free", 488, 4, false },
	{ "next", 492, 4, false }, { "trail", 508, 4, false },  { NULL, 0, 0, false },
};

static const struct field entry_fields[] = {
	{ "name", 0, 11, true },   { "first", 0, 1, false },  { "attr", 11, 1, false },
	{ "case", 12, 1, false },  { "tenth", 13, 1, false }, { "ctime", 14, 2, false },
	{ "cdate", 16, 2, false }, { "adate", 18, 2, false }, { "high", 20, 2, false },
	{ "mtime", 22, 2, false }, { "mdate", 24, 2, false }, { "low", 26, 2, false },
	{ "start", 26, 2, false }, { "size", 28, 4, false },  { NULL, 0, 0, false },
};

static const struct field lfn_fields[] = {
	{ "seq", 0, 1, false },  { "attr", 11, 1, false },  { "type", 12, 1, false },
	{ "sum", 13, 1, false }, { "start", 26, 2, false }, { NULL, 0, 0, false },
};

static const char *const field_words[] = { "boot", "backup", "fsinfo", "fsinfo2", "entry",
					   "lfn",  "dot",    "dotdot", "slot",    "sector" };

bool place_is_field(const char *word)
{
	for (size_t i = 0; i < sizeof field_words / sizeof field_words[0]; i++)
		if (strcmp(word, field_words[i]) == 0)
			return true;
	return false;
}

static const struct field *find_field(const struct field *list, const char *name)
{
	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}

/* "@OFF" is a byte, "@OFF:N" N bytes, "charN" a letter of a long name's slot. */
static struct place in_structure(struct image *image, const struct statement *s, uint64_t base,
				 const struct field *list, const struct field *more,
				 const char *name)
{
	const struct field *field = find_field(list, name);
	unsigned off = 0, len = 1;

	if (!field && more)
		field = find_field(more, name);
	if (field)
		return (struct place){ base + field->off, field->len, field->is_text, 0 };
	if (sscanf(name, "@%u:%u", &off, &len) >= 1)
		return (struct place){ base + off, len, len > 4, 0 };
	if (list == lfn_fields && sscanf(name, "char%u", &off) == 1 && off >= 1 && off <= 13)
		return (struct place){ base + name_unit_off(off - 1), 2, false, 0 };
	bad_word(image, s, name);
}

static uint64_t sector_off(const struct image *image, uint64_t sector)
{
	return sector * image->shape.sector_bytes;
}

static struct place in_boot(struct image *image, const struct statement *s, uint64_t base,
			    const char *name)
{
	bool is32 = image->shape.bits == 32;

	if (strcmp(name, "total") == 0)
		name = !is32 && image->shape.total_sec < 0x10000 ? "total16" : "total32";
	if (strcmp(name, "fat-sectors") == 0)
		name = is32 ? "fat32-sectors" : "fat16-sectors";
	return in_structure(image, s, base, boot_common, is32 ? boot_32 : boot_old, name);
}

static struct place in_entry(struct image *image, const struct statement *s, uint64_t base,
			     const char *name)
{
	struct place place = in_structure(image, s, base, entry_fields, NULL, name);

	if (strcmp(name, "start") == 0 && image->shape.bits == 32)
		place.high_off = base + 20;
	return place;
}

/* The slot of a long name with sequence number seq; slots stand in falling order. */
static uint64_t lfn_off(struct image *image, const struct statement *s, const struct node *node,
			uint64_t seq)
{
	if (seq == 0 || seq > node->n_lfn)
		statement_die(image->recipe, s, "%s has %zu long name slots", node->path,
			      node->n_lfn);
	return node->lfn_off[node->n_lfn - seq];
}

struct place place_field(struct image *image, const struct statement *s, size_t *i)
{
	const char *kind = word_at(image, s, (*i)++), *arg = word_at(image, s, (*i)++);
	const struct shape *shape = &image->shape;
	struct node *node;
	uint64_t n;

	if (strcmp(kind, "boot") == 0)
		return in_boot(image, s, 0, arg);
	if (strcmp(kind, "backup") == 0)
		return in_boot(image, s, sector_off(image, shape->backup_sec), arg);
	if (strcmp(kind, "fsinfo") == 0 || strcmp(kind, "fsinfo2") == 0)
		return in_structure(
			image, s,
			sector_off(image, kind[6] ? shape->backup_sec + 1 : shape->fsinfo_sec),
			fsinfo_fields, NULL, arg);
	if (strcmp(kind, "sector") == 0) {
		n = place_value(image, s, arg, 0);
		return in_structure(image, s, sector_off(image, n), fsinfo_fields, NULL,
				    word_at(image, s, (*i)++));
	}
	node = need_node(image, s, arg);
	if (strcmp(kind, "entry") == 0)
		return in_entry(image, s, node->entry_off, word_at(image, s, (*i)++));
	if (strcmp(kind, "dot") == 0 || strcmp(kind, "dotdot") == 0)
		return in_entry(image, s, place_slot(image, s, node, kind[3] ? 1 : 0),
				word_at(image, s, (*i)++));
	n = place_value(image, s, word_at(image, s, (*i)++), node->n_slots);
	if (strcmp(kind, "slot") == 0)
		return in_entry(image, s, place_slot(image, s, node, (uint32_t)n),
				word_at(image, s, (*i)++));
	return in_structure(image, s, lfn_off(image, s, node, n), lfn_fields, NULL,
			    word_at(image, s, (*i)++));
}

/* ---- slots and regions --------------------------------------------------------------------- */

uint64_t place_slot(struct image *image, const struct statement *s, const struct node *dir,
		    uint32_t slot)
{
	const struct shape *shape = &image->shape;
	uint32_t in_clus = shape->cluster_bytes / DIRENT_BYTES;
	bool fixed = !dir->parent && shape->bits != 32;

	if (fixed ? slot >= shape->root_entries : slot / in_clus >= dir->n_chain) {
		if (s)
			statement_die(image->recipe, s, "%s has no slot %u", dir->path, slot);
		die("%s: %s has no slot %u", image->recipe->name, dir->path, slot);
	}
	if (fixed)
		return shape_root_off(shape) + (uint64_t)slot * DIRENT_BYTES;
	return shape_cluster_off(shape, dir->chain[slot / in_clus]) +
	       (uint64_t)(slot % in_clus) * DIRENT_BYTES;
}

static void add_region(struct bad_range **regions, size_t *n, uint64_t off, uint64_t len)
{
	GROW_ARRAY(*regions, *n);
	(*regions)[(*n)++] = (struct bad_range){ off, len };
}

/* "fat2", "fat1 sector 3": the whole copy or a sector of it; word *i is what follows "fat2" */
static void add_fat_region(struct image *image, const struct statement *s, size_t *i,
			   const char *word, struct bad_range **regions, size_t *n)
{
	const struct shape *shape = &image->shape;
	uint32_t copy = (uint32_t)(word[3] - '1');
	uint64_t off = shape_fat_off(shape, copy);

	if (copy >= shape->n_fats)
		statement_die(image->recipe, s, "there is no %s", word);
	if (*i + 1 < s->n_words && strcmp(s->word[*i], "sector") == 0) {
		off += place_value(image, s, s->word[*i + 1], 0) * shape->sector_bytes;
		*i += 2;
		add_region(regions, n, off, shape->sector_bytes);
		return;
	}
	add_region(regions, n, off, (uint64_t)shape->fat_sec * shape->sector_bytes);
}

/* Regions of one sector of the reserved ones; false: word is no such. */
static bool reserved_sector(const struct image *image, const char *word, uint64_t *sector)
{
	const struct shape *shape = &image->shape;
	const struct {
		const char *word;
		uint32_t sector;
	} known[] = {
		{ "boot", 0 },
		{ "backup", shape->backup_sec },
		{ "fsinfo", shape->fsinfo_sec },
		{ "fsinfo2", shape->backup_sec + 1 },
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(word, known[i].word) == 0) {
			*sector = known[i].sector;
			return true;
		}
	return false;
}

static void add_root_region(const struct image *image, struct bad_range **regions, size_t *n)
{
	const struct shape *shape = &image->shape;

	if (shape->bits == 32)
		add_region(regions, n, shape_cluster_off(shape, shape->root_clus),
			   shape->cluster_bytes);
	else
		add_region(regions, n, shape_root_off(shape),
			   (uint64_t)shape->root_sec * shape->sector_bytes);
}

static void add_cluster_regions(struct image *image, const struct statement *s, const char *list,
				struct bad_range **regions, size_t *n)
{
	struct clusters clusters = place_clusters(image, s, list);

	for (size_t k = 0; k < clusters.n; k++)
		add_region(regions, n, shape_cluster_off(&image->shape, clusters.clus[k]),
			   image->shape.cluster_bytes);
	free(clusters.clus);
}

/* Regions that take a word: "cluster LIST", "entry PATH", "dots PATH", "sector N", "bytes OFF N" */
static void add_with_argument(struct image *image, const struct statement *s, size_t *i,
			      const char *kind, struct bad_range **regions, size_t *n)
{
	const char *arg = word_at(image, s, (*i)++);

	if (strcmp(kind, "cluster") == 0) {
		add_cluster_regions(image, s, arg, regions, n);
	} else if (strcmp(kind, "sector") == 0) {
		add_region(regions, n, sector_off(image, place_value(image, s, arg, 0)),
			   image->shape.sector_bytes);
	} else if (strcmp(kind, "entry") == 0) {
		add_region(regions, n, need_node(image, s, arg)->entry_off, DIRENT_BYTES);
	} else if (strcmp(kind, "dots") == 0) {
		add_region(regions, n, place_slot(image, s, need_node(image, s, arg), 0),
			   2u * DIRENT_BYTES);
	} else if (strcmp(kind, "bytes") == 0) {
		uint64_t len = place_value(image, s, word_at(image, s, (*i)++), 0);

		add_region(regions, n, place_value(image, s, arg, 0), len);
	} else {
		bad_word(image, s, kind);
	}
}

size_t place_regions(struct image *image, const struct statement *s, size_t *i,
		     struct bad_range **regions)
{
	const char *word = word_at(image, s, (*i)++);
	uint64_t sector;
	size_t n = 0;

	*regions = NULL;
	if (reserved_sector(image, word, &sector))
		add_region(regions, &n, sector_off(image, sector), image->shape.sector_bytes);
	else if (strncmp(word, "fat", 3) == 0 && isdigit((unsigned char)word[3]) && !word[4])
		add_fat_region(image, s, i, word, regions, &n);
	else if (strcmp(word, "root") == 0)
		add_root_region(image, regions, &n);
	else if (strcmp(word, "reserved") == 0)
		add_region(regions, &n, 0, sector_off(image, image->shape.reserved_sec));
	else
		add_with_argument(image, s, i, word, regions, &n);
	return n;
}
