/* SPDX-License-Identifier: MIT */
/*
 * image: the shape of a recipe's volume, its boot region and its tables, onto a dev_snap.
 *
 * Knows where things lie; what the tree holds is tree.c's, what is broken damage.c's.
 */
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

#include "dev_snap.h"
#include "lib/bytes.h"

#define MEDIA 0xF8u

/* ---- arithmetic ---------------------------------------------------------------------------- */

uint64_t shape_fat_off(const struct shape *shape, uint32_t copy)
{
	return ((uint64_t)shape->reserved_sec + (uint64_t)copy * shape->fat_sec) *
	       shape->sector_bytes;
}

uint64_t shape_root_off(const struct shape *shape)
{
	return shape_fat_off(shape, shape->n_fats);
}

uint64_t shape_data_off(const struct shape *shape)
{
	return shape_root_off(shape) + (uint64_t)shape->root_sec * shape->sector_bytes;
}

uint64_t shape_cluster_off(const struct shape *shape, uint32_t clus)
{
	return shape_data_off(shape) + (uint64_t)(clus - 2) * shape->cluster_bytes;
}

uint32_t shape_mask(const struct shape *shape)
{
	return shape->bits == 12 ? 0xFFFu : shape->bits == 16 ? 0xFFFFu : 0x0FFFFFFFu;
}

uint32_t shape_end_min(const struct shape *shape)
{
	return shape_mask(shape) - 7;
}

uint32_t shape_bad(const struct shape *shape)
{
	return shape_mask(shape) - 8;
}

/* ---- device -------------------------------------------------------------------------------- */

void put_bytes(struct fat_dev *dev, uint64_t off, const void *bytes, size_t len)
{
	if (fat_dev_write(dev, off, bytes, len) != FAT_OK)
		die("cannot write %zu bytes at %llu", len, (unsigned long long)off);
}

void get_bytes(struct fat_dev *dev, uint64_t off, void *bytes, size_t len)
{
	if (fat_dev_read(dev, off, bytes, len) != FAT_OK)
		die("cannot read %zu bytes at %llu", len, (unsigned long long)off);
}

uint32_t table_get(struct fat_dev *dev, const struct shape *shape, uint32_t copy, uint32_t clus)
{
	uint64_t off = shape_fat_off(shape, copy) + (uint64_t)clus * shape->bits / 8;
	uint8_t raw[4] = { 0 };

	get_bytes(dev, off, raw, shape->bits == 32 ? 4 : 2);
	if (shape->bits == 12)
		return clus & 1 ? get_le16(raw) >> 4 : get_le16(raw) & 0xFFFu;
	return get_le32(raw) & shape_mask(shape);
}

void table_set(struct fat_dev *dev, const struct shape *shape, uint32_t copy, uint32_t clus,
	       uint32_t value)
{
	uint64_t off = shape_fat_off(shape, copy) + (uint64_t)clus * shape->bits / 8;
	size_t len = shape->bits == 32 ? 4 : 2;
	uint8_t raw[4] = { 0 };

	get_bytes(dev, off, raw, len);
	if (shape->bits == 12) {
		uint32_t keep = get_le16(raw) & (clus & 1 ? 0x000Fu : 0xF000u);

		put_le16(raw,
			 (uint16_t)(keep | (clus & 1 ? (value & 0xFFFu) << 4 : value & 0xFFFu)));
	} else if (shape->bits == 16) {
		put_le16(raw, (uint16_t)value);
	} else {
		put_le32(raw, (get_le32(raw) & 0xF0000000u) | (value & 0x0FFFFFFFu));
	}
	put_bytes(dev, off, raw, len);
}

/* ---- shape --------------------------------------------------------------------------------- */

enum shape_field {
	SHAPE_FATS,
	SHAPE_CLUSTERS,
	SHAPE_CLUSTER,
	SHAPE_RESERVED,
	SHAPE_ROOT,
	SHAPE_SIZE,
	SHAPE_SPARE,
	SHAPE_BEHIND,
	SHAPE_FSINFO,
	SHAPE_BACKUP,
	SHAPE_N
};

static const char *const shape_words[SHAPE_N] = {
	[SHAPE_FATS] = "fats",
	[SHAPE_CLUSTERS] = "clusters",
	[SHAPE_CLUSTER] = "cluster",
	[SHAPE_RESERVED] = "reserved",
	[SHAPE_ROOT] = "root-entries",
	[SHAPE_SIZE] = "volume-size",
	[SHAPE_SPARE] = "spare-fat",
	[SHAPE_BEHIND] = "behind",
	[SHAPE_FSINFO] = "fsinfo-sector",
	[SHAPE_BACKUP] = "backup-sector",
};

static const char *const other_words[] = { "at",         "sectors", "label", "root-label",
					   "boot-label", "serial",  "mirror" };

bool image_shape_word(const char *word)
{
	for (size_t i = 0; i < SHAPE_N; i++)
		if (strcmp(word, shape_words[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof other_words / sizeof other_words[0]; i++)
		if (strcmp(word, other_words[i]) == 0)
			return true;
	return false;
}

/* "512", "64K", "5G" */
static uint64_t number(const struct image *image, const struct statement *s, size_t i)
{
	char *end;
	uint64_t v;

	if (i >= s->n_words)
		statement_die(image->recipe, s, "a number is missing");
	v = strtoull(s->word[i], &end, 0);
	if (*end == 'K' || *end == 'M' || *end == 'G')
		v <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30, end++;
	if (*end || end == s->word[i])
		statement_die(image->recipe, s, "'%s' is no number", s->word[i]);
	return v;
}

static void set_text(char to[12], const char *text)
{
	snprintf(to, 12, "%-11.11s", text);
}

static void set_other(struct image *image, const struct statement *s)
{
	const char *word = s->word[0], *arg = s->n_words > 1 ? s->word[1] : "";

	if (strcmp(word, "label") == 0 || strcmp(word, "boot-label") == 0)
		set_text(image->label, arg);
	if (strcmp(word, "label") == 0 || strcmp(word, "root-label") == 0) {
		set_text(image->root_label, arg);
		image->has_root_label = true;
	}
	if (strcmp(word, "serial") == 0)
		image->serial = (uint32_t)number(image, s, 1);
	if (strcmp(word, "mirror") == 0) { /* mirror off: FAT n is the active one */
		image->shape.mirrored = false;
		image->shape.active_fat = (uint32_t)number(image, s, s->n_words - 1) - 1;
	}
}

static void read_shape(struct image *image, uint64_t field[SHAPE_N])
{
	image->shape.mirrored = true;
	image->serial = 0x12345678;
	set_text(image->label, "NO NAME");
	for (size_t i = 0; i < image->recipe->n_statements; i++) {
		const struct statement *s = &image->recipe->statement[i];

		if (!statement_holds(s, &image->instance))
			continue;
		for (size_t k = 0; k < SHAPE_N; k++)
			if (strcmp(s->word[0], shape_words[k]) == 0)
				field[k] = number(image, s, 1);
		set_other(image, s);
	}
}

static uint32_t fat_sec_for(const struct shape *shape, uint64_t n_clus)
{
	uint64_t bytes = div_ceil((n_clus + 2) * shape->bits, 8);

	return (uint32_t)div_ceil(bytes, shape->sector_bytes);
}

/* The number of clusters that fill a size: the FAT's own size depends on it, so it is searched. */
static void fit_size(struct shape *shape, uint64_t size_bytes)
{
	uint64_t total = size_bytes / shape->sector_bytes;
	uint64_t fixed = (uint64_t)shape->reserved_sec + shape->root_sec;

	shape->fat_sec = 1;
	for (;;) {
		uint64_t meta = fixed + (uint64_t)shape->n_fats * shape->fat_sec;
		uint64_t n_clus = (total - meta) / shape->cluster_sec;
		uint32_t need = fat_sec_for(shape, n_clus);

		shape->n_clus = (uint32_t)n_clus;
		if (need <= shape->fat_sec)
			break;
		shape->fat_sec = need;
	}
	shape->total_sec = (uint32_t)total;
}

static uint32_t default_clusters(unsigned bits)
{
	return bits == 12 ? 600 : bits == 16 ? 5000 : 66000;
}

static void make_shape(struct image *image)
{
	struct shape *shape = &image->shape;
	uint64_t field[SHAPE_N] = { 0 };
	bool is32 = image->instance.bits == 32;

	read_shape(image, field);
	shape->bits = image->instance.bits;
	shape->sector_bytes = image->instance.sector_bytes;
	shape->cluster_bytes =
		(uint32_t)(field[SHAPE_CLUSTER] ? field[SHAPE_CLUSTER] : shape->sector_bytes);
	if (shape->cluster_bytes < shape->sector_bytes)
		shape->cluster_bytes = shape->sector_bytes;
	shape->cluster_sec = shape->cluster_bytes / shape->sector_bytes;
	shape->n_fats = (uint32_t)(field[SHAPE_FATS] ? field[SHAPE_FATS] : 2);
	shape->reserved_sec = (uint32_t)(field[SHAPE_RESERVED] ? field[SHAPE_RESERVED]
					 : is32                ? 32
							       : 1);
	shape->root_entries = is32 ? 0 : (uint32_t)(field[SHAPE_ROOT] ? field[SHAPE_ROOT] : 512);
	shape->root_sec = (uint32_t)div_ceil((uint64_t)shape->root_entries * DIRENT_BYTES,
					     shape->sector_bytes);
	shape->fsinfo_sec = is32 ? (uint32_t)(field[SHAPE_FSINFO] ? field[SHAPE_FSINFO] : 1) : 0;
	shape->backup_sec = is32 ? (uint32_t)(field[SHAPE_BACKUP] ? field[SHAPE_BACKUP] : 6) : 0;
	if (field[SHAPE_SIZE]) {
		fit_size(shape, field[SHAPE_SIZE]);
	} else {
		shape->n_clus = (uint32_t)(field[SHAPE_CLUSTERS] ? field[SHAPE_CLUSTERS]
								 : default_clusters(shape->bits));
		shape->fat_sec = fat_sec_for(shape, shape->n_clus) + (uint32_t)field[SHAPE_SPARE];
		shape->total_sec = (uint32_t)(shape_data_off(shape) / shape->sector_bytes +
					      (uint64_t)shape->n_clus * shape->cluster_sec);
	}
	image->device_bytes =
		(uint64_t)shape->total_sec * shape->sector_bytes + field[SHAPE_BEHIND];
}

/* ---- boot region --------------------------------------------------------------------------- */

static void put_extension(const struct image *image, uint8_t *at)
{
	static const char *const type[] = { "FAT12   ", "FAT16   ", "FAT32   " };

	at[0] = 0x80;
	at[2] = 0x29;
	put_le32(at + 3, image->serial);
	memcpy(at + 7, image->label, 11);
	memcpy(at + 18, type[image->shape.bits == 12 ? 0 : image->shape.bits == 16 ? 1 : 2], 8);
}

static void make_boot(const struct image *image, uint8_t sector[512])
{
	const struct shape *shape = &image->shape;
	bool is32 = shape->bits == 32;
	bool small = !is32 && shape->total_sec < 0x10000;

	memset(sector, 0, 512);
	memcpy(sector, is32 ? "\xEB\x58\x90" : "\xEB\x3C\x90", 3);
	memcpy(sector + 3, "RECIPE  ", 8);
	put_le16(sector + 11, (uint16_t)shape->sector_bytes);
	sector[13] = (uint8_t)shape->cluster_sec;
	put_le16(sector + 14, (uint16_t)shape->reserved_sec);
	sector[16] = (uint8_t)shape->n_fats;
	put_le16(sector + 17, (uint16_t)shape->root_entries);
	put_le16(sector + 19, small ? (uint16_t)shape->total_sec : 0);
	sector[21] = MEDIA;
	put_le16(sector + 22, is32 ? 0 : (uint16_t)shape->fat_sec);
	put_le16(sector + 24, 32);
	put_le16(sector + 26, 8);
	put_le32(sector + 32, small ? 0 : shape->total_sec);
	if (is32) {
		put_le32(sector + 36, shape->fat_sec);
		put_le16(sector + 40, shape->mirrored ? 0 : (uint16_t)(0x80 | shape->active_fat));
		put_le32(sector + 44, shape->root_clus);
		put_le16(sector + 48, (uint16_t)shape->fsinfo_sec);
		put_le16(sector + 50, (uint16_t)shape->backup_sec);
	}
	put_extension(image, sector + (is32 ? 64 : 36));
	memset(sector + 0x80, 0x90, 16); /* some boot code, to be left alone */
	sector[510] = 0x55;
	sector[511] = 0xAA;
}

static void make_fsinfo(const struct image *image, uint8_t sector[512])
{
	uint32_t n_free = 0, next = 0;

	for (uint32_t c = image->shape.n_clus + 1; c >= 2; c--) {
		n_free += image->fat[c] == 0;
		if (image->fat[c] == 0)
			next = c;
	}
	memset(sector, 0, 512);
	put_le32(sector, 0x41615252);
	put_le32(sector + 484, 0x61417272);
	put_le32(sector + 488, n_free);
	put_le32(sector + 492, next ? next : 2);
	put_le32(sector + 508, 0xAA550000);
}

void image_write_boot(struct image *image)
{
	const struct shape *shape = &image->shape;
	uint8_t boot[512], fsinfo[512];

	make_boot(image, boot);
	put_bytes(image->dev, 0, boot, 512);
	if (shape->bits != 32)
		return;
	make_fsinfo(image, fsinfo);
	put_bytes(image->dev, (uint64_t)shape->fsinfo_sec * shape->sector_bytes, fsinfo, 512);
	if (shape->backup_sec >= shape->reserved_sec)
		return;
	put_bytes(image->dev, (uint64_t)shape->backup_sec * shape->sector_bytes, boot, 512);
	if (shape->backup_sec + 1 < shape->reserved_sec)
		put_bytes(image->dev, (uint64_t)(shape->backup_sec + 1) * shape->sector_bytes,
			  fsinfo, 512);
}

/* Only what is not 0 is written: a table of a large volume stays sparse. */
void image_write_table(struct image *image)
{
	const struct shape *shape = &image->shape;

	image->fat[0] = (shape_mask(shape) & ~0xFFu) | MEDIA;
	image->fat[1] = shape_mask(shape);
	for (uint32_t copy = 0; copy < shape->n_fats; copy++)
		for (uint32_t c = 0; c < shape->n_clus + 2; c++)
			if (image->fat[c] != 0)
				table_set(image->dev, shape, copy, c, image->fat[c]);
}

/* ---- the whole ----------------------------------------------------------------------------- */

struct image *image_build_sound(const struct recipe *recipe, const struct instance *instance)
{
	struct image *image = xalloc(1, sizeof *image);

	image->recipe = recipe;
	image->instance = *instance;
	make_shape(image);
	image->taken = xalloc((size_t)image->shape.n_clus + 2, 1);
	image->fat = xalloc((size_t)image->shape.n_clus + 2, sizeof *image->fat);
	image->next_clus = 2;
	image->dev = snap_open(image->device_bytes);
	image->dev->block_bytes = image->shape.sector_bytes;
	tree_build(image);
	image_write_table(image);
	image_write_boot(image);
	return image;
}

struct image *image_build(const struct recipe *recipe, const struct instance *instance)
{
	struct image *image = image_build_sound(recipe, instance);

	damage_apply(image);
	return image;
}

void image_free(struct image *image)
{
	for (size_t i = 0; i < image->n_nodes; i++) {
		free(image->node[i]->path);
		free(image->node[i]->chain);
		free(image->node[i]->part);
		free(image->node[i]);
	}
	free(image->node);
	free(image->taken);
	free(image->fat);
	free(image->unreadable);
	fat_dev_close(image->dev);
	free(image);
}

struct node *image_find(const struct image *image, const char *path)
{
	for (size_t i = 0; i < image->n_nodes; i++)
		if (strcmp(image->node[i]->path, path) == 0)
			return image->node[i];
	return NULL;
}
