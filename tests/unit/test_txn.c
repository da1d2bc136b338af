/* SPDX-License-Identifier: MIT */
/* dev_txn: reads see all edits, nothing passes before the commit, stages go down in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libfat.h"

#define SECTOR	 512u
#define N_SECTOR 64u
#define SIZE	 (SECTOR * N_SECTOR)
#define BUDGET	 (1u << 20)

static uint32_t random_below(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

static struct fat_dev *make_medium(uint8_t *content)
{
	struct fat_dev *medium;

	assert_int_equal(fat_dev_mem_open(SIZE, &medium), FAT_OK);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(fat_dev_write(medium, 0, content, SIZE), FAT_OK);
	return medium;
}

/* The model: of each byte in each stage, where it comes from, and which of its bits are edited. */
enum { NOTHING = -1, FILLED = -2 }; /* with byte n: FILLED - n */

struct model {
	int source[FAT_N_STAGES][SIZE]; /* NOTHING, FILLED - n, or an offset before the stage */
	uint8_t bits[FAT_N_STAGES][SIZE], mask[FAT_N_STAGES][SIZE];
};

static void model_write(struct model *model, enum fat_stage stage, uint32_t off,
			const uint8_t *bytes, const uint8_t *mask, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		uint8_t *bits = &model->bits[stage][off + i];

		*bits = (uint8_t)((*bits & ~mask[i]) | (bytes[i] & mask[i]));
		model->mask[stage][off + i] |= mask[i];
	}
}

static void model_range(struct model *model, enum fat_stage stage, uint32_t off, int source,
			uint32_t len)
{
	static int was[SIZE];

	memcpy(was, model->source[stage], sizeof was);
	for (uint32_t i = 0; i < len; i++) {
		int from = source <= FILLED ? source : source + (int)i;

		model->source[stage][off + i] =
			from >= 0 && was[from] != NOTHING ? was[from] : from;
		for (int later = (int)stage; later < FAT_N_STAGES; later++)
			model->mask[later][off + i] = 0;
	}
}

static void model_apply(const struct model *model, uint8_t *content)
{
	static uint8_t before[SIZE];

	for (int stage = 0; stage < FAT_N_STAGES; stage++) {
		memcpy(before, content, SIZE);
		for (uint32_t i = 0; i < SIZE; i++) {
			int source = model->source[stage][i];
			uint8_t mask = model->mask[stage][i];

			if (source != NOTHING)
				content[i] = source <= FILLED ? (uint8_t)(FILLED - source)
							      : before[source];
			content[i] =
				(uint8_t)((content[i] & ~mask) | (model->bits[stage][i] & mask));
		}
	}
}

/* Whether the transaction took it. */
static bool random_edit(uint32_t *seed, struct fat_dev *txn, struct model *model)
{
	enum fat_stage stage = (enum fat_stage)random_below(seed, FAT_N_STAGES);
	uint32_t kind = random_below(seed, 10), len = 1 + random_below(seed, 500);
	uint32_t off = random_below(seed, SIZE - len), source;
	uint8_t bytes[500], mask[500];
	uint8_t fill;

	if (kind < 8) {
		for (uint32_t i = 0; i < len; i++) {
			bytes[i] = (uint8_t)random_below(seed, 256);
			mask[i] = kind < 4 ? 0xFF : (uint8_t)random_below(seed, 256);
		}
		model_write(model, stage, off, bytes, mask, len);
		return (kind < 4 ? fat_txn_write(txn, stage, off, bytes, len) :
				   fat_txn_write_bits(txn, stage, off, bytes, mask, len)) == FAT_OK;
	}
	len = SECTOR * (1 + random_below(seed, 4));
	off = SECTOR * random_below(seed, N_SECTOR - 4);
	source = SECTOR * random_below(seed, N_SECTOR - 4);
	fill = random_below(seed, 2) ? 0xFF : 0;
	if (kind == 8 ? fat_txn_fill(txn, stage, fill, off, len) != FAT_OK :
			fat_txn_copy(txn, stage, off, source, len) != FAT_OK)
		return false;
	model_range(model, stage, off, kind == 8 ? FILLED - fill : (int)source, len);
	return true;
}

static void model_reset(struct model *model)
{
	memset(model, 0, sizeof *model);
	for (int stage = 0; stage < FAT_N_STAGES; stage++)
		for (uint32_t i = 0; i < SIZE; i++)
			model->source[stage][i] = NOTHING;
}

static void random_edits_agree_with_a_model(void **state)
{
	static struct model model;
	static uint8_t content[SIZE], original[SIZE], seen[SIZE];

	(void)state;
	for (uint32_t round = 1; round <= 300; round++) {
		uint32_t seed = round;
		struct fat_dev *medium = make_medium(content);
		struct fat_dev *txn;
		size_t n = 0;

		memcpy(original, content, SIZE);
		assert_int_equal(fat_txn_open(medium, SECTOR, BUDGET, &txn), FAT_OK);
		model_reset(&model);
		while (random_below(&seed, 50))
			n += random_edit(&seed, txn, &model);
		model_apply(&model, content);
		assert_int_equal(fat_dev_read(txn, 3, seen + 3, SIZE - 3), FAT_OK);
		assert_memory_equal(seen + 3, content + 3, SIZE - 3);
		assert_int_equal(medium->stats.n_writes, 1);
		assert_int_equal(fat_dev_read(medium, 0, seen, SIZE), FAT_OK);
		assert_memory_equal(seen, original, SIZE);
		assert_int_equal(fat_txn_has_edits(txn, FAT_N_STAGES), n > 0);
		assert_int_equal(fat_txn_commit(txn, NULL, NULL), FAT_OK);
		assert_int_equal(fat_dev_read(medium, 0, seen, SIZE), FAT_OK);
		assert_memory_equal(seen, content, SIZE);
		assert_false(fat_txn_has_edits(txn, FAT_N_STAGES));
		assert_true(fat_txn_used_bytes(txn) == 0);
		fat_dev_close(txn);
	}
}

static void each_stage_ends_with_a_flush(void **state)
{
	static uint8_t content[SIZE];
	struct fat_dev *medium = make_medium(content);
	struct fat_dev *txn;
	enum fat_stage stage;

	(void)state;
	assert_int_equal(fat_txn_open(medium, SECTOR, BUDGET, &txn), FAT_OK);
	assert_int_equal(fat_txn_commit(txn, NULL, &stage), FAT_OK);
	assert_int_equal(medium->stats.n_flushes, 0);
	for (uint32_t i = 0; i < 8; i++) /* neighbours: one write */
		assert_int_equal(fat_txn_write(txn, FAT_STAGE_DETACH, (7 - i) * SECTOR, "x", 1),
				 FAT_OK);
	assert_int_equal(fat_txn_write(txn, FAT_STAGE_CLEAN, 5, "y", 1), FAT_OK);
	assert_int_equal(fat_txn_commit(txn, NULL, &stage), FAT_OK);
	assert_int_equal(medium->stats.n_flushes, 2);
	assert_int_equal(medium->stats.n_writes, 1 + 2);
	fat_dev_close(txn);
}

static void the_budget_holds(void **state)
{
	static uint8_t content[SIZE];
	struct fat_dev *medium = make_medium(content);
	struct fat_dev *txn;
	unsigned n_staged = 0;

	(void)state;
	assert_int_equal(fat_txn_open(medium, SECTOR, 8000, &txn), FAT_OK);
	while (fat_txn_write(txn, FAT_STAGE_DETACH, n_staged * SECTOR, "z", 1) == FAT_OK)
		n_staged++;
	assert_in_range(n_staged, 6, 8);
	assert_int_equal(txn->error.status, FAT_ERR_MEMORY);
	assert_true(fat_txn_used_bytes(txn) <= 8000);
	assert_int_equal(fat_txn_write(txn, FAT_STAGE_DETACH, 1, "z", 1), FAT_OK);
	fat_txn_rollback(txn);
	assert_int_equal(fat_txn_commit(txn, NULL, NULL), FAT_OK);
	assert_int_equal(medium->stats.n_writes, 1);
	fat_dev_close(txn);
}

static void senseless_ranges_are_refused(void **state)
{
	static uint8_t content[SIZE];
	struct fat_dev *medium = make_medium(content);
	struct fat_dev *txn;
	enum fat_stage stage = FAT_STAGE_MIRROR;

	(void)state;
	assert_int_equal(fat_txn_open(medium, SECTOR, BUDGET, &txn), FAT_OK);
	assert_int_equal(fat_txn_copy(txn, stage, 0, 8 * SECTOR, 4 * SECTOR), FAT_OK);
	assert_int_equal(fat_txn_fill(txn, stage, 0, 9 * SECTOR, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_fill(txn, stage, 0, 20 * SECTOR + 1, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_fill(txn, stage, 0, SIZE, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_copy(txn, stage, 20 * SECTOR, 21 * SECTOR, 2 * SECTOR),
			 FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_write(txn, stage, SIZE - 1, "ab", 2), FAT_ERR_RANGE);
	assert_int_equal(fat_txn_fill(txn, FAT_STAGE_PREPARE, 0, 9 * SECTOR, SECTOR), FAT_OK);
	fat_dev_close(txn);
}

/* What a copy reads of a stage's own ranges is where they have it from: a hole, a fill, a copy. */
static void a_copys_copy_has_the_first_source(void **state)
{
	static uint8_t content[SIZE], seen[SIZE];
	struct fat_dev *medium = make_medium(content);
	struct fat_dev *txn;
	enum fat_stage stage = FAT_STAGE_PREPARE;

	(void)state;
	assert_int_equal(fat_txn_open(medium, SECTOR, BUDGET, &txn), FAT_OK);
	assert_int_equal(fat_txn_copy(txn, stage, 10 * SECTOR, 20 * SECTOR, 2 * SECTOR), FAT_OK);
	assert_int_equal(fat_txn_fill(txn, stage, 0xA5, 12 * SECTOR, SECTOR), FAT_OK);
	assert_int_equal(fat_txn_copy(txn, stage, 30 * SECTOR, 9 * SECTOR, 5 * SECTOR), FAT_OK);
	memcpy(content + 10 * SECTOR, content + 20 * SECTOR, 2 * SECTOR);
	memset(content + 12 * SECTOR, 0xA5, SECTOR);
	memcpy(content + 30 * SECTOR, content + 9 * SECTOR, 5 * SECTOR);
	assert_int_equal(fat_dev_read(txn, 0, seen, SIZE), FAT_OK);
	assert_memory_equal(seen, content, SIZE);
	/* what the first copy reads must stay as it is until the stage is on the medium */
	assert_int_equal(fat_txn_fill(txn, stage, 0, 21 * SECTOR, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_commit(txn, NULL, NULL), FAT_OK);
	assert_int_equal(fat_dev_read(medium, 0, seen, SIZE), FAT_OK);
	assert_memory_equal(seen, content, SIZE);
	fat_dev_close(txn);
}

static void a_committed_run_can_be_undone(void **state)
{
	static uint8_t content[SIZE], seen[SIZE];
	struct fat_dev *medium = make_medium(content);
	struct fat_dev *store, *undo, *txn;
	struct fat_undo_origin origin = { .program = "test" };

	(void)state;
	assert_int_equal(fat_dev_mem_open(1 << 20, &store), FAT_OK);
	assert_int_equal(fat_undo_create(medium, store, &origin, &undo), FAT_OK);
	assert_int_equal(fat_txn_open(undo, SECTOR, BUDGET, &txn), FAT_OK);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(fat_txn_write(txn, FAT_STAGE_ATTACH, i * 3 * SECTOR, "q", 1),
				 FAT_OK);
	assert_int_equal(fat_txn_fill(txn, FAT_STAGE_PREPARE, 0, 10 * SECTOR, 30 * SECTOR), FAT_OK);
	assert_int_equal(fat_txn_commit(txn, undo, NULL), FAT_OK);
	assert_true(store->stats.n_flushes <= 2); /* one a stage, not one a write */
	assert_int_equal(fat_undo_rollback(store, medium), FAT_OK);
	assert_int_equal(fat_dev_read(medium, 0, seen, SIZE), FAT_OK);
	assert_memory_equal(seen, content, SIZE);
	fat_dev_close(txn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_edits_agree_with_a_model),
		cmocka_unit_test(each_stage_ends_with_a_flush),
		cmocka_unit_test(the_budget_holds),
		cmocka_unit_test(senseless_ranges_are_refused),
		cmocka_unit_test(a_copys_copy_has_the_first_source),
		cmocka_unit_test(a_committed_run_can_be_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
