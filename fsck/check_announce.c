/* SPDX-License-Identifier: MIT */
/*
 * check_announce: directories that will be read soon are asked for before, many at a time.
 *
 * The medium gets them in one go and in its own order, instead of one by one with a wait for each.
 * Only asks: knows nothing of what is in them, changes nothing, and what goes wrong is seen when
 * they are read.
 */
#include "bytes.h"
#include "fsck.h"

#define MOST_BYTES (128u << 10) /* of one directory: what is read at once */

/* The clusters of its chain that lie in a row. */
void announce_dir(struct fsck *fsck, uint32_t start)
{
	const struct fat_geometry *geometry = &fsck->geometry;
	uint32_t most = (uint32_t)max_u64(1, MOST_BYTES / geometry->cluster_bytes), n = 0, value;

	if (!fat_geometry_has_clus(geometry, start))
		return;
	do
		n++;
	while (n < most && fat_table_get(&fsck->table, start + n - 1, &value) == FAT_OK &&
	       value == start + n && fat_geometry_has_clus(geometry, value));
	fat_dev_prefetch(fsck->dev, fat_geometry_cluster_off(geometry, start),
			 (uint64_t)n * geometry->cluster_bytes);
}

void announce_dirs_in(struct fsck *fsck, const uint8_t *slots, size_t n_slots)
{
	for (size_t i = 0; i < n_slots; i++) {
		const uint8_t *slot = slots + i * FAT_SLOT_BYTES;
		struct fat_dirent dirent;

		if (fat_slot_classify(slot) != FAT_SLOT_DIRECTORY)
			continue;
		fat_dirent_decode(slot, fsck->geometry.type, &dirent);
		announce_dir(fsck, dirent.start_clus);
	}
}
