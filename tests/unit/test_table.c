/* SPDX-License-Identifier: MIT */
/*
 * table: all entries in their order, from which copy they come, what a copy has otherwise, and what
 * cannot be read; beside a model that is an array.
 */
#include "unit.h"

#include "libfat.h"

#define MAX_ENTRIES 70000u

/* A volume in memory, of which only the FATs matter. */
struct rig {
	struct fat_dev *dev;
	struct fat_geometry geometry;
	struct fat_table table;
	uint32_t n_entries;
};

static void rig_init(struct rig *rig, uint32_t type, uint64_t size_bytes)
{
	struct fat_layout_request ask = { .size_bytes = size_bytes,
					  .type = type,
					  .cluster_sec = 1 };
	struct fat_layout layout;

	assert_int_equal(fat_layout_plan(&ask, &layout), FAT_OK);
	rig->geometry = layout.geometry;
	rig->n_entries = fat_geometry_last_clus(&rig->geometry) + 1;
	assert_true(rig->n_entries <= MAX_ENTRIES);
	assert_int_equal(fat_dev_mem_open(size_bytes, &rig->dev), FAT_OK);
	assert_int_equal(fat_table_init(&rig->table, rig->dev, &rig->geometry, 1u << 16), FAT_OK);
}

static void rig_fini(struct rig *rig)
{
	fat_table_fini(&rig->table);
	fat_dev_close(rig->dev);
}

static void set_in_both(struct rig *rig, uint32_t clus, uint32_t value)
{
	for (uint32_t copy = 0; copy < 2; copy++)
		assert_int_equal(fat_table_set_in_copy(&rig->table, copy, clus, value), FAT_OK);
}

/* What a scan said. */
struct heard {
	uint32_t value[MAX_ENTRIES];
	uint32_t next; /* entry that is to come */
	uint32_t n_zero_pieces;
	struct fat_table_range differ[8];
	size_t n_differ;
	uint32_t stop_at; /* at this entry FAT_ERR_MEMORY, which nothing else gives */
};

static enum fat_status hear_entries(void *context, uint32_t first_clus, uint32_t n,
				    const uint32_t *values)
{
	struct heard *heard = context;

	assert_int_equal(first_clus, heard->next);
	for (uint32_t i = 0; i < n; i++)
		heard->value[first_clus + i] = values ? values[i] : 0;
	heard->next = first_clus + n;
	heard->n_zero_pieces += !values;
	return heard->stop_at && heard->stop_at < heard->next ? FAT_ERR_MEMORY : FAT_OK;
}

static enum fat_status hear_differ(void *context, uint32_t copy, uint32_t first_clus,
				   uint32_t last_clus)
{
	struct heard *heard = context;

	assert_true(heard->n_differ < 8);
	heard->differ[heard->n_differ++] = (struct fat_table_range){ first_clus, last_clus, copy };
	return heard->stop_at == first_clus && first_clus ? FAT_ERR_MEMORY : FAT_OK;
}

static enum fat_status scan(struct rig *rig, struct heard *heard)
{
	struct fat_table_visitor visitor = { heard, hear_entries, hear_differ };

	return fat_table_scan(&rig->table, &visitor);
}

static struct heard *heard_new(void)
{
	struct heard *heard = calloc(1, sizeof *heard);

	assert_non_null(heard);
	return heard;
}

static const struct {
	uint32_t type;
	uint64_t size_bytes;
} shapes[] = { { 12, 2u << 20 }, { 16, 30u << 20 }, { 32, 34u << 20 } };

#define N_SHAPES (sizeof shapes / sizeof *shapes)

static void all_entries_come_in_order(void **state)
{
	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct heard *heard = heard_new();
		uint32_t seed = 1, value;
		struct rig rig;

		rig_init(&rig, shapes[s].type, shapes[s].size_bytes);
		assert_int_equal(scan(&rig, heard), FAT_OK);
		assert_int_equal(heard->next, rig.n_entries);
		assert_true(heard->n_zero_pieces > 0);
		for (uint32_t clus = 0; clus < rig.n_entries; clus++, seed = seed * 69069 + 1)
			if (seed >> 30)
				set_in_both(&rig, clus, seed >> 4);
		heard->next = heard->n_zero_pieces = 0;
		assert_int_equal(scan(&rig, heard), FAT_OK);
		assert_int_equal(heard->next, rig.n_entries);
		assert_int_equal(heard->n_zero_pieces, 0);
		assert_int_equal(heard->n_differ, 0);
		seed = 1;
		for (uint32_t clus = 0; clus < rig.n_entries; clus++, seed = seed * 69069 + 1) {
			value = seed >> 30 ? seed >> 4 & fat_entry_mask(rig.geometry.type) : 0;
			assert_int_equal(heard->value[clus], value);
			assert_int_equal(fat_table_get(&rig.table, clus, &value), FAT_OK);
			assert_int_equal(heard->value[clus], value);
		}
		rig_fini(&rig);
		free(heard);
	}
}

/* Neighbours are one range; the pieces that a scan reads may part it, whatever their size. */
static void what_a_copy_has_otherwise(void **state)
{
	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct heard *heard = heard_new();
		uint32_t last, n;
		struct rig rig;

		rig_init(&rig, shapes[s].type, shapes[s].size_bytes);
		last = rig.n_entries - 1;
		for (uint32_t clus = 5; clus < 9; clus++)
			assert_int_equal(fat_table_set_in_copy(&rig.table, 1, clus, 0xFFF), FAT_OK);
		assert_int_equal(fat_table_set_in_copy(&rig.table, 1, last, 1), FAT_OK);
		assert_int_equal(scan(&rig, heard), FAT_OK);
		assert_int_equal(heard->n_differ, 2);
		assert_int_equal(heard->differ[0].first_clus, 5);
		assert_int_equal(heard->differ[0].last_clus, 8);
		assert_int_equal(heard->differ[0].copy, 1);
		assert_int_equal(heard->differ[1].first_clus, last);
		assert_int_equal(heard->differ[1].last_clus, last);
		assert_int_equal(heard->value[5], 0);

		heard->next = 0;
		heard->stop_at = 5;
		n = (uint32_t)heard->n_differ;
		assert_int_equal(scan(&rig, heard), FAT_ERR_MEMORY);
		assert_int_equal(heard->n_differ, n + 1);
		rig.geometry.mirrored = false;
		heard->next = heard->stop_at = 0;
		assert_int_equal(scan(&rig, heard), FAT_OK);
		assert_int_equal(heard->n_differ, n + 1);
		rig_fini(&rig);
		free(heard);
	}
}

static void reserved_bits_are_no_difference(void **state)
{
	struct heard *heard = heard_new();
	uint8_t byte = 0xA0;
	struct rig rig;

	(void)state;
	rig_init(&rig, 32, 34u << 20);
	set_in_both(&rig, 7, 0x0FFFFFFF);
	assert_int_equal(fat_dev_write(rig.dev, fat_geometry_fat_off(&rig.geometry, 1) + 4 * 7 + 3,
				       &(uint8_t){ 0xAF }, 1),
			 FAT_OK);
	assert_int_equal(fat_dev_write(rig.dev, fat_geometry_fat_off(&rig.geometry, 0) + 4 * 8 + 3,
				       &byte, 1),
			 FAT_OK);
	assert_int_equal(scan(&rig, heard), FAT_OK);
	assert_int_equal(heard->n_differ, 0);
	assert_int_equal(heard->value[7], 0x0FFFFFFF);
	assert_int_equal(heard->value[8], 0);
	rig_fini(&rig);
	free(heard);
}

static void ranges_come_from_their_copy(void **state)
{
	static const struct fat_table_range ranges[] = { { 10, 19, 1 }, { 30, 1u << 28, 1 } };

	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct heard *heard = heard_new();
		uint32_t value;
		struct rig rig;

		rig_init(&rig, shapes[s].type, shapes[s].size_bytes);
		for (uint32_t clus = 2; clus < 40; clus++)
			for (uint32_t copy = 0; copy < 2; copy++)
				assert_int_equal(fat_table_set_in_copy(&rig.table, copy, clus,
								       100 * copy + clus),
						 FAT_OK);
		fat_table_set_source(&rig.table, 0, ranges, 2);
		assert_int_equal(scan(&rig, heard), FAT_OK);
		for (uint32_t clus = 2; clus < 40; clus++) {
			bool is_other = (clus >= 10 && clus < 20) || clus >= 30;

			assert_int_equal(fat_table_copy_of(&rig.table, clus), is_other);
			assert_int_equal(heard->value[clus], (is_other ? 100 : 0) + clus);
			assert_int_equal(fat_table_get(&rig.table, clus, &value), FAT_OK);
			assert_int_equal(value, heard->value[clus]);
		}
		assert_int_equal(heard->n_differ, 4); /* each where the other is believed */
		rig_fini(&rig);
		free(heard);
	}
}

/* Of 20 to 29 copy 0 cannot be read, of 25 to 34 copy 1: 25 to 29 are blind. */
static void what_cannot_be_read_comes_from_elsewhere(void **state)
{
	static const struct fat_table_range bad[] = { { 20, 29, 0 }, { 25, 34, 1 } };

	(void)state;
	for (size_t s = 0; s < N_SHAPES; s++) {
		struct heard *heard = heard_new();
		struct rig rig;

		rig_init(&rig, shapes[s].type, shapes[s].size_bytes);
		for (uint32_t clus = 2; clus < 40; clus++)
			set_in_both(&rig, clus, clus + 200);
		for (uint32_t clus = 20; clus < 25; clus++)
			assert_int_equal(fat_table_set_in_copy(&rig.table, 0, clus, 0), FAT_OK);
		for (uint32_t clus = 30; clus < 35; clus++)
			assert_int_equal(fat_table_set_in_copy(&rig.table, 1, clus, 0), FAT_OK);
		fat_table_set_bad(&rig.table, bad, 2);
		assert_int_equal(scan(&rig, heard), FAT_OK);
		for (uint32_t clus = 2; clus < 40; clus++) {
			bool is_blind = clus >= 25 && clus < 30;

			assert_int_equal(fat_table_is_blind(&rig.table, clus), is_blind);
			assert_int_equal(heard->value[clus], is_blind ? 0 : clus + 200);
		}
		assert_int_equal(heard->n_differ, 0); /* what cannot be read is no difference */
		rig_fini(&rig);
		free(heard);
	}
}

/* A device whose reads fail from an offset on. */
struct short_dev {
	struct fat_dev dev;
	uint64_t end_off;
};

static enum fat_status short_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	if (off + len_bytes > ((struct short_dev *)dev)->end_off)
		return fat_dev_fail(dev, FAT_ERR_IO, "read", off, len_bytes, 5);
	memset(buf, 0, len_bytes);
	return FAT_OK;
}

static const struct fat_dev_ops short_ops = { .name = "short", .read = short_read };

static void a_failed_read_or_a_visitor_ends_it(void **state)
{
	struct short_dev device = { .dev = { .ops = &short_ops, .size_bytes = 34u << 20,
					     .block_bytes = 512 } };
	struct fat_table_visitor silent = { 0 };
	struct heard *heard = heard_new();
	struct fat_table table;
	struct rig rig;

	(void)state;
	rig_init(&rig, 32, 34u << 20);
	heard->stop_at = 1;
	assert_int_equal(scan(&rig, heard), FAT_ERR_MEMORY);
	assert_true(heard->next < rig.n_entries);
	assert_int_equal(fat_table_scan(&rig.table, &silent), FAT_OK);

	heard->next = heard->stop_at = 0;
	assert_int_equal(fat_table_init(&table, &device.dev, &rig.geometry, 1u << 16), FAT_OK);
	for (uint32_t copy = 0; copy < 2; copy++) {
		struct fat_table_visitor visitor = { heard, hear_entries, hear_differ };

		heard->next = 0;
		device.end_off = fat_geometry_fat_off(&rig.geometry, copy) + 8;
		assert_int_equal(fat_table_scan(&table, &visitor), FAT_ERR_IO);
		assert_int_equal(heard->next, 0);
	}
	fat_table_fini(&table);
	rig_fini(&rig);
	free(heard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_entries_come_in_order),
		cmocka_unit_test(what_a_copy_has_otherwise),
		cmocka_unit_test(reserved_bits_are_no_difference),
		cmocka_unit_test(ranges_come_from_their_copy),
		cmocka_unit_test(what_cannot_be_read_comes_from_elsewhere),
		cmocka_unit_test(a_failed_read_or_a_visitor_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
