/* SPDX-License-Identifier: MIT */
/*
 * layouts: where a FAT volume of each cluster size would have its parts on the target.
 *
 * libfat's planner decides, the same that mkfs.fat asks, so that advice and volume never disagree.
 */
#include "advise.h"

#include "bytes.h"

static void take_plan(const struct fat_layout *plan, struct advise_layout *l)
{
	const struct fat_geometry *g = &plan->geometry;
	uint64_t sector = g->sector_bytes;

	l->fat_bits = g->fat_sec == 0 ? 0 : (int)g->type;
	l->reserved_sec = g->reserved_sec;
	l->fat_bytes = g->fat_sec * sector;
	l->fat1_off = g->reserved_sec * sector;
	l->fat2_off = l->fat1_off + (g->n_fats > 1 ? l->fat_bytes : 0);
	l->root_off = l->fat1_off + g->n_fats * l->fat_bytes;
	l->data_off = l->root_off + g->root_sec * sector;
	l->n_clusters = g->n_clus;
}

bool advise_layout_plan(const struct advise_facts *facts, uint32_t sector_bytes,
			uint32_t cluster_bytes, const struct advise_align *align,
			struct advise_layout *l)
{
	static const uint8_t types[] = { 32, 16, 12 };
	struct fat_layout_request request = {
		.size_bytes = facts->size_bytes,
		.start_off = facts->start_bytes,
		.sector_bytes = sector_bytes,
		.cluster_sec = cluster_bytes / sector_bytes,
		.align = align->kind,
		.align_bytes = align->bytes,
		.align_phase_bytes = align->phase_bytes,
		.reserved_sec = align->reserved_sec,
	};

	*l = (struct advise_layout){ .cluster_bytes = cluster_bytes, .sector_bytes = sector_bytes };
	for (size_t i = 0; request.cluster_sec > 0 && i < sizeof types; i++) {
		struct fat_layout plan;

		request.type = types[i];
		if (fat_layout_plan(&request, &plan) != FAT_OK || plan.is_small_32)
			continue;
		take_plan(&plan, l);
		return true;
	}
	return false;
}

void advise_layouts(const struct advise_facts *facts, uint32_t sector_bytes,
		    struct advise_layout layouts[ADVISE_N_CLUSTERS])
{
	const struct advise_align usual = { .kind = FAT_ALIGN_CLUSTER };

	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++)
		advise_layout_plan(facts, sector_bytes, 512u << i, &usual, &layouts[i]);
}
