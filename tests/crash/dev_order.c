/* SPDX-License-Identifier: MIT */
/*
 * dev_order: asserts the order of writes of DESIGN.md section 6, on the write that breaks it.
 *
 * It does not ask the repairer what stage it is in: each changed byte says which stages it can
 * belong to. Stages may only go forward, and between two of them there is a flush. A write for
 * which no stage is left is noted. Nothing but the mark itself may change before the volume is
 * marked dirty.
 */
#include "crash.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"

enum stage {
	MARK = 1 << 0,
	PREPARE = 1 << 1,
	DETACH = 1 << 2,
	ATTACH = 1 << 3,
	RELEASE = 1 << 4,
	MIRROR = 1 << 5,
	SUMMARY = 1 << 6,
	CLEAN = 1 << 7,
	ALL = 0xFF,
	FIX = PREPARE | DETACH | ATTACH | RELEASE | MIRROR, /* a repair on its own */
};

struct dev_order {
	struct fat_dev dev;
	struct shape shape;
	struct notes *violations;
	unsigned floor; /* stages that may still come */
	unsigned batch; /* stages that all writes since the last flush can belong to */
	bool wrote;
	uint64_t unmarked_off; /* of a write to a volume that was not marked dirty */
	bool has_unmarked;
	bool copies_differ; /* at first: another FAT than the drivers' may be believed */
	uint32_t believed;  /* repairs are made in it, too: the first written but the drivers' */
};

static const char *stage_name(unsigned stages)
{
	static const char *const names[] = { "MARK",    "PREPARE", "DETACH",  "ATTACH",
					     "RELEASE", "MIRROR",  "SUMMARY", "CLEAN" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (stages & 1u << i)
			return names[i];
	return "none";
}

/* ---- what a change means ------------------------------------------------------------------- */

/* A boot sector that comes back while the FAT is the mark brings a mark of its own. */
static unsigned of_state(const struct dev_order *order, uint8_t was, uint8_t is)
{
	if (!((was ^ is) & 1))
		return MIRROR | CLEAN;
	if (!(is & 1))
		return CLEAN;
	return crash_is_dirty(order->dev.below, &order->shape) ? MARK | MIRROR : MARK;
}

static unsigned of_boot_byte(const struct dev_order *order, uint64_t off, uint8_t was, uint8_t is)
{
	const struct shape *shape = &order->shape;
	uint64_t sector = off / shape->sector_bytes;

	if (off == (shape->bits == 32 ? 65 : 37))
		return of_state(order, was, is);
	if (shape->bits == 32 && sector == shape->fsinfo_sec)
		return SUMMARY;
	return MIRROR;
}

static unsigned of_entry_one(const struct dev_order *order, uint32_t was, uint32_t is)
{
	const struct shape *shape = &order->shape;
	uint32_t clean = shape->bits == 16 ? 0x8000u : shape->bits == 32 ? 0x08000000u : 0;

	if (!((was ^ is) & clean))
		return DETACH | MIRROR | CLEAN;
	if (is & clean)
		return CLEAN;
	return crash_is_dirty(order->dev.below, shape) ? MARK | DETACH | MIRROR : MARK;
}

static bool is_in_other_copy(const struct dev_order *order, uint32_t copy, uint32_t clus,
			     uint32_t value)
{
	for (uint32_t other = 0; other < order->shape.n_fats; other++)
		if (other != copy &&
		    table_get(order->dev.below, &order->shape, other, clus) == value)
			return true;
	return false;
}

static unsigned of_primary_entry(uint32_t was, uint32_t is, uint32_t end_min)
{
	if (is == 0)
		return RELEASE;
	if (was == 0)
		return PREPARE | DETACH | ATTACH;
	return is >= end_min ? PREPARE | DETACH : DETACH | ATTACH;
}

/*
 * Something new is written to one FAT first; the others follow in MIRROR, or in SUMMARY with what
 * becomes free. What makes an entry equal to another copy's can be that, or a repair that takes the
 * other copy's word. The FAT that is written first is the one that drivers read; where the copies
 * differed another one may be believed, and the drivers' goes along with it.
 */
static unsigned of_entry(struct dev_order *order, uint32_t copy, uint32_t clus, uint32_t was,
			 uint32_t is)
{
	bool follows = is_in_other_copy(order, copy, clus, is);
	unsigned follow = 0;

	if (clus == 0)
		return DETACH | MIRROR;
	if (clus == 1)
		return (follows ? MIRROR : 0) | of_entry_one(order, was, is);
	if (order->copies_differ && order->believed == order->shape.active_fat)
		order->believed = copy;
	if (follows)
		follow = is == 0 ? MIRROR | SUMMARY : MIRROR;
	if (copy != order->shape.active_fat && copy != order->believed)
		return follow ? follow : MIRROR;
	return follow | of_primary_entry(was, is, shape_end_min(&order->shape));
}

static bool is_long(const uint8_t *slot)
{
	return (slot[11] & 0x3F) == 0x0F;
}

static bool is_alive(const uint8_t *slot)
{
	return slot[0] != 0 && slot[0] != 0xE5;
}

/* Whether a driver that reads the folders comes to this slot: it does not behind an end mark. */
static bool is_read(const struct dev_order *order, uint64_t off)
{
	struct crash_refs refs;
	bool found = false;

	crash_refs_read(&refs, order->dev.below, &order->shape);
	for (size_t i = 0; i < refs.n && !found; i++)
		found = refs.ref[i].from == 0 && refs.ref[i].off == off;
	crash_refs_free(&refs);
	return found;
}

/* An entry that only asks for less than it did. */
static bool gives_up(const uint8_t *was, const uint8_t *is)
{
	return memcmp(was, is, 20) == 0 && get_le32(is + 28) < get_le32(was + 28) &&
	       (get_le16(is + 26) == 0 || get_le16(is + 26) == get_le16(was + 26));
}

static unsigned of_slot(const struct dev_order *order, uint64_t off, const uint8_t *was,
			const uint8_t *is)
{
	if (!is_alive(was) && !is_alive(is))
		return FIX;
	/* A dot leads to its own folder or that one's parent: nothing comes within reach by it. */
	if (!is_alive(was))
		return is_long(is) ? PREPARE : ATTACH | (is[0] == '.' ? DETACH | RELEASE : 0);
	if (!is_alive(is))
		return is_long(was) || !is_read(order, off) ? DETACH | RELEASE : DETACH;
	return DETACH | ATTACH | (gives_up(was, is) ? RELEASE : 0);
}

/* ---- what a write changes ------------------------------------------------------------------ */

static unsigned of_table(struct dev_order *order, uint32_t copy, uint64_t off, const uint8_t *is,
			 size_t len)
{
	const struct shape *shape = &order->shape;
	uint64_t in_copy = off - shape_fat_off(shape, copy);
	uint64_t first = in_copy * 8 / shape->bits, last = ((in_copy + len) * 8 - 1) / shape->bits;
	size_t lead = shape->bits == 12 && first > 0 ? 2 : 0;
	uint8_t *old = xalloc(len + 4 + lead, 1), *new = xalloc(len + 4 + lead, 1);
	unsigned stages = ALL;

	/* Entries are compared in a window that begins a little before the write and ends after it.
	 */
	get_bytes(order->dev.below, off - lead, old, len + lead);
	memcpy(new, old, lead);
	memcpy(new + lead, is, len);
	for (uint64_t c = first; c <= last && c < shape->n_clus + 2; c++) {
		size_t at = (size_t)(c * shape->bits / 8 + lead - in_copy);
		uint32_t a = get_le32(old + at), b = get_le32(new + at);

		if (shape->bits == 12 && c & 1)
			a >>= 4, b >>= 4;
		a &= shape_mask(shape);
		b &= shape_mask(shape);
		if (a != b)
			stages &= of_entry(order, copy, (uint32_t)c, a, b);
	}
	free(old);
	free(new);
	return stages;
}

static bool is_free_now(const struct dev_order *order, uint64_t off)
{
	uint32_t clus =
		(uint32_t)((off - shape_data_off(&order->shape)) / order->shape.cluster_bytes) + 2;

	if (off < shape_data_off(&order->shape))
		return false;
	for (uint32_t copy = 0; copy < order->shape.n_fats; copy++)
		if (table_get(order->dev.below, &order->shape, copy, clus) != 0)
			return false;
	return true;
}

static unsigned of_data(const struct dev_order *order, uint64_t off, const uint8_t *is, size_t len)
{
	unsigned stages = ALL;

	if (is_free_now(order, off))
		return PREPARE;
	for (size_t at = 0; at + DIRENT_BYTES <= len; at += DIRENT_BYTES) {
		uint8_t was[DIRENT_BYTES];

		get_bytes(order->dev.below, off + at, was, sizeof was);
		if (memcmp(was, is + at, sizeof was) != 0)
			stages &= of_slot(order, off + at, was, is + at);
	}
	return stages;
}

static unsigned of_reserved(const struct dev_order *order, uint64_t off, const uint8_t *is,
			    size_t len)
{
	uint8_t *was = xalloc(len, 1);
	unsigned stages = ALL;

	get_bytes(order->dev.below, off, was, len);
	for (size_t i = 0; i < len; i++)
		if (was[i] != is[i])
			stages &= of_boot_byte(order, off + i, was[i], is[i]);
	free(was);
	return stages;
}

/* The part of a write that lies in one region, from its start on. */
static unsigned of_part(struct dev_order *order, uint64_t off, const uint8_t *bytes, size_t *len)
{
	const struct shape *shape = &order->shape;
	uint64_t end = shape_fat_off(shape, 0);

	if (off < end) {
		*len = (size_t)min_u64(*len, end - off);
		return of_reserved(order, off, bytes, *len);
	}
	for (uint32_t copy = 0; copy < shape->n_fats; copy++) {
		end = shape_fat_off(shape, copy + 1);
		if (off < end) {
			*len = (size_t)min_u64(*len, end - off);
			return of_table(order, copy, off, bytes, *len);
		}
	}
	*len = (size_t)min_u64(*len, shape->sector_bytes - off % shape->sector_bytes);
	return of_data(order, off, bytes, *len);
}

/* ---- the layer ----------------------------------------------------------------------------- */

/* A repair of one write needs no mark: it is there or not. So only the next write tells. */
static void check_mark(struct dev_order *order, uint64_t off, unsigned stages)
{
	if (order->has_unmarked)
		notes_add(order->violations, "write at %llu: the volume was not marked dirty",
			  (unsigned long long)order->unmarked_off);
	order->has_unmarked = !(stages & MARK) && !crash_is_dirty(order->dev.below, &order->shape);
	order->unmarked_off = off;
}

static void judge(struct dev_order *order, uint64_t off, const uint8_t *bytes, size_t len)
{
	unsigned stages = ALL;

	for (size_t at = 0, n; at < len; at += n) {
		n = len - at;
		stages &= of_part(order, off + at, bytes + at, &n);
	}
	if (stages == ALL)
		return; /* it changes nothing */
	check_mark(order, off, stages);
	if (!(stages & order->floor))
		notes_add(order->violations, "write at %llu: %s comes after %s",
			  (unsigned long long)off, stage_name(stages), stage_name(order->floor));
	else if (!(stages & order->batch))
		notes_add(order->violations, "write at %llu: no flush between %s and %s",
			  (unsigned long long)off, stage_name(order->batch), stage_name(stages));
	order->batch = stages & order->batch ? stages & order->batch : stages & order->floor;
	order->wrote = true;
}

static enum fat_status order_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return fat_dev_read(dev->below, off, buf, len_bytes);
}

static enum fat_status order_write(struct fat_dev *dev, uint64_t off, const void *buf,
				   size_t len_bytes)
{
	judge((struct dev_order *)dev, off, buf, len_bytes);
	return fat_dev_write(dev->below, off, buf, len_bytes);
}

/* The earliest stage that fits is as good as any: what comes later has the most room. */
static enum fat_status order_flush(struct fat_dev *dev)
{
	struct dev_order *order = (struct dev_order *)dev;

	if (order->wrote && order->batch) {
		unsigned stage = order->batch & (~order->batch + 1u);

		order->floor = ALL & ~(stage - 1);
	}
	order->batch = order->floor;
	order->wrote = false;
	return fat_dev_flush(dev->below);
}

static void order_close(struct fat_dev *dev)
{
	free(dev);
}

static const struct fat_dev_ops order_ops = {
	.name = "order",
	.read = order_read,
	.write = order_write,
	.flush = order_flush,
	.close = order_close,
};

static bool copies_differ(struct fat_dev *dev, const struct shape *shape)
{
	for (uint32_t copy = 1; copy < shape->n_fats; copy++)
		for (uint32_t c = 2; c < shape->n_clus + 2; c++)
			if (table_get(dev, shape, copy, c) != table_get(dev, shape, 0, c))
				return true;
	return false;
}

struct fat_dev *dev_order_open(struct fat_dev *below, const struct shape *shape,
			       struct notes *violations)
{
	struct dev_order *order = xalloc(1, sizeof *order);

	order->dev.ops = &order_ops;
	order->dev.below = below;
	order->dev.size_bytes = below->size_bytes;
	order->dev.block_bytes = below->block_bytes;
	order->shape = *shape;
	order->violations = violations;
	order->floor = order->batch = ALL;
	order->believed = shape->active_fat;
	order->copies_differ = copies_differ(below, shape);
	return &order->dev;
}
