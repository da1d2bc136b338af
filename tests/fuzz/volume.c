/* SPDX-License-Identifier: MIT */
/* volume: see volume.h. */
#include "volume.h"

#include <stdio.h>
#include <string.h>

#include "tests/crash/crash.h"
#include "tests/recipes/dev_snap.h"
#include "tests/recipes/tool.h"

#define MAX_READS  400000u /* of a repair of so small a volume */
#define UNDO_BYTES (1u << 28)

static const char tree_text[] = "behind 70000\n"
				"label FUZZ\n"
				"dir /D1 clusters 2\n"
				"dir /D1/SUB\n"
				"dir /D1/SUB/DEEPER\n"
				"file /A.BIN 5*cluster+440\n"
				"file /B.BIN 7*cluster+416 attr rh\n"
				"file /D1/SUB/DEEP.BIN 6*cluster at 70-75\n"
				"file /D1/SUB/DEEPER/C.TXT 6\n"
				"file \"/D1/Long file name number one.bin\" 7*cluster+416\n"
				"file /D1/SPREAD.BIN 6*cluster+1 at 80,90,85,94,92,99,97\n"
				"file /D1/EMPTY.TXT 0\n"
				"fill /D1/SUB 12 of 700\n"
				"bad 100-103\n";

static const struct {
	const char *text;
	struct instance instance;
} bases[FUZZ_N_BASES] = {
	{ "clusters 130\nroot-entries 32\n", { 12, 512 } },
	{ "clusters 130\nroot-entries 128\nfats 1\n", { 12, 4096 } },
	{ "clusters 4200\nroot-entries 64\n", { 16, 512 } },
	{ "clusters 4200\nroot-entries 64\nfats 3\ncluster 1024\n", { 16, 512 } },
	{ "clusters 300\n", { 32, 512 } },
	{ "clusters 300\nreserved 16\nmirror off 2\n", { 32, 512 } },
};

const struct image *fuzz_base(unsigned number)
{
	static struct image *image[FUZZ_N_BASES];
	char text[2048];

	number %= FUZZ_N_BASES;
	if (!image[number]) {
		snprintf(text, sizeof text, "%s%s", bases[number].text, tree_text);
		/* the image refers to its recipe */
		image[number] = image_build(recipe_parse("fuzz", text), &bases[number].instance);
	}
	return image[number];
}

struct fat_dev *fuzz_clone(const struct image *base)
{
	return snap_clone(base->dev);
}

struct outcome {
	int status;
	bool is_no_volume; /* a boot sector that nobody can guess: the only good reason for 8 */
	uint64_t n_writes;
};

/* Takes the layers off again. */
static void drop_layer(struct fat_dev *top)
{
	top->below = NULL;
	fat_dev_close(top);
}

static struct outcome run(struct fat_dev *dev, bool repair)
{
	struct fat_dev *top = dev_fault_open(dev);
	struct tool_result result;
	struct outcome outcome = { 0 };

	if (repair)
		tool_repair(top, NULL, 0, &result);
	else
		tool_check(top, NULL, 0, &result);
	for (size_t i = 0; i < result.codes.n; i++)
		outcome.is_no_volume |= strcmp(result.codes.line[i], "F0001") == 0;
	outcome.status = result.status;
	outcome.n_writes = dev_fault_count(top, CALL_WRITE);
	must(dev_fault_count(top, CALL_READ) <= MAX_READS);
	tool_result_free(&result);
	drop_layer(top);
	return outcome;
}

static bool is_answer(const struct outcome *outcome)
{
	return (outcome->status & ~5) == 0 ||
	       (outcome->is_no_volume && outcome->status == 8 && outcome->n_writes == 0);
}

static void judge_repair(struct fat_dev *dev)
{
	struct outcome first = run(dev, true), second = run(dev, true);

	must(is_answer(&first));
	must(second.n_writes == 0);
	must(second.status == (first.status == 8 ? 8 : first.status & 4));
}

/* What is called clean has no problem in the strict reader's eyes. */
static void judge_clean(struct fat_dev *dev)
{
	struct survey survey;

	if (run(dev, false).status == 0) {
		must(survey_read(&survey, dev));
		for (size_t i = 0; i < survey.problems.n; i++)
			fprintf(stderr, "clean, but: %s\n", survey.problems.line[i]);
		must(survey.problems.n == 0);
		survey_free(&survey);
	}
}

static bool is_equal(struct fat_dev *x, struct fat_dev *y, uint64_t off, uint64_t end_off)
{
	uint8_t a[4096], b[4096];

	for (; off < end_off; off += sizeof a) {
		size_t n = end_off - off < sizeof a ? (size_t)(end_off - off) : sizeof a;

		get_bytes(x, off, a, n);
		get_bytes(y, off, b, n);
		if (memcmp(a, b, n) != 0)
			return false;
	}
	return true;
}

/* Where the volume's idea of its size was not touched, nothing behind its end may be. */
static void judge_tail(const struct image *base, struct fat_dev *before, struct fat_dev *after)
{
	const struct shape *shape = &base->shape;

	if (is_equal(base->dev, before, 0, (uint64_t)shape->reserved_sec * shape->sector_bytes))
		must(is_equal(before, after, (uint64_t)shape->total_sec * shape->sector_bytes,
			      after->size_bytes));
}

static void judge_undo(struct fat_dev *store, struct fat_dev *dev, struct fat_dev *before)
{
	struct fat_undo_info info;
	enum fat_undo_verdict verdict;

	must(fat_undo_verify(store, &info, &verdict) == FAT_OK && verdict == FAT_UNDO_SOUND);
	must(fat_undo_rollback(store, dev) == FAT_OK);
	must(snap_first_difference(before, dev) == UINT64_MAX);
}

void fuzz_judge(const struct image *base, struct fat_dev *damaged)
{
	const struct fat_undo_origin origin = { "fuzz", 0 };
	struct fat_dev *dev = snap_clone(damaged), *store = snap_open(UNDO_BYTES), *undo;
	struct outcome look = run(damaged, false);

	must(look.n_writes == 0 && is_answer(&look));
	must(fat_undo_create(dev, store, &origin, &undo) == FAT_OK);
	judge_repair(undo);
	must(fat_undo_finish(undo) == FAT_OK);
	judge_clean(dev);
	judge_tail(base, damaged, dev);
	judge_undo(store, dev, damaged);
	drop_layer(undo);
	fat_dev_close(dev);
}
