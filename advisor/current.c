/* SPDX-License-Identifier: MIT */
/*
 * current: the FAT volume that is on a device now, and whether the factory made it.
 *
 * A card comes as the SD Association's formatter lays it out: the partition and the data area begin
 * on a boundary unit, which goes with the capacity [SD, appendix C]. Nothing is written.
 */
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "bytes.h"

#define MIB (1ull << 20)

#define TABLE_OFF     446
#define ENTRY_TYPE    4
#define ENTRY_START   8
#define SIGNATURE_OFF 510
#define N_BLOCK_BYTES 4096

/* Boundary unit and cluster by capacity. [SD] */
static const struct {
	uint64_t up_to_mib;
	uint32_t boundary_kib, cluster_kib;
} factory[] = {
	{ 8, 8, 8 },      { 64, 8, 16 },       { 256, 32, 16 },       { 1024, 64, 16 },
	{ 2048, 64, 32 }, { 32768, 4096, 32 }, { 131072, 16384, 64 },
};

static bool is_factory_layout(const struct advise_current *current, uint64_t size_bytes)
{
	for (size_t i = 0; i < sizeof factory / sizeof *factory; i++) {
		uint64_t unit = factory[i].boundary_kib * 1024ull;

		if (size_bytes > factory[i].up_to_mib * MIB)
			continue;
		return current->part_off > 0 && current->part_off % unit == 0 &&
		       current->data_off % unit == 0 &&
		       current->cluster_bytes == factory[i].cluster_kib * 1024u;
	}
	return false;
}

static bool take_volume(const uint8_t *sector, uint64_t off, struct advise_current *current)
{
	struct fat_geometry g;
	struct fat_boot boot;

	fat_boot_decode(sector, &boot);
	if (get_le16(sector + SIGNATURE_OFF) != 0xAA55 || fat_geometry_decode(&boot, &g) != FAT_OK)
		return false;
	current->fat_bits = (int)g.type;
	current->cluster_bytes = g.cluster_sec * g.sector_bytes;
	current->part_off = off;
	current->data_off = off + (g.reserved_sec + (uint64_t)g.n_fats * g.fat_sec + g.root_sec) *
					  g.sector_bytes;
	return true;
}

/* Where the first partition of a table begins; 0: there is no table. */
static uint64_t first_partition(const uint8_t *sector, const struct advise_target *target)
{
	const uint8_t *entry = sector + TABLE_OFF;
	uint64_t off = (uint64_t)get_le32(entry + ENTRY_START) * target->sector_bytes;

	if (get_le16(sector + SIGNATURE_OFF) != 0xAA55 || entry[ENTRY_TYPE] == 0 ||
	    off % target->block_bytes != 0 || off + N_BLOCK_BYTES > target->dev->size_bytes)
		return 0;
	return off;
}

void advise_current_read(struct advise_target *target, uint64_t start_bytes,
			 struct advise_current *current)
{
	uint8_t *buf = aligned_alloc(N_BLOCK_BYTES, N_BLOCK_BYTES);
	uint64_t off = 0;

	*current = (struct advise_current){ 0 };
	if (!buf || target->dev->size_bytes < N_BLOCK_BYTES)
		goto done;
	if (fat_dev_read(target->dev, 0, buf, N_BLOCK_BYTES) != FAT_OK)
		goto done;
	if (!take_volume(buf, 0, current)) {
		off = first_partition(buf, target);
		if (off == 0 || fat_dev_read(target->dev, off, buf, N_BLOCK_BYTES) != FAT_OK ||
		    !take_volume(buf, off, current))
			goto done;
	}
	if (start_bytes > 0) {
		struct advise_current whole = *current;

		whole.part_off += start_bytes;
		whole.data_off += start_bytes;
		current->is_factory = is_factory_layout(&whole, target->dev->size_bytes);
	} else {
		current->is_factory = is_factory_layout(current, target->dev->size_bytes);
	}
done:
	free(buf);
}
