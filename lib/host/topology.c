/* SPDX-License-Identifier: MIT */
/*
 * topology: the block layer's numbers of a device and its disk.
 *
 * Knows the names of sysfs's attributes; takes their values as they are and judges none of them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mounts.h"
#include "sysfs.h"

#define SYSFS_SECTOR_BYTES 512u /* in sysfs always, whatever the device's own */

static uint32_t attr_u32(const char *dir, const char *name, uint64_t unit)
{
	uint64_t v;

	if (!host_attr_u64(dir, name, &v) || v > UINT32_MAX / unit)
		return 0;
	return (uint32_t)(v * unit);
}

static uint64_t attr_sectors(const char *dir, const char *name)
{
	uint64_t v;

	if (!host_attr_u64(dir, name, &v) || v > UINT64_MAX / SYSFS_SECTOR_BYTES)
		return 0;
	return v * SYSFS_SECTOR_BYTES;
}

/* The chain of parents in the device tree names the transport. */
static const char *driver_of(const char *disk_dir, const char *name)
{
	char *real = realpath(disk_dir, NULL);
	const char *driver = "";

	if (strncmp(name, "loop", 4) == 0)
		driver = "loop";
	else if (strncmp(name, "dm-", 3) == 0)
		driver = "dm";
	else if (strncmp(name, "nvme", 4) == 0)
		driver = "nvme";
	else if (strncmp(name, "mmcblk", 6) == 0)
		driver = "mmc";
	else if (real && strstr(real, "/usb"))
		driver = "usb";
	else if (real && strstr(real, "/virtio"))
		driver = "virtio";
	else if (real && strstr(real, "/ata"))
		driver = "ata";
	free(real);
	return driver;
}

static enum host_answer read_write_cache(const char *disk_dir)
{
	char text[HOST_NAME_BYTES];

	if (!host_attr_text(disk_dir, "queue/write_cache", text, sizeof text))
		return HOST_UNKNOWN;
	return strcmp(text, "write back") == 0 ? HOST_YES : HOST_NO;
}

static void read_disk(const char *disk_dir, struct host_topology *t)
{
	host_link_name(disk_dir, "", t->disk, sizeof t->disk);
	host_copy(t->driver, sizeof t->driver, driver_of(disk_dir, t->disk));
	t->disk_bytes = attr_sectors(disk_dir, "size");
	t->removable = host_attr_answer(disk_dir, "removable");
	t->logical_block_bytes = attr_u32(disk_dir, "queue/logical_block_size", 1);
	t->physical_block_bytes = attr_u32(disk_dir, "queue/physical_block_size", 1);
	t->minimum_io_bytes = attr_u32(disk_dir, "queue/minimum_io_size", 1);
	t->optimal_io_bytes = attr_u32(disk_dir, "queue/optimal_io_size", 1);
	t->max_request_bytes = attr_u32(disk_dir, "queue/max_sectors_kb", 1024);
	t->discard_granularity_bytes = attr_u32(disk_dir, "queue/discard_granularity", 1);
	host_attr_u64(disk_dir, "queue/discard_max_bytes", &t->discard_max_bytes);
	t->rotational = host_attr_answer(disk_dir, "queue/rotational");
	t->write_cache = read_write_cache(disk_dir);
	host_attr_text(disk_dir, "loop/backing_file", t->backing_file, sizeof t->backing_file);
}

/* "-1" is the kernel's word for "misaligned". */
static int64_t read_alignment(const char *dir)
{
	char text[HOST_NAME_BYTES];

	host_attr_text(dir, "alignment_offset", text, sizeof text);
	return strtoll(text, NULL, 10);
}

static bool count_one(void *context, dev_t number, const char *name)
{
	uint32_t *n = context;

	(void)number;
	(void)name;
	(*n)++;
	return false;
}

enum host_answer host_topology_read(const struct host_roots *roots,
				    const struct host_target *target,
				    struct host_topology *topology)
{
	char dir[HOST_PATH_BYTES], disk_dir[HOST_PATH_BYTES];
	uint64_t index;
	struct stat st;

	*topology = (struct host_topology){ .name = "" };
	host_block_dir(roots, target->number, dir);
	if (target->kind != HOST_BLOCK && target->kind != HOST_FILE)
		return HOST_UNKNOWN;
	if (stat(dir, &st) != 0)
		return stat(host_sys(roots), &st) == 0 ? HOST_NO : HOST_UNKNOWN;
	host_link_name(dir, "", topology->name, sizeof topology->name);
	topology->size_bytes = attr_sectors(dir, "size");
	topology->is_partition = host_attr_u64(dir, "partition", &index);
	host_each_partition(dir, count_one, &topology->n_partitions);
	topology->part_start_bytes = attr_sectors(dir, "start");
	topology->alignment_off = read_alignment(dir);
	if (!host_join(disk_dir, dir, topology->is_partition ? ".." : ""))
		return HOST_UNKNOWN;
	read_disk(disk_dir, topology);
	topology->read_only = host_attr_answer(dir, "ro");
	return HOST_YES;
}
