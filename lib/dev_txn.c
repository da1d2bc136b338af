/* SPDX-License-Identifier: MIT */
/*
 * dev_txn: edits that are held back, staged, seen by reads, and committed in order.
 *
 * Invariants: nothing passes down outside fat_txn_commit(); a read sees stage after stage, in each
 * its ranges first, then its patches; memory for edits never exceeds the budget. Knows stages as an
 * order, not what they are for.
 */
#include "libfat.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define RUN_BYTES (256u << 10) /* of neighbouring sectors read, patched and written in one go */
#define MIN_SLOTS 256u

/* The changed bits of one sector in one stage. */
struct patch {
	struct patch *next; /* in its hash slot */
	uint64_t sector;
	enum fat_stage stage;
	uint8_t bytes[]; /* sector_bytes of content, then a mask of the bits that are changed */
};

struct range {
	uint64_t off, len_bytes;
	uint64_t source_off;
	bool is_fill; /* of one byte; no source */
	uint8_t fill;
};

struct range_list {
	struct range *range; /* by offset, not overlapping */
	size_t n, cap;
};

struct dev_txn {
	struct fat_dev dev;
	uint32_t sector_bytes;
	uint64_t max_bytes, used_bytes;
	enum fat_stage stage;
	struct patch **slot;
	size_t n_slots, n_patches;
	size_t n_stage_patches[FAT_N_STAGES];
	struct range_list ranges[FAT_N_STAGES];
	struct range_list sources[FAT_N_STAGES]; /* what copies read: rather too much of it */
	uint8_t *run; /* RUN_BYTES */
};

static struct dev_txn *as_txn(struct fat_dev *dev)
{
	return (struct dev_txn *)dev;
}

static size_t patch_size(const struct dev_txn *txn)
{
	return sizeof(struct patch) + 2 * (size_t)txn->sector_bytes;
}

static enum fat_status charge(struct dev_txn *txn, uint64_t bytes)
{
	if (bytes > txn->max_bytes - txn->used_bytes)
		return fat_dev_fail(&txn->dev, FAT_ERR_MEMORY, "stage", 0, bytes, 0);
	txn->used_bytes += bytes;
	return FAT_OK;
}

/* ---- patches ---- */

static size_t slot_of(const struct dev_txn *txn, uint64_t sector)
{
	return (size_t)((sector * 0x9E3779B97F4A7C15u) >> 20) & (txn->n_slots - 1);
}

static struct patch *find_patch(const struct dev_txn *txn, uint64_t sector, enum fat_stage stage)
{
	struct patch *patch = txn->slot[slot_of(txn, sector)];

	while (patch && (patch->sector != sector || patch->stage != stage))
		patch = patch->next;
	return patch;
}

static void put_in_slot(struct dev_txn *txn, struct patch *patch)
{
	struct patch **slot = &txn->slot[slot_of(txn, patch->sector)];

	patch->next = *slot;
	*slot = patch;
}

static enum fat_status grow_slots(struct dev_txn *txn)
{
	size_t n_old = txn->n_slots;
	struct patch **old = txn->slot;
	struct patch **slot;

	if (txn->n_patches < 2 * n_old)
		return FAT_OK;
	slot = calloc(2 * n_old, sizeof(struct patch *));
	if (!slot)
		return fat_dev_fail(&txn->dev, FAT_ERR_MEMORY, "stage", 0, 0, 0);
	txn->slot = slot;
	txn->n_slots = 2 * n_old;
	for (size_t i = 0; i < n_old; i++)
		for (struct patch *patch = old[i], *next; patch; patch = next) {
			next = patch->next;
			put_in_slot(txn, patch);
		}
	free(old);
	return FAT_OK;
}

static enum fat_status make_patch(struct dev_txn *txn, uint64_t sector, enum fat_stage stage,
				  struct patch **patch)
{
	enum fat_status status = grow_slots(txn);

	*patch = NULL;
	if (status == FAT_OK)
		status = charge(txn, patch_size(txn));
	if (status != FAT_OK)
		return status;
	*patch = calloc(1, patch_size(txn));
	if (!*patch) {
		txn->used_bytes -= patch_size(txn);
		return fat_dev_fail(&txn->dev, FAT_ERR_MEMORY, "stage", 0, 0, 0);
	}
	(*patch)->sector = sector;
	(*patch)->stage = stage;
	put_in_slot(txn, *patch);
	txn->n_patches++;
	txn->n_stage_patches[stage]++;
	return FAT_OK;
}

/* mask NULL: all bits. */
static void edit_patch(const struct dev_txn *txn, struct patch *patch, size_t at,
		       const uint8_t *from, const uint8_t *mask, size_t n)
{
	uint8_t *changed = patch->bytes + txn->sector_bytes + at;

	if (!mask) {
		memcpy(patch->bytes + at, from, n);
		memset(changed, 0xFF, n);
		return;
	}
	put_bits(patch->bytes + at, from, mask, n);
	for (size_t i = 0; i < n; i++)
		changed[i] |= mask[i];
}

/* Puts the changed bits of a patch over part of its sector: n bytes from `at` on. */
static void apply_patch(const struct dev_txn *txn, const struct patch *patch, size_t at,
			uint8_t *to, size_t n)
{
	put_bits(to, patch->bytes + at, patch->bytes + txn->sector_bytes + at, n);
}

enum fat_status fat_txn_write_bits(struct fat_dev *dev, enum fat_stage stage, uint64_t off,
				   const void *buf, const void *mask, size_t len_bytes)
{
	struct dev_txn *txn = as_txn(dev);
	const uint8_t *from = buf, *bits = mask;

	if (off > dev->size_bytes || len_bytes > dev->size_bytes - off)
		return fat_dev_fail(dev, FAT_ERR_RANGE, "stage", off, len_bytes, 0);
	while (len_bytes > 0) {
		size_t at = (size_t)(off % txn->sector_bytes);
		size_t n = (size_t)min_u64(len_bytes, txn->sector_bytes - at);
		struct patch *patch = find_patch(txn, off / txn->sector_bytes, stage);
		enum fat_status status = FAT_OK;

		if (!patch)
			status = make_patch(txn, off / txn->sector_bytes, stage, &patch);
		if (!patch)
			return status;
		edit_patch(txn, patch, at, from, bits, n);
		from += n;
		bits = bits ? bits + n : NULL;
		off += n;
		len_bytes -= n;
	}
	return FAT_OK;
}

enum fat_status fat_txn_write(struct fat_dev *dev, enum fat_stage stage, uint64_t off,
			      const void *buf, size_t len_bytes)
{
	return fat_txn_write_bits(dev, stage, off, buf, NULL, len_bytes);
}

/* ---- ranges ---- */

/* Index of the first range that ends behind off. */
static size_t first_behind(const struct range_list *list, uint64_t off)
{
	size_t low = 0;
	size_t high = list->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list->range[mid].off + list->range[mid].len_bytes <= off)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* An earlier copy of this stage reads what the new range overwrites. */
static bool is_source(const struct range_list *sources, const struct range *range)
{
	size_t i = first_behind(sources, range->off);

	return i < sources->n && sources->range[i].off < range->off + range->len_bytes;
}

static bool range_fits(const struct dev_txn *txn, const struct range *range)
{
	uint64_t size = txn->dev.size_bytes;

	if (range->off % txn->sector_bytes || range->len_bytes % txn->sector_bytes ||
	    range->source_off % txn->sector_bytes || range->len_bytes == 0)
		return false;
	if (range->off > size || range->len_bytes > size - range->off ||
	    range->source_off > size || range->len_bytes > size - range->source_off)
		return false;
	return range->is_fill || range->source_off >= range->off + range->len_bytes ||
	       range->off >= range->source_off + range->len_bytes;
}

static enum fat_status grow_list(struct dev_txn *txn, struct range_list *list)
{
	size_t cap = list->cap ? 2 * list->cap : 16;
	struct range *grown;
	enum fat_status status;

	if (list->n + 2 <= list->cap) /* one may be cut in two */
		return FAT_OK;
	status = charge(txn, (cap - list->cap) * sizeof *grown);
	if (status != FAT_OK)
		return status;
	grown = realloc(list->range, cap * sizeof *grown);
	if (!grown)
		return fat_dev_fail(&txn->dev, FAT_ERR_MEMORY, "stage", 0, 0, 0);
	list->range = grown;
	list->cap = cap;
	return FAT_OK;
}

static void insert_range(struct range_list *list, size_t at, const struct range *range)
{
	memmove(list->range + at + 1, list->range + at, (list->n - at) * sizeof *list->range);
	list->range[at] = *range;
	list->n++;
}

static void shift_start(struct range *range, uint64_t bytes)
{
	range->off += bytes;
	range->source_off += bytes;
	range->len_bytes -= bytes;
}

/* What lies in off and after it is no range's any more. There is room for one more range. */
static void cut_out(struct range_list *list, uint64_t off, uint64_t len_bytes)
{
	uint64_t end = off + len_bytes;
	size_t i = first_behind(list, off), n_gone = 0;

	if (i < list->n && list->range[i].off < off) {
		struct range tail = list->range[i];

		list->range[i].len_bytes = off - tail.off;
		i++;
		shift_start(&tail, off - tail.off);
		insert_range(list, i, &tail);
	}
	while (i + n_gone < list->n &&
	       list->range[i + n_gone].off + list->range[i + n_gone].len_bytes <= end)
		n_gone++;
	if (n_gone > 0) {
		list->n -= n_gone;
		memmove(list->range + i, list->range + i + n_gone,
			(list->n - i) * sizeof *list->range);
	}
	if (i < list->n && list->range[i].off < end)
		shift_start(&list->range[i], end - list->range[i].off);
}

/* The edits of this stage and the later ones that a new range lies over are no more. */
static void forget_patches(struct dev_txn *txn, enum fat_stage stage, const struct range *range)
{
	for (int s = (int)stage; s < FAT_N_STAGES; s++) {
		uint64_t end = range->off + range->len_bytes;

		for (uint64_t off = range->off; off < end && txn->n_stage_patches[s] > 0;
		     off += txn->sector_bytes) {
			struct patch *patch =
				find_patch(txn, off / txn->sector_bytes, (enum fat_stage)s);

			if (patch)
				memset(patch->bytes + txn->sector_bytes, 0, txn->sector_bytes);
		}
	}
}

/* In place of what lies there. */
static enum fat_status put_range(struct dev_txn *txn, struct range_list *list,
				 const struct range *range)
{
	enum fat_status status = grow_list(txn, list);

	if (status != FAT_OK)
		return status;
	cut_out(list, range->off, range->len_bytes);
	insert_range(list, first_behind(list, range->off), range);
	return FAT_OK;
}

static enum fat_status add_source(struct dev_txn *txn, struct range_list *sources,
				  const struct range *range)
{
	size_t i = first_behind(sources, range->source_off);

	if (i > 0 && (i == sources->n ||
		      sources->range[i].off >= range->source_off + range->len_bytes) &&
	    sources->range[i - 1].off + sources->range[i - 1].len_bytes == range->source_off) {
		sources->range[i - 1].len_bytes += range->len_bytes;
		return FAT_OK;
	}
	return put_range(txn, sources, &(struct range){ .off = range->source_off,
							.len_bytes = range->len_bytes,
							.is_fill = true });
}

static enum fat_status add_range(struct dev_txn *txn, enum fat_stage stage,
				 const struct range *range)
{
	struct range_list *list = &txn->ranges[stage];
	enum fat_status status;

	if (!range_fits(txn, range) || is_source(&txn->sources[stage], range))
		return fat_dev_fail(&txn->dev, FAT_ERR_ARGUMENT, "stage", range->off,
				    range->len_bytes, 0);
	status = put_range(txn, list, range);
	if (status == FAT_OK && !range->is_fill)
		status = add_source(txn, &txn->sources[stage], range);
	if (status == FAT_OK)
		forget_patches(txn, stage, range);
	return status;
}

enum fat_status fat_txn_fill(struct fat_dev *dev, enum fat_stage stage, uint8_t byte, uint64_t off,
			     uint64_t len_bytes)
{
	return add_range(as_txn(dev), stage,
			 &(struct range){ .off = off, .len_bytes = len_bytes, .is_fill = true,
					  .fill = byte });
}

/* The first part of a copy, as long as its source is of one piece; a copy's copy has its source. */
static void resolve(const struct range_list *list, struct range *range)
{
	size_t i = first_behind(list, range->source_off);
	const struct range *source = i < list->n ? &list->range[i] : NULL;

	if (!source || source->off >= range->source_off + range->len_bytes)
		return;
	if (source->off > range->source_off) {
		range->len_bytes = source->off - range->source_off;
		return;
	}
	range->len_bytes = min_u64(range->len_bytes,
				   source->off + source->len_bytes - range->source_off);
	range->is_fill = source->is_fill;
	range->fill = source->fill;
	range->source_off = source->is_fill ? 0 :
					      range->source_off - source->off + source->source_off;
}

enum fat_status fat_txn_copy(struct fat_dev *dev, enum fat_stage stage, uint64_t off,
			     uint64_t source_off, uint64_t len_bytes)
{
	struct dev_txn *txn = as_txn(dev);
	struct range whole = { .off = off, .len_bytes = len_bytes, .source_off = source_off };
	struct range part, rest = whole;
	enum fat_status status = FAT_OK;

	for (; rest.len_bytes > 0; shift_start(&rest, part.len_bytes)) {
		part = rest;
		resolve(&txn->ranges[stage], &part);
		if (!range_fits(txn, &whole) || !range_fits(txn, &part) ||
		    is_source(&txn->sources[stage], &part))
			return fat_dev_fail(dev, FAT_ERR_ARGUMENT, "stage", off, len_bytes, 0);
	}
	for (rest = whole; rest.len_bytes > 0 && status == FAT_OK;
	     shift_start(&rest, part.len_bytes)) {
		part = rest;
		resolve(&txn->ranges[stage], &part);
		status = add_range(txn, stage, &part);
	}
	return status;
}

/* ---- reading ---- */

static enum fat_status read_below_stage(struct dev_txn *txn, int n_stages, uint64_t off,
					uint8_t *buf, size_t len_bytes);

static enum fat_status apply_ranges(struct dev_txn *txn, int stage, uint64_t off, uint8_t *buf,
				    size_t len_bytes)
{
	const struct range_list *list = &txn->ranges[stage];
	enum fat_status status = FAT_OK;

	for (size_t i = first_behind(list, off);
	     status == FAT_OK && i < list->n && list->range[i].off < off + len_bytes; i++) {
		const struct range *range = &list->range[i];
		uint64_t from = max_u64(off, range->off);
		size_t n = (size_t)(min_u64(off + len_bytes, range->off + range->len_bytes) -
				    from);

		if (range->is_fill)
			memset(buf + (from - off), range->fill, n);
		else
			status = read_below_stage(txn, stage,
						  range->source_off + (from - range->off),
						  buf + (from - off), n);
	}
	return status;
}

static void apply_patches(const struct dev_txn *txn, enum fat_stage stage, uint64_t off,
			  uint8_t *buf, size_t len_bytes)
{
	if (txn->n_stage_patches[stage] == 0)
		return;
	while (len_bytes > 0) {
		size_t at = (size_t)(off % txn->sector_bytes);
		size_t n = (size_t)min_u64(len_bytes, txn->sector_bytes - at);
		const struct patch *patch = find_patch(txn, off / txn->sector_bytes, stage);

		if (patch)
			apply_patch(txn, patch, at, buf, n);
		buf += n;
		off += n;
		len_bytes -= n;
	}
}

/* What the medium will hold once the first n_stages are committed. Recursion: once a stage. */
static enum fat_status read_below_stage(struct dev_txn *txn, int n_stages, uint64_t off,
					uint8_t *buf, size_t len_bytes)
{
	enum fat_status status = fat_dev_read(txn->dev.below, off, buf, len_bytes);

	for (int stage = 0; status == FAT_OK && stage < n_stages; stage++) {
		status = apply_ranges(txn, stage, off, buf, len_bytes);
		apply_patches(txn, (enum fat_stage)stage, off, buf, len_bytes);
	}
	return status;
}

enum fat_status fat_txn_read_before(struct fat_dev *dev, enum fat_stage stage, uint64_t off,
				    void *buf, size_t len_bytes)
{
	if (off > dev->size_bytes || len_bytes > dev->size_bytes - off)
		return fat_dev_fail(dev, FAT_ERR_RANGE, "read", off, len_bytes, 0);
	return read_below_stage(as_txn(dev), (int)stage, off, buf, len_bytes);
}

/* ---- committing ---- */

static int by_sector(const void *a, const void *b)
{
	uint64_t x = (*(const struct patch *const *)a)->sector;
	uint64_t y = (*(const struct patch *const *)b)->sector;

	return x < y ? -1 : x > y;
}

/* The patches of a stage by offset; n of them. NULL: no memory. */
static struct patch **sorted_patches(const struct dev_txn *txn, enum fat_stage stage, size_t n)
{
	struct patch **list = malloc((n ? n : 1) * sizeof(struct patch *));
	size_t k = 0;

	if (!list)
		return NULL;
	for (size_t i = 0; i < txn->n_slots; i++)
		for (struct patch *patch = txn->slot[i]; patch; patch = patch->next)
			if (patch->stage == stage)
				list[k++] = patch;
	qsort(list, k, sizeof(struct patch *), by_sector);
	return list;
}

/* How many of the patches from first on lie side by side. */
static size_t run_length(const struct dev_txn *txn, struct patch **list, size_t first, size_t n)
{
	size_t most = RUN_BYTES / txn->sector_bytes;
	size_t k = 1;

	while (first + k < n && k < most && list[first + k]->sector == list[first]->sector + k)
		k++;
	return k;
}

static enum fat_status write_run(struct dev_txn *txn, struct patch **list, size_t n)
{
	struct fat_dev *below = txn->dev.below;
	uint64_t off = list[0]->sector * txn->sector_bytes;
	size_t len_bytes = (size_t)min_u64(n * txn->sector_bytes, below->size_bytes - off);
	enum fat_status status = fat_dev_read(below, off, txn->run, len_bytes);

	if (status != FAT_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		size_t at = i * txn->sector_bytes;

		apply_patch(txn, list[i], 0, txn->run + at,
			    (size_t)min_u64(txn->sector_bytes, len_bytes - at));
	}
	return fat_dev_write(below, off, txn->run, len_bytes);
}

static enum fat_status write_range(struct dev_txn *txn, const struct range *range)
{
	struct fat_dev *below = txn->dev.below;
	enum fat_status status = FAT_OK;

	if (range->is_fill && range->fill == 0)
		return fat_dev_zero(below, range->off, range->len_bytes);
	if (range->is_fill)
		memset(txn->run, range->fill, RUN_BYTES);
	for (uint64_t done = 0; status == FAT_OK && done < range->len_bytes; done += RUN_BYTES) {
		size_t n = (size_t)min_u64(RUN_BYTES, range->len_bytes - done);

		if (!range->is_fill)
			status = fat_dev_read(below, range->source_off + done, txn->run, n);
		if (status == FAT_OK)
			status = fat_dev_write(below, range->off + done, txn->run, n);
	}
	return status;
}

static enum fat_status save_stage(struct dev_txn *txn, enum fat_stage stage,
				  struct patch **list, size_t n, struct fat_dev *undo)
{
	const struct range_list *ranges = &txn->ranges[stage];
	enum fat_status status = FAT_OK;

	for (size_t i = 0; status == FAT_OK && i < ranges->n; i++)
		status = fat_undo_save(undo, ranges->range[i].off, ranges->range[i].len_bytes);
	for (size_t i = 0; status == FAT_OK && i < n; i++) {
		uint64_t off = list[i]->sector * txn->sector_bytes;

		status = fat_undo_save(undo, off,
				       min_u64(txn->sector_bytes, txn->dev.size_bytes - off));
	}
	if (status != FAT_OK)
		txn->dev.error = undo->error;
	return status;
}

static enum fat_status write_stage(struct dev_txn *txn, enum fat_stage stage,
				   struct patch **list, size_t n)
{
	const struct range_list *ranges = &txn->ranges[stage];
	enum fat_status status = FAT_OK;
	size_t k;

	for (size_t i = 0; status == FAT_OK && i < ranges->n; i++)
		status = write_range(txn, &ranges->range[i]);
	for (size_t i = 0; status == FAT_OK && i < n; i += k) {
		k = run_length(txn, list, i, n);
		status = write_run(txn, list + i, k);
	}
	if (status == FAT_OK)
		status = fat_dev_flush(txn->dev.below);
	if (status != FAT_OK)
		txn->dev.error = txn->dev.below->error;
	return status;
}

static enum fat_status commit_stage(struct dev_txn *txn, enum fat_stage stage,
				    struct fat_dev *undo)
{
	size_t n = txn->n_stage_patches[stage];
	struct patch **list = sorted_patches(txn, stage, n);
	enum fat_status status = FAT_OK;

	if (!list)
		return fat_dev_fail(&txn->dev, FAT_ERR_MEMORY, "commit", 0, 0, 0);
	if (undo)
		status = save_stage(txn, stage, list, n, undo);
	if (status == FAT_OK)
		status = write_stage(txn, stage, list, n);
	free(list);
	return status;
}

enum fat_status fat_txn_commit(struct fat_dev *dev, struct fat_dev *undo, enum fat_stage *stage)
{
	for (int i = 0; i < FAT_N_STAGES; i++) {
		enum fat_stage at = (enum fat_stage)i;
		enum fat_status status = FAT_OK;

		if (stage)
			*stage = at;
		if (fat_txn_has_edits(dev, at))
			status = commit_stage(as_txn(dev), at, undo);
		if (status != FAT_OK)
			return status;
	}
	fat_txn_rollback(dev);
	return FAT_OK;
}

/* ---- the layer ---- */

bool fat_txn_has_edits(const struct fat_dev *dev, enum fat_stage stage)
{
	const struct dev_txn *txn = (const struct dev_txn *)dev;

	if (stage != FAT_N_STAGES)
		return txn->n_stage_patches[stage] > 0 || txn->ranges[stage].n > 0;
	for (int i = 0; i < FAT_N_STAGES; i++)
		if (fat_txn_has_edits(dev, (enum fat_stage)i))
			return true;
	return false;
}

uint64_t fat_txn_used_bytes(const struct fat_dev *dev)
{
	return ((const struct dev_txn *)dev)->used_bytes;
}

uint64_t fat_txn_free_bytes(const struct fat_dev *dev)
{
	const struct dev_txn *txn = (const struct dev_txn *)dev;

	return txn->max_bytes - txn->used_bytes;
}

void fat_txn_set_stage(struct fat_dev *dev, enum fat_stage stage)
{
	as_txn(dev)->stage = stage;
}

void fat_txn_rollback(struct fat_dev *dev)
{
	struct dev_txn *txn = as_txn(dev);

	for (size_t i = 0; i < txn->n_slots; i++) {
		for (struct patch *patch = txn->slot[i], *next; patch; patch = next) {
			next = patch->next;
			free(patch);
		}
		txn->slot[i] = NULL;
	}
	for (int i = 0; i < FAT_N_STAGES; i++) {
		free(txn->ranges[i].range);
		free(txn->sources[i].range);
		txn->ranges[i] = txn->sources[i] = (struct range_list){ 0 };
		txn->n_stage_patches[i] = 0;
	}
	txn->n_patches = 0;
	txn->used_bytes = 0;
}

static enum fat_status txn_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes)
{
	return read_below_stage(as_txn(dev), FAT_N_STAGES, off, buf, len_bytes);
}

static enum fat_status txn_write(struct fat_dev *dev, uint64_t off, const void *buf,
				 size_t len_bytes)
{
	return fat_txn_write(dev, as_txn(dev)->stage, off, buf, len_bytes);
}

static enum fat_status txn_write_bits(struct fat_dev *dev, uint64_t off, const void *buf,
				      const void *mask, size_t len_bytes)
{
	return fat_txn_write_bits(dev, as_txn(dev)->stage, off, buf, mask, len_bytes);
}

static void txn_prefetch(struct fat_dev *dev, uint64_t off, uint64_t len_bytes)
{
	fat_dev_prefetch(dev->below, off, len_bytes);
}

/* What is held back has nothing to flush; the commit does it. */
static enum fat_status txn_flush(struct fat_dev *dev)
{
	(void)dev;
	return FAT_OK;
}

static void txn_close(struct fat_dev *dev)
{
	struct dev_txn *txn = as_txn(dev);

	fat_txn_rollback(dev);
	free(txn->slot);
	free(txn->run);
	free(txn);
}

static const struct fat_dev_ops txn_ops = {
	.name = "txn",
	.read = txn_read,
	.write = txn_write,
	.write_bits = txn_write_bits,
	.prefetch = txn_prefetch,
	.flush = txn_flush,
	.close = txn_close,
};

enum fat_status fat_txn_open(struct fat_dev *below, uint32_t sector_bytes, uint64_t max_bytes,
			     struct fat_dev **dev)
{
	struct dev_txn *txn = as_txn(fat_dev_new(sizeof *txn, &txn_ops, below));

	*dev = NULL;
	if (!txn)
		return FAT_ERR_MEMORY;
	/* What is held back harms no medium: a check stages edits, too. */
	txn->dev.read_only = false;
	txn->sector_bytes = sector_bytes;
	txn->max_bytes = max_bytes;
	txn->stage = FAT_STAGE_PREPARE;
	txn->n_slots = MIN_SLOTS;
	txn->slot = calloc(txn->n_slots, sizeof(struct patch *));
	txn->run = malloc(RUN_BYTES);
	if (!txn->slot || !txn->run) {
		free(txn->slot);
		free(txn->run);
		free(txn);
		return FAT_ERR_MEMORY;
	}
	*dev = &txn->dev;
	return FAT_OK;
}
