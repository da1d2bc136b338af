/* SPDX-License-Identifier: MIT */
/*
 * format_cuts: formatting, cut off anywhere.
 *
 * What a cut leaves is judged as a system does that looks for a volume: by the boot sector and by
 * libblkid. If they see one, everything behind the boot sector must be as it was before, or as it
 * is after the whole run. A failing write, flush or allocation is told, and nothing follows it.
 *
 * Knows of formatting only what libfat.h promises.
 */
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "crash.h"
#include "host.h"
#include "lib/bytes.h"
#include "tests/recipes/dev_snap.h"

#define MIB	   (1ull << 20)
#define UNIT_BYTES 512u /* what a medium writes whole or not, whatever the volume's sectors are */
#define HEAD_BYTES 65536u /* enough for libblkid to see a FAT volume */

static const struct fat_layout_request small_ones[] = {
	{ .size_bytes = 4 * MIB, .type = 12, .cluster_sec = 4 },
	{ .size_bytes = 4 * MIB, .type = 16, .cluster_sec = 1 },
	{ .size_bytes = 4 * MIB, .type = 32, .cluster_sec = 1 },
	{ .size_bytes = 4 * MIB, .type = 32, .cluster_sec = 1, .sector_bytes = 4096 },
	{ .size_bytes = 4 * MIB, .type = 12, .cluster_sec = 2, .sector_bytes = 2048 },
};
#define N_SMALL (sizeof small_ones / sizeof *small_ones)

/* Its metadata is larger than where signatures are looked for. */
static const struct fat_layout_request large_one = { .size_bytes = 128 * MIB,
						     .type = 32,
						     .cluster_sec = 1 };

/* What was on the device. */
enum before { BLANK, RANDOM, SAME_GEOMETRY, OTHER_GEOMETRY, N_BEFORES };

static const struct fat_format_options wanted = {
	.volume_id = 0x600DCAFE,
	.has_label = true,
	.label = { 'N', 'E', 'W', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ' },
};

struct trial {
	struct fat_layout plan;
	struct fat_populate *populate; /* what fills the volume; NULL: nothing */
	struct fat_format_options options;
	struct fat_dev *s0, *end; /* before and after a whole run */
	struct crash_log log;
	int head_fd; /* libblkid looks here */
	uint64_t n_states, n_volumes, n_bad;
	char first_bad[32]; /* the state's id */
};

/* ---- before -------------------------------------------------------------------------------- */

static struct fat_layout plan_of(const struct fat_layout_request *ask)
{
	struct fat_layout plan;

	assert_int_equal(fat_layout_plan(ask, &plan), FAT_OK);
	return plan;
}

static void fill_random(struct fat_dev *dev, uint64_t from_off, uint64_t end_off)
{
	uint8_t page[SNAP_PAGE_BYTES];

	for (uint64_t off = from_off; off < end_off; off += sizeof page) {
		size_t n = (size_t)min_u64(sizeof page, end_off - off);

		content_fill(1, off, page, n);
		assert_int_equal(fat_dev_write(dev, off, page, n), FAT_OK);
	}
}

/* An old volume in use: something in every sector behind its boot sector and FSInfo. */
static void format_old(struct fat_dev *dev, const struct fat_layout_request *ask)
{
	struct fat_layout plan = plan_of(ask);
	const struct fat_format_options options = { .volume_id = 1 };
	const struct fat_geometry *g = &plan.geometry;

	assert_int_equal(fat_format(dev, &plan, &options), FAT_OK);
	fill_random(dev, fat_geometry_fat_off(g, 0) + 16, fat_geometry_data_off(g) + 4 * MIB / 8);
}

static struct fat_dev *make_before(const struct fat_layout_request *ask, enum before before)
{
	struct fat_dev *dev = snap_open(ask->size_bytes);
	const struct fat_layout_request *other = &small_ones[ask->type == 32 ? 0 : 2];

	switch (before) {
	case RANDOM:
		fill_random(dev, 0, min_u64(ask->size_bytes, 4 * MIB));
		break;
	case SAME_GEOMETRY:
		format_old(dev, ask);
		break;
	case OTHER_GEOMETRY:
		format_old(dev, other);
		break;
	case BLANK:
	case N_BEFORES:
		break;
	}
	return dev;
}

/* ---- trials -------------------------------------------------------------------------------- */

static uint32_t add_node(struct fat_populate *populate, uint32_t folder, const char *name,
			 uint64_t size_bytes)
{
	const struct fat_populate_entry entry = { .folder = folder,
						  .name = name,
						  .is_folder = size_bytes == 0,
						  .size_bytes = size_bytes };
	uint32_t number;

	assert_int_equal(fat_populate_add(populate, &entry, &number), FAT_OK);
	return number;
}

/* A folder in a folder, long names, files of several clusters. */
static void put_tree(struct trial *trial)
{
	struct fat_codepage codepage;
	struct fat_populate *populate;
	uint32_t folder;

	assert_int_equal(fat_populate_open(&populate), FAT_OK);
	folder = add_node(populate, 0, "a folder with a long name", 0);
	add_node(populate, folder, "deeper", 0);
	add_node(populate, folder, "one file.data", 30000);
	add_node(populate, folder, "TWO.BIN", 4097);
	add_node(populate, 0, "three", 9001);
	assert_int_equal(fat_codepage_init(&codepage, FAT_CODEPAGE_DEFAULT), FAT_OK);
	assert_int_equal(fat_populate_finish(populate, &codepage), FAT_OK);
	assert_int_equal(fat_populate_place(populate, &trial->plan.geometry, NULL, 0), FAT_OK);
	assert_false(fat_populate_is_refused(populate));
	trial->options.runs = fat_populate_runs(populate, &trial->options.n_runs);
	trial->options.next_clus = fat_populate_last_clus(populate);
	trial->populate = populate;
}

static enum fat_status read_content(void *ctx, uint32_t node, uint64_t off, void *buf,
				    size_t len_bytes)
{
	(void)ctx;
	content_fill(node, off, buf, len_bytes);
	return FAT_OK;
}

static enum fat_status format(struct trial *trial, struct fat_dev *dev)
{
	const struct fat_populate_source source = { .read = read_content };
	enum fat_status status = fat_format_begin(dev, &trial->plan, &trial->options);

	if (status == FAT_OK && trial->populate)
		status = fat_populate_write(trial->populate, dev, &source);
	return status == FAT_OK ? fat_format_finish(dev, &trial->plan, &trial->options) : status;
}

static void open_trial(struct trial *trial, const struct fat_layout_request *ask,
		       enum before before, bool with_tree)
{
	struct fat_dev *top;

	*trial = (struct trial){ .plan = plan_of(ask),
				 .options = wanted,
				 .s0 = make_before(ask, before) };
	if (with_tree)
		put_tree(trial);
	trial->head_fd = memfd_create("format-cuts", MFD_CLOEXEC);
	assert_true(trial->head_fd >= 0 &&
		    ftruncate(trial->head_fd, (off_t)ask->size_bytes) == 0);
	top = dev_crash_open(snap_clone(trial->s0), &trial->log);
	assert_int_equal(format(trial, top), FAT_OK);
	trial->end = snap_clone(top->below);
	fat_dev_close(top);
}

static void close_trial(struct trial *trial)
{
	close(trial->head_fd);
	crash_log_free(&trial->log);
	fat_populate_close(trial->populate);
	fat_dev_close(trial->s0);
	fat_dev_close(trial->end);
}

/* ---- judging ------------------------------------------------------------------------------- */

static bool boot_sector_is_good(const struct trial *trial, const uint8_t *head)
{
	struct fat_boot_report report;
	struct fat_boot boot;

	fat_boot_decode(head, &boot);
	fat_boot_check(&boot, trial->s0->size_bytes, &report);
	return !report.fatal;
}

static bool blkid_sees_fat(const struct trial *trial, const uint8_t *head)
{
	struct host_signature signature;

	assert_int_equal(pwrite(trial->head_fd, head, HEAD_BYTES, 0), HEAD_BYTES);
	return host_signature_read(trial->head_fd, 0, 0, &signature) == HOST_YES &&
	       signature.is_fat;
}

static bool is_taken_for_fat(const struct trial *trial, struct fat_dev *dev)
{
	static uint8_t head[HEAD_BYTES];

	assert_int_equal(fat_dev_read(dev, 0, head, sizeof head), FAT_OK);
	return boot_sector_is_good(trial, head) || blkid_sees_fat(trial, head);
}

static bool is_same_behind_boot(struct fat_dev *dev, struct fat_dev *other)
{
	struct fat_dev *copy = snap_clone(dev);
	uint8_t boot[FAT_BOOT_BYTES];
	bool is_same;

	fat_dev_read(other, 0, boot, sizeof boot);
	fat_dev_write(copy, 0, boot, sizeof boot);
	is_same = snap_first_difference(copy, other) == UINT64_MAX;
	fat_dev_close(copy);
	return is_same;
}

static void judge(struct trial *trial, struct fat_dev *dev, const char *id)
{
	trial->n_states++;
	if (!is_taken_for_fat(trial, dev))
		return;
	trial->n_volumes++;
	if (is_same_behind_boot(dev, trial->s0) || is_same_behind_boot(dev, trial->end))
		return;
	if (trial->n_bad++ == 0)
		snprintf(trial->first_bad, sizeof trial->first_bad, "%s", id);
}

/* ---- power cuts ---------------------------------------------------------------------------- */

/* All prefixes and all that touches the boot sector; of the others one in so many. */
static bool is_chosen(const struct crash_states *states, size_t i, size_t one_in)
{
	const char *id = states->id[i];
	size_t unit;

	if (id[0] == 'p' || id[0] == 's')
		return true;
	if ((id[0] == 't' || id[0] == 'u') && sscanf(id + 1, "%zu", &unit) == 1 &&
	    states->unit[unit].off == 0)
		return true;
	return mix64(i) % one_in == 0;
}

static void judge_states(struct trial *trial, size_t one_in)
{
	struct crash_states states;

	crash_states_make(&states, &trial->log, UNIT_BYTES, 0);
	for (size_t i = 0; i < states.n; i++) {
		struct fat_dev *dev;

		if (!is_chosen(&states, i, one_in))
			continue;
		dev = crash_state_build(&states, trial->s0, states.id[i]);
		judge(trial, dev, states.id[i]);
		fat_dev_close(dev);
	}
	crash_states_free(&states);
}

static void try_every_cut(bool with_tree, size_t one_in)
{
	uint64_t n_states = 0, n_volumes = 0;

	for (size_t k = 0; k < N_SMALL; k++) {
		for (unsigned before = 0; before < N_BEFORES; before++) {
			struct trial trial;

			open_trial(&trial, &small_ones[k], (enum before)before, with_tree);
			judge_states(&trial, one_in);
			if (trial.n_bad)
				print_message("# volume %zu on %u: %s\n", k, before,
					      trial.first_bad);
			assert_int_equal(trial.n_bad, 0);
			n_states += trial.n_states;
			n_volumes += trial.n_volumes;
			close_trial(&trial);
		}
	}
	print_message("# %llu states, %llu of them volumes\n", (unsigned long long)n_states,
		      (unsigned long long)n_volumes);
	assert_true(n_states > 2000);
	assert_true(n_volumes >= N_SMALL * N_BEFORES && n_volumes < n_states / 4);
}

static void no_cut_leaves_half_a_volume(void **state)
{
	(void)state;
	try_every_cut(false, 8);
}

static void no_cut_leaves_half_a_filled_volume(void **state)
{
	(void)state;
	try_every_cut(true, 16);
}

static enum fat_status read_half(void *ctx, uint32_t node, uint64_t off, void *buf,
				 size_t len_bytes)
{
	uint64_t *left = ctx;

	if (len_bytes > *left)
		return FAT_ERR_IO;
	*left -= len_bytes;
	return read_content(NULL, node, off, buf, len_bytes);
}

/* A file that cannot be read to its end: no volume, and it is told which. */
static void failing_content_leaves_no_volume(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_SMALL; k++) {
		uint64_t left = 20000;
		const struct fat_populate_source source = { .ctx = &left, .read = read_half };
		struct trial trial;
		struct fat_dev *dev;

		open_trial(&trial, &small_ones[k], SAME_GEOMETRY, true);
		dev = snap_clone(trial.s0);
		assert_int_equal(fat_format_begin(dev, &trial.plan, &trial.options), FAT_OK);
		assert_int_equal(fat_populate_write(trial.populate, dev, &source), FAT_ERR_IO);
		assert_true(fat_populate_failed_node(trial.populate) != FAT_POPULATE_NO_NODE);
		assert_false(is_taken_for_fat(&trial, dev));
		fat_dev_close(dev);
		close_trial(&trial);
	}
}

static void no_cut_leaves_half_a_large_volume(void **state)
{
	struct trial trial;

	(void)state;
	open_trial(&trial, &large_one, OTHER_GEOMETRY, false);
	judge_states(&trial, 1000);
	assert_int_equal(trial.n_bad, 0);
	assert_true(trial.n_states > 20);
	close_trial(&trial);
}

static void swap_writes(struct crash_log *log, size_t a, size_t b)
{
	struct crash_write kept = log->write[a];

	log->write[a] = log->write[b];
	log->write[b] = kept;
}

/* The judge sees what formatters leave that do not flush, or that begin with the boot sector. */
static void careless_formatters_are_caught(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_SMALL; k++) {
		struct trial trial;

		open_trial(&trial, &small_ones[k], OTHER_GEOMETRY, k & 1);
		for (size_t i = 0; i < trial.log.n; i++)
			trial.log.write[i].epoch = 0;
		judge_states(&trial, 8);
		assert_true(trial.n_bad > 0);
		swap_writes(&trial.log, 0, trial.log.n - 1);
		trial.n_bad = 0;
		judge_states(&trial, 8);
		assert_true(trial.n_bad > 0);
		close_trial(&trial);
	}
}

/* ---- failures ------------------------------------------------------------------------------ */

static const char *const kind_names[N_CALL_KINDS] = { "read", "write", "flush" };

/* The nth call of a kind fails; false: there were fewer. */
static bool fail_once(struct trial *trial, enum call_kind kind, uint64_t nth, bool persistent)
{
	struct fat_dev *dev = dev_fault_open(snap_clone(trial->s0));
	enum fat_status status;
	bool has_failed;

	dev_fault_set(dev, kind, nth, persistent);
	status = format(trial, dev);
	has_failed = dev_fault_count(dev, kind) >= nth;
	assert_int_equal(status, has_failed ? FAT_ERR_IO : FAT_OK);
	if (has_failed) {
		assert_string_equal(dev->error.action, kind_names[kind]);
		assert_int_equal(dev_fault_count(dev, kind), nth);
		judge(trial, dev->below, kind_names[kind]);
	}
	fat_dev_close(dev);
	return has_failed;
}

static void every_failing_call_is_told(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_SMALL; k++) {
		for (unsigned kind = CALL_WRITE; kind < N_CALL_KINDS; kind++) {
			struct trial trial;
			uint64_t nth = 1;

			open_trial(&trial, &small_ones[k], OTHER_GEOMETRY, k & 1);
			while (fail_once(&trial, (enum call_kind)kind, nth, nth & 1))
				nth++;
			assert_true(nth > 4);
			assert_int_equal(trial.n_bad, 0);
			close_trial(&trial);
		}
	}
}

/* It reads nothing, so reads that fail cannot matter. */
static void nothing_is_read(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_SMALL; k++) {
		struct trial trial;

		open_trial(&trial, &small_ones[k], RANDOM, false);
		assert_false(fail_once(&trial, CALL_READ, 1, true));
		close_trial(&trial);
	}
}

static void every_failing_allocation_is_told(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_SMALL; k++) {
		struct trial trial;
		enum fat_status status;
		uint64_t nth = 0, n;

		open_trial(&trial, &small_ones[k], OTHER_GEOMETRY, k & 1);
		do {
			struct fat_dev *dev = dev_fault_open(snap_clone(trial.s0));

			malloc_fail_arm(++nth);
			status = format(&trial, dev);
			n = malloc_fail_disarm();
			assert_int_equal(status, n < nth ? FAT_OK : FAT_ERR_MEMORY);
			judge(&trial, dev->below, "allocation");
			fat_dev_close(dev);
		} while (n >= nth);
		assert_true(nth > 4);
		assert_int_equal(trial.n_bad, 0);
		close_trial(&trial);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cut_leaves_half_a_volume),
		cmocka_unit_test(no_cut_leaves_half_a_filled_volume),
		cmocka_unit_test(failing_content_leaves_no_volume),
		cmocka_unit_test(no_cut_leaves_half_a_large_volume),
		cmocka_unit_test(careless_formatters_are_caught),
		cmocka_unit_test(every_failing_call_is_told),
		cmocka_unit_test(nothing_is_read),
		cmocka_unit_test(every_failing_allocation_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
