/* SPDX-License-Identifier: MIT */
/*
 * request: what the user wants done to single files: -d and -u.
 *
 * Not faults, but told and counted like them. Done before the repairs, so that no repair takes the
 * clusters of a file that is to come back, nor gives those of a deleted one to another file. A
 * request that cannot be granted without loss is left, and says why.
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "find.h"

static void fill_fault(const struct found_entry *entry, const char *path, enum fault_id id,
		       struct fault *fault)
{
	*fault = (struct fault){
		.id = id,
		.dir = NO_DIR,
		.entry_off = entry->entry_off,
		.start = entry->dirent.start_clus,
		.clus = entry->dirent.start_clus,
		.size = entry->dirent.size_bytes,
		.path = strdup(path),
	};
	fault->long_off = malloc(sizeof entry->long_off);
	if (fault->long_off) {
		memcpy(fault->long_off, entry->long_off, sizeof entry->long_off);
		fault->n_long = entry->n_long;
	}
}

static void refuse(struct fault *fault, const char *why)
{
	fault->id = F_REQUEST_REFUSED;
	fault_set_text(fault, why);
}

/* It is as it was to become, perhaps by a run before that was cut. */
static void pass_over(struct fault *fault, const char *why)
{
	fault->id = F_REQUEST_MOOT;
	fault_set_text(fault, why);
}

enum fat_status request_drop(struct fsck *fsck, const char *path, struct fault *fault)
{
	struct found_entry entry = { 0 };
	enum fat_status status;
	bool found, empty = true;

	status = find_path(fsck, path, &entry, &found);
	fill_fault(&entry, path, F_DROP, fault);
	if (status == FAT_OK && !found) {
		pass_over(fault, "not deleted: there is no such file");
	} else if (status == FAT_OK && entry.dirent.attr & FAT_ATTR_DIRECTORY &&
		   fat_geometry_has_clus(&fsck->geometry, entry.dirent.start_clus)) {
		status = find_is_empty(fsck, entry.dirent.start_clus, &empty);
		if (!empty)
			refuse(fault, "not deleted: a directory that is not empty");
	}
	return status;
}

enum fat_status request_undelete(struct fsck *fsck, const char *path, struct fault *fault)
{
	struct found_entry entry = { 0 }, other;
	enum fat_status status;
	bool found, taken, is_free = true;
	uint64_t need;

	status = find_path(fsck, path, &other, &taken);
	if (status == FAT_OK)
		status = find_deleted(fsck, path, &entry, &found);
	fill_fault(&entry, path, F_UNDELETE, fault);
	if (status != FAT_OK)
		return status;
	need = fat_geometry_clus_for(&fsck->geometry, entry.dirent.size_bytes);
	if (need <= fsck->geometry.n_clus)
		status = find_run_is_free(fsck, entry.dirent.start_clus, (uint32_t)need, &is_free);
	fault->n = fault->need = (uint32_t)need;
	if (taken && !found)
		pass_over(fault, "not brought back: it is there, and none of that name is deleted");
	else if (taken)
		refuse(fault, "not brought back: there is a file of that name");
	else if (!found)
		refuse(fault, "not brought back: no deleted file of that name is left");
	else if (!is_free || need > fsck->geometry.n_clus)
		refuse(fault, "not brought back: its clusters are in use by other files");
	return status;
}

enum fat_status request_bring_back(struct repair *repair, const char *path)
{
	struct fsck *fsck = repair->fsck;
	struct found_entry entry;
	bool found;
	enum fat_status status = find_deleted(fsck, path, &entry, &found);
	uint32_t need;

	if (status != FAT_OK || !found)
		return status;
	need = (uint32_t)fat_geometry_clus_for(&fsck->geometry, entry.dirent.size_bytes);
	for (uint32_t i = 0; i < need && status == FAT_OK; i++) {
		uint32_t clus = entry.dirent.start_clus + i;

		status = i + 1 < need ? repair_set_entry(repair, FAT_STAGE_PREPARE, clus, clus + 1)
				      : repair_set_end(repair, FAT_STAGE_PREPARE, clus);
	}
	for (uint32_t i = 0; i < entry.n_long && status == FAT_OK; i++)
		status = repair_write(repair, FAT_STAGE_PREPARE, entry.long_off[i], entry.part[i],
				      FAT_SLOT_BYTES);
	if (status == FAT_OK && need == 0)
		status = repair_set_start(repair, FAT_STAGE_PREPARE, entry.entry_off, 0, 0);
	return status == FAT_OK ? repair_write(repair, FAT_STAGE_ATTACH, entry.entry_off,
					       entry.dirent.name, 1)
				: status;
}

void request_free(struct fault *fault)
{
	free(fault->path);
	free(fault->text);
	free(fault->long_off);
}
