/* SPDX-License-Identifier: MIT */
/*
 * report: what mkfs.fat says of a plan: warnings, numbers, the line that sums up, refusals.
 */
#include <inttypes.h>

#include "mkfs.h"

void mkfs_report_warnings(const struct mkfs_options *options, const struct fat_layout *layout)
{
	const struct fat_geometry *geometry = &layout->geometry;
	char size[32];

	if (layout->is_cut)
		cli_error(&mkfs_program,
			  "%s: warning: target too large, space at end will be left unused; "
			  "larger sectors (-S 4096) reach further", options->path);
	if (geometry->sector_bytes > 4096)
		cli_error(&mkfs_program,
			  "%s: warning: sector size %" PRIu32
			  " > 4096 is non-standard, filesystem may not be usable", options->path,
			  geometry->sector_bytes);
	if (geometry->type == FAT_TYPE_32 && options->ask.root_entries)
		cli_error(&mkfs_program,
			  "%s: warning: root directory entries have no meaning on FAT32; -r is "
			  "ignored", options->path);
	if (layout->is_atari && geometry->total_sec > 32765)
		cli_error(&mkfs_program,
			  "%s: warning: more than 32765 sector need TOS 1.04 or higher",
			  options->path);
	if (layout->is_small_32)
		cli_error(
			&mkfs_program,
			"%s: warning: number of clusters for 32 bit FAT is less than the minimum: "
			"firmware will take the volume for FAT16; FAT32 needs %s (%" PRIu64
			" KiB), or use -F 16",
			options->path, cli_size_text(layout->firmware_bytes, size, sizeof size),
			(layout->firmware_bytes + 1023) / 1024);
}

void mkfs_report_problem(const struct mkfs_options *options, const struct fat_layout *layout)
{
	const char *advice = "";
	char better[64];

	switch (layout->problem) {
	case FAT_LAYOUT_OK:
		return;
	case FAT_LAYOUT_BAD_REQUEST:
		advice = "see mkfs.fat --help";
		break;
	case FAT_LAYOUT_NO_FIT:
		advice = options->ask.type ? "leave out -F, or change the size" : "change the size";
		break;
	case FAT_LAYOUT_NO_FIT_CLUSTER:
		advice = options->ask.type ? "leave out -s or -F" : "leave out -s";
		break;
	case FAT_LAYOUT_TOO_FEW:
		advice = "make it larger";
		break;
	case FAT_LAYOUT_RESERVED_32:
		advice = "give -R 32, or leave it out";
		break;
	case FAT_LAYOUT_BACKUP_FSINFO:
	case FAT_LAYOUT_BACKUP_OUTSIDE:
		advice = "leave out -b";
		break;
	case FAT_LAYOUT_ATARI_SECTORS:
	case FAT_LAYOUT_ATARI_ENTRIES:
		advice = "leave out -S";
		break;
	case FAT_LAYOUT_ATARI_LARGE:
		advice = "give fewer blocks, or leave out -A";
		break;
	case FAT_LAYOUT_ATARI_HIDDEN:
		advice = "give -h 0, or leave out -A";
		break;
	case FAT_LAYOUT_ALIGN_FAR:
		snprintf(better, sizeof better, "let the volume begin at byte %" PRIu64
			 " of the disk", layout->better_start_off);
		advice = better;
		break;
	}
	cli_error(&mkfs_program, "%s: %s; %s", options->path,
		  fat_layout_problem_text(layout->problem), advice);
}

static void print_items(const struct fat_layout *layout, bool with_reasons, FILE *out)
{
	for (int i = 0; i < FAT_LAYOUT_N_ITEMS; i++) {
		enum fat_layout_item item = (enum fat_layout_item)i;
		bool is_hex = item == FAT_LAYOUT_MEDIA || item == FAT_LAYOUT_DRIVE;

		fprintf(out, is_hex ? "%-30s 0x%-10" PRIx64 : "%-30s %-12" PRIu64,
			fat_layout_item_text(item), fat_layout_value(layout, item));
		fprintf(out, "%s%s\n", with_reasons ? "  " : "",
			with_reasons ? fat_layout_reason_text(layout->why[item]) : "");
	}
}

void mkfs_report_volume(const struct mkfs_options *options, const struct fat_layout *layout,
			const struct fat_format_options *format, FILE *out)
{
	const struct fat_geometry *geometry = &layout->geometry;
	char size[32];

	if (options->quiet || (options->verbosity == 0 && !options->dry_run))
		return;
	print_items(layout, options->verbosity > 1 || options->dry_run, out);
	if (geometry->type == FAT_TYPE_32)
		fprintf(out, "%-30s %" PRIu32 "\n", "root directory's cluster",
			geometry->root_clus);
	fprintf(out, "%-30s %08" PRIx32 "\n", "volume id", format->volume_id);
	if (format->has_label)
		fprintf(out, "%-30s %s\n", "label", options->label);
	fprintf(out, "FAT%d: %" PRIu32 " sectors, %" PRIu32 " clusters of %s\n",
		(int)geometry->type, geometry->total_sec, geometry->n_clus,
		cli_size_text(geometry->cluster_bytes, size, sizeof size));
}

/* Item names are words for people; as keys their blanks become underlines. */
static void put_key(FILE *out, const char *words)
{
	fputc('"', out);
	for (; *words; words++)
		fputc(*words == ' ' ? '_' : *words, out);
	fputs("\": ", out);
}

void mkfs_report_json(const struct mkfs_options *options, const struct fat_layout *layout,
		      const struct fat_format_options *format, FILE *out)
{
	fputs("{\n", out);
	for (int i = 0; i < FAT_LAYOUT_N_ITEMS; i++) {
		enum fat_layout_item item = (enum fat_layout_item)i;

		fputs("  ", out);
		put_key(out, fat_layout_item_text(item));
		fprintf(out, "{\"value\": %" PRIu64 ", \"reason\": \"%s\"},\n",
			fat_layout_value(layout, item), fat_layout_reason_text(layout->why[item]));
	}
	fprintf(out, "  \"volume_id\": \"%08" PRIx32 "\",\n  \"written\": %s\n}\n",
		format->volume_id, options->dry_run ? "false" : "true");
}
