/* SPDX-License-Identifier: MIT */
/*
 * Random patches to the metadata of a small volume, whatever they hit: the repair must end, with an
 * answer, in bounded time, and leave nothing for a second run. What it saves is judged elsewhere
 * (random_main.c); here nothing is known of what was meant.
 *
 *   test_patches                 the first seeds at each width: for make check
 *   test_patches FROM TO [BITS]  those seeds; without BITS at every width
 *   test_patches SEED BITS IMG   makes an image file of one
 *
 * Build with BUILD=asan to see what a compiler can see. A failure names its seed.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev_snap.h"
#include "lib/bytes.h"
#include "tests/crash/crash.h"
#include "tool.h"

#define DEFAULT_SEEDS 150u
#define MAX_PATCHES   12u
#define MAX_READS     400000u /* of a repair of so small a volume */
#define MAX_SECONDS   60u     /* no measure: something hangs */

static const char base_text[] = "label PATCHES\n"
				"dir /D1 clusters 2\n"
				"dir /D1/SUB\n"
				"dir /D1/SUB/DEEPER\n"
				"file /A.BIN 5*cluster+440\n"
				"file /B.BIN 7*cluster+416 attr rh\n"
				"file /D1/SUB/DEEP.BIN 6*cluster at 150-155\n"
				"file /D1/SUB/DEEPER/C.TXT 6\n"
				"file \"/D1/Long file name number one.bin\" 7*cluster+416\n"
				"file /D1/SPREAD.BIN 6*cluster+1 at 160,170,165,180,176,190,185\n"
				"file /D1/EMPTY.TXT 0\n"
				"fill /D1/SUB 40 of 700\n"
				"bad 100-103\n";

struct patcher {
	uint64_t random;
	struct image *image;
	uint64_t off, len; /* of the structure that is being patched */
};

static uint64_t roll(struct patcher *patcher, uint64_t below)
{
	patcher->random = mix64(patcher->random);
	return patcher->random % below;
}

/* ---- patches ------------------------------------------------------------------------------- */

static void pick_structure(struct patcher *patcher)
{
	const struct shape *shape = &patcher->image->shape;
	uint64_t root = shape_root_off(shape), data = shape_data_off(shape);

	patcher->len = shape->sector_bytes;
	switch (roll(patcher, 8)) {
	case 0: /* boot sector, FSInfo, their copies, and what lies between */
		patcher->off = roll(patcher, shape->bits == 32 ? 8 : 1) * shape->sector_bytes;
		break;
	case 1:
	case 2:
	case 3: /* the used part of a FAT */
		patcher->off = shape_fat_off(shape, (uint32_t)roll(patcher, shape->n_fats));
		patcher->len = (uint64_t)200 * shape->bits / 8;
		break;
	case 4:
		patcher->off =
			shape->bits == 32 ? shape_cluster_off(shape, shape->root_clus) : root;
		break;
	default: /* the folders come first in the data area */
		patcher->off = data + roll(patcher, 60) * shape->cluster_bytes;
	}
}

static uint32_t special_value(struct patcher *patcher)
{
	const struct shape *shape = &patcher->image->shape;
	const uint32_t values[] = {
		0, 1, 2, UINT32_MAX, 0x0FFFFFF7, 0xFFF7, 0x7F, 0xE5E5E5E5, 0x80000000,
		shape->n_clus + 1, shape->n_clus + 2, (uint32_t)roll(patcher, 200),
		(uint32_t)roll(patcher, UINT32_MAX),
	};

	return values[roll(patcher, sizeof values / sizeof *values)];
}

static void put_bytes_of(struct patcher *patcher, uint64_t off, uint32_t value, size_t len)
{
	uint8_t bytes[4];

	put_le32(bytes, value);
	put_bytes(patcher->image->dev, off, bytes, len);
}

static void fill(struct patcher *patcher, uint64_t off, size_t len)
{
	uint64_t kind = roll(patcher, 4), from = roll(patcher, 100) * len;

	for (size_t i = 0; i < len; i++) {
		uint8_t byte = kind == 0 ? 0 : kind == 1 ? 0xFF : (uint8_t)roll(patcher, 256);

		if (kind == 2)
			get_bytes(patcher->image->dev, from + i, &byte, 1);
		put_bytes(patcher->image->dev, off + i, &byte, 1);
	}
}

static void patch(struct patcher *patcher)
{
	uint64_t off, unit;

	pick_structure(patcher);
	switch (roll(patcher, 8)) {
	case 0:
		fill(patcher, patcher->off, patcher->image->shape.sector_bytes);
		return;
	case 1: /* a slot, or as many entries */
		off = patcher->off + roll(patcher, patcher->len) / DIRENT_BYTES * DIRENT_BYTES;
		fill(patcher, off, DIRENT_BYTES);
		return;
	case 2:
		off = patcher->off + roll(patcher, patcher->len);
		put_bytes_of(patcher, off, (uint32_t)roll(patcher, 256), 1);
		return;
	default:
		unit = (uint64_t)1 << roll(patcher, 3);
		off = patcher->off + roll(patcher, patcher->len) / unit * unit;
		put_bytes_of(patcher, off, special_value(patcher), unit);
	}
}

static void make_volume(struct patcher *patcher, const struct recipe *recipe,
			const struct instance *instance, uint64_t seed)
{
	patcher->random = mix64(seed) ^ instance->bits;
	patcher->image = image_build(recipe, instance);
	for (uint64_t n = 1 + roll(patcher, MAX_PATCHES); n > 0; n--)
		patch(patcher);
}

/* ---- one seed ------------------------------------------------------------------------------ */

static uint64_t now_seed;
static unsigned now_bits;

static void tell_hang(int number)
{
	(void)number;
	printf("not ok - FAT%u, seed %llu does not end\n", now_bits, (unsigned long long)now_seed);
	fflush(stdout);
	_exit(1);
}

struct outcome {
	int status;
	bool is_no_volume; /* a boot sector that nobody can guess: the only good reason for 8 */
	uint64_t n_reads, n_writes;
};

static struct outcome run(struct fat_dev *dev)
{
	struct fat_dev *top = dev_fault_open(dev);
	struct tool_result result;
	struct outcome outcome = { 0 };

	tool_repair(top, NULL, 0, &result);
	for (size_t i = 0; i < result.codes.n; i++)
		outcome.is_no_volume |= strcmp(result.codes.line[i], "F0001") == 0;
	outcome.status = result.status;
	outcome.n_reads = dev_fault_count(top, CALL_READ);
	outcome.n_writes = dev_fault_count(top, CALL_WRITE);
	tool_result_free(&result);
	top->below = NULL;
	fat_dev_close(top);
	return outcome;
}

static void judge(const struct outcome *first, const struct outcome *second,
		  struct notes *complaints)
{
	bool refused = first->is_no_volume && first->status == 8 && first->n_writes == 0;

	if (first->n_reads > MAX_READS)
		notes_add(complaints, "%llu reads", (unsigned long long)first->n_reads);
	if (first->status & ~5 && !refused)
		notes_add(complaints, "ends with %d", first->status);
	if (second->n_writes > 0)
		notes_add(complaints, "ends with %d, and the second run writes", first->status);
	if (second->status != (refused ? 8 : first->status & 4))
		notes_add(complaints, "ends with %d, the second run with %d", first->status,
			  second->status);
}

static void run_seed(const struct recipe *recipe, const struct instance *instance, uint64_t seed,
		     unsigned *by_status, struct notes *complaints)
{
	struct outcome first, second;
	struct patcher patcher;

	now_seed = seed;
	now_bits = instance->bits;
	alarm(MAX_SECONDS);
	make_volume(&patcher, recipe, instance, seed);
	first = run(patcher.image->dev);
	second = run(patcher.image->dev);
	judge(&first, &second, complaints);
	by_status[first.status & 15]++;
	image_free(patcher.image);
	alarm(0);
}

static unsigned run_width(const struct recipe *recipe, unsigned bits, uint64_t from, uint64_t to)
{
	const struct instance instance = { bits, 512 };
	unsigned n_failed = 0, by_status[16] = { 0 };

	for (uint64_t seed = from; seed < to; seed++) {
		struct notes complaints = { 0 };

		run_seed(recipe, &instance, seed, by_status, &complaints);
		n_failed += complaints.n > 0;
		for (size_t i = 0; i < complaints.n && n_failed <= 12; i++)
			printf("# seed %llu: %s\n", (unsigned long long)seed, complaints.line[i]);
		notes_free(&complaints);
	}
	printf("%sok - FAT%u, seeds %llu to %llu: %u failed\n", n_failed ? "not " : "", bits,
	       (unsigned long long)from, (unsigned long long)to, n_failed);
	for (unsigned i = 0; i < 16; i++)
		if (by_status[i])
			printf("# status %u: %u\n", i, by_status[i]);
	fflush(stdout);
	return n_failed;
}

int main(int argc, char **argv)
{
	uint64_t from = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t to = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_SEEDS;
	unsigned only = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0, n = 0, n_failed = 0;
	struct recipe *recipe = recipe_parse("patches", base_text);

	signal(SIGALRM, tell_hang);
	if (argc == 4 && only == 0) {
		const struct instance instance = { (unsigned)to, 512 };
		struct patcher patcher;

		make_volume(&patcher, recipe, &instance, from);
		snap_to_file(patcher.image->dev, argv[3]);
		image_free(patcher.image);
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
