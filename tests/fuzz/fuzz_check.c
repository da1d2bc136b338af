/* SPDX-License-Identifier: MIT */
/*
 * fuzz_check: a whole check and repair of a small volume. The input chooses a sound one and damages
 * its structures, so that most inputs get far; what must hold is in volume.h.
 */
#include "bytes.h"
#include "volume.h"

#define MAX_PATCHES 24u
#define N_CLUS	    128u /* where the tree lies */

struct damage {
	struct fuzz_input input;
	const struct image *base;
	struct fat_dev *dev;
};

static uint32_t take(struct damage *damage, unsigned n_bits)
{
	return (uint32_t)fuzz_take(&damage->input, n_bits);
}

static uint32_t take_clus(struct damage *damage)
{
	return 2 + take(damage, 8) % N_CLUS;
}

static uint32_t take_value(struct damage *damage)
{
	const struct shape *shape = &damage->base->shape;

	switch (take(damage, 8) % 8) {
	case 0:
		return 0;
	case 1:
		return shape_mask(shape);
	case 2:
		return shape_bad(shape);
	case 3:
		return shape->n_clus + 2 - take(damage, 8) % 4;
	case 4:
		return take(damage, 32);
	default:
		return take_clus(damage);
	}
}

static void patch_table(struct damage *damage)
{
	const struct shape *shape = &damage->base->shape;
	uint32_t in = take(damage, 8), first = take(damage, 8) % (N_CLUS + 2), n = 1;
	uint32_t value = take_value(damage);

	if (in & 0x80) /* a run of them */
		n = 1 + take(damage, 8) % 16;
	for (uint32_t copy = 0; copy < shape->n_fats; copy++)
		for (uint32_t i = 0; i < n && (in & 0x40 || in & 1u << copy); i++)
			table_set(damage->dev, shape, copy, first + i,
				  in & 0x20 ? value + i : value);
}

/* A slot of the root, or of a cluster. */
static uint64_t take_slot(struct damage *damage)
{
	const struct shape *shape = &damage->base->shape;
	uint32_t which = take(damage, 8), slot = take(damage, 8);

	if (shape->bits != 32 && which < 80)
		return shape_root_off(shape) +
		       (uint64_t)(slot % shape->root_entries) * DIRENT_BYTES;
	return shape_cluster_off(shape, 2 + which % 32) +
	       (uint64_t)(slot % (shape->cluster_bytes / DIRENT_BYTES)) * DIRENT_BYTES;
}

static void put_value(struct damage *damage, uint64_t off, uint32_t value, size_t n_bytes)
{
	uint8_t bytes[4];

	put_le32(bytes, value);
	put_bytes(damage->dev, off, bytes, n_bytes);
}

static void patch_slot(struct damage *damage)
{
	static const uint8_t fields[] = { 0, 0, 11, 13, 20, 26, 26, 28, 28, 31, 12, 8 };
	uint64_t off = take_slot(damage);
	uint32_t field = take(damage, 8), how = take(damage, 8);

	off += field & 0x80 ? fields[field % sizeof fields] : field % DIRENT_BYTES;
	put_value(damage, off, how & 4 ? take_value(damage) : take(damage, 32), (how & 3) ? 2 : 1);
}

static void copy_slot(struct damage *damage)
{
	uint64_t from = take_slot(damage), to = take_slot(damage);
	uint32_t n = 1 + take(damage, 8) % 4;
	uint8_t bytes[4 * DIRENT_BYTES];

	get_bytes(damage->dev, from, bytes, sizeof bytes);
	put_bytes(damage->dev, to, bytes, (size_t)n * DIRENT_BYTES);
}

/* Boot sector, FSInfo, and their copies. */
static void patch_reserved(struct damage *damage)
{
	const struct shape *shape = &damage->base->shape;
	uint32_t where = take(damage, 16), sector = where >> 9;
	uint64_t off = where & 511;

	if (off > 100 && off < 480) /* few fields there */
		off = off % 64;
	if (shape->bits == 32 && sector < 96)
		off += (uint64_t)(sector % 8) * shape->sector_bytes;
	put_value(damage, off, take(damage, 32), 1 + where % 4);
}

static void patch_sector(struct damage *damage)
{
	const struct shape *shape = &damage->base->shape;
	uint32_t n = shape->sector_bytes, how = take(damage, 8);
	uint32_t n_sectors = (uint32_t)(damage->dev->size_bytes / n);
	uint64_t off = (uint64_t)(take(damage, 16) % 200 % n_sectors) * n;
	uint64_t from = (uint64_t)(take(damage, 8) % n_sectors) * n;
	uint8_t bytes[4096];

	get_bytes(damage->dev, from, bytes, n);
	for (uint32_t i = 0; i < n && how % 4; i++)
		bytes[i] = how % 4 == 1 ? 0 : how % 4 == 2 ? 0xFF : (uint8_t)take(damage, 8);
	put_bytes(damage->dev, off, bytes, how & 0x80 ? n / 2 : n);
}

static void patch(struct damage *damage)
{
	switch (take(damage, 8) % 12) {
	case 0:
		patch_reserved(damage);
		break;
	case 1:
		patch_sector(damage);
		break;
	case 2:
		copy_slot(damage);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		patch_slot(damage);
		break;
	default:
		patch_table(damage);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct damage damage = { .input = { data, n_bytes } };

	damage.base = fuzz_base(take(&damage, 8));
	damage.dev = fuzz_clone(damage.base);
	for (unsigned i = 0; i < MAX_PATCHES && damage.input.n_bytes > 0; i++)
		patch(&damage);
	fuzz_judge(damage.base, damage.dev);
	fat_dev_close(damage.dev);
	return 0;
}
