/* SPDX-License-Identifier: MIT */
/*
 * populate_fit: the smallest volume that holds a tree.
 *
 * Asks the planner, so that the same request with that size gives the same volume. A larger volume
 * may hold less, for its clusters are larger: sizes are tried from below, not halved.
 */
#include "populate.h"

#include "bytes.h"

#define UNIT_BYTES       1024u /* what mkfs.fat counts sizes in */
#define N_STEPS          8192u /* to twice the size */
#define MAX_ROOT_ENTRIES 32768u
#define LOG_SIZES        32u

enum fat_status fat_populate_plan(const struct fat_populate *populate,
				  const struct fat_layout_request *request,
				  struct fat_layout *layout)
{
	struct fat_layout_request ask = *request;
	enum fat_status status = fat_layout_plan(&ask, layout);
	uint32_t n_slots = fat_populate_root_slots(populate);

	if (status != FAT_OK || layout->geometry.type == FAT_TYPE_32 || ask.root_entries ||
	    n_slots <= layout->geometry.root_entries || n_slots > MAX_ROOT_ENTRIES)
		return status;
	ask.root_entries = n_slots;
	return fat_layout_plan(&ask, layout);
}

/* ---- the smallest ---- */

struct fitting {
	const struct fat_populate *populate;
	struct fat_layout_request ask;
	fat_planner planner; /* NULL: fat_populate_plan() */
	void *ctx;
	struct fat_layout *layout;
	uint64_t needed[2]
		       [LOG_SIZES]; /* by FAT32 or not, and log2 of the cluster; 0: not yet known */
};

static unsigned log2_of(uint32_t v)
{
	unsigned log = 0;

	while (v >>= 1)
		log++;
	return log;
}

static uint64_t needed(struct fitting *fitting, enum fat_type type, uint32_t cluster_bytes)
{
	uint64_t *known = &fitting->needed[type == FAT_TYPE_32][log2_of(cluster_bytes)];

	if (*known == 0) /* FAT12/16 can need none at all: that is found out fast enough */
		*known = fat_populate_clus_needed(fitting->populate, type, cluster_bytes);
	return *known;
}

static enum fat_status plan(struct fitting *fitting, uint64_t size_bytes)
{
	struct fat_layout_request *ask = &fitting->ask;

	ask->size_bytes = size_bytes;
	return fitting->planner ? fitting->planner(fitting->ctx, ask, fitting->layout) :
				  fat_populate_plan(fitting->populate, ask, fitting->layout);
}

static bool holds(struct fitting *fitting, uint64_t size_bytes)
{
	const struct fat_geometry *geometry = &fitting->layout->geometry;

	if (plan(fitting, size_bytes) != FAT_OK || fitting->layout->is_small_32)
		return false;
	if (geometry->type != FAT_TYPE_32 &&
	    fat_populate_root_slots(fitting->populate) > geometry->root_entries)
		return false;
	return needed(fitting, geometry->type, geometry->cluster_bytes) <= geometry->n_clus;
}

/* Steps that stay small against the size, so that none worth having is stepped over. */
static uint64_t step_at(uint64_t size_bytes)
{
	return max_u64(size_bytes / N_STEPS / UNIT_BYTES, 1) * UNIT_BYTES;
}

/* The first size from `from` on that holds the tree; 0: none up to the limit. */
static uint64_t scan(struct fitting *fitting, uint64_t from, uint64_t limit)
{
	uint64_t before = from, size = from;

	while (size <= limit && !holds(fitting, size)) {
		before = size;
		size += step_at(size);
	}
	if (size > limit)
		return 0;
	for (before += UNIT_BYTES; before < size; before += UNIT_BYTES)
		if (holds(fitting, before))
			return before;
	return size;
}

enum fat_status fat_populate_fit(const struct fat_populate *populate,
				 const struct fat_layout_request *request, fat_planner planner,
				 void *ctx, struct fat_layout *layout, uint64_t *size_bytes)
{
	struct fitting fitting = { .populate = populate,
				   .ask = *request,
				   .planner = planner,
				   .ctx = ctx,
				   .layout = layout };
	uint32_t sector_bytes =
		request->sector_bytes ? request->sector_bytes : FAT_MIN_SECTOR_BYTES;
	uint32_t least = sector_bytes * (request->cluster_sec ? request->cluster_sec : 1);
	uint64_t content = needed(&fitting, FAT_TYPE_16, least) * least;
	uint64_t limit = (uint64_t)UINT32_MAX * sector_bytes;
	uint64_t from = max_u64(round_up(content, UNIT_BYTES), UNIT_BYTES);
	uint64_t found = scan(&fitting, from, limit);

	if (found == 0)
		return FAT_ERR_SIZE;
	holds(&fitting, found); /* leaves its plan in *layout */
	*size_bytes = found;
	return FAT_OK;
}
