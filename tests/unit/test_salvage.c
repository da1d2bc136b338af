/* SPDX-License-Identifier: MIT */
/* dev_salvage: reading on where the medium cannot be read, and what is written there. */
#include "unit.h"

#include <errno.h>

#include "libfat.h"

#define SIZE (2u << 20)
#define UNIT 512u

/* A device with sick units: reads of them fail; a write heals them, or fails too. */
struct sick {
	struct fat_dev dev;
	bool bad[SIZE / UNIT];
	bool heals;
	int sys_errno;
	unsigned n_reads, n_writes;
};

static bool hits(const struct sick *sick, uint64_t off, size_t len)
{
	for (uint64_t i = off / UNIT; i <= (off + len - 1) / UNIT; i++)
		if (sick->bad[i])
			return true;
	return false;
}

static enum fat_status sick_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len)
{
	struct sick *sick = (struct sick *)dev;

	sick->n_reads++;
	if (hits(sick, off, len))
		return fat_dev_fail(dev, FAT_ERR_IO, "read", off, len, sick->sys_errno);
	return fat_dev_read(dev->below, off, buf, len);
}

static enum fat_status sick_write(struct fat_dev *dev, uint64_t off, const void *buf, size_t len)
{
	struct sick *sick = (struct sick *)dev;

	sick->n_writes++;
	if (hits(sick, off, len)) {
		if (!sick->heals)
			return fat_dev_fail(dev, FAT_ERR_IO, "write", off, len, EIO);
		for (uint64_t i = off / UNIT; i < (off + len) / UNIT; i++)
			sick->bad[i] = false;
	}
	return fat_dev_write(dev->below, off, buf, len);
}

static enum fat_status sick_flush(struct fat_dev *dev)
{
	return fat_dev_flush(dev->below);
}

static void sick_close(struct fat_dev *dev)
{
	free(dev);
}

static const struct fat_dev_ops sick_ops = {
	.name = "sick",
	.read = sick_read,
	.write = sick_write,
	.flush = sick_flush,
	.close = sick_close,
};

struct stack {
	struct fat_dev *top;
	struct sick *sick;
};

/* Each byte of the medium is the number of its unit, but for 0. */
static struct stack make(void)
{
	struct stack stack = { .sick = calloc(1, sizeof *stack.sick) };
	struct fat_dev *mem;
	uint8_t unit[UNIT];

	assert_non_null(stack.sick);
	assert_int_equal(fat_dev_mem_open(SIZE, &mem), FAT_OK);
	for (uint32_t i = 0; i < SIZE / UNIT; i++) {
		memset(unit, (int)(1 + i % 255), sizeof unit);
		assert_int_equal(fat_dev_write(mem, (uint64_t)i * UNIT, unit, UNIT), FAT_OK);
	}
	stack.sick->dev.ops = &sick_ops;
	stack.sick->dev.below = mem;
	stack.sick->dev.size_bytes = SIZE;
	stack.sick->dev.block_bytes = 1;
	stack.sick->sys_errno = EIO;
	stack.sick->heals = true;
	assert_int_equal(fat_dev_salvage_open(&stack.sick->dev, UNIT, &stack.top), FAT_OK);
	return stack;
}

static void check_content(const struct stack *stack, const uint8_t *buf)
{
	for (uint32_t i = 0; i < SIZE / UNIT; i++) {
		uint8_t want = stack->sick->bad[i] ? 0 : (uint8_t)(1 + i % 255);

		assert_int_equal(buf[(size_t)i * UNIT], want);
		assert_int_equal(buf[(size_t)i * UNIT + UNIT - 1], want);
	}
}

static void reads_all_but_the_sick_units(void **state)
{
	static const unsigned places[] = { 0, 1, 7, 100, 101, 102, 1000, SIZE / UNIT - 1 };
	struct stack stack = make();
	uint8_t *buf = malloc(SIZE);
	const struct fat_dev_range *list;
	unsigned n_reads;

	(void)state;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		stack.sick->bad[places[i]] = true;
	assert_int_equal(fat_dev_read(stack.top, 0, buf, SIZE), FAT_OK);
	check_content(&stack, buf);
	assert_int_equal(fat_dev_unreadable_units(stack.top), 8);
	assert_int_equal(fat_dev_unreadable_list(stack.top, &list), 5);
	assert_int_equal(list[2].off, 100 * UNIT);
	assert_int_equal(list[2].len_bytes, 3 * UNIT);
	n_reads = stack.sick->n_reads;
	assert_in_range(n_reads, 8, 8 * 2 * 12);
	/* what is known is not tried again */
	assert_int_equal(fat_dev_read(stack.top, 0, buf, SIZE), FAT_OK);
	check_content(&stack, buf);
	assert_int_equal(stack.sick->n_reads, n_reads + 4);
	free(buf);
	fat_dev_close(stack.top);
}

static void small_reads_spare_their_neighbours(void **state)
{
	struct stack stack = make();
	uint8_t buf[100];

	(void)state;
	stack.sick->bad[3] = true;
	assert_int_equal(fat_dev_read(stack.top, 3 * UNIT - 50, buf, 100), FAT_OK);
	assert_int_equal(buf[49], 3);
	assert_int_equal(buf[50], 0);
	assert_true(fat_dev_unreadable(stack.top, 4 * UNIT - 1, 1));
	assert_false(fat_dev_unreadable(stack.top, 4 * UNIT, UNIT));
	assert_false(fat_dev_unreadable(stack.top, 2 * UNIT, UNIT));
	assert_true(fat_dev_unreadable(stack.top, 2 * UNIT, UNIT + 1));
	fat_dev_close(stack.top);
}

static void a_whole_unit_heals(void **state)
{
	struct stack stack = make();
	uint8_t *buf = malloc(3 * UNIT);

	(void)state;
	for (unsigned i = 10; i < 13; i++)
		stack.sick->bad[i] = true;
	assert_int_equal(fat_dev_read(stack.top, 10 * UNIT, buf, 3 * UNIT), FAT_OK);
	memset(buf, 0xAA, UNIT);
	/* a part of one is left alone, and counted */
	assert_int_equal(fat_dev_write(stack.top, 11 * UNIT + 8, buf, 8), FAT_OK);
	assert_int_equal(fat_dev_unhealed_units(stack.top), 1);
	assert_true(stack.sick->bad[11]);
	assert_int_equal(fat_dev_write(stack.top, 11 * UNIT, buf, UNIT), FAT_OK);
	assert_false(fat_dev_unreadable(stack.top, 11 * UNIT, UNIT));
	assert_true(fat_dev_unreadable(stack.top, 10 * UNIT, UNIT));
	assert_true(fat_dev_unreadable(stack.top, 12 * UNIT, UNIT));
	assert_int_equal(fat_dev_read(stack.top, 10 * UNIT, buf, 3 * UNIT), FAT_OK);
	assert_int_equal(buf[0], 0);
	assert_int_equal(buf[UNIT], 0xAA);
	assert_int_equal(buf[2 * UNIT], 0);
	/* the ends of a range */
	assert_int_equal(fat_dev_zero(stack.top, 10 * UNIT, 3 * UNIT), FAT_OK);
	assert_false(fat_dev_unreadable(stack.top, 0, SIZE));
	assert_false(stack.sick->bad[10] || stack.sick->bad[11] || stack.sick->bad[12]);
	free(buf);
	fat_dev_close(stack.top);
}

static void what_cannot_be_written_is_counted(void **state)
{
	struct stack stack = make();
	uint8_t buf[4 * UNIT];

	(void)state;
	stack.sick->heals = false;
	stack.sick->bad[21] = true;
	assert_int_equal(fat_dev_read(stack.top, 20 * UNIT, buf, sizeof buf), FAT_OK);
	memset(buf, 0x55, sizeof buf);
	assert_int_equal(fat_dev_write(stack.top, 20 * UNIT, buf, sizeof buf), FAT_OK);
	assert_int_equal(fat_dev_unhealed_units(stack.top), 1);
	assert_int_equal(fat_dev_read(stack.top, 20 * UNIT, buf, sizeof buf), FAT_OK);
	assert_int_equal(buf[0], 0x55);
	assert_int_equal(buf[UNIT], 0);
	assert_int_equal(buf[2 * UNIT], 0x55);
	/* a write that fails elsewhere is an error as ever */
	stack.sick->bad[40] = true;
	assert_int_equal(fat_dev_write(stack.top, 40 * UNIT, buf, UNIT), FAT_ERR_IO);
	fat_dev_close(stack.top);
}

static void a_medium_that_is_gone_is_an_error(void **state)
{
	struct stack stack = make();
	uint8_t buf[UNIT];

	(void)state;
	stack.sick->bad[5] = true;
	stack.sick->sys_errno = ENXIO;
	assert_int_equal(fat_dev_read(stack.top, 5 * UNIT, buf, UNIT), FAT_ERR_IO);
	assert_int_equal(fat_dev_unreadable_units(stack.top), 0);
	fat_dev_close(stack.top);
}

static void the_list_is_bounded(void **state)
{
	struct stack stack = make();
	uint8_t *buf = malloc(SIZE);

	(void)state;
	/* every other unit: 1,024 ranges are the most */
	for (unsigned i = 0; i < SIZE / UNIT; i += 2)
		stack.sick->bad[i] = true;
	assert_int_equal(fat_dev_read(stack.top, 0, buf, SIZE / 2), FAT_OK);
	assert_int_equal(fat_dev_unreadable_units(stack.top), 1024);
	assert_int_equal(fat_dev_read(stack.top, 0, buf, SIZE), FAT_ERR_IO);
	assert_int_equal(stack.top->error.sys_errno, EIO);
	free(buf);
	fat_dev_close(stack.top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_but_the_sick_units),
		cmocka_unit_test(small_reads_spare_their_neighbours),
		cmocka_unit_test(a_whole_unit_heals),
		cmocka_unit_test(what_cannot_be_written_is_counted),
		cmocka_unit_test(a_medium_that_is_gone_is_an_error),
		cmocka_unit_test(the_list_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
