/* SPDX-License-Identifier: MIT */
/*
 * Random damage to the metadata of sound volumes: the repair must end, leave nothing for a second
 * run, and leave alone every file that the damage did not touch.
 *
 *   random                   the first seeds at each width
 *   random FROM TO [BITS]    those seeds; without BITS at every width
 *   random SEED BITS IMG     makes an image file of one
 *
 * A failure names its seed; the same seed makes the same volume everywhere, and alone it shows
 * what is broken.
 */
#include <stdlib.h>
#include <string.h>

#include "dev_snap.h"
#include "expect.h"
#include "lib/bytes.h"
#include "tests/crash/crash.h"
#include "tool.h"

#define DEFAULT_SEEDS 100u

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

static void damage(struct trial *trial)
{
	for (uint64_t n = 1 + roll(&trial->random, 4); n > 0; n--)
		switch (roll(&trial->random, 16)) {
		case 0:
			hit_boot(trial);
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
	uint8_t a[DIRENT_BYTES], b[DIRENT_BYTES];

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

static void touch_by_slots(struct trial *trial)
{
	for (size_t i = 1; i < trial->image->n_nodes; i++) {
		struct node *node = trial->image->node[i];
		bool hit = differs(trial, node->entry_off, DIRENT_BYTES);
		uint8_t raw[DIRENT_BYTES];

		for (size_t k = 0; k < node->n_lfn; k++)
			hit = hit || differs(trial, node->lfn_off[k], DIRENT_BYTES);
		if (!hit)
			continue;
		touch(trial, node);
		get_bytes(trial->image->dev, node->entry_off, raw, sizeof raw);
		touch_owner(trial, get_le16(raw + 26));
		for (size_t k = 0; k < trial->image->n_nodes; k++) /* names and twins */
			if (memcmp(trial->image->node[k]->short_name, raw, 11) == 0)
				touch(trial, trial->image->node[k]);
	}
}

/* ---- for people: what a seed broke --------------------------------------------------------- */

static void print_slot(struct trial *trial, const char *what, const char *path, uint64_t off)
{
	uint8_t was[DIRENT_BYTES], is[DIRENT_BYTES];

	get_bytes(trial->sound, off, was, sizeof was);
	get_bytes(trial->image->dev, off, is, sizeof is);
	for (size_t i = 0; i < sizeof was; i++)
		if (was[i] != is[i])
			printf("# %s of %s, byte %zu: %02X was %02X\n", what, path, i, is[i],
			       was[i]);
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
	for (uint32_t c = 0; c < shape->n_clus + 2; c++)
		for (uint32_t copy = 0; copy < shape->n_fats; copy++)
			if (table_get(trial->sound, shape, copy, c) !=
			    table_get(trial->image->dev, shape, copy, c))
				printf("# FAT %u, entry %u: %X was %X\n", copy + 1, c,
				       table_get(trial->image->dev, shape, copy, c),
				       table_get(trial->sound, shape, copy, c));
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
	after = snap_clone(trial.image->dev);
	tool_repair(after, NULL, 0, &result);
	judge(&trial, after, result.status, complaints);
	run_again(&trial, after, complaints);
	tool_result_free(&result);
	fat_dev_close(after);
	fat_dev_close(trial.sound);
	image_free(trial.image);
}

static unsigned run_width(const struct recipe *recipe, unsigned bits, uint64_t from, uint64_t to)
{
	const struct instance instance = { bits, 512 };
	unsigned n_failed = 0;

	for (uint64_t seed = from; seed < to; seed++) {
		struct notes complaints = { 0 };

		run_seed(recipe, &instance, seed, to - from == 1, &complaints);
		n_failed += complaints.n > 0;
		for (size_t i = 0; i < complaints.n && i < 4 && n_failed < 12; i++)
			printf("# seed %llu: %s\n", (unsigned long long)seed, complaints.line[i]);
		notes_free(&complaints);
	}
	printf("%sok - FAT%u, seeds %llu to %llu: %u failed\n", n_failed ? "not " : "", bits,
	       (unsigned long long)from, (unsigned long long)to, n_failed);
	return n_failed;
}

static void export(const struct recipe *recipe, unsigned bits, uint64_t seed, const char *path)
{
	const struct instance instance = { bits, 512 };
	struct trial trial = { .random = { mix64(seed) ^ bits } };

	trial.image = image_build(recipe, &instance);
	damage(&trial);
	snap_to_file(trial.image->dev, path);
	image_free(trial.image);
}

int main(int argc, char **argv)
{
	uint64_t from = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t to = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_SEEDS;
	unsigned only = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0, n = 0, n_failed = 0;
	struct recipe *recipe = recipe_parse("random", base_text);

	if (argc == 4 && !strchr("0123456789", argv[3][0])) {
		export(recipe, (unsigned)to, from, argv[3]);
		recipe_free(recipe);
		return 0;
	}
	for (unsigned bits = 12; bits <= 32; bits += bits == 12 ? 4 : 16)
		if (!only || bits == only) {
			n++;
			n_failed += run_width(recipe, bits, from, to);
		}
	printf("1..%u\n", n);
	recipe_free(recipe);
	return n_failed > 0;
}
