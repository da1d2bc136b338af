/* SPDX-License-Identifier: MIT */
/*
 * target: finds out what the planner wants to know of the target, and opens or creates it.
 *
 * Looking opens nothing for writing. A file that -C made is removed again when the work fails.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "host.h"
#include "mkfs.h"
#include "preflight.h"

static bool refuse(const struct mkfs_options *options, const char *what, const char *advice)
{
	cli_error(&mkfs_program, "%s: %s; %s", options->path, what, advice);
	return false;
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

static bool open_target(const struct mkfs_options *options, unsigned flags, struct fat_dev **dev)
{
	struct fat_error error;

	return fat_dev_file_open(options->path, flags, dev, &error) == FAT_OK ||
	       open_failed(options, &error);
}

/* ---- facts for the planner ---- */

static void learn_sector(struct mkfs_options *options, const struct mkfs_target *target)
{
	struct fat_layout_request *ask = &options->ask;

	if (ask->sector_bytes && ask->sector_bytes < target->block_bytes)
		cli_error(&mkfs_program,
			  "%s: warning: sectors of %" PRIu32
			  " bytes are smaller than the device's; %" PRIu32
			  " are used",
			  options->path, ask->sector_bytes, target->block_bytes);
	if (ask->sector_bytes >= target->block_bytes && ask->sector_bytes)
		return;
	ask->is_sector_own = true;
	ask->sector_bytes = target->block_bytes > FAT_MIN_SECTOR_BYTES ? target->block_bytes :
									 FAT_MIN_SECTOR_BYTES;
}

/* Alignment that was wanted counts from the start of the file; the usual one is dosfstools' own. */
static void learn_start(const struct mkfs_options *options, uint64_t volume_off,
			struct fat_layout_request *ask)
{
	if (options->align == MKFS_ALIGN_GIVEN || options->profile)
		ask->start_off = volume_off;
}

void mkfs_target_imagine(const struct mkfs_options *options, uint64_t size_bytes,
			 struct fat_layout_request *ask)
{
	uint64_t volume_off;

	*ask = options->ask;
	ask->is_sector_own = !ask->sector_bytes;
	if (!ask->sector_bytes)
		ask->sector_bytes = FAT_MIN_SECTOR_BYTES;
	volume_off = options->offset_sec * ask->sector_bytes;
	ask->size_bytes = size_bytes;
	if (!add_u64(size_bytes, volume_off, &ask->target_bytes))
		ask->target_bytes = UINT64_MAX;
	learn_start(options, volume_off, ask);
}

static void learn_block_device(struct mkfs_options *options, const struct host_target *place,
			       struct fat_dev *dev, struct mkfs_target *target)
{
	struct fat_layout_request *ask = &options->ask;
	struct host_topology topology;
	struct host_geometry geometry;
	uint64_t hidden_sec;

	host_topology_read(NULL, place, &topology);
	target->can_discard = topology.discard_max_bytes > 0;
	ask->disk_bytes = topology.disk_bytes;
	ask->fixed_disk = strcmp(topology.driver, "loop") != 0 && topology.removable != HOST_YES;
	ask->start_off = topology.part_start_bytes + target->volume_off;
	hidden_sec = ask->start_off / ask->sector_bytes;
	if (!options->has_hidden && hidden_sec <= UINT32_MAX) {
		ask->hidden_sec = (uint32_t)hidden_sec;
		ask->is_hidden_own = true;
	}
	if (!options->has_geometry &&
	    host_geometry_read(fat_dev_file_fd(dev), &geometry) == HOST_YES) {
		ask->heads = geometry.heads;
		ask->track_sec = geometry.sectors_per_track;
	}
}

/* Where the volume begins and how much room it has. */
static bool learn_room(struct mkfs_options *options, struct mkfs_target *target)
{
	struct fat_layout_request *ask = &options->ask;
	uint64_t room;

	target->volume_off = options->offset_sec * ask->sector_bytes;
	if (options->create &&
	    !add_u64(options->n_blocks * 1024, target->volume_off, &target->size_bytes))
		return refuse(options, "too large", "give fewer blocks");
	if (target->volume_off >= target->size_bytes) {
		cli_error(&mkfs_program, "%s: FAT offset must be between 0 and %" PRIu64
					 "; choose a sector of the target", options->path,
			  target->size_bytes / ask->sector_bytes - 1);
		return false;
	}
	room = target->size_bytes - target->volume_off;
	ask->size_bytes = options->has_blocks ? options->n_blocks * 1024 : room;
	if (ask->size_bytes > room) {
		cli_error(&mkfs_program,
			  "%s: %" PRIu64 " blocks do not fit; there is room for %" PRIu64,
			  options->path, options->n_blocks, room / 1024);
		return false;
	}
	if (options->has_blocks && options->n_blocks != room / 1024)
		cli_error(&mkfs_program,
			  "%s: warning: block count mismatch: found %" PRIu64
			  " but assuming %" PRIu64, options->path, room / 1024, options->n_blocks);
	ask->target_bytes = target->size_bytes;
	return true;
}

static bool look_at_existing(struct mkfs_options *options, struct mkfs_target *target,
			     struct mkfs_preflight *preflight)
{
	struct host_target place;
	struct fat_dev *dev;
	bool is_right;

	host_target_init(&place, options->path);
	if (!open_target(options, 0, &dev))
		return false;
	target->size_bytes = dev->size_bytes;
	target->block_bytes = dev->block_bytes;
	learn_sector(options, target);
	is_right = learn_room(options, target);
	learn_start(options, target->volume_off, &options->ask);
	if (is_right && place.kind == HOST_BLOCK)
		learn_block_device(options, &place, dev, target);
	if (is_right)
		mkfs_preflight_look(&place, dev, target->volume_off, preflight);
	fat_dev_close(dev);
	return is_right;
}

bool mkfs_target_look(struct mkfs_options *options, struct mkfs_target *target,
		      struct mkfs_preflight *preflight)
{
	*target = (struct mkfs_target){ .block_bytes = 1 };
	*preflight = (struct mkfs_preflight){ .n_objections = 0 };
	if (!options->create)
		return look_at_existing(options, target, preflight);
	if (access(options->path, F_OK) == 0)
		return refuse(options, "file already exists", "leave out -C to format it");
	learn_sector(options, target);
	if (!learn_room(options, target))
		return false;
	learn_start(options, target->volume_off, &options->ask);
	return true;
}

/* ---- for writing ---- */

static bool device_failed(const char *path, const struct fat_dev *dev)
{
	cli_device_error(&mkfs_program, path, &dev->error);
	return false;
}

static bool open_or_create(const struct mkfs_options *options, struct mkfs_target *target)
{
	unsigned flags = FAT_DEV_WRITE | FAT_DEV_EXCLUSIVE;

	if (!options->create)
		return open_target(options, flags, &target->dev);
	if (!open_target(options, flags | FAT_DEV_CREATE, &target->dev))
		return false;
	target->is_created = true;
	return fat_dev_resize(target->dev, target->size_bytes) == FAT_OK ||
	       device_failed(options->path, target->dev);
}

static bool put_undo(const struct mkfs_options *options, struct mkfs_target *target)
{
	struct fat_undo_origin origin = { .program = "mkfs.fat",
					  .created_unix = (uint64_t)time(NULL) };
	struct fat_dev *store, *undo;

	if (!options->undo_path)
		return true;
	if (!cli_create_undo_store(&mkfs_program, options->undo_path, options->path, &store))
		return false;
	if (fat_undo_create(target->dev, store, &origin, &undo) != FAT_OK) {
		bool store_failed = store->error.status != FAT_OK;

		device_failed(store_failed ? options->undo_path : options->path,
			      store_failed ? store : target->dev);
		fat_dev_close(store);
		return false;
	}
	target->dev = undo;
	target->undo = undo;
	return true;
}

static bool put_verify(const struct mkfs_options *options, struct mkfs_target *target)
{
	if (!options->verify)
		return true;
	if (fat_verify_open(target->dev, &target->verify) != FAT_OK)
		return refuse(options, "out of memory", "leave out --verify");
	target->dev = target->verify;
	return true;
}

/* What the system has cached says nothing of the medium. */
bool mkfs_target_verify(const struct mkfs_options *options, struct mkfs_target *target)
{
	int fd = fat_dev_file_fd(fat_dev_base(target->dev));
	uint64_t wrong_off;
	bool is_right;

	if (!target->verify)
		return true;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (fat_verify_check(target->verify, &is_right, &wrong_off) != FAT_OK)
		return device_failed(options->path, target->verify);
	if (!is_right)
		cli_error(&mkfs_program, "%s: verify: what was written at byte %" PRIu64
					 " reads otherwise; do not use this device", options->path,
			  wrong_off);
	return is_right;
}

static bool enter_offset(const struct mkfs_options *options, struct mkfs_target *target)
{
	struct fat_dev *window;

	if (target->volume_off == 0)
		return true;
	if (fat_dev_window_open(target->dev, target->volume_off, 0, &window) != FAT_OK)
		return refuse(options, "smaller than it was, or no memory", "try again");
	target->dev = window;
	return true;
}

bool mkfs_target_open(const struct mkfs_options *options, struct mkfs_target *target)
{
	return open_or_create(options, target) && put_undo(options, target) &&
	       put_verify(options, target) && enter_offset(options, target);
}

void mkfs_target_close(const struct mkfs_options *options, struct mkfs_target *target, bool failed)
{
	fat_dev_close(target->dev);
	target->dev = NULL;
	if (failed && target->is_created)
		unlink(options->path);
}
