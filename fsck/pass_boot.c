/* SPDX-License-Identifier: MIT */
/*
 * pass_boot: pass 0, which volume this is.
 *
 * A boot sector is believed when what it says is there: FATs that begin like FATs where it puts
 * them, a root directory, clusters within the device. FAT32 has a second opinion in its backup; the
 * one with more proof wins. Leaves behind a geometry that the rest can rely on, and in fsck->boot
 * the boot sector as it ought to be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot_proof.h"
#include "bytes.h"

#define USUAL_BACKUP_SEC 6u
#define USUAL_FSINFO_SEC 1u

#define WINDOW_BYTES (4u << 20) /* more where chains are in no order: fat_table_init() */

static void boot_fault(struct fsck *fsck, enum fault_id id, const char *text, uint64_t a,
		       uint64_t b)
{
	struct fault fault = { .id = id, .dir = NO_DIR, .a = a, .b = b };

	fault.text = text ? strdup(text) : NULL;
	fsck_fault(fsck, &fault);
}

/* ---- the backup ---- */

/* Where the backup may be, best guess first. */
static size_t backup_places(const struct candidate *main, uint64_t *off)
{
	static const uint32_t sector_bytes[] = { 512, 1024, 2048, 4096 };
	size_t n = 0;

	if (main->usable && main->geometry.backup_sec)
		off[n++] = (uint64_t)main->geometry.backup_sec * main->geometry.sector_bytes;
	for (size_t i = 0; i < sizeof sector_bytes / sizeof *sector_bytes; i++)
		off[n++] = (uint64_t)USUAL_BACKUP_SEC * sector_bytes[i];
	return n;
}

/* It must be FAT32's, and lie where it says itself. */
static bool is_backup(const struct candidate *candidate)
{
	return candidate->usable && candidate->geometry.type == FAT_TYPE_32 &&
	       candidate->boot.signature == 0xAA55 && candidate->geometry.sector_bytes <= 4096 &&
	       candidate->off % candidate->geometry.sector_bytes == 0 &&
	       candidate->off / candidate->geometry.sector_bytes < candidate->geometry.reserved_sec;
}

static bool find_backup(struct fsck *fsck, const struct candidate *main, struct candidate *backup)
{
	uint64_t off[5];
	size_t n = backup_places(main, off);

	for (size_t i = 0; i < n; i++)
		if (candidate_read(fsck, off[i], backup) == FAT_OK && is_backup(backup))
			return true;
	return false;
}

/* The fields that say where things are. */
static bool same_layout(const struct fat_boot *a, const struct fat_boot *b)
{
	return a->sector_bytes == b->sector_bytes && a->cluster_sec == b->cluster_sec &&
	       a->reserved_sec == b->reserved_sec && a->n_fats == b->n_fats &&
	       a->root_entries == b->root_entries && a->fat16_sec == b->fat16_sec &&
	       fat_boot_total_sec(a) == fat_boot_total_sec(b) && a->fat32_sec == b->fat32_sec &&
	       a->ext_flags == b->ext_flags && a->version == b->version &&
	       a->root_clus == b->root_clus;
}

/* Clusters in use behind the end that the smaller count draws: the larger one is right. */
static enum fat_status uses_tail(struct fsck *fsck, const struct fat_geometry *geometry,
				 uint32_t first_clus, bool *used)
{
	uint32_t last = fat_geometry_last_clus(geometry);
	enum fat_status status = FAT_OK;
	struct fat_table table;

	*used = false;
	status = fat_table_init(&table, fsck->dev, geometry, 1u << 16);
	for (uint32_t c = first_clus; c <= last && status == FAT_OK && !*used; c++) {
		uint32_t value;

		status = fat_table_get(&table, c, &value);
		*used = status == FAT_OK && value != 0;
	}
	fat_table_fini(&table);
	return status;
}

/* Both describe a volume, with equal proof; only the size may tell them apart. */
static bool backup_is_better(struct fsck *fsck, const struct candidate *main,
			     const struct candidate *backup)
{
	uint32_t n_main = main->geometry.n_clus, n_backup = backup->geometry.n_clus;
	struct fat_boot alike = backup->boot;
	bool used = false;

	if (backup->proof != main->proof)
		return backup->proof > main->proof;
	alike.total16_sec = main->boot.total16_sec;
	alike.total32_sec = main->boot.total32_sec;
	if (!same_layout(&main->boot, &alike) || n_main >= n_backup)
		return false;
	if (uses_tail(fsck, &backup->geometry, n_main + FAT_FIRST_CLUS, &used) != FAT_OK)
		return false;
	return used || fat_geometry_total_bytes(&backup->geometry) == fsck->dev->size_bytes;
}

/* Only in how far the volume goes, or in which FAT is in use. */
static bool differ_in_size(const struct candidate *main, const struct candidate *backup)
{
	struct fat_boot alike = backup->boot;

	alike.total16_sec = main->boot.total16_sec;
	alike.total32_sec = main->boot.total32_sec;
	alike.ext_flags = main->boot.ext_flags;
	alike.version = main->boot.version;
	return same_layout(&main->boot, &alike);
}

/* Equal proof for different layouts: what fits together better is right. */
static enum fat_status backup_fits_better(struct fsck *fsck, const struct candidate *main,
					  const struct candidate *backup, int *better)
{
	int64_t as_main, as_backup;
	bool sound;
	enum fat_status status = trial_look(fsck, &main->boot, &main->geometry, &as_main, &sound);

	*better = 0;
	if (status == FAT_OK)
		status = trial_look(fsck, &backup->boot, &backup->geometry, &as_backup, &sound);
	if (status == FAT_OK)
		*better = (as_backup < as_main) - (as_backup > as_main);
	return status;
}

static const char *describe(const struct fsck *fsck, const struct candidate *main)
{
	if (fat_dev_unreadable(fsck->dev, 0, FAT_BOOT_BYTES) && !main->usable)
		return "it cannot be read";
	if (!main->usable)
		return "it describes no volume";
	if (candidate_deviates(main, FAT_BOOT_ROOT_CLUS))
		return "its root directory's cluster does not exist";
	return "nothing is where it says";
}

static void restore_from(struct fsck *fsck, struct candidate *main, const struct candidate *backup)
{
	boot_fault(fsck, F_BOOT_DAMAGED, describe(fsck, main),
		   backup->off / backup->boot.sector_bytes, 0);
	*main = *backup;
	main->off = 0;
	fsck->boot_replaced = true;
}

/* First byte that differs in a way that counts; -1: none. Boot code and the state byte do not. */
static int first_difference(const uint8_t *a, const uint8_t *b)
{
	for (int i = 11; i < 90; i++)
		if (i != 65 && a[i] != b[i])
			return i;
	return memcmp(a + 510, b + 510, 2) ? 510 : -1;
}

static void compare_backup(struct fsck *fsck, const struct candidate *main)
{
	const struct fat_geometry *geometry = &fsck->geometry;
	uint64_t off = (uint64_t)geometry->backup_sec * geometry->sector_bytes;
	uint8_t wanted[FAT_BOOT_BYTES];
	struct candidate backup;
	int at;

	if (fsck->boot_undecided || geometry->type != FAT_TYPE_32 || geometry->backup_sec == 0 ||
	    candidate_read(fsck, off, &backup) != FAT_OK)
		return;
	memcpy(wanted, main->sector, sizeof wanted);
	fat_boot_encode(&fsck->boot, wanted);
	at = first_difference(main->sector, backup.sector);
	/* What was set right by the same token as the backup has it is no difference any more. */
	if (at < 0 || first_difference(wanted, backup.sector) < 0)
		return;
	fsck->write_backup = true;
	if (fat_dev_unreadable(fsck->dev, off, FAT_BOOT_BYTES) && backup.boot.signature == 0) {
		boot_fault(fsck, F_BACKUP_UNREADABLE, NULL, geometry->backup_sec, 0);
		return;
	}
	boot_fault(fsck,
		   same_layout(&main->boot, &backup.boot) && at != 510 ? F_BACKUP_STALE :
									 F_BACKUP_DIFFERS,
		   NULL, geometry->backup_sec, (uint64_t)at);
}

/* ---- fields ---- */

static bool sector_is(struct fsck *fsck, uint32_t sector, bool fsinfo)
{
	uint64_t off = (uint64_t)sector * fsck->boot.sector_bytes;
	uint8_t bytes[FAT_BOOT_BYTES];
	struct fat_fsinfo info;
	struct fat_boot boot;

	if (sector == 0 || sector >= fsck->boot.reserved_sec ||
	    fat_dev_read(fsck->dev, off, bytes, sizeof bytes) != FAT_OK)
		return false;
	fat_fsinfo_decode(bytes, &info);
	fat_boot_decode(bytes, &boot);
	if (fsinfo ? info.lead_ok && info.struct_ok : same_layout(&boot, &fsck->boot))
		return true;
	for (size_t i = 0; i < sizeof bytes; i++)
		if (bytes[i])
			return false;
	return true; /* empty: free to be made one */
}

static void fix_pointer(struct fsck *fsck, bool fsinfo, bool minor)
{
	uint32_t usual = fsinfo ? USUAL_FSINFO_SEC : USUAL_BACKUP_SEC;
	uint16_t *field = fsinfo ? &fsck->boot.fsinfo_sec : &fsck->boot.backup_sec;
	uint16_t found = *field;

	if (sector_is(fsck, usual, fsinfo))
		*field = (uint16_t)usual;
	else if (!minor)
		*field = 0;
	if (*field == found)
		return;
	boot_fault(fsck, minor ? F_BOOT_FIELD_MINOR : F_BOOT_FIELD,
		   fsinfo ? "the FSInfo sector's number is wrong" :
			    "the backup boot sector's number is wrong",
		   found, *field);
}

/* The media byte that the FAT has is as good a witness as any. */
static void fix_media(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	uint8_t bytes[4], low = 0;

	if (fat_dev_read(fsck->dev, fat_geometry_fat_off(&fsck->geometry, 0), bytes,
			 sizeof bytes) == FAT_OK)
		low = bytes[0];
	if (low != 0xF0 && low < 0xF8)
		low = 0xF8;
	boot_fault(fsck, F_BOOT_FIELD, "the media byte is none", deviation->found, low);
	fsck->boot.media = low;
	fsck->geometry.media = low;
}

static const char *type_text(enum fat_type type)
{
	return type == FAT_TYPE_32 ? "FAT32   " : type == FAT_TYPE_16 ? "FAT16   " : "FAT12   ";
}

static void fix_root_clus(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	if (fat_geometry_has_clus(&fsck->geometry, fsck->boot.root_clus))
		return; /* was found and set right */
	boot_fault(fsck, F_BOOT_FIELD, "the root directory's cluster does not exist",
		   deviation->found, FAT_FIRST_CLUS);
	fsck->boot.root_clus = fsck->geometry.root_clus = FAT_FIRST_CLUS;
}

/*
 * Entries that the FAT has. Too few for FAT16 as 16-bit ones: then it never was one, and the volume
 * that ends where they do would be read as FAT12 by the next who comes.
 */
static uint64_t count_entries(struct fsck *fsck, uint64_t found)
{
	struct fat_geometry *geometry = &fsck->geometry;

	if (geometry->type != FAT_TYPE_16 || found > FAT_MAX_CLUS_12 + FAT_FIRST_CLUS)
		return found;
	if (memcmp(fsck->boot.fs_type, type_text(FAT_TYPE_16), sizeof fsck->boot.fs_type) == 0)
		memcpy(fsck->boot.fs_type, type_text(FAT_TYPE_12), sizeof fsck->boot.fs_type);
	geometry->type = FAT_TYPE_12;
	return min_u64(fat_geometry_fat_entries(FAT_TYPE_12, geometry->fat_sec,
						geometry->sector_bytes),
		       FAT_MAX_CLUS_12 + FAT_FIRST_CLUS);
}

/*
 * As many clusters as the device has room for, if the FAT has entries for them and hardly more;
 * else 0.
 */
static uint32_t device_clusters(const struct fsck *fsck)
{
	const struct fat_geometry *geometry = &fsck->geometry;
	uint64_t n_fat = fat_geometry_fat_entries(geometry->type, geometry->fat_sec,
						  geometry->sector_bytes) - FAT_FIRST_CLUS;
	uint64_t n_dev = boot_room_clus(fsck, geometry);
	uint64_t n_spare = (uint64_t)2 * geometry->sector_bytes * 8 / (unsigned)geometry->type;

	return n_dev <= n_fat && n_fat - n_dev < n_spare ? (uint32_t)n_dev : 0;
}

/*
 * The FAT ends before the clusters do: the volume ends there too, for nothing else can be used.
 * Where it was made for this device, it ends with that.
 */
static void clamp_to_fat(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	struct fat_geometry *geometry = &fsck->geometry;
	uint64_t data_sec = fat_geometry_data_off(geometry) / geometry->sector_bytes;

	boot_fault(fsck, F_FAT_TOO_SMALL, NULL, deviation->found, deviation->expected);
	geometry->n_clus = device_clusters(fsck);
	if (geometry->n_clus == 0)
		geometry->n_clus =
			(uint32_t)(count_entries(fsck, deviation->found) - FAT_FIRST_CLUS);
	geometry->total_sec =
		(uint32_t)(data_sec + (uint64_t)geometry->n_clus * geometry->cluster_sec);
	if (fsck->boot.total16_sec)
		fsck->boot.total16_sec = (uint16_t)geometry->total_sec;
	else
		fsck->boot.total32_sec = geometry->total_sec;
}

typedef void field_fixer(struct fsck *fsck, const struct fat_boot_deviation *deviation);

static void fix_signature(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	boot_fault(fsck, F_BOOT_FIELD, "the signature 55 AA is missing", deviation->found, 0xAA55);
	fsck->boot.signature = 0xAA55;
}

static void fix_jump(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	bool fat32 = fat_boot_is_fat32_layout(&fsck->boot);

	boot_fault(fsck, F_BOOT_FIELD_MINOR, "it has no jump instruction", deviation->found, 0xEB);
	memcpy(fsck->boot.jump, fat32 ? "\xEB\x58\x90" : "\xEB\x3C\x90", 3);
}

static void fix_totals(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	struct fat_boot *boot = &fsck->boot;
	bool both = deviation->id == FAT_BOOT_TOTAL_BOTH;

	if (boot->total16_sec == 0 || (!both && boot->total32_sec))
		return; /* was set right with the other deviation */
	boot_fault(fsck, both ? F_BOOT_FIELD : F_BOOT_FIELD_MINOR,
		   both ? "it has two sector counts" : "it has a 16-bit sector count on FAT32",
		   boot->total16_sec, boot->total32_sec);
	if (fat_boot_is_fat32_layout(boot)) {
		boot->total32_sec = fat_boot_total_sec(boot);
		boot->total16_sec = 0;
	} else {
		boot->total32_sec = 0;
	}
}

static void fix_root_entries(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	/* candidate_judge() left them out. */
	boot_fault(fsck, F_BOOT_FIELD, "it counts root entries on FAT32", deviation->found, 0);
}

static void fix_fs_type(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	const char *text = type_text(fsck->geometry.type);

	if (memcmp(fsck->boot.fs_type, text, sizeof fsck->boot.fs_type) == 0)
		return; /* what the clusters count for, since they are as many as the FAT's */
	boot_fault(fsck, F_BOOT_FIELD_MINOR, "it names another type", deviation->found,
		   deviation->expected);
	memcpy(fsck->boot.fs_type, text, sizeof fsck->boot.fs_type);
}

/* Where the text behind it is there, the signature that announces it was, too. */
static void fix_ext_sig(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	const char *text = type_text(fsck->geometry.type);

	if (fsck->is_atari || memcmp(fsck->boot.fs_type, text, sizeof fsck->boot.fs_type) != 0)
		return;
	boot_fault(fsck, F_BOOT_FIELD_MINOR, "the signature before the label is wrong",
		   deviation->found, deviation->expected);
	fsck->boot.ext_sig = (uint8_t)deviation->expected;
}

static void fix_version(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	boot_fault(fsck, F_BOOT_FIELD, "the version is not 0.0", deviation->found, 0);
	fsck->boot.version = 0;
}

static void fix_active_fat(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	boot_fault(fsck, F_BOOT_FIELD, "the active FAT does not exist", deviation->found, 0);
	fsck->boot.ext_flags = 0;
}

static void fix_fsinfo_sec(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	fix_pointer(fsck, true, deviation->id == FAT_BOOT_FSINFO_NONE);
}

static void fix_backup_sec(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	fix_pointer(fsck, false, deviation->id == FAT_BOOT_BACKUP_NONE);
}

static void note_state(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	boot_fault(fsck, deviation->id == FAT_BOOT_DIRTY ? F_DIRTY_BOOT : F_SURFACE_BOOT, NULL,
		   deviation->found, 0);
}

/* Linux refuses it. The data begin where they did, in the next sector. */
static void fix_root_odd(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	boot_fault(fsck, F_BOOT_FIELD, "the root directory does not fill its last sector",
		   deviation->found, deviation->expected);
	fsck->boot.root_entries = (uint16_t)deviation->expected;
}

/* No FAT has a cluster in use that does not lie on the device as a whole. */
static bool end_is_unused(struct fsck *fsck)
{
	struct fat_geometry geometry = fsck->geometry;
	uint32_t n_clus = (uint32_t)boot_room_clus(fsck, &geometry);
	bool used = n_clus == 0;

	for (uint32_t i = 0; i < geometry.n_fats && !used; i++) {
		geometry.active_fat = i;
		if (uses_tail(fsck, &geometry, n_clus + FAT_FIRST_CLUS, &used) != FAT_OK)
			return false;
	}
	return !used;
}

/*
 * FAT12/16 have no second witness for the sector count but the device; if nothing is in use behind
 * its end, and the FAT was made for a volume of that size, the count is wrong.
 */
static bool fit_to_device(struct fsck *fsck)
{
	struct fat_boot boot = fsck->boot;
	uint64_t n_sec = fsck->dev->size_bytes / boot.sector_bytes;
	struct fat_geometry geometry;

	boot_set_total(&boot, n_sec);
	if (fat_boot_is_fat32_layout(&boot) || fsck->is_atari || !end_is_unused(fsck) ||
	    fat_geometry_decode(&boot, &geometry) != FAT_OK ||
	    geometry.type != fsck->geometry.type || boot_prove_length(&geometry) < 1)
		return false;
	boot_fault(fsck, F_TOTAL_LARGE, NULL, fat_boot_total_sec(&fsck->boot), n_sec);
	fsck->boot = boot;
	return true;
}

/*
 * Comes last: a count that is too large for the FAT may not be too large for the device any more.
 */
static void check_end(struct fsck *fsck)
{
	uint64_t total = fat_geometry_total_bytes(&fsck->geometry);

	if (total > fsck->dev->size_bytes && !fit_to_device(fsck))
		boot_fault(fsck, F_DEVICE_SHORT, NULL, total, fsck->dev->size_bytes);
}

/* What is not here is fatal, or no driver minds. */
static field_fixer *const fixers[FAT_BOOT_N_DEVIATIONS] = {
	[FAT_BOOT_SIGNATURE] = fix_signature,
	[FAT_BOOT_JUMP] = fix_jump,
	[FAT_BOOT_MEDIA] = fix_media,
	[FAT_BOOT_TOTAL_BOTH] = fix_totals,
	[FAT_BOOT_TOTAL16_ON_32] = fix_totals,
	[FAT_BOOT_ROOT_ENTRIES_ODD] = fix_root_odd,
	[FAT_BOOT_ROOT_ENTRIES_ON_32] = fix_root_entries,
	[FAT_BOOT_EXT_SIG] = fix_ext_sig,
	[FAT_BOOT_FS_TYPE] = fix_fs_type,
	[FAT_BOOT_VERSION] = fix_version,
	[FAT_BOOT_ACTIVE_FAT] = fix_active_fat,
	[FAT_BOOT_ROOT_CLUS] = fix_root_clus,
	[FAT_BOOT_FSINFO_SEC] = fix_fsinfo_sec,
	[FAT_BOOT_FSINFO_NONE] = fix_fsinfo_sec,
	[FAT_BOOT_BACKUP_SEC] = fix_backup_sec,
	[FAT_BOOT_BACKUP_NONE] = fix_backup_sec,
	[FAT_BOOT_DIRTY] = note_state,
	[FAT_BOOT_SURFACE] = note_state,
	[FAT_BOOT_FAT_SMALL] = clamp_to_fat,
};

static void fix_field(struct fsck *fsck, const struct fat_boot_deviation *deviation)
{
	if (fixers[deviation->id])
		fixers[deviation->id](fsck, deviation);
}

/* The media byte is one, but both FATs have another: the boot sector is wrong. */
static void check_media(struct fsck *fsck, const struct candidate *backup)
{
	uint32_t media = 0;

	if (backup->usable && backup->boot.media == fsck->boot.media)
		return; /* two against one: FAT entry 0 is wrong */
	for (uint32_t i = 0; i < fsck->geometry.n_fats; i++) {
		uint8_t byte;

		if (fat_dev_read(fsck->dev, fat_geometry_fat_off(&fsck->geometry, i), &byte, 1) !=
			    FAT_OK ||
		    byte < 0xF8 || (i > 0 && byte != media))
			return;
		media = byte;
	}
	if (media == 0xFF || media == fsck->geometry.media)
		return; /* FFh is what a FAT entry 0 that lost its media byte looks like */
	boot_fault(fsck, F_BOOT_FIELD, "the media byte is not that of the FATs", fsck->boot.media,
		   media);
	fsck->boot.media = (uint8_t)media;
	fsck->geometry.media = (uint8_t)media;
}

static bool is_fsinfo(struct fsck *fsck, uint32_t sector)
{
	uint8_t bytes[FAT_FSINFO_BYTES];
	struct fat_fsinfo info;

	if (sector == 0 || sector >= fsck->boot.reserved_sec ||
	    fat_dev_read(fsck->dev, (uint64_t)sector * fsck->boot.sector_bytes, bytes,
			 sizeof bytes) != FAT_OK)
		return false;
	fat_fsinfo_decode(bytes, &info);
	return info.lead_ok && info.struct_ok;
}

/* Numbers of sectors that exist, but hold something else, while the right thing is elsewhere. */
static void check_pointers(struct fsck *fsck, const struct candidate *backup)
{
	struct fat_boot *boot = &fsck->boot;
	uint32_t fsinfo = backup->usable && is_fsinfo(fsck, backup->boot.fsinfo_sec) ?
				  backup->boot.fsinfo_sec :
				  USUAL_FSINFO_SEC;
	uint64_t place;

	if (boot->fsinfo_sec != 0 && boot->fsinfo_sec != 0xFFFF && boot->fsinfo_sec != fsinfo &&
	    !is_fsinfo(fsck, boot->fsinfo_sec) && is_fsinfo(fsck, fsinfo)) {
		boot_fault(fsck, F_BOOT_FIELD, "the FSInfo sector's number is wrong",
			   boot->fsinfo_sec, fsinfo);
		boot->fsinfo_sec = (uint16_t)fsinfo;
	}
	place = backup->usable ? backup->off / boot->sector_bytes : 0;
	if (place == 0 || place == boot->backup_sec || backup->boot.backup_sec != place ||
	    boot->backup_sec == 0 || boot->backup_sec == 0xFFFF ||
	    !same_layout(boot, &backup->boot))
		return;
	boot_fault(fsck, F_BOOT_FIELD, "the backup boot sector's number is wrong",
		   boot->backup_sec, place);
	boot->backup_sec = (uint16_t)place;
}

static void accept(struct fsck *fsck, const struct candidate *main, const struct candidate *backup)
{
	memcpy(fsck->sector, main->sector, sizeof fsck->sector);
	fsck->boot = main->boot;
	fsck->geometry = main->geometry;
	fsck->is_atari = main->is_atari;
	for (size_t i = 0; i < main->report.n_deviations; i++)
		fix_field(fsck, &main->report.deviation[i]);
	check_end(fsck);
	if (!candidate_deviates(main, FAT_BOOT_MEDIA))
		check_media(fsck, backup);
	if (main->geometry.type == FAT_TYPE_32)
		check_pointers(fsck, backup);
	fat_geometry_decode(&fsck->boot, &fsck->geometry);
	if (fsck->is_atari)
		fsck->geometry.type = main->geometry.type;
}

/* Takes the backup for the boot sector if it is the better one. */
static enum fat_status weigh_backup(struct fsck *fsck, struct candidate *main,
				    const struct candidate *backup)
{
	enum fat_status status = FAT_OK;
	int better = 0;

	if (same_layout(&main->boot, &backup->boot)) {
		/*
		 * Two witnesses, a FAT of the right length and a root: the folder is wrong, not
		 * they.
		 */
		main->doubted =
			main->doubted && (main->miscounted || main->length < 1 || main->rootless);
		return FAT_OK;
	}
	if (!main->usable || backup_is_better(fsck, main, backup)) {
		restore_from(fsck, main, backup);
		return FAT_OK;
	}
	if (main->proof != backup->proof || differ_in_size(main, backup))
		return FAT_OK;
	status = backup_fits_better(fsck, main, backup, &better);
	if (status != FAT_OK)
		return status;
	if (better > 0)
		restore_from(fsck, main, backup);
	if (better == 0) {
		fsck->boot_undecided = true;
		boot_fault(fsck, F_BOOT_UNDECIDED, NULL, 0, 0);
	}
	return status;
}

/* No root where the boot sector puts it, or an empty one: it may be elsewhere. */
static enum fat_status settle_root(struct fsck *fsck, struct candidate *main)
{
	uint32_t found = main->boot.root_clus, clus = 0;
	enum fat_status status = FAT_OK;

	if (main->root < 0 || main->root_empty)
		status = boot_find_root(fsck, main, &clus);
	if (status == FAT_OK && clus == 0 && !fat_geometry_has_clus(&main->geometry, found))
		main->doubted = main->doubted ||
				!candidate_root_may_be(fsck, main, FAT_FIRST_CLUS);
	if (status == FAT_OK && clus == 0 && main->root < 0 && boot_root_is_folder(fsck, main))
		main->doubted = true;
	if (status != FAT_OK || clus == 0 || clus == found)
		return status;
	boot_fault(fsck, F_BOOT_FIELD, "the root directory is not in the cluster it names", found,
		   clus);
	main->boot.root_clus = main->geometry.root_clus = clus;
	return FAT_OK;
}

/* From what is on the volume, if that leaves no doubt. */
static void work_out(struct fsck *fsck, struct candidate *main)
{
	bool is_likely = main->usable && main->has_fat && !main->doubted;
	struct candidate *found = malloc(sizeof *found);

	if (found &&
	    (is_likely ? boot_infer_size(fsck, main, found) : boot_infer(fsck, main, found))) {
		boot_fault(fsck, F_BOOT_INFERRED, describe(fsck, main), 0, 0);
		*main = *found;
		main->off = 0;
		fsck->boot_made_up = main->made_up;
	}
	free(found);
}

/* The same volume, with the sector count that was found for it. */
static void set_total(struct fsck *fsck, struct candidate *main, const struct candidate *found)
{
	boot_fault(fsck, F_TOTAL_SMALL, NULL, fat_boot_total_sec(&main->boot),
		   fat_boot_total_sec(&found->boot));
	main->boot = found->boot;
	main->geometry = found->geometry;
	main->report = found->report;
}

/* So few clusters that it would be of another type. */
static void settle_type(struct fsck *fsck, struct candidate *main)
{
	struct candidate *found = malloc(sizeof *found);

	if (found && boot_infer_type(fsck, main, found)) {
		set_total(fsck, main, found);
		main->doubted = false;
	}
	free(found);
}

/* Clusters in use behind the end: the end is wrong. */
static void settle_total(struct fsck *fsck, struct candidate *main)
{
	struct candidate *found = malloc(sizeof *found);

	if (found && boot_infer_total(fsck, main, found))
		set_total(fsck, main, found);
	free(found);
}

static enum fat_status choose(struct fsck *fsck, struct candidate *main, struct candidate *backup)
{
	enum fat_status status = FAT_OK;

	if (find_backup(fsck, main, backup))
		status = weigh_backup(fsck, main, backup);
	else
		backup->usable = false;
	if (status != FAT_OK)
		return status;
	if (main->usable && (candidate_deviates(main, FAT_BOOT_FS_TYPE) ||
			     candidate_deviates(main, FAT_BOOT_CLUSTERS_FEW_32)))
		settle_type(fsck, main);
	if (!main->usable || !main->has_fat || main->doubted || main->weak)
		work_out(fsck, main);
	if (!main->usable || !main->has_fat) {
		boot_fault(fsck, F_BOOT_UNUSABLE, describe(fsck, main), 0, 0);
		return FAT_ERR_FORMAT;
	}
	if (main->geometry.type == FAT_TYPE_32)
		status = settle_root(fsck, main);
	if (main->doubted)
		boot_fault(fsck, F_BOOT_DOUBTED, NULL, 0, 0);
	else if (status == FAT_OK && !fsck->boot_undecided)
		settle_total(fsck, main);
	return status;
}

static enum fat_status decide(struct fsck *fsck, struct candidate *main, struct candidate *backup)
{
	enum fat_status status = FAT_ERR_FORMAT;

	if (fsck->dev->size_bytes >= FAT_BOOT_BYTES)
		status = candidate_read(fsck, 0, main);
	if (status == FAT_OK)
		status = choose(fsck, main, backup);
	if (status != FAT_OK)
		return status;
	accept(fsck, main, backup);
	compare_backup(fsck, main);
	status = fat_table_init(&fsck->table, fsck->dev, &fsck->geometry, WINDOW_BYTES);
	fsck->has_table = status == FAT_OK;
	return status;
}

enum fat_status pass_boot(struct fsck *fsck)
{
	struct candidate *both = calloc(2, sizeof *both);
	enum fat_status status = both ? decide(fsck, &both[0], &both[1]) : FAT_ERR_MEMORY;

	free(both);
	return status;
}
