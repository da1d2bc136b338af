/* SPDX-License-Identifier: MIT */
/*
 * tree: the files and folders of a recipe, their clusters and slots, written to the image.
 *
 * Three steps, each over all nodes: who there is (statements), where it lies (chains), what is
 * written. A folder's chain can be sized only when all its children are known.
 */
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "names.h"

#define ATTR_DIR     0x10u
#define ATTR_LABEL   0x08u
#define ATTR_ARCHIVE 0x20u
#define STAMP_DATE   ((2021u - 1980) << 9 | 3u << 5 | 5u)
#define STAMP_TIME   (9u << 11 | 26u << 5 | 5u)

static const char *const tree_words[] = { "dir",        "file",          "fill",
					  "fill-slots", "fill-clusters", "bad" };

bool tree_word(const char *word)
{
	for (size_t i = 0; i < sizeof tree_words / sizeof tree_words[0]; i++)
		if (strcmp(word, tree_words[i]) == 0)
			return true;
	return false;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static struct node *new_node(struct image *image, const char *path)
{
	struct node *node = xalloc(1, sizeof *node);

	node->path = xstrdup(path);
	node->base = strrchr(node->path, '/');
	node->base = node->base ? node->base + 1 : node->path;
	node->seed = hash_text(path);
	node->date = STAMP_DATE;
	GROW_ARRAY(image->node, image->n_nodes);
	image->node[image->n_nodes++] = node;
	return node;
}

static struct node *parent_of(struct image *image, const struct statement *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *up;
	struct node *parent;

	if (!slash)
		statement_die(image->recipe, s, "'%s' does not begin with /", path);
	up = slash == path ? xstrdup("/") : xformat("%.*s", (int)(slash - path), path);
	parent = image_find(image, up);
	if (!parent || !parent->is_dir)
		statement_die(image->recipe, s, "there is no folder '%s'", up);
	free(up);
	return parent;
}

static bool short_is_taken(const struct image *image, const struct node *parent,
			   const struct node *but, const uint8_t short_name[11])
{
	for (size_t i = 0; i < image->n_nodes; i++)
		if (image->node[i]->parent == parent && image->node[i] != but &&
		    memcmp(image->node[i]->short_name, short_name, 11) == 0)
			return true;
	return false;
}

/* The short name, and whether long slots are needed for the whole one. */
static bool choose_names(const struct image *image, struct node *node, const char *given)
{
	if (given) {
		memset(node->short_name, ' ', 11);
		memcpy(node->short_name, given, strlen(given) < 11 ? strlen(given) : 11);
		return true;
	}
	if (name_to_short(node->base, node->short_name))
		return false;
	for (unsigned n = 1;; n++) {
		name_alias(node->base, n, node->short_name);
		if (!short_is_taken(image, node->parent, node, node->short_name))
			return true;
	}
}

static const char *option(const struct statement *s, size_t from, const char *word)
{
	for (size_t i = from; i < s->n_words; i++)
		if (strcmp(s->word[i], word) == 0)
			return i + 1 < s->n_words ? s->word[i + 1] : "";
	return NULL;
}

static uint8_t attributes(const char *letters, uint8_t base)
{
	uint8_t attr = base;

	for (const char *p = letters ? letters : ""; *p; p++)
		attr |= (uint8_t)(*p == 'r' ? 1 : *p == 'h' ? 2 : *p == 's' ? 4 : 0);
	return attr;
}

static void place_in_parent(struct node *node, bool has_long)
{
	uint16_t units[LFN_MAX_UNITS];

	node->n_lfn = has_long ? name_lfn_slots(name_to_units(node->base, units)) : 0;
	node->parent->n_slots += (uint32_t)node->n_lfn + 1;
}

static void take_chain(struct image *image, const struct statement *s, struct node *node,
		       const char *list)
{
	struct clusters at;

	if (!list)
		return;
	at = place_clusters(image, s, list);
	for (size_t i = 0; i < at.n; i++)
		image->taken[at.clus[i]] = 1;
	node->chain = at.clus;
	node->n_chain = at.n;
}

/* dir PATH [OPTION...], file PATH SIZE [OPTION...] */
static void add_node(struct image *image, const struct statement *s)
{
	bool is_dir = strcmp(s->word[0], "dir") == 0;
	size_t from = is_dir ? 2 : 3;
	const char *word;
	struct node *node;

	if (s->n_words < from)
		statement_die(image->recipe, s, "%s", is_dir ? "dir PATH" : "file PATH SIZE");
	node = image_find(image, s->word[1]);
	if (node && node->parent)
		statement_die(image->recipe, s, "'%s' is there already", s->word[1]);
	if (!node) {
		struct node *parent = parent_of(image, s, s->word[1]);

		node = new_node(image, s->word[1]);
		node->parent = parent;
		place_in_parent(node, choose_names(image, node, option(s, from, "short")));
		node->n_slots = 2;
	}
	node->is_dir = is_dir;
	node->attr = attributes(option(s, from, "attr"), is_dir ? ATTR_DIR : ATTR_ARCHIVE);
	if (!is_dir)
		node->size = (uint32_t)place_value(image, s, s->word[2], 0);
	node->deleted = option(s, from, "deleted") != NULL;
	node->hole = option(s, from, "hole") != NULL;
	word = option(s, from, "clusters");
	node->min_clus = word ? (uint32_t)strtoul(word, NULL, 0) : 0;
	word = option(s, from, "case");
	node->case_bits = word ? (uint8_t)strtoul(word, NULL, 0) : 0;
	take_chain(image, s, node, option(s, from, "at"));
}

static void add_numbered(struct image *image, struct node *dir, const char *kind, size_t i,
			 uint32_t size)
{
	const char *slash = dir->parent ? dir->path : "";
	char *path = xformat("%s/%s%05zu.DAT", slash, kind, i);
	struct node *node = new_node(image, path);

	node->parent = dir;
	node->attr = ATTR_ARCHIVE;
	node->size = size;
	node->n_slots = 2;
	place_in_parent(node, choose_names(image, node, NULL));
	free(path);
}

static struct node *need_dir(struct image *image, const struct statement *s, const char *path)
{
	struct node *dir = image_find(image, path);

	if (!dir || !dir->is_dir)
		statement_die(image->recipe, s, "'%s' is no folder", path);
	return dir;
}

/* fill DIR N of SIZE */
static void fill_files(struct image *image, const struct statement *s)
{
	struct node *dir = need_dir(image, s, s->word[1]);
	size_t n = (size_t)place_value(image, s, s->word[2], 0);

	for (size_t i = 0; i < n; i++)
		add_numbered(image, dir, "F", i, (uint32_t)place_value(image, s, s->word[4], 0));
}

/* fill-slots DIR leave N: empty files until N slots of its clusters are left */
static void fill_slots(struct image *image, const struct statement *s)
{
	const struct shape *shape = &image->shape;
	struct node *dir = need_dir(image, s, s->word[1]);
	uint32_t leave = (uint32_t)place_value(image, s, s->word[3], 0);
	uint32_t in_clus = shape->cluster_bytes / DIRENT_BYTES;
	bool fixed = !dir->parent && shape->bits != 32;
	uint32_t room = fixed ? shape->root_entries
			      : (uint32_t)round_up(max_u64(dir->n_slots + leave,
							   (uint64_t)dir->min_clus * in_clus),
						   in_clus);

	for (size_t i = 0; dir->n_slots + leave < room; i++)
		add_numbered(image, dir, "E", i, 0);
}

static void read_tree(struct image *image)
{
	struct node *root = new_node(image, "/");

	root->is_dir = true;
	root->n_slots = image->has_root_label;
	for (size_t i = 0; i < image->recipe->n_statements; i++) {
		const struct statement *s = &image->recipe->statement[i];
		const char *word = s->word[0];

		if (!statement_holds(s, &image->instance))
			continue;
		if (strcmp(word, "dir") == 0 || strcmp(word, "file") == 0)
			add_node(image, s);
		else if (strcmp(word, "fill") == 0)
			fill_files(image, s);
		else if (strcmp(word, "fill-slots") == 0)
			fill_slots(image, s);
		else if (strcmp(word, "bad") == 0) {
			struct clusters bad = place_clusters(image, s, s->word[1]);

			for (size_t k = 0; k < bad.n; k++) {
				image->taken[bad.clus[k]] = 1;
				image->fat[bad.clus[k]] = shape_bad(&image->shape);
			}
			free(bad.clus);
		}
	}
}

/* ---- chains -------------------------------------------------------------------------------- */

static uint64_t clusters_needed(const struct image *image, const struct node *node)
{
	uint64_t bytes = node->is_dir ? (uint64_t)node->n_slots * DIRENT_BYTES : node->size;
	uint64_t n = div_ceil(bytes, image->shape.cluster_bytes);

	if (node->is_dir && !node->parent && image->shape.bits != 32)
		return 0;
	return max_u64(n, node->is_dir ? max_u64(node->min_clus, 1) : 0);
}

static uint32_t next_free(struct image *image, const struct node *node)
{
	while (image->next_clus < image->shape.n_clus + 2 && image->taken[image->next_clus])
		image->next_clus++;
	if (image->next_clus >= image->shape.n_clus + 2)
		die("%s: no room for %s", image->recipe->name, node->path);
	image->taken[image->next_clus] = 1;
	return image->next_clus++;
}

static void allocate(struct image *image, struct node *node)
{
	uint64_t need = clusters_needed(image, node);

	if (node->n_chain > 0 && node->n_chain < need)
		die("%s: %s needs %llu clusters", image->recipe->name, node->path,
		    (unsigned long long)need);
	if (!node->is_dir && node->n_chain > need)
		node->n_chain = (size_t)need; /* the list was made for smaller clusters */
	if (node->n_chain > 0 || need == 0)
		return;
	node->chain = xalloc((size_t)need, sizeof *node->chain);
	for (node->n_chain = 0; node->n_chain < need; node->n_chain++)
		node->chain[node->n_chain] = next_free(image, node);
}

/* fill-clusters leave N: one file takes the rest */
static void fill_clusters(struct image *image, const struct statement *s)
{
	uint32_t leave = (uint32_t)place_value(image, s, s->word[2], 0);
	struct node *node = image_find(image, "/FILLER.BIN");
	uint32_t n_free = 0;

	if (!node)
		statement_die(image->recipe, s, "needs: file /FILLER.BIN 0 hole");
	for (uint32_t c = 2; c < image->shape.n_clus + 2; c++)
		n_free += !image->taken[c];
	node->size = (n_free - leave) * image->shape.cluster_bytes;
	allocate(image, node);
}

static void allocate_all(struct image *image)
{
	for (size_t i = 0; i < image->n_nodes; i++)
		allocate(image, image->node[i]);
	for (size_t i = 0; i < image->recipe->n_statements; i++)
		if (statement_holds(&image->recipe->statement[i], &image->instance) &&
		    strcmp(image->recipe->statement[i].word[0], "fill-clusters") == 0)
			fill_clusters(image, &image->recipe->statement[i]);
	for (size_t i = 0; i < image->n_nodes; i++) {
		const struct node *node = image->node[i];

		for (size_t k = 0; k < node->n_chain && !node->deleted; k++)
			image->fat[node->chain[k]] = k + 1 < node->n_chain
							     ? node->chain[k + 1]
							     : shape_mask(&image->shape);
	}
	if (image->shape.bits == 32)
		image->shape.root_clus = image->node[0]->chain[0];
}

/* ---- writing ------------------------------------------------------------------------------- */

static void make_entry(const struct image *image, const struct node *node, const uint8_t name[11],
		       uint8_t attr, uint32_t start, uint8_t entry[DIRENT_BYTES])
{
	memset(entry, 0, DIRENT_BYTES);
	memcpy(entry, name, 11);
	entry[11] = attr;
	entry[12] = node->case_bits;
	entry[13] = 100;
	put_le16(entry + 14, STAMP_TIME);
	put_le16(entry + 16, node->date);
	put_le16(entry + 18, node->date);
	put_le16(entry + 20, image->shape.bits == 32 ? (uint16_t)(start >> 16) : 0);
	put_le16(entry + 22, STAMP_TIME);
	put_le16(entry + 24, node->date);
	put_le16(entry + 26, (uint16_t)start);
	put_le32(entry + 28, node->is_dir ? 0 : node->size);
}

static void write_content(struct image *image, const struct node *node)
{
	uint32_t left = node->hole ? 0 : node->size;
	uint8_t *buf = xalloc(image->shape.cluster_bytes, 1);

	for (size_t i = 0; i < node->n_chain && left > 0; i++) {
		uint32_t n = (uint32_t)min_u64(left, image->shape.cluster_bytes);

		content_fill(node->seed, (uint64_t)i * image->shape.cluster_bytes, buf, n);
		put_bytes(image->dev, shape_cluster_off(&image->shape, node->chain[i]), buf, n);
		left -= n;
	}
	free(buf);
}

static void write_dots(struct image *image, const struct node *node)
{
	const struct node *up = node->parent;
	uint32_t up_clus = up->parent ? up->chain[0] : 0;
	uint8_t slot[DIRENT_BYTES];
	uint64_t off = shape_cluster_off(&image->shape, node->chain[0]);

	make_entry(image, node, (const uint8_t *)".          ", ATTR_DIR, node->chain[0], slot);
	put_bytes(image->dev, off, slot, sizeof slot);
	make_entry(image, node, (const uint8_t *)"..         ", ATTR_DIR, up_clus, slot);
	put_bytes(image->dev, off + DIRENT_BYTES, slot, sizeof slot);
}

/* The node's slots, from number `slot` of its parent on. */
static void write_entry(struct image *image, struct node *node, uint32_t slot)
{
	uint16_t units[LFN_MAX_UNITS];
	size_t n_units = name_to_units(node->base, units);
	uint8_t raw[DIRENT_BYTES];

	for (size_t i = 0; i < node->n_lfn; i++, slot++) {
		name_lfn_slot(units, n_units, (unsigned)(node->n_lfn - i),
			      name_checksum(node->short_name), raw);
		if (node->deleted)
			raw[0] = 0xE5;
		node->lfn_off[i] = place_slot(image, NULL, node->parent, slot);
		put_bytes(image->dev, node->lfn_off[i], raw, sizeof raw);
	}
	node->entry_off = place_slot(image, NULL, node->parent, slot);
	make_entry(image, node, node->short_name, node->attr, node->n_chain ? node->chain[0] : 0,
		   node->entry);
	memcpy(raw, node->entry, sizeof raw);
	if (node->deleted)
		raw[0] = 0xE5;
	put_bytes(image->dev, node->entry_off, raw, sizeof raw);
}

static void write_root_label(struct image *image)
{
	struct node like = { .date = STAMP_DATE };
	uint8_t slot[DIRENT_BYTES];

	make_entry(image, &like, (const uint8_t *)image->root_label, ATTR_LABEL, 0, slot);
	memset(slot + 13, 0, 7);
	put_bytes(image->dev, place_slot(image, NULL, image->node[0], 0), slot, sizeof slot);
}

void tree_build(struct image *image)
{
	read_tree(image);
	allocate_all(image);
	for (size_t i = 0; i < image->n_nodes; i++) {
		struct node *node = image->node[i];

		if (node->is_dir && node->parent)
			write_dots(image, node);
		else if (!node->is_dir)
			write_content(image, node);
		node->n_slots = node->parent && node->is_dir ? 2 : 0;
	}
	if (image->has_root_label) {
		image->node[0]->n_slots = 1;
		write_root_label(image);
	}
	for (size_t i = 1; i < image->n_nodes; i++) {
		struct node *node = image->node[i];

		write_entry(image, node, node->parent->n_slots);
		node->parent->n_slots += (uint32_t)node->n_lfn + 1;
		if (node->deleted)
			node->owed = OWED_GONE;
	}
}
