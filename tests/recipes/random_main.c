/* SPDX-License-Identifier: MIT */
/*
 * Random damage to the metadata of sound volumes: the repair must end, leave nothing for a second
 * run, and leave alone every file that the damage did not touch.
 *
 *   random                        the first seeds at each width
 *   random FROM TO [BITS [BASE]]  those seeds; without BITS at every width, on one volume of
 * bases[] random SEED BITS IMG [BASE]   makes an image file of one
 *
 * Whatever was in a cluster in use before must be in a file or folder afterwards, too. A failure
 * names its seed; the same seed makes the same volume everywhere, and alone it shows what is
 * broken.
 */
#include <stdlib.h>
#include <string.h>

#include "dev_snap.h"
#include "expect.h"
#include "lib/bytes.h"
#include "tests/crash/crash.h"
#include "tool.h"

#define DEFAULT_SEEDS 25u
#define SHOWN_ENTRIES 24u

static const char base_text[] =
	"label RANDOM\n"
	"dir /D1 clusters 2\n"
	"dir /D1/SUB\n"
	"dir /D2\n"
	"file /A.BIN 5*cluster+440\n"
	"file /B.BIN 7*cluster+416 attr rh\n"
	"file /D1/C.TXT 6\n"
	"file /D1/SUB/DEEP.BIN 6*cluster at 150-155\n"
	"file \"/D1/Long file name number one.bin\" 7*cluster+416\n"
	"file \"/D2/Another long name, for a text.txt\" 2*cluster+10 at 140,142,141\n"
	"file /D2/SPREAD.BIN 6*cluster+1 at 160,170,165,180,176,190,185\n"
	"file /D2/EMPTY.TXT 0\n"
	"fill /D1/SUB 20 of 700\n"
	"bad 100-103\n";

/* What the volume is like: sectors, clusters, how full, how many FATs. */
static const struct base {
	const char *text;
	uint32_t sector_bytes;
} bases[] = {
	{ "", 512 },
	{ "sectors 4096\n", 4096 },
	{ "cluster 2048\nfats 1\n", 512 },
	{ "file /FILLER.BIN 0 hole\nfill-clusters leave 5\nfats 3\n", 512 },
	{ "sectors 1024\nfats 4\n", 1024 },
};

#define N_BASES (sizeof bases / sizeof *bases)

struct random {
	uint64_t state;
};

static uint64_t roll(struct random *random, uint64_t below)
{
	random->state = mix64(random->state);
	return below ? random->state % below : random->state;
}

struct trial {
	struct image *image;
	struct fat_dev *sound; /* as it was */
	struct random random;
	bool boot_hit; /* it may be that nothing proves what the volume was */
};

/* ---- damage -------------------------------------------------------------------------------- */

static const struct node *any_node(struct trial *trial, bool with_chain)
{
	for (;;) {
		const struct node *node =
			trial->image->node[roll(&trial->random, trial->image->n_nodes)];

		if (with_chain ? node->n_chain > 0 : node->entry_off > 0)
			return node;
	}
}

static uint32_t any_clus(struct trial *trial)
{
	const struct node *node = any_node(trial, true);

	return node->chain[roll(&trial->random, node->n_chain)];
}

static uint64_t any_slot(struct trial *trial)
{
	const struct node *node = any_node(trial, false);
	uint64_t which = roll(&trial->random, node->n_lfn + 1);

	if (roll(&trial->random, 8) == 0 && node->is_dir && node->n_chain > 0)
		return shape_cluster_off(&trial->image->shape, node->chain[0]) +
		       roll(&trial->random, 2) * DIRENT_BYTES;
	return which < node->n_lfn ? node->lfn_off[which] : node->entry_off;
}

static uint32_t any_value(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;

	switch (roll(&trial->random, 7)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return shape_mask(shape);
	case 3:
		return shape_bad(shape);
	case 4:
		return shape->n_clus + 2 + (uint32_t)roll(&trial->random, 5);
	case 5:
		return any_clus(trial);
	default:
		return 2 + (uint32_t)roll(&trial->random, shape->n_clus);
	}
}

static void hit_entry(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;
	unsigned in = 1 + (unsigned)roll(&trial->random, (1u << shape->n_fats) - 1);
	uint32_t clus =
		roll(&trial->random, 12) ? any_clus(trial) : (uint32_t)roll(&trial->random, 2);
	uint32_t value = any_value(trial);

	for (uint32_t copy = 0; copy < shape->n_fats; copy++)
		if (in & 1u << copy)
			table_set(trial->image->dev, shape, copy, clus, value);
}

static void flip_byte(struct trial *trial, uint64_t off)
{
	uint8_t byte;

	get_bytes(trial->image->dev, off, &byte, 1);
	byte ^= (uint8_t)(1 + roll(&trial->random, 255));
	put_bytes(trial->image->dev, off, &byte, 1);
}

static void hit_slot(struct trial *trial)
{
	uint64_t off = any_slot(trial);
	uint8_t raw[DIRENT_BYTES];

	switch (roll(&trial->random, 8)) {
	case 0: /* gone, or the end of the folder */
		raw[0] = roll(&trial->random, 2) ? 0xE5 : 0;
		put_bytes(trial->image->dev, off, raw, 1);
		break;
	case 1: /* another slot's content */
		get_bytes(trial->image->dev, any_slot(trial), raw, sizeof raw);
		put_bytes(trial->image->dev, off, raw, sizeof raw);
		break;
	case 2: /* garbage */
		for (size_t i = 0; i < sizeof raw; i++)
			raw[i] = (uint8_t)roll(&trial->random, 256);
		put_bytes(trial->image->dev, off, raw, sizeof raw);
		break;
	default:
		flip_byte(trial, off + roll(&trial->random, DIRENT_BYTES));
	}
}

static void hit_boot(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;

	if (shape->bits == 32 && roll(&trial->random, 2)) {
		flip_byte(trial, (uint64_t)shape->fsinfo_sec * shape->sector_bytes + 484 +
					 roll(&trial->random, 28));
		return;
	}
	flip_byte(trial, roll(&trial->random, 4) ? roll(&trial->random, 64)
						 : 510 + roll(&trial->random, 2));
	trial->boot_hit = true;
}

/* A sector of the FATs that has entries in use, of the root, or of a folder. */
static uint64_t any_sector(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;
	uint64_t off;

	if (roll(&trial->random, 2)) {
		off = shape_fat_off(shape, (uint32_t)roll(&trial->random, shape->n_fats)) +
		      (uint64_t)any_clus(trial) * shape->bits / 8;
	} else if (shape->bits != 32 && roll(&trial->random, 4) == 0) {
		off = shape_root_off(shape);
	} else {
		const struct node *node = any_node(trial, true);

		while (!node->is_dir)
			node = any_node(trial, true);
		off = shape_cluster_off(shape, node->chain[roll(&trial->random, node->n_chain)]) +
		      roll(&trial->random, shape->cluster_bytes);
	}
	return off / shape->sector_bytes * shape->sector_bytes;
}

static void hit_sector(struct trial *trial)
{
	uint32_t n = trial->image->shape.sector_bytes;
	uint64_t off = any_sector(trial), other = any_sector(trial);
	uint8_t *raw = xalloc(1, n), *from = xalloc(1, n);

	get_bytes(trial->image->dev, off, raw, n);
	get_bytes(trial->image->dev, other, from, n);
	switch (roll(&trial->random, 7)) {
	case 0:
		memset(raw, 0, n);
		break;
	case 1:
		memset(raw, 0xFF, n);
		break;
	case 2:
		for (uint32_t i = 0; i < n; i++)
			raw[i] = (uint8_t)roll(&trial->random, 256);
		break;
	case 3: /* swapped */
		put_bytes(trial->image->dev, other, raw, n);
		memcpy(raw, from, n);
		break;
	case 4: /* another one once more */
		memcpy(raw, from, n);
		break;
	case 5: /* shifted by some bytes */
		memmove(raw + 4, raw, n - 4u);
		break;
	default: /* half written */
		memset(raw + n / 2, (int)roll(&trial->random, 2) * 0xFF, n / 2);
	}
	put_bytes(trial->image->dev, off, raw, n);
	free(raw);
	free(from);
}

/* A whole FAT: stale, shifted by a sector, or gone. */
static void hit_fat(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;
	uint32_t copy = (uint32_t)roll(&trial->random, shape->n_fats), n = shape->sector_bytes;
	uint64_t off = shape_fat_off(shape, copy), kind = roll(&trial->random, 3);
	uint8_t *raw = xalloc(1, n);

	if (kind == 0) /* from before some files were there */
		for (unsigned i = 0; i < 5; i++) {
			const struct node *node = any_node(trial, true);

			for (size_t k = 0; node->parent && k < node->n_chain; k++)
				table_set(trial->image->dev, shape, copy, node->chain[k], 0);
		}
	for (uint32_t i = shape->fat_sec; kind > 0 && i-- > 0;) {
		memset(raw, 0, n);
		if (kind == 1 && i > 0)
			get_bytes(trial->image->dev, off + (uint64_t)(i - 1) * n, raw, n);
		put_bytes(trial->image->dev, off + (uint64_t)i * n, raw, n);
	}
	free(raw);
}

/* A start cluster, of an entry or of a dot, that is some other cluster in use. */
static void hit_start(struct trial *trial)
{
	uint8_t raw[DIRENT_BYTES];
	uint64_t off = any_slot(trial);
	uint32_t clus = any_value(trial);

	get_bytes(trial->image->dev, off, raw, sizeof raw);
	put_le16(raw + 26, (uint16_t)clus);
	if (roll(&trial->random, 4) == 0)
		put_le16(raw + 20, (uint16_t)(clus >> 16));
	put_bytes(trial->image->dev, off, raw, sizeof raw);
}

static void damage(struct trial *trial)
{
	for (uint64_t n = 1 + roll(&trial->random, 4); n > 0; n--)
		switch (roll(&trial->random, 20)) {
		case 0:
			hit_boot(trial);
			break;
		case 16:
		case 17:
			hit_sector(trial);
			break;
		case 18:
			hit_start(trial);
			break;
		case 19:
			hit_fat(trial);
			break;
		case 1:
		case 2:
		case 3:
		case 4:
		case 5:
		case 6:
			hit_entry(trial);
			break;
		default:
			hit_slot(trial);
		}
}

/* ---- who was touched ----------------------------------------------------------------------- */

static bool differs(struct trial *trial, uint64_t off, size_t len)
{
	uint8_t a[2 * DIRENT_BYTES], b[2 * DIRENT_BYTES];

	get_bytes(trial->sound, off, a, len);
	get_bytes(trial->image->dev, off, b, len);
	return memcmp(a, b, len) != 0;
}

/* The owner of a cluster, and everything below it. */
static void touch(struct trial *trial, struct node *node)
{
	size_t len = strlen(node->path);

	node->owed = OWED_NOTHING;
	for (size_t i = 0; node->is_dir && i < trial->image->n_nodes; i++) {
		struct node *below = trial->image->node[i];

		if (strncmp(below->path, node->path, len) == 0 && below->path[len] == '/')
			below->owed = OWED_NOTHING;
	}
	if (!node->parent)
		for (size_t i = 0; i < trial->image->n_nodes; i++)
			trial->image->node[i]->owed = OWED_NOTHING;
}

static void touch_owner(struct trial *trial, uint32_t clus)
{
	for (size_t i = 0; i < trial->image->n_nodes; i++)
		for (size_t k = 0; k < trial->image->node[i]->n_chain; k++)
			if (trial->image->node[i]->chain[k] == clus)
				touch(trial, trial->image->node[i]);
}

/* An entry is hit if every copy is; where one copy is right, nothing is owed less. */
static void touch_by_table(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;

	for (uint32_t c = 2; c < shape->n_clus + 2; c++) {
		uint32_t was = table_get(trial->sound, shape, 0, c), is = was;
		bool all = true;

		for (uint32_t copy = 0; copy < shape->n_fats; copy++) {
			is = table_get(trial->image->dev, shape, copy, c);
			all = all && is != was;
		}
		if (!all)
			continue;
		touch_owner(trial, c);
		for (uint32_t copy = 0; copy < shape->n_fats; copy++)
			touch_owner(trial, table_get(trial->image->dev, shape, copy, c));
	}
}

/* Whatever a slot that was hit speaks of now: a name, a cluster. */
static void touch_named(struct trial *trial, uint64_t off)
{
	uint8_t raw[DIRENT_BYTES];

	get_bytes(trial->image->dev, off, raw, sizeof raw);
	touch_owner(trial, get_le16(raw + 26));
	for (size_t k = 0; k < trial->image->n_nodes; k++) /* names and twins */
		if (memcmp(trial->image->node[k]->short_name, raw, 11) == 0)
			touch(trial, trial->image->node[k]);
}

static void touch_by_slots(struct trial *trial)
{
	for (size_t i = 1; i < trial->image->n_nodes; i++) {
		struct node *node = trial->image->node[i];
		bool hit = differs(trial, node->entry_off, DIRENT_BYTES);

		for (size_t k = 0; k < node->n_lfn; k++)
			hit = hit || differs(trial, node->lfn_off[k], DIRENT_BYTES);
		if (!hit)
			continue;
		touch(trial, node);
		touch_named(trial, node->entry_off);
		for (size_t k = 0; k < node->n_lfn; k++)
			touch_named(trial, node->lfn_off[k]);
	}
}

/* Slots of folders where there was nothing. */
static void touch_by_new_slots(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;

	for (size_t i = 0; i < trial->image->n_nodes; i++) {
		const struct node *node = trial->image->node[i];
		size_t n = node->is_dir ? node->n_chain : 0;

		for (size_t k = 0; k < n; k++)
			for (uint32_t at = 0; at < shape->cluster_bytes; at += DIRENT_BYTES) {
				uint64_t off = shape_cluster_off(shape, node->chain[k]) + at;

				if (differs(trial, off, DIRENT_BYTES))
					touch_named(trial, off);
				if (k == 0 && at == 0 && differs(trial, off, 2 * DIRENT_BYTES))
					touch(trial, trial->image->node[i]);
			}
	}
	for (uint32_t at = 0; at < shape->root_entries; at++) {
		uint64_t off = shape_root_off(shape) + (uint64_t)at * DIRENT_BYTES;

		if (differs(trial, off, DIRENT_BYTES))
			touch_named(trial, off);
	}
}

/* ---- for people: what a seed broke --------------------------------------------------------- */

static void print_bytes(const uint8_t *raw)
{
	for (size_t i = 0; i < DIRENT_BYTES; i++)
		printf("%02X%s", raw[i], i == 10 || i == 19 || i == 25 ? " " : "");
}

static void print_slot(struct trial *trial, const char *what, const char *path, uint64_t off)
{
	uint8_t was[DIRENT_BYTES], is[DIRENT_BYTES];

	get_bytes(trial->sound, off, was, sizeof was);
	get_bytes(trial->image->dev, off, is, sizeof is);
	if (memcmp(was, is, sizeof was) == 0)
		return;
	printf("# %s of %s\n#   was ", what, path);
	print_bytes(was);
	printf("\n#   is  ");
	print_bytes(is);
	printf("\n");
}

/* The first of them: a FAT that is gone would be a long list. */
static void print_entries(struct trial *trial, uint32_t copy)
{
	const struct shape *shape = &trial->image->shape;
	uint32_t n = 0;

	for (uint32_t c = 0; c < shape->n_clus + 2; c++) {
		uint32_t is = table_get(trial->image->dev, shape, copy, c);
		uint32_t was = table_get(trial->sound, shape, copy, c);

		if (is != was && n++ < SHOWN_ENTRIES)
			printf("# FAT %u, entry %u: %X was %X\n", copy + 1, c, is, was);
	}
	if (n > SHOWN_ENTRIES)
		printf("# FAT %u: %u entries differ\n", copy + 1, n);
}

static void print_damage(struct trial *trial)
{
	const struct shape *shape = &trial->image->shape;

	for (size_t i = 0; i < trial->image->n_nodes; i++) {
		const struct node *node = trial->image->node[i];

		for (size_t k = 0; k < node->n_lfn; k++)
			print_slot(trial, "long slot", node->path, node->lfn_off[k]);
		if (node->parent)
			print_slot(trial, "entry", node->path, node->entry_off);
		for (uint32_t k = 0; node->parent && node->is_dir && k < 2; k++)
			print_slot(trial, k ? ".." : ".", node->path,
				   shape_cluster_off(shape, node->chain[0]) + k * DIRENT_BYTES);
	}
	for (uint32_t copy = 0; copy < shape->n_fats; copy++)
		print_entries(trial, copy);
	if (trial->boot_hit)
		printf("# the boot sector\n");
}

/* ---- one seed ------------------------------------------------------------------------------ */

static void judge(struct trial *trial, struct fat_dev *after, int status, struct notes *complaints)
{
	struct expectation expect = { .may_be_new = true };

	if (snap_first_difference(trial->image->dev, after) == UINT64_MAX && trial->boot_hit)
		return; /* refused, or nothing that matters */
	if (status & ~1)
		notes_add(complaints, "the repair ends with %d", status);
	expect_judge(trial->image, &expect, trial->image->dev, after, complaints);
}

/* In use in every FAT, as the damage left them. */
static bool is_in_use(struct trial *trial, uint32_t clus)
{
	const struct shape *shape = &trial->image->shape;

	for (uint32_t copy = 0; copy < shape->n_fats; copy++) {
		uint32_t value = table_get(trial->image->dev, shape, copy, clus);

		if (value == 0 || value == shape_bad(shape))
			return false;
	}
	return true;
}

static uint64_t hash_cluster(const struct shape *shape, struct fat_dev *dev, uint32_t clus)
{
	uint8_t *raw = xalloc(1, shape->cluster_bytes);
	uint64_t hash = 1;

	get_bytes(dev, shape_cluster_off(shape, clus), raw, shape->cluster_bytes);
	for (uint32_t i = 0; i < shape->cluster_bytes; i += 8)
		hash = mix64(hash ^ get_le32(raw + i) ^ (uint64_t)get_le32(raw + i + 4) << 32);
	free(raw);
	return hash;
}

/* The cluster's content is in some cluster that belongs to something. */
static bool is_kept(const struct survey *survey, struct fat_dev *after, uint32_t clus,
		    uint64_t hash)
{
	const struct shape *shape = &survey->shape;

	if (survey->owner[clus] && hash_cluster(shape, after, clus) == hash)
		return true;
	for (uint32_t c = 2; c < shape->n_clus + 2; c++)
		if (survey->owner[c] && hash_cluster(shape, after, c) == hash)
			return true;
	return false;
}

/* No content of a file's cluster that was in use may be nobody's now. */
static void judge_content(struct trial *trial, struct fat_dev *after, struct notes *complaints)
{
	struct survey survey;

	if (survey_read(&survey, after) && survey.shape.n_clus == trial->image->shape.n_clus &&
	    shape_data_off(&survey.shape) == shape_data_off(&trial->image->shape))
		for (size_t i = 0; i < trial->image->n_nodes; i++) {
			const struct node *node = trial->image->node[i];

			for (size_t k = 0; !node->is_dir && k < node->n_chain; k++) {
				uint32_t c = node->chain[k];

				if (is_in_use(trial, c) &&
				    !is_kept(&survey, after, c,
					     hash_cluster(&trial->image->shape, trial->sound, c)))
					notes_add(complaints,
						  "%s: the content of cluster %u is nobody's",
						  node->path, c);
			}
		}
	survey_free(&survey);
}

static void run_again(struct trial *trial, struct fat_dev *dev, struct notes *complaints)
{
	struct crash_log log;
	struct fat_dev *top = dev_crash_open(dev, &log);
	struct tool_result result;

	tool_repair(top, NULL, 0, &result);
	if (log.n > 0)
		notes_add(complaints, "the second run writes at %llu",
			  (unsigned long long)log.write[0].off);
	if (result.status != 0 && !trial->boot_hit)
		notes_add(complaints, "the second run ends with %d", result.status);
	tool_result_free(&result);
	top->below = NULL;
	fat_dev_close(top);
	crash_log_free(&log);
}

static void run_seed(const struct recipe *recipe, const struct instance *instance, uint64_t seed,
		     bool show, struct notes *complaints)
{
	struct trial trial = { .random = { mix64(seed) ^ instance->bits } };
	struct tool_result result;
	struct fat_dev *after;

	trial.image = image_build(recipe, instance);
	trial.sound = snap_clone(trial.image->dev);
	damage(&trial);
	if (show)
		print_damage(&trial);
	touch_by_table(&trial);
	touch_by_slots(&trial);
	touch_by_new_slots(&trial);
	after = snap_clone(trial.image->dev);
	tool_repair(after, NULL, 0, &result);
	judge(&trial, after, result.status, complaints);
	if (result.status <= 1)
		judge_content(&trial, after, complaints);
	run_again(&trial, after, complaints);
	tool_result_free(&result);
	fat_dev_close(after);
	fat_dev_close(trial.sound);
	image_free(trial.image);
}

static struct recipe *base_recipe(size_t base)
{
	char *text = xformat("%s%s", bases[base].text, base_text);
	struct recipe *recipe = recipe_parse("random", text);

	free(text);
	return recipe;
}

static unsigned run_width(size_t base, unsigned bits, uint64_t from, uint64_t to)
{
	const struct instance instance = { bits, bases[base].sector_bytes };
	struct recipe *recipe = base_recipe(base);
	unsigned n_failed = 0;

	for (uint64_t seed = from; seed < to; seed++) {
		struct notes complaints = { 0 };

		run_seed(recipe, &instance, seed, to - from == 1, &complaints);
		n_failed += complaints.n > 0;
		for (size_t i = 0; i < complaints.n && i < 4 && n_failed < 12; i++)
			printf("# seed %llu: %s\n", (unsigned long long)seed, complaints.line[i]);
		notes_free(&complaints);
	}
	printf("%sok - FAT%u, base %zu, seeds %llu to %llu: %u failed\n", n_failed ? "not " : "",
	       bits, base, (unsigned long long)from, (unsigned long long)to, n_failed);
	recipe_free(recipe);
	return n_failed;
}

static void export(size_t base, unsigned bits, uint64_t seed, const char *path)
{
	const struct instance instance = { bits, bases[base].sector_bytes };
	struct recipe *recipe = base_recipe(base);
	struct trial trial = { .random = { mix64(seed) ^ bits } };

	trial.image = image_build(recipe, &instance);
	damage(&trial);
	snap_to_file(trial.image->dev, path);
	image_free(trial.image);
	recipe_free(recipe);
}

int main(int argc, char **argv)
{
	uint64_t from = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t to = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_SEEDS;
	unsigned only = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0, n = 0, n_failed = 0;
	size_t base = argc > 4 ? strtoul(argv[4], NULL, 10) % N_BASES : N_BASES;

	if (argc >= 4 && !strchr("0123456789", argv[3][0])) {
		export(base % N_BASES, (unsigned)to, from, argv[3]);
		return 0;
	}
	for (unsigned bits = 12; bits <= 32; bits += bits == 12 ? 4 : 16)
		for (size_t i = 0; i < N_BASES; i++)
			if ((!only || bits == only) && (base == N_BASES || i == base)) {
				n++;
				n_failed += run_width(i, bits, from, to);
			}
	printf("1..%u\n", n);
	return n_failed > 0;
}
