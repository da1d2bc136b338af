/* SPDX-License-Identifier: MIT */
/*
 * fatlabel: prints or changes the label or the volume id of a FAT volume.
 *
 * The label of the root directory is the one that counts; the boot sector and its backup follow it.
 * Standard output has what was asked for and nothing else.
 */
#include <inttypes.h>
#include <string.h>

#include "label.h"

/* ---- printing ---- */

/* The root's label; false: it could not be read. No label is an empty text. */
static bool read_label(struct label_volume *volume, const struct fat_codepage *codepage,
		       char text[FAT_LABEL_TEXT_BYTES])
{
	struct label_root root;
	uint8_t label[FAT_SHORT_BYTES];

	text[0] = '\0';
	if (label_root_find(volume, &root) != FAT_OK)
		return label_volume_failed(volume);
	memcpy(label, root.slot, sizeof label);
	if (label[0] == 0x05)
		label[0] = FAT_SLOT_DELETED_MARK;
	if (root.label_off && !fat_label_is_none(label))
		fat_label_decode(label, codepage, text);
	return true;
}

static void print_json(const struct label_volume *volume, const struct fat_codepage *codepage,
		       const char *label)
{
	char boot_label[FAT_LABEL_TEXT_BYTES] = "";

	if (label_volume_has_label(volume) && !fat_label_is_none(volume->boot.label))
		fat_label_decode(volume->boot.label, codepage, boot_label);
	printf("{\"device\": ");
	cli_put_json_string(stdout, volume->path);
	printf(", \"type\": \"FAT%d\", \"label\": ", (int)volume->geometry.type);
	cli_put_json_string(stdout, label);
	printf(", \"boot_label\": ");
	cli_put_json_string(stdout, boot_label);
	if (label_volume_has_id(volume))
		printf(", \"volume_id\": \"%08" PRIx32 "\"}\n", volume->boot.volume_id);
	else
		printf(", \"volume_id\": null}\n");
}

static bool no_id(const struct label_volume *volume)
{
	cli_error(&label_program,
		  "%s: the boot sector has no volume id; mkfs.fat makes ones that do",
		  volume->path);
	return false;
}

static bool show(const struct label_options *options, const struct fat_codepage *codepage,
		 struct label_volume *volume)
{
	char label[FAT_LABEL_TEXT_BYTES];

	if (options->volume_id && !options->json) {
		if (!label_volume_has_id(volume))
			return no_id(volume);
		printf("%08" PRIx32 "\n", volume->boot.volume_id);
		return true;
	}
	if (!read_label(volume, codepage, label))
		return false;
	if (options->json) {
		print_json(volume, codepage, label);
	} else if (label[0]) {
		cli_put_text(stdout, label);
		putchar('\n');
	}
	return true;
}

/* ---- changing ---- */

static bool stage_boot(struct label_volume *volume)
{
	return label_volume_stage_boot(volume) == FAT_OK || label_volume_failed(volume);
}

static bool change_label(struct label_volume *volume, const struct label_change *change)
{
	bool staged = fat_label_is_none(change->label)
			      ? label_root_remove(volume)
			      : label_root_set(volume, change->label, &change->now);

	if (staged && label_volume_has_label(volume)) {
		memcpy(volume->boot.label, change->label, sizeof volume->boot.label);
		staged = stage_boot(volume);
	}
	return staged && label_volume_commit(volume);
}

static bool change_id(struct label_volume *volume, const struct label_change *change)
{
	if (!label_volume_has_id(volume))
		return no_id(volume);
	volume->boot.volume_id = change->volume_id;
	return stage_boot(volume) && label_volume_commit(volume);
}

static bool work(const struct label_options *options, const struct label_change *change,
		 struct label_volume *volume)
{
	if (options->action == LABEL_SHOW)
		return show(options, &change->codepage, volume);
	return options->volume_id ? change_id(volume, change) : change_label(volume, change);
}

int main(int argc, char **argv)
{
	struct label_options options;
	struct label_change change;
	struct label_volume volume;
	int status;

	if (!label_options_read(argc, argv, &options, &status))
		return status;
	if (!label_change_read(&options, &change) || !label_volume_open(&options, &volume))
		return LABEL_FAILED;
	status = work(&options, &change, &volume) ? LABEL_DONE : LABEL_FAILED;
	if (options.stats)
		cli_print_stats(stderr, volume.dev);
	label_volume_close(&volume);
	return cli_close_stdout(&label_program, status, LABEL_FAILED);
}
