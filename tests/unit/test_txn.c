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

/* The model: one list of edits, applied stage by stage, ranges before patches. */
struct edit {
	enum fat_stage stage;
	enum { WRITE, ZERO, COPY } kind;
	uint32_t off, len, source;
	uint8_t bytes[700];
};

static void apply_model(const struct edit *edit, size_t n, uint8_t *content)
{
	static uint8_t before[SIZE];

	for (int stage = 0; stage < FAT_N_STAGES; stage++) {
		memcpy(before, content, SIZE);
		for (size_t i = 0; i < n; i++) {
			if (edit[i].stage != (enum fat_stage)stage)
				continue;
			if (edit[i].kind == ZERO)
				memset(content + edit[i].off, 0, edit[i].len);
			if (edit[i].kind == COPY)
				memcpy(content + edit[i].off, before + edit[i].source, edit[i].len);
		}
		for (size_t i = 0; i < n; i++)
			if (edit[i].stage == (enum fat_stage)stage && edit[i].kind == WRITE)
				memcpy(content + edit[i].off, edit[i].bytes, edit[i].len);
	}
}

static bool random_edit(uint32_t *seed, struct fat_dev *txn, struct edit *edit)
{
	uint32_t kind = random_below(seed, 10);

	edit->stage = (enum fat_stage)random_below(seed, FAT_N_STAGES);
	edit->kind = kind < 8 ? WRITE : kind == 8 ? ZERO : COPY;
	if (edit->kind == WRITE) {
		edit->len = 1 + random_below(seed, sizeof edit->bytes);
		edit->off = random_below(seed, SIZE - edit->len);
		memset(edit->bytes, (int)random_below(seed, 256), edit->len);
		return fat_txn_write(txn, edit->stage, edit->off, edit->bytes, edit->len) == FAT_OK;
	}
	edit->len = SECTOR * (1 + random_below(seed, 4));
	edit->off = SECTOR * random_below(seed, N_SECTOR - 4);
	edit->source = SECTOR * random_below(seed, N_SECTOR - 4);
	if (edit->kind == ZERO)
		return fat_txn_zero(txn, edit->stage, edit->off, edit->len) == FAT_OK;
	return fat_txn_copy(txn, edit->stage, edit->off, edit->source, edit->len) == FAT_OK;
}

static void random_edits_agree_with_a_model(void **state)
{
	static struct edit edit[60];
	static uint8_t content[SIZE], original[SIZE], seen[SIZE];

	(void)state;
	for (uint32_t round = 1; round <= 300; round++) {
		uint32_t seed = round;
		struct fat_dev *medium = make_medium(content);
		struct fat_dev *txn;
		size_t n = 0;

		memcpy(original, content, SIZE);
		assert_int_equal(fat_txn_open(medium, SECTOR, BUDGET, &txn), FAT_OK);
		while (n < 60 && random_below(&seed, 50))
			n += random_edit(&seed, txn, &edit[n]);
		apply_model(edit, n, content);
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
	assert_in_range(n_staged, 10, 14);
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
	assert_int_equal(fat_txn_copy(txn, stage, 4 * SECTOR, 0, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_zero(txn, stage, 3 * SECTOR, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_zero(txn, stage, 9 * SECTOR, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_zero(txn, stage, 20 * SECTOR + 1, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_zero(txn, stage, SIZE, SECTOR), FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_copy(txn, stage, 20 * SECTOR, 21 * SECTOR, 2 * SECTOR),
			 FAT_ERR_ARGUMENT);
	assert_int_equal(fat_txn_write(txn, stage, SIZE - 1, "ab", 2), FAT_ERR_RANGE);
	assert_int_equal(fat_txn_zero(txn, FAT_STAGE_PREPARE, 9 * SECTOR, SECTOR), FAT_OK);
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
	assert_int_equal(fat_txn_zero(txn, FAT_STAGE_PREPARE, 10 * SECTOR, 30 * SECTOR), FAT_OK);
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
		cmocka_unit_test(a_committed_run_can_be_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
