/* SPDX-License-Identifier: MIT */
/*
 * layouts: where a FAT volume of each cluster size would have its parts on the target.
 */
#include "advise.h"

#include "bytes.h"

#define ROOT_ENTRIES 512u

/* Clusters by the entries' width; 0 bits if no width has so many. [COMPAT 3] */
static int bits_for(uint64_t n_clusters)
{
	if (n_clusters > 268435446)
		return 0;
	if (n_clusters >= 65525)
		return 32;
	if (n_clusters >= 4087)
		return n_clusters <= 65524 ? 16 : 0;
	return n_clusters >= 1 && n_clusters <= 4084 ? 12 : 0;
}

static uint64_t entries_bytes(int bits, uint64_t n_entries)
{
	return bits == 12 ? div_ceil(n_entries * 3, 2) : n_entries * (uint64_t)(bits / 8);
}

/* false if the volume does not have a number of clusters for this width. */
static bool lay_out(const struct advise_facts *facts, uint32_t sector, uint64_t align, int bits,
		    struct advise_layout *l)
{
	uint64_t reserved = (bits == 32 ? 32u : 1u) * (uint64_t)sector;
	uint64_t root_bytes = bits == 32 ? 0 : ROOT_ENTRIES * 32u;
	uint64_t fat = 0;

	for (int round = 0; round < 4; round++) {
		uint64_t used = reserved + 2 * fat + root_bytes;

		if (used + 65536 > facts->size_bytes)
			return false;
		l->n_clusters = (facts->size_bytes - used) / l->cluster_bytes;
		fat = round_up(entries_bytes(bits, l->n_clusters + 2), sector);
		reserved = (bits == 32 ? 32u : 1u) * (uint64_t)sector;
		used = facts->start_bytes + reserved + 2 * fat + root_bytes;
		reserved += round_up(used, align ? align : l->cluster_bytes) - used;
	}
	l->fat_bits = bits;
	l->reserved_sec = (uint32_t)(reserved / sector);
	l->fat_bytes = fat;
	l->fat1_off = reserved;
	l->fat2_off = reserved + fat;
	l->root_off = reserved + 2 * fat;
	l->data_off = l->root_off + root_bytes;
	return bits_for(l->n_clusters) == bits && reserved / sector <= 65535;
}

void advise_layouts(const struct advise_facts *facts, uint32_t sector_bytes, uint64_t align_bytes,
		    struct advise_layout layouts[ADVISE_N_CLUSTERS])
{
	static const int widths[] = { 32, 16, 12 };

	for (size_t i = 0; i < ADVISE_N_CLUSTERS; i++) {
		struct advise_layout *l = &layouts[i];
		bool found = false;

		*l = (struct advise_layout){ .cluster_bytes = 512u << i,
					     .sector_bytes = sector_bytes };
		for (size_t k = 0; k < 3 && !found && l->cluster_bytes >= sector_bytes; k++)
			found = lay_out(facts, sector_bytes, align_bytes, widths[k], l);
		if (!found)
			l->fat_bits = 0;
	}
}
