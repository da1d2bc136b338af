/* SPDX-License-Identifier: MIT */
/*
 * report: faults and numbers as lines of text.
 *
 * The summary and "bytes per cluster" are matched by other programs [COMPAT 1.4]. Names come from
 * the volume and are printed harmlessly.
 */
#include "report.h"

#include <inttypes.h>

#include "report_json.h"

void report_fault(const struct fsck_options *options, const struct fault *fault,
		  enum report_action action, const char *done)
{
	static const char *const actions[] = { "found", "repaired", "left" };
	const struct fault_kind *kind = fault_kind(fault->id);
	char text[2048];

	if (options->json) {
		report_json_fault(fault, actions[action], done);
		return;
	}
	if (action == REPORT_LEFT)
		done = "left as it is";

	fault_text(kind->message, fault, text, sizeof text);
	if (options->verbose)
		printf("%s ", kind->code);
	cli_put_text(stdout, text);
	printf("\n");
	if (!done || !*done)
		return;
	fault_text(done, fault, text, sizeof text);
	printf("  ");
	cli_put_text(stdout, text);
	printf("\n");
}

void report_entry(const struct fsck_options *options, const char *path, const char *alias)
{
	if (options->json) {
		report_json_entry(path, alias);
		return;
	}
	printf("Checking file ");
	cli_put_text(stdout, path);
	if (alias) {
		printf(" (");
		cli_put_text(stdout, alias);
		printf(")");
	}
	printf("\n");
}

void report_unchanged(const struct fsck_options *options)
{
	if (!options->json)
		printf("\nLeaving filesystem unchanged.\n");
}

void report_stats(const struct fsck_options *options, struct fat_dev *dev)
{
	if (options->json)
		report_json_stats(dev);
	else
		cli_print_stats(stdout, dev);
}

void report_end(const struct fsck_options *options, const struct engine *engine, int exit_status)
{
	if (options->json)
		report_json_summary(options, engine, exit_status);
}

void report_summary(const struct fsck *fsck)
{
	if (fsck->options->json)
		return;
	cli_put_text(stdout, fsck->options->device);
	printf(": %" PRIu64 " files, %" PRIu32 "/%" PRIu32 " clusters\n", fsck->count.files,
	       fsck->geometry.n_clus - fsck->count.free, fsck->geometry.n_clus);
}

static void print_fats(const struct fat_geometry *geometry)
{
	printf("First FAT starts at byte %" PRIu64 " (sector %" PRIu32 ")\n",
	       fat_geometry_fat_off(geometry, 0), geometry->reserved_sec);
	printf("%10" PRIu32 " FATs, %d bit entries\n", geometry->n_fats, (int)geometry->type);
	printf("%10" PRIu64 " bytes per FAT (= %" PRIu32 " sectors)\n",
	       fat_geometry_fat_bytes(geometry), geometry->fat_sec);
}

static void print_root(const struct fat_geometry *geometry)
{
	if (geometry->type == FAT_TYPE_32) {
		printf("Root directory start at cluster %" PRIu32 " (arbitrary size)\n",
		       geometry->root_clus);
		return;
	}
	printf("Root directory starts at byte %" PRIu64 " (sector %" PRIu64 ")\n",
	       fat_geometry_root_off(geometry),
	       fat_geometry_root_off(geometry) / geometry->sector_bytes);
	printf("%10" PRIu32 " root directory entries\n", geometry->root_entries);
}

void report_geometry(const struct fsck *fsck)
{
	const struct fat_geometry *geometry = &fsck->geometry;

	if (fsck->options->json)
		report_json_volume(fsck);
	if (fsck->options->json || !fsck->options->verbose)
		return;
	printf("Boot sector contents:\nSystem ID \"");
	for (size_t i = 0; i < sizeof fsck->boot.oem && fsck->boot.oem[i]; i++) {
		char c[2] = { (char)fsck->boot.oem[i], '\0' };

		cli_put_text(stdout, c);
	}
	printf("\"\nMedia byte 0x%02x (%s)\n", geometry->media,
	       geometry->media == 0xF8 ? "hard disk" : "removable medium");
	printf("%10" PRIu32 " bytes per logical sector\n", geometry->sector_bytes);
	printf("%10" PRIu32 " bytes per cluster\n", geometry->cluster_bytes);
	printf("%10" PRIu32 " reserved sector%s\n", geometry->reserved_sec,
	       geometry->reserved_sec == 1 ? "" : "s");
	print_fats(geometry);
	print_root(geometry);
	printf("Data area starts at byte %" PRIu64 " (sector %" PRIu64 ")\n",
	       fat_geometry_data_off(geometry),
	       fat_geometry_data_off(geometry) / geometry->sector_bytes);
	printf("%10" PRIu32 " data clusters (%" PRIu64 " bytes)\n", geometry->n_clus,
	       (uint64_t)geometry->n_clus * geometry->cluster_bytes);
	printf("%u sectors/track, %u heads\n", fsck->boot.track_sec, fsck->boot.heads);
	printf("%10" PRIu32 " hidden sectors\n", fsck->boot.hidden_sec);
	printf("%10" PRIu32 " sectors total\n", geometry->total_sec);
}
