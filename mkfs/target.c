/* SPDX-License-Identifier: MIT */
/*
 * target: opens or creates what is to be formatted, and finds out what the planner wants to know.
 *
 * Refuses what is in use, and what holds something else than FAT. Writes nothing, except that -C
 * makes a file, which is removed again when the work fails.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "host.h"
#include "mkfs.h"

static bool refuse(const struct mkfs_options *options, const char *what, const char *advice)
{
	cli_error(&mkfs_program, "%s: %s; %s", options->path, what, advice);
	return false;
}

/* ---- in use, or holding something ---- */

static bool is_free(const struct mkfs_options *options, const struct host_target *place)
{
	struct host_use use;
	char text[HOST_TEXT_BYTES], what[2 * HOST_TEXT_BYTES];

	if (host_use_find(NULL, place, &use) != HOST_YES)
		return true;
	if (use.kind == HOST_USE_LOOP && options->ignore_checks)
		return true;
	host_use_text(&use, text, sizeof text);
	snprintf(what, sizeof what, "%s%s %s%s", use.device[0] ? use.device : "",
		 use.device[0] ? " is" : "is", text,
		 use.kind == HOST_USE_MOUNTED ? ": contains a mounted filesystem" : "");
	switch (use.kind) {
	case HOST_USE_MOUNTED:
		return refuse(options, what, "unmount it first");
	case HOST_USE_SWAP:
		return refuse(options, what, "swapoff it first");
	case HOST_USE_LOOP:
		return refuse(options, what, "detach it first, or use -I to override");
	case HOST_USE_HELD:
	case HOST_USE_NONE:
		break;
	}
	return refuse(options, what, "release it first");
}

static bool holds_nothing_else(const struct mkfs_options *options, struct fat_dev *dev)
{
	struct host_signature found;
	char what[2 * HOST_TEXT_BYTES];

	if (options->ignore_checks ||
	    host_signature_read(fat_dev_file_fd(dev), 0, 0, &found) != HOST_YES || found.is_fat)
		return true;
	if (found.is_table)
		snprintf(what, sizeof what,
			 "Partitions or virtual mappings on device: a partition table (%s), not "
			 "making filesystem", found.type);
	else
		snprintf(what, sizeof what, "holds a file system (%s%s%s)", found.type,
			 found.label[0] ? ", " : "", found.label);
	return refuse(options, what, "use -I to override");
}

/* ---- opening ---- */

static bool open_failed(const struct mkfs_options *options, const struct fat_error *error)
{
	const char *why = error->sys_errno ? strerror(error->sys_errno) :
					     fat_status_text(error->status);

	switch (error->status) {
	case FAT_ERR_SIZE:
	case FAT_ERR_KIND:
		cli_error(&mkfs_program, "%s: unable to discover size: %s; give a block device, or "
					 "a file that has a size", options->path, why);
		return false;
	case FAT_ERR_BUSY:
		return refuse(options, "in use by another program", "end that first");
	case FAT_ERR_OPEN:
	case FAT_OK:
	case FAT_ERR_IO:
	case FAT_ERR_MEMORY:
	case FAT_ERR_RANGE:
	case FAT_ERR_READ_ONLY:
	case FAT_ERR_ARGUMENT:
	case FAT_ERR_FORMAT:
	case FAT_ERR_CANCELLED:
		break;
	}
	cli_error(&mkfs_program, "%s: unable to open: %s; check the name and the permissions",
		  options->path, why);
	return false;
}

static bool create(const struct mkfs_options *options, struct mkfs_target *target)
{
	struct fat_error error;
	uint32_t sector_bytes = options->ask.sector_bytes ? options->ask.sector_bytes : 512;
	uint64_t size;

	if (!add_u64(options->n_blocks * 1024, options->offset_sec * sector_bytes, &size))
		return refuse(options, "too large", "give fewer blocks");
	if (access(options->path, F_OK) == 0)
		return refuse(options, "file already exists", "leave out -C to format it");
	if (fat_dev_file_open(options->path, FAT_DEV_WRITE | FAT_DEV_EXCLUSIVE | FAT_DEV_CREATE,
			      &target->dev, &error) != FAT_OK)
		return open_failed(options, &error);
	target->is_created = true;
	if (fat_dev_resize(target->dev, size) == FAT_OK)
		return true;
	cli_device_error(&mkfs_program, options->path, &target->dev->error);
	return false;
}

static bool open_existing(const struct mkfs_options *options, const struct host_target *place,
			  struct mkfs_target *target)
{
	struct fat_error error;

	if (!is_free(options, place))
		return false;
	if (fat_dev_file_open(options->path, FAT_DEV_WRITE | FAT_DEV_EXCLUSIVE, &target->dev,
			      &error) != FAT_OK)
		return open_failed(options, &error);
	return holds_nothing_else(options, target->dev);
}

/* ---- facts for the planner ---- */

static void learn_sector(struct mkfs_options *options, const struct mkfs_target *target)
{
	struct fat_layout_request *ask = &options->ask;

	if (ask->sector_bytes && ask->sector_bytes < target->block_bytes)
		cli_error(&mkfs_program,
			  "%s: warning: sectors of %" PRIu32 " bytes are smaller than the device's; "
			  "%" PRIu32 " are used", options->path, ask->sector_bytes,
			  target->block_bytes);
	if (ask->sector_bytes < target->block_bytes)
		ask->sector_bytes = target->block_bytes;
	if (ask->sector_bytes < FAT_MIN_SECTOR_BYTES)
		ask->sector_bytes = FAT_MIN_SECTOR_BYTES;
}

static void learn_block_device(struct mkfs_options *options, const struct host_target *place,
			       struct mkfs_target *target)
{
	struct fat_layout_request *ask = &options->ask;
	struct host_topology topology;
	struct host_geometry geometry;
	uint64_t hidden_sec;

	host_topology_read(NULL, place, &topology);
	ask->disk_bytes = topology.disk_bytes;
	ask->fixed_disk = strcmp(topology.driver, "loop") != 0 && topology.removable != HOST_YES;
	ask->start_off = topology.part_start_bytes + options->offset_sec * ask->sector_bytes;
	hidden_sec = ask->start_off / ask->sector_bytes;
	if (!options->has_hidden && hidden_sec <= UINT32_MAX)
		ask->hidden_sec = (uint32_t)hidden_sec;
	if (!options->has_geometry &&
	    host_geometry_read(fat_dev_file_fd(target->dev), &geometry) == HOST_YES) {
		ask->heads = geometry.heads;
		ask->track_sec = geometry.sectors_per_track;
	}
}

/* Where the volume begins and how much room it has. */
static bool learn_room(struct mkfs_options *options, struct mkfs_target *target)
{
	struct fat_layout_request *ask = &options->ask;
	uint64_t offset = options->offset_sec * ask->sector_bytes;
	uint64_t room;

	if (offset >= target->size_bytes) {
		cli_error(&mkfs_program, "%s: FAT offset must be between 0 and %" PRIu64
					 "; choose a sector of the target", options->path,
			  target->size_bytes / ask->sector_bytes - 1);
		return false;
	}
	room = target->size_bytes - offset;
	target->volume_bytes = options->has_blocks ? options->n_blocks * 1024 : room;
	if (target->volume_bytes > room) {
		cli_error(&mkfs_program, "%s: %" PRIu64 " blocks do not fit; there is room for %" PRIu64,
			  options->path, options->n_blocks, room / 1024);
		return false;
	}
	if (options->has_blocks && options->n_blocks != room / 1024)
		cli_error(&mkfs_program,
			  "%s: warning: block count mismatch: found %" PRIu64
			  " but assuming %" PRIu64, options->path, room / 1024, options->n_blocks);
	ask->size_bytes = target->volume_bytes;
	ask->target_bytes = target->size_bytes;
	return true;
}

static bool enter_offset(const struct mkfs_options *options, struct mkfs_target *target)
{
	struct fat_dev *window;

	if (options->offset_sec == 0)
		return true;
	if (fat_dev_window_open(target->dev, options->offset_sec * options->ask.sector_bytes, 0,
				&window) != FAT_OK)
		return refuse(options, "out of memory", "free some");
	target->dev = window;
	return true;
}

bool mkfs_target_open(struct mkfs_options *options, struct mkfs_target *target)
{
	struct host_target place = { .kind = HOST_FILE };
	bool is_open;

	*target = (struct mkfs_target){ .block_bytes = 1 };
	if (!options->create)
		host_target_init(&place, options->path);
	is_open = options->create ? create(options, target) :
				    open_existing(options, &place, target);
	if (!is_open)
		return false;
	target->size_bytes = target->dev->size_bytes;
	target->block_bytes = target->dev->block_bytes;
	learn_sector(options, target);
	if (!learn_room(options, target))
		return false;
	if (place.kind == HOST_BLOCK)
		learn_block_device(options, &place, target);
	options->ask.align = options->no_align ? FAT_ALIGN_NONE : FAT_ALIGN_CLUSTER;
	options->ask.is_geometry_exact = options->has_geometry;
	options->ask.whole_tracks = options->has_geometry && !options->no_align;
	return enter_offset(options, target);
}

void mkfs_target_close(const struct mkfs_options *options, struct mkfs_target *target, bool failed)
{
	fat_dev_close(target->dev);
	target->dev = NULL;
	if (failed && target->is_created)
		unlink(options->path);
}
