/* SPDX-License-Identifier: MIT */
/*
 * populate_place: what room a tree needs, and which clusters each of its nodes gets.
 *
 * Pure arithmetic. Folders come first, then the files, folder by folder, each behind the other: no
 * chain is broken but by a bad cluster, and no good cluster is left out in between.
 */
#include "populate.h"

#include "bytes.h"

/* ---- nodes in the order of their clusters ---- */

uint32_t fat_populate_walk_next(struct populate_walk *walk)
{
	const struct fat_populate *populate = walk->populate;

	if (!walk->in_files) {
		if (walk->folder_at < populate->n_folders)
			return populate->folder[walk->folder_at++];
		walk->in_files = true;
		walk->folder_at = 0;
	}
	for (; walk->folder_at < populate->n_folders; walk->folder_at++, walk->child_at = 0) {
		const struct populate_node *folder =
			&populate->node[populate->folder[walk->folder_at]];

		while (walk->child_at < folder->n_children) {
			uint32_t node =
				populate->child[folder->first_child + walk->child_at++].node;

			if (!populate->node[node].is_folder)
				return node;
		}
	}
	return FAT_POPULATE_NO_NODE;
}

/* ---- room ---- */

uint32_t fat_populate_root_slots(const struct fat_populate *populate)
{
	return populate->node[0].n_slots + populate->has_label;
}

static uint32_t slots_of(const struct fat_populate *populate, uint32_t folder)
{
	return folder == 0 ? fat_populate_root_slots(populate) : populate->node[folder].n_slots;
}

/* A folder has a cluster even if it is empty, unless it is FAT12/16's root. */
static uint32_t clus_of(const struct fat_populate *populate, uint32_t node, enum fat_type type,
			uint32_t cluster_bytes)
{
	uint64_t bytes = populate->node[node].size_bytes;

	if (populate->node[node].is_folder)
		bytes = max_u64((uint64_t)slots_of(populate, node) * FAT_SLOT_BYTES, 1);
	if (node == 0 && type != FAT_TYPE_32)
		return 0;
	return (uint32_t)min_u64(div_ceil(bytes, cluster_bytes), UINT32_MAX);
}

uint64_t fat_populate_clus_needed(const struct fat_populate *populate, enum fat_type type,
				  uint32_t cluster_bytes)
{
	uint64_t n_clus = 0;

	for (uint32_t i = 0; i < populate->n_nodes; i++)
		n_clus += clus_of(populate, i, type, cluster_bytes);
	return n_clus;
}

/* ---- bad clusters ---- */

size_t fat_populate_find_bad(const struct fat_populate *populate, uint32_t clus)
{
	size_t low = 0, high = populate->n_bad;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (populate->bad[middle] < clus)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t fat_populate_skip_bad(const struct fat_populate *populate, uint32_t clus)
{
	for (size_t i = fat_populate_find_bad(populate, clus);
	     i < populate->n_bad && populate->bad[i] == clus; i++)
		clus++;
	return clus;
}

uint32_t fat_populate_run(const struct fat_populate *populate, uint32_t clus, uint32_t n)
{
	size_t i = fat_populate_find_bad(populate, clus);

	if (i == populate->n_bad)
		return n;
	return (uint32_t)min_u64(n, populate->bad[i] - clus);
}

/* ---- placing ---- */

static uint32_t advance(const struct fat_populate *populate, uint32_t clus, uint32_t n)
{
	while (n > 0) {
		uint32_t run = fat_populate_run(populate, clus, n);

		clus = fat_populate_skip_bad(populate, clus + run);
		n -= run;
	}
	return clus;
}

static void place_node(struct fat_populate *populate, uint32_t i)
{
	const struct fat_geometry *geometry = &populate->geometry;
	struct populate_node *node = &populate->node[i];

	node->n_clus = clus_of(populate, i, geometry->type, geometry->cluster_bytes);
	node->first_clus = node->n_clus ? populate->end_clus : 0;
	populate->end_clus = advance(populate, populate->end_clus, node->n_clus);
	populate->n_used_clus += node->n_clus;
}

static enum fat_status check_room(struct fat_populate *populate)
{
	const struct fat_geometry *geometry = &populate->geometry;
	uint64_t need = fat_populate_clus_needed(populate, geometry->type, geometry->cluster_bytes);
	uint64_t have = geometry->n_clus - min_u64(populate->n_bad, geometry->n_clus);
	uint32_t slots = fat_populate_root_slots(populate);
	enum fat_status status = FAT_OK;

	if (geometry->type != FAT_TYPE_32 && slots > geometry->root_entries)
		status = fat_populate_object(populate, (struct fat_populate_objection){
							       .id = FAT_POPULATE_ROOT_FULL,
							       .found = slots,
							       .limit = geometry->root_entries });
	if (status == FAT_OK && need > have)
		status = fat_populate_object(
			populate, (struct fat_populate_objection){ .id = FAT_POPULATE_VOLUME_FULL,
								   .found = need,
								   .limit = have });
	return status;
}

enum fat_status fat_populate_place(struct fat_populate *populate,
				   const struct fat_geometry *geometry, const uint32_t *bad,
				   size_t n_bad)
{
	struct populate_walk walk = { .populate = populate };
	enum fat_status status;
	uint32_t node;

	populate->geometry = *geometry;
	populate->bad = bad;
	populate->n_bad = n_bad;
	populate->n_objections = populate->n_name_objections;
	populate->n_used_clus = 0;
	populate->end_clus = fat_populate_skip_bad(populate, FAT_FIRST_CLUS);
	if (geometry->type == FAT_TYPE_32 && geometry->root_clus != populate->end_clus)
		return FAT_ERR_ARGUMENT;
	status = check_room(populate);
	if (status != FAT_OK || fat_populate_is_refused(populate))
		return status;
	while ((node = fat_populate_walk_next(&walk)) != FAT_POPULATE_NO_NODE)
		place_node(populate, node);
	return fat_populate_make_runs(populate);
}

uint32_t fat_populate_used_clus(const struct fat_populate *populate)
{
	return populate->n_used_clus;
}

uint32_t fat_populate_last_clus(const struct fat_populate *populate)
{
	return populate->end_clus - 1;
}
