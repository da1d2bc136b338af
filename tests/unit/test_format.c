/* SPDX-License-Identifier: MIT */
/* format: what is written, and that no cut leaves half a volume. */
#include "unit.h"

#include "bytes.h"
#include "libfat.h"

#define MIB (1ull << 20)

static struct fat_layout plan_of(struct fat_layout_request ask)
{
	struct fat_layout plan;

	assert_int_equal(fat_layout_plan(&ask, &plan), FAT_OK);
	return plan;
}

static const struct fat_format_options labelled = {
	.volume_id = 0x1234ABCD,
	.has_label = true,
	.label = { 'V', 'O', 'L', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ' },
	.date_dos = 0x466E,
	.time_dos = 0x4B5A,
};

/* ---- what the boot sector says is what was planned ---- */

static void boot_sector_decodes_to_the_plan(void **state)
{
	static const uint32_t types[] = { 12, 16, 32 };
	static const uint64_t sizes[] = { 4 * MIB, 100 * MIB, 3000 * MIB };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fat_layout plan = plan_of((struct fat_layout_request){
			.size_bytes = sizes[i], .type = types[i], .hidden_sec = 63 });
		struct fat_boot_report report;
		struct fat_geometry geometry;
		struct fat_boot boot;
		uint8_t sector[FAT_BOOT_BYTES];

		fat_format_boot(&plan, &labelled, sector);
		fat_boot_decode(sector, &boot);
		fat_boot_check(&boot, sizes[i], &report);
		assert_int_equal(report.n_deviations, 0);
		assert_int_equal(fat_geometry_decode(&boot, &geometry), FAT_OK);
		assert_memory_equal(&geometry, &plan.geometry, sizeof geometry);
		assert_int_equal(boot.hidden_sec, 63);
		assert_int_equal(boot.volume_id, 0x1234ABCD);
	}
}

static void messages_fit(void **state)
{
	uint8_t sector[FAT_BOOT_BYTES] = { 0 }, message[FAT_BOOT_BYTES];

	(void)state;
	memset(message, 'x', sizeof message);
	for (int table = 0; table < 2; table++) {
		size_t n = fat_boot_message_max(FAT_TYPE_16, table);

		memset(sector, 0, sizeof sector);
		fat_boot_code_put(FAT_TYPE_16, message, n, sector);
		assert_int_equal(sector[62 + 29 + n - 1], 'x');
		assert_int_equal(62 + 29 + n + 1, table ? 440 : 510);
	}
	assert_int_equal(fat_boot_message_max(FAT_TYPE_32, false), 390);
	/* The address of the message is where it is loaded to. */
	assert_int_equal(get_le16(sector + 62 + 3), 0x7C5B);
}

/* ---- FATs ---- */

/* Not for FAT12. */
static uint32_t entry_at(struct fat_dev *dev, const struct fat_geometry *g, uint32_t copy,
			 uint32_t n)
{
	uint8_t bytes[4];
	uint64_t off = fat_geometry_fat_off(g, copy) + fat_entry_off(g->type, n);

	assert_int_equal(fat_dev_read(dev, off, bytes, 4), FAT_OK);
	return fat_entry_get(g->type, bytes, 0);
}

/* Runs that cross windows of the writer, bad ones among them. */
static void runs_become_chains(void **state)
{
	struct fat_layout plan = plan_of((struct fat_layout_request){ .size_bytes = 4096 * MIB });
	const struct fat_geometry *g = &plan.geometry;
	const struct fat_run runs[] = {
		{ 3, 5, 0x0FFFFFFF, false },
		{ 100, 1, 0, true },
		{ 16000, 70000, 200000, false },
		{ 200000, 2, 0x0FFFFFFF, false },
		{ g->n_clus + 1, 1, 0, true },
	};
	struct fat_format_options options = { .runs = runs, .n_runs = 5, .next_clus = 200002 };
	struct fat_fsinfo info;
	uint8_t sector[FAT_FSINFO_BYTES];
	struct fat_dev *dev;

	(void)state;
	assert_int_equal(fat_dev_mem_open(4096 * MIB, &dev), FAT_OK);
	assert_int_equal(fat_format(dev, &plan, &options), FAT_OK);
	for (uint32_t copy = 0; copy < 2; copy++) {
		assert_int_equal(entry_at(dev, g, copy, 0), 0x0FFFFFF8);
		assert_int_equal(entry_at(dev, g, copy, 1), 0x0FFFFFFF);
		assert_int_equal(entry_at(dev, g, copy, 2), 0x0FFFFFF8);
		assert_int_equal(entry_at(dev, g, copy, 3), 4);
		assert_int_equal(entry_at(dev, g, copy, 7), 0x0FFFFFFF);
		assert_int_equal(entry_at(dev, g, copy, 8), 0);
		assert_int_equal(entry_at(dev, g, copy, 100), 0x0FFFFFF7);
		for (uint32_t n = 16000; n < 85999; n++)
			assert_int_equal(entry_at(dev, g, copy, n), n + 1);
		assert_int_equal(entry_at(dev, g, copy, 85999), 200000);
		assert_int_equal(entry_at(dev, g, copy, 86000), 0);
		assert_int_equal(entry_at(dev, g, copy, 200001), 0x0FFFFFFF);
		assert_int_equal(entry_at(dev, g, copy, g->n_clus + 1), 0x0FFFFFF7);
	}
	assert_int_equal(fat_dev_read(dev, 512, sector, sizeof sector), FAT_OK);
	fat_fsinfo_decode(sector, &info);
	assert_int_equal(info.n_free, g->n_clus - (1 + 5 + 1 + 70000 + 2 + 1));
	assert_int_equal(info.next_clus, 200002);
	fat_dev_close(dev);
}

static void senseless_runs_are_refused(void **state)
{
	struct fat_layout plan = plan_of((struct fat_layout_request){ .size_bytes = 8 * MIB });
	const struct fat_run wrong[][2] = {
		{ { 2, 0, 0, false }, { 9, 1, 0, true } },	 /* empty */
		{ { 9, 1, 0, true }, { 2, 1, 0, true } },	 /* not ascending */
		{ { 2, 5, 0xFFF, false }, { 6, 1, 0, true } },	 /* overlap */
		{ { 2, 1, 0xFFF, false }, { 99999, 1, 0, true } }, /* outside */
		{ { 1, 1, 0, true }, { 9, 1, 0, true } },
	};
	struct fat_dev *dev;

	(void)state;
	assert_int_equal(fat_dev_mem_open(8 * MIB, &dev), FAT_OK);
	for (size_t i = 0; i < 5; i++) {
		struct fat_format_options options = { .runs = wrong[i], .n_runs = 2 };

		assert_int_equal(fat_format(dev, &plan, &options), FAT_ERR_ARGUMENT);
		assert_int_equal(dev->stats.n_writes + dev->stats.n_zeroes, 0);
	}
	fat_dev_close(dev);
	assert_int_equal(fat_dev_mem_open(7 * MIB, &dev), FAT_OK);
	assert_int_equal(fat_format(dev, &plan, &labelled), FAT_ERR_ARGUMENT);
	fat_dev_close(dev);
}

/* ---- a device that loses power ---- */

struct crash_dev {
	struct fat_dev dev;
	unsigned n_left;  /* writes, zeroes and flushes until the power goes */
	struct pending {
		uint64_t off, len_bytes;
		uint8_t *bytes; /* NULL: zeros */
	} pending[64];
	unsigned n_pending;
};

static enum fat_status apply(struct crash_dev *crash)
{
	for (unsigned i = 0; i < crash->n_pending; i++) {
		struct pending *p = &crash->pending[i];

		if (p->bytes)
			fat_dev_write(crash->dev.below, p->off, p->bytes, (size_t)p->len_bytes);
		else
			fat_dev_zero(crash->dev.below, p->off, p->len_bytes);
		free(p->bytes);
	}
	crash->n_pending = 0;
	return FAT_OK;
}

static bool power_is_on(struct crash_dev *crash)
{
	if (crash->n_left == 0)
		return false;
	crash->n_left--;
	return true;
}

static enum fat_status add(struct crash_dev *crash, uint64_t off, const void *buf,
			   uint64_t len_bytes)
{
	struct pending *p = &crash->pending[crash->n_pending];

	if (!power_is_on(crash))
		return fat_dev_fail(&crash->dev, FAT_ERR_IO, "write", off, len_bytes, 0);
	*p = (struct pending){ off, len_bytes, NULL };
	if (buf) {
		p->bytes = malloc((size_t)len_bytes);
		memcpy(p->bytes, buf, (size_t)len_bytes);
	}
	assert_true(++crash->n_pending < 64);
	return FAT_OK;
}

static enum fat_status crash_write(struct fat_dev *dev, uint64_t off, const void *buf,
				   size_t len_bytes)
{
	return add((struct crash_dev *)dev, off, buf, len_bytes);
}

static enum fat_status crash_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	return add((struct crash_dev *)dev, off, NULL, len_bytes);
}

static enum fat_status crash_flush(struct fat_dev *dev)
{
	struct crash_dev *crash = (struct crash_dev *)dev;

	if (!power_is_on(crash))
		return fat_dev_fail(dev, FAT_ERR_IO, "flush", 0, 0, 0);
	return apply(crash);
}

static enum fat_status crash_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return fat_dev_read(dev->below, off, buf, len_bytes);
}

static const struct fat_dev_ops crash_ops = {
	.name = "crash",
	.read = crash_read,
	.write = crash_write,
	.zero = crash_zero,
	.flush = crash_flush,
};

/* Of what was not flushed only the writes in the mask reach the medium; torn: their second half. */
static void lose_power(struct crash_dev *crash, uint32_t mask, bool torn)
{
	for (unsigned i = 0; i < crash->n_pending; i++) {
		struct pending *p = &crash->pending[i];
		uint64_t lost = mask >> (i % 32) & 1 ? 0 : p->len_bytes;

		if (torn && !lost)
			lost = p->len_bytes / 1024 * 512;
		p->off += lost;
		p->len_bytes -= lost;
		if (p->bytes)
			memmove(p->bytes, p->bytes + lost, (size_t)p->len_bytes);
	}
	apply(crash);
}

/* What a system would see: no FAT volume, or one whose boot sector is `expected`. */
static bool is_volume(struct fat_dev *dev, const uint8_t expected[FAT_BOOT_BYTES])
{
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_geometry geometry;
	struct fat_boot boot;

	assert_int_equal(fat_dev_read(dev, 0, sector, sizeof sector), FAT_OK);
	fat_boot_decode(sector, &boot);
	if (fat_geometry_decode(&boot, &geometry) != FAT_OK)
		return false;
	assert_memory_equal(sector, expected, sizeof sector);
	return true;
}

/* Formats over an older volume; power goes before request number n_left. true: it came through. */
static bool format_until(unsigned n_left, uint32_t mask, bool torn)
{
	struct fat_layout old =
		plan_of((struct fat_layout_request){ .size_bytes = 40 * MIB, .type = 32 });
	struct fat_layout plan = plan_of((struct fat_layout_request){ .size_bytes = 40 * MIB });
	struct fat_format_options old_options = { .volume_id = 1 };
	struct crash_dev crash = { .n_left = n_left };
	uint8_t old_boot[FAT_BOOT_BYTES], boot[FAT_BOOT_BYTES], sector[FAT_BOOT_BYTES];
	struct fat_dev *mem;
	enum fat_status status;
	uint64_t n_flushed;

	assert_int_equal(fat_dev_mem_open(40 * MIB, &mem), FAT_OK);
	assert_int_equal(fat_format(mem, &old, &old_options), FAT_OK);
	crash.dev = (struct fat_dev){
		.ops = &crash_ops, .below = mem, .size_bytes = mem->size_bytes, .block_bytes = 512
	};
	fat_format_boot(&old, &old_options, old_boot);
	fat_format_boot(&plan, &labelled, boot);
	status = fat_format(&crash.dev, &plan, &labelled);
	n_flushed = n_left - crash.n_left;
	lose_power(&crash, mask, torn);
	fat_dev_read(mem, 0, sector, sizeof sector);
	if (memcmp(sector, old_boot, sizeof sector) == 0) {
		/* Still the old one: then nothing of it may have changed behind the boot sector. */
		assert_int_equal(entry_at(mem, &old.geometry, 0, 0), 0x0FFFFFF8);
		assert_true(n_flushed <= 2);
	} else if (is_volume(mem, boot)) {
		/* The new one: then all of it must be there. */
		assert_int_equal(entry_at(mem, &plan.geometry, 0, 0), 0xFFF8);
		assert_int_equal(entry_at(mem, &plan.geometry, 1, 1), 0xFFFF);
		fat_dev_read(mem, fat_geometry_root_off(&plan.geometry), sector, sizeof sector);
		assert_memory_equal(sector, labelled.label, 11);
	}
	fat_dev_close(mem);
	return status == FAT_OK;
}

static void no_cut_leaves_half_a_volume(void **state)
{
	static const uint32_t masks[] = { 0, 0xFFFFFFFF, 0x55555555, 0xAAAAAAAA, 0xFFFFFFFE, 1,
					  0xFFFFFFFF, 0xFFFFFFFF };
	unsigned n_left = 0;
	bool came_through;

	(void)state;
	do {
		came_through = true;
		for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
			came_through = format_until(n_left, masks[i], i & 1) && came_through;
		n_left++;
	} while (!came_through);
	assert_true(n_left > 8); /* wipe, flush, wipe, flush, tables, flush, boot, flush */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boot_sector_decodes_to_the_plan),
		cmocka_unit_test(messages_fit),
		cmocka_unit_test(runs_become_chains),
		cmocka_unit_test(senseless_runs_are_refused),
		cmocka_unit_test(no_cut_leaves_half_a_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
