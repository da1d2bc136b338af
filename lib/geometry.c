/* SPDX-License-Identifier: MIT */
/*
 * geometry: where things are on a volume.
 *
 * The only place where sectors and clusters become byte offsets. Pure arithmetic in 64 bits.
 */
#include "libfat.h"

#include "bytes.h"

static uint64_t to_bytes(const struct fat_geometry *geometry, uint64_t n_sec)
{
	return n_sec * geometry->sector_bytes;
}

uint64_t fat_geometry_fat_bytes(const struct fat_geometry *geometry)
{
	return to_bytes(geometry, geometry->fat_sec);
}

uint64_t fat_geometry_fat_off(const struct fat_geometry *geometry, uint32_t copy)
{
	return to_bytes(geometry, geometry->reserved_sec + (uint64_t)copy * geometry->fat_sec);
}

uint64_t fat_geometry_root_off(const struct fat_geometry *geometry)
{
	return fat_geometry_fat_off(geometry, geometry->n_fats);
}

uint64_t fat_geometry_root_bytes(const struct fat_geometry *geometry)
{
	return (uint64_t)geometry->root_entries * 32;
}

uint64_t fat_geometry_data_off(const struct fat_geometry *geometry)
{
	return fat_geometry_root_off(geometry) + to_bytes(geometry, geometry->root_sec);
}

uint64_t fat_geometry_total_bytes(const struct fat_geometry *geometry)
{
	return to_bytes(geometry, geometry->total_sec);
}

uint64_t fat_geometry_cluster_off(const struct fat_geometry *geometry, uint32_t clus)
{
	return fat_geometry_data_off(geometry) +
	       (uint64_t)(clus - FAT_FIRST_CLUS) * geometry->cluster_bytes;
}

uint32_t fat_geometry_clus_at(const struct fat_geometry *geometry, uint64_t off)
{
	uint64_t data_off = fat_geometry_data_off(geometry);
	uint64_t n;

	if (off < data_off)
		return 0;
	n = (off - data_off) / geometry->cluster_bytes;
	return n < geometry->n_clus ? (uint32_t)n + FAT_FIRST_CLUS : 0;
}

uint32_t fat_geometry_last_clus(const struct fat_geometry *geometry)
{
	return geometry->n_clus + FAT_FIRST_CLUS - 1;
}

bool fat_geometry_has_clus(const struct fat_geometry *geometry, uint32_t clus)
{
	return clus >= FAT_FIRST_CLUS && clus <= fat_geometry_last_clus(geometry);
}

uint64_t fat_geometry_fat_entries(enum fat_type type, uint32_t fat_sec, uint32_t sector_bytes)
{
	return (uint64_t)fat_sec * sector_bytes * 8 / (unsigned)type;
}

uint64_t fat_geometry_clus_for(const struct fat_geometry *geometry, uint64_t n_bytes)
{
	return div_ceil(n_bytes, geometry->cluster_bytes);
}
