/* SPDX-License-Identifier: MIT */
/*
 * damage: what a recipe breaks in its sound volume.
 *
 * Each statement is one act on bytes; the nodes keep describing the volume as it was, except that
 * acts which take an entry away say what is owed instead.
 */
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

#include "dev_snap.h"
#include "lib/bytes.h"
#include "names.h"

/* ---- fields -------------------------------------------------------------------------------- */

static uint64_t read_number(struct fat_dev *dev, const struct place *place)
{
	uint8_t raw[4] = { 0 }, high[2];

	get_bytes(dev, place->off, raw, place->len < 4 ? place->len : 4);
	if (!place->high_off)
		return get_le32(raw);
	get_bytes(dev, place->high_off, high, 2);
	return get_le32(raw) | (uint32_t)get_le16(high) << 16;
}

static void write_number(struct fat_dev *dev, const struct place *place, uint64_t value)
{
	uint8_t raw[8];

	put_le64(raw, value);
	put_bytes(dev, place->off, raw, place->len < 8 ? place->len : 8);
	if (place->high_off)
		put_bytes(dev, place->high_off, raw + 2, 2);
}

/* "x:E5FF" is bytes; anything else a text, padded with blanks to the field. */
static void write_text(struct image *image, const struct statement *s, const struct place *place,
		       const char *text)
{
	size_t len = place->len;
	uint8_t *raw = xalloc(1, strlen(text) + len);

	if (strncmp(text, "x:", 2) == 0) {
		for (len = 0; text[2 + 2 * len]; len++) {
			unsigned byte;

			if (sscanf(text + 2 + 2 * len, "%2x", &byte) != 1 || !text[3 + 2 * len])
				statement_die(image->recipe, s, "'%s' is not hexadecimal", text);
			raw[len] = (uint8_t)byte;
		}
	} else {
		memset(raw, ' ', len);
		memcpy(raw, text, strlen(text) < len ? strlen(text) : len);
	}
	put_bytes(image->dev, place->off, raw, len);
	free(raw);
}

static const char *need_value(struct image *image, const struct statement *s, size_t i)
{
	if (i + 1 >= s->n_words || strcmp(s->word[i], "=") != 0)
		statement_die(image->recipe, s, "'= VALUE' is missing");
	return s->word[i + 1];
}

static void set_field(struct image *image, const struct statement *s)
{
	size_t i = 0;
	struct place place = place_field(image, s, &i);
	const char *value = need_value(image, s, i);

	if (place.is_text || strncmp(value, "x:", 2) == 0)
		write_text(image, s, &place, value);
	else
		write_number(image->dev, &place,
			     place_value(image, s, value, read_number(image->dev, &place)));
}

/* boots FIELD = VALUE: in the boot sector and its backup */
static void set_both(struct image *image, const struct statement *s)
{
	static char boot[] = "boot", backup[] = "backup";
	struct statement one = *s;
	char **words = xalloc(s->n_words, sizeof *words);

	memcpy(words, s->word, s->n_words * sizeof *words);
	one.word = words;
	words[0] = boot;
	set_field(image, &one);
	words[0] = backup;
	if (image->shape.bits == 32)
		set_field(image, &one);
	free(words);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* "in 1,3" at the end of a line: a bit a copy; all without it. */
static unsigned copies(struct image *image, const struct statement *s)
{
	const char *list = s->n_words > 2 && strcmp(s->word[s->n_words - 2], "in") == 0
				   ? s->word[s->n_words - 1]
				   : NULL;
	unsigned bits = 0;

	if (!list)
		return (1u << image->shape.n_fats) - 1;
	for (; *list; list++)
		if (*list >= '1' && *list < '1' + (int)image->shape.n_fats)
			bits |= 1u << (*list - '1');
		else if (*list != ',')
			statement_die(image->recipe, s, "there is no FAT '%s'", list);
	return bits;
}

/* fat LIST = VALUE [in COPIES] */
static void set_table(struct image *image, const struct statement *s)
{
	const char *value = need_value(image, s, 2);
	struct clusters list = place_clusters(image, s, s->word[1]);
	unsigned in = copies(image, s);

	for (uint32_t copy = 0; copy < image->shape.n_fats; copy++)
		for (size_t i = 0; in & 1u << copy && i < list.n; i++) {
			uint32_t old = table_get(image->dev, &image->shape, copy, list.clus[i]);

			table_set(image->dev, &image->shape, copy, list.clus[i],
				  (uint32_t)place_value(image, s, value, old));
		}
	free(list.clus);
}

/* reserved-bits LIST = VALUE [in COPIES]: the four that FAT32 does not use */
static void set_reserved_bits(struct image *image, const struct statement *s)
{
	const char *value = need_value(image, s, 2);
	struct clusters list = place_clusters(image, s, s->word[1]);
	unsigned in = copies(image, s), bits = (unsigned)place_value(image, s, value, 0);

	for (uint32_t copy = 0; image->shape.bits == 32 && copy < image->shape.n_fats; copy++)
		for (size_t i = 0; in & 1u << copy && i < list.n; i++) {
			uint64_t off = shape_fat_off(&image->shape, copy) + list.clus[i] * 4ull + 3;
			uint8_t byte;

			get_bytes(image->dev, off, &byte, 1);
			byte = (uint8_t)((byte & 0x0F) | bits << 4);
			put_bytes(image->dev, off, &byte, 1);
		}
	free(list.clus);
}

/* lost N of L [at CLUSTER] [step S]: chains that nothing refers to, as nodes "lost:0"... */
static struct node *add_lost(struct image *image)
{
	struct node *node = xalloc(1, sizeof *node);

	node->path = xformat("lost:%zu", image->n_lost++);
	node->base = node->path;
	node->seed = hash_text(node->path);
	node->is_lost = true;
	node->owed = OWED_SAVED;
	GROW_ARRAY(image->node, image->n_nodes);
	image->node[image->n_nodes++] = node;
	return node;
}

static void fill_lost(struct image *image, struct node *node)
{
	const struct shape *shape = &image->shape;
	uint8_t *buf = xalloc(shape->cluster_bytes, 1);

	node->size = (uint32_t)node->n_chain * shape->cluster_bytes;
	for (size_t i = 0; i < node->n_chain; i++) {
		uint32_t next = i + 1 < node->n_chain ? node->chain[i + 1] : shape_mask(shape);

		content_fill(node->seed, (uint64_t)i * shape->cluster_bytes, buf,
			     shape->cluster_bytes);
		put_bytes(image->dev, shape_cluster_off(shape, node->chain[i]), buf,
			  shape->cluster_bytes);
		for (uint32_t copy = 0; copy < shape->n_fats; copy++)
			table_set(image->dev, shape, copy, node->chain[i], next);
	}
	free(buf);
}

static uint64_t word_after(struct image *image, const struct statement *s, const char *word,
			   uint64_t otherwise)
{
	for (size_t i = 1; i + 1 < s->n_words; i++)
		if (strcmp(s->word[i], word) == 0)
			return place_value(image, s, s->word[i + 1], 0);
	return otherwise;
}

/* They were in use when FSInfo was written. */
static void count_in_fsinfo(struct image *image, uint32_t n_clus)
{
	const struct shape *shape = &image->shape;
	const uint32_t sector[2] = { shape->fsinfo_sec, shape->backup_sec + 1 };
	uint8_t raw[4];

	for (size_t i = 0; shape->bits == 32 && i < 2; i++) {
		uint64_t off = (uint64_t)sector[i] * shape->sector_bytes + 488;

		get_bytes(image->dev, off, raw, 4);
		put_le32(raw, get_le32(raw) - n_clus);
		put_bytes(image->dev, off, raw, 4);
	}
}

static void make_lost(struct image *image, const struct statement *s)
{
	uint64_t n = place_value(image, s, s->word[1], 0), len = word_after(image, s, "of", 1);
	uint64_t clus = word_after(image, s, "at", image->next_clus + 20);
	uint64_t step = word_after(image, s, "step", 1);

	for (; n > 0; n--) {
		struct node *node = add_lost(image);

		node->chain = xalloc((size_t)len, sizeof *node->chain);
		for (; node->n_chain < len; clus += step) {
			if (clus >= image->shape.n_clus + 2)
				statement_die(image->recipe, s, "no room for lost chains");
			if (image->taken[clus])
				continue;
			image->taken[clus] = 1;
			node->chain[node->n_chain++] = (uint32_t)clus;
		}
		fill_lost(image, node);
		count_in_fsinfo(image, (uint32_t)len);
	}
}

/* ---- regions ------------------------------------------------------------------------------- */

enum fill { FILL_ZERO, FILL_ONES, FILL_GARBAGE };

static void fill_region(struct image *image, const struct statement *s, struct bad_range range,
			enum fill fill)
{
	uint64_t seed =
		mix64(hash_text(image->recipe->name) + s->line * 64ull + image->instance.bits);

	if (fill == FILL_ZERO) {
		if (fat_dev_zero(image->dev, range.off, range.len) != FAT_OK)
			statement_die(image->recipe, s, "that is not on the device");
		return;
	}
	for (uint64_t i = 0; i < range.len; i += 8) {
		uint8_t raw[8];

		put_le64(raw, fill == FILL_ONES ? UINT64_MAX : mix64(seed + range.off + i));
		put_bytes(image->dev, range.off + i, raw, (size_t)min_u64(8, range.len - i));
	}
}

static void overwrite(struct image *image, const struct statement *s)
{
	enum fill fill = strcmp(s->word[0], "zero") == 0   ? FILL_ZERO
			 : strcmp(s->word[0], "ones") == 0 ? FILL_ONES
							   : FILL_GARBAGE;
	struct bad_range *regions;
	size_t i = 1, n = place_regions(image, s, &i, &regions);

	for (size_t k = 0; k < n; k++)
		fill_region(image, s, regions[k], fill);
	free(regions);
}

/* unreadable REGION: reads of it fail (in process only) */
static void make_unreadable(struct image *image, const struct statement *s)
{
	struct bad_range *regions;
	size_t i = 1, n = place_regions(image, s, &i, &regions);

	for (size_t k = 0; k < n; k++) {
		GROW_ARRAY(image->unreadable, image->n_unreadable);
		image->unreadable[image->n_unreadable++] = regions[k];
	}
	free(regions);
}

/* truncate BYTES: the end of the device is missing */
static void truncate_device(struct image *image, const struct statement *s)
{
	image->device_bytes -= place_value(image, s, s->word[1], 0);
	snap_resize(image->dev, image->device_bytes);
}

/* ---- entries ------------------------------------------------------------------------------- */

static struct node *need_node(struct image *image, const struct statement *s, size_t i)
{
	struct node *node = i < s->n_words ? image_find(image, s->word[i]) : NULL;

	if (!node)
		statement_die(image->recipe, s, "there is no '%s'",
			      i < s->n_words ? s->word[i] : "");
	return node;
}

/* erase PATH, erase-short PATH, erase-long PATH */
static void erase(struct image *image, const struct statement *s)
{
	const struct node *node = need_node(image, s, 1);
	uint8_t mark = 0xE5;

	for (size_t i = 0; i < node->n_lfn && strcmp(s->word[0], "erase-short") != 0; i++)
		put_bytes(image->dev, node->lfn_off[i], &mark, 1);
	if (strcmp(s->word[0], "erase-long") != 0)
		put_bytes(image->dev, node->entry_off, &mark, 1);
}

static void add_slot(struct image *image, const struct statement *s, struct node *dir,
		     const uint8_t raw[DIRENT_BYTES])
{
	put_bytes(image->dev, place_slot(image, s, dir, dir->n_slots++), raw, DIRENT_BYTES);
}

/* twin PATH: its slots once more in the same folder */
static void add_twin(struct image *image, const struct statement *s)
{
	const struct node *node = need_node(image, s, 1);
	uint8_t raw[DIRENT_BYTES];

	for (size_t i = 0; i <= node->n_lfn; i++) {
		get_bytes(image->dev, i < node->n_lfn ? node->lfn_off[i] : node->entry_off, raw,
			  sizeof raw);
		add_slot(image, s, node->parent, raw);
	}
}

/* clone PATH DIR NAME: another entry for the same chain */
static void add_clone(struct image *image, const struct statement *s)
{
	const struct node *node = need_node(image, s, 1);
	struct node *dir = need_node(image, s, 2);
	uint8_t raw[DIRENT_BYTES];

	get_bytes(image->dev, node->entry_off, raw, sizeof raw);
	if (s->n_words < 4 || !name_to_short(s->word[3], raw))
		statement_die(image->recipe, s, "clone PATH DIR NAME (8.3)");
	add_slot(image, s, dir, raw);
}

/* raw DIR NAME ATTR START SIZE: a slot as given; NAME is 11 letters */
static void add_raw(struct image *image, const struct statement *s)
{
	uint8_t raw[DIRENT_BYTES];
	struct place name = { 0, 11, true, 0 };
	uint32_t start;

	if (s->n_words != 6)
		statement_die(image->recipe, s, "raw DIR NAME ATTR START SIZE");
	memset(raw, 0, sizeof raw);
	start = (uint32_t)place_value(image, s, s->word[4], 0);
	raw[11] = (uint8_t)place_value(image, s, s->word[3], 0);
	put_le16(raw + 20, (uint16_t)(start >> 16));
	put_le16(raw + 26, (uint16_t)start);
	put_le32(raw + 28, (uint32_t)place_value(image, s, s->word[5], 0));
	add_slot(image, s, need_node(image, s, 1), raw);
	name.off =
		place_slot(image, s, need_node(image, s, 1), need_node(image, s, 1)->n_slots - 1);
	write_text(image, s, &name, s->word[2]);
}

/* ---- dispatch ------------------------------------------------------------------------------ */

static const struct {
	const char *word;
	void (*act)(struct image *image, const struct statement *s);
} acts[] = {
	{ "fat", set_table },
	{ "reserved-bits", set_reserved_bits },
	{ "boots", set_both },
	{ "lost", make_lost },
	{ "zero", overwrite },
	{ "ones", overwrite },
	{ "garbage", overwrite },
	{ "unreadable", make_unreadable },
	{ "truncate", truncate_device },
	{ "erase", erase },
	{ "erase-short", erase },
	{ "erase-long", erase },
	{ "twin", add_twin },
	{ "clone", add_clone },
	{ "raw", add_raw },
};

bool damage_word(const char *word)
{
	for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
		if (strcmp(word, acts[i].word) == 0)
			return true;
	return place_is_field(word);
}

void damage_apply(struct image *image)
{
	for (size_t i = 0; i < image->recipe->n_statements; i++) {
		const struct statement *s = &image->recipe->statement[i];

		if (!statement_holds(s, &image->instance))
			continue;
		if (place_is_field(s->word[0])) {
			set_field(image, s);
			continue;
		}
		for (size_t k = 0; k < sizeof acts / sizeof acts[0]; k++)
			if (strcmp(s->word[0], acts[k].word) == 0)
				acts[k].act(image, s);
	}
}
