/* SPDX-License-Identifier: MIT */
/*
 * volume: a volume on a device, as its boot sector describes it.
 *
 * Puts the parts together and believes the boot sector; doubting it is fsck's business.
 */
#include "libfat.h"

enum fat_status fat_volume_open(struct fat_volume *volume, struct fat_dev *dev,
				size_t budget_bytes)
{
	enum fat_status status;

	*volume = (struct fat_volume){ .dev = dev };
	status = fat_dev_read(dev, 0, volume->sector, sizeof volume->sector);
	if (status != FAT_OK)
		return status == FAT_ERR_RANGE ? FAT_ERR_FORMAT : status;
	fat_boot_decode(volume->sector, &volume->boot);
	status = fat_geometry_decode(&volume->boot, &volume->geometry);
	if (status != FAT_OK)
		return status;
	return fat_table_init(&volume->table, dev, &volume->geometry, budget_bytes);
}

void fat_volume_close(struct fat_volume *volume)
{
	fat_table_fini(&volume->table);
}
