/* SPDX-License-Identifier: MIT */
/*
 * preflight: what speaks against formatting a target: it is in use, or holds something else.
 *
 * Only looks; lib/host knows how. A FAT volume is no objection: scripts format again and again.
 */
#include "preflight.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct mkfs_objection *add(struct mkfs_preflight *preflight, bool can_override,
				  const char *advice)
{
	static struct mkfs_objection spare;
	struct mkfs_objection *objection = &spare;

	if (preflight->n_objections < MKFS_MAX_OBJECTIONS)
		objection = &preflight->objection[preflight->n_objections++];
	*objection = (struct mkfs_objection){ .can_override = can_override, .advice = advice };
	return objection;
}

static void look_at_use(const struct host_target *place, struct mkfs_preflight *preflight)
{
	struct mkfs_objection *objection;
	struct host_use use;
	char text[HOST_TEXT_BYTES];
	const char *advice = "release it first";
	bool is_loop;

	if (host_use_find(NULL, place, &use) != HOST_YES)
		return;
	is_loop = use.kind == HOST_USE_LOOP;
	if (use.kind == HOST_USE_MOUNTED)
		advice = "unmount it first";
	else if (use.kind == HOST_USE_SWAP)
		advice = "swapoff it first";
	else if (is_loop)
		advice = "detach it first, or format it with -I";
	objection = add(preflight, is_loop, advice);
	host_use_text(&use, text, sizeof text);
	snprintf(objection->what, sizeof objection->what, "%s%s%s%s",
		 use.kind == HOST_USE_MOUNTED ? "contains a mounted filesystem: " : "", use.device,
		 use.device[0] ? " is " : "", text);
}

static void look_at_protection(const struct host_target *place, struct mkfs_preflight *preflight)
{
	struct host_topology topology;

	if (place->kind == HOST_BLOCK &&
	    host_topology_read(NULL, place, &topology) == HOST_YES &&
	    topology.read_only == HOST_YES)
		snprintf(add(preflight, false,
			     "look for a switch on it, or see blockdev --setrw")->what,
			 sizeof(preflight->objection[0].what), "is write-protected");
	else if (place->kind == HOST_FILE && access(place->path, W_OK) != 0)
		snprintf(add(preflight, false, "change its permissions")->what,
			 sizeof(preflight->objection[0].what), "may not be written");
}

/* What the kernel has: the table that they come from may look like something else. */
static bool object_to_partitions(const struct host_target *place, struct mkfs_preflight *preflight)
{
	struct host_topology topology;
	struct mkfs_objection *objection;

	if (place->kind != HOST_BLOCK ||
	    host_topology_read(NULL, place, &topology) != HOST_YES || topology.n_partitions == 0)
		return false;
	objection = add(preflight, true, "use -I to override");
	snprintf(objection->what, sizeof objection->what,
		 "Partitions or virtual mappings on device, %" PRIu32 " of them, "
		 "not making filesystem", topology.n_partitions);
	return true;
}

/*
 * libblkid takes a FAT volume with sectors above 4096 bytes for a partition table: there is 55 AA
 * at its end, and nothing else that it knows.
 */
static bool is_large_sector_fat(struct fat_dev *dev, uint64_t volume_off)
{
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot boot;
	struct fat_geometry geometry;

	if (fat_dev_read(dev, volume_off, sector, sizeof sector) != FAT_OK)
		return false;
	fat_boot_decode(sector, &boot);
	return boot.sector_bytes > 4096 && fat_geometry_decode(&boot, &geometry) == FAT_OK;
}

static void look_at_content(const struct host_target *place, struct fat_dev *dev,
			    uint64_t volume_off, struct mkfs_preflight *preflight)
{
	bool has_partitions = object_to_partitions(place, preflight);
	struct host_signature found;
	struct mkfs_objection *objection;

	if (host_signature_read(fat_dev_file_fd(dev), volume_off, 0, &found) != HOST_YES ||
	    found.is_fat)
		return;
	if (found.is_table && (has_partitions || is_large_sector_fat(dev, volume_off)))
		return;
	objection = add(preflight, true, "use -I to override");
	if (found.is_table)
		snprintf(objection->what, sizeof objection->what,
			 "Partitions or virtual mappings on device, a partition table (%s), "
			 "not making filesystem", found.type);
	else
		snprintf(objection->what, sizeof objection->what, "holds a file system (%s%s%s)",
			 found.type, found.label[0] ? ", " : "", found.label);
}

void mkfs_preflight_look(const struct host_target *place, struct fat_dev *dev, uint64_t volume_off,
			 struct mkfs_preflight *preflight)
{
	*preflight = (struct mkfs_preflight){ .n_objections = 0 };
	look_at_use(place, preflight);
	look_at_protection(place, preflight);
	look_at_content(place, dev, volume_off, preflight);
}

static bool ask(const char *path)
{
	char answer[16];

	fflush(stdout);
	fprintf(stderr, "mkfs.fat: ");
	cli_put_text(stderr, path);
	fputs(": format it all the same? [y/N] ", stderr);
	return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

bool mkfs_preflight_pass(const struct mkfs_options *options, const struct mkfs_preflight *preflight)
{
	bool may_ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !options->dry_run;
	size_t n_standing = 0;

	for (size_t i = 0; i < preflight->n_objections; i++) {
		const struct mkfs_objection *objection = &preflight->objection[i];

		if (objection->can_override && options->ignore_checks)
			continue;
		cli_error(&mkfs_program, "%s: %s; %s", options->path, objection->what,
			  objection->advice);
		may_ask = may_ask && objection->can_override;
		n_standing++;
	}
	return n_standing == 0 || (may_ask && ask(options->path));
}
