/* SPDX-License-Identifier: MIT */
/*
 * fuzz_advice: any file behind --advice is refused or shapes the layout, and nothing but the
 * layout: not the target, not what is checked, not what else is read or written.
 */
#include <getopt.h>
#include <string.h>

#include "fuzz.h"
#include "mkfs/mkfs.h"

static const char before[] = "{\"recommended\": {\"verdict\": \"chosen\", \"mkfs\": \"";
static const char behind[] = "\"}}";

static void check_options(const struct mkfs_options *options)
{
	struct mkfs_options rest = *options;
	struct fat_layout layout;
	const struct mkfs_options none = { .path = options->path,
					   .codepage = FAT_CODEPAGE_DEFAULT };

	rest.ask = none.ask;
	rest.align = none.align;
	rest.no_align = none.no_align;
	must(memcmp(&rest, &none, sizeof rest) == 0);
	rest.ask = options->ask;
	rest.ask.size_bytes = 1u << 28;
	if (rest.ask.sector_bytes == 0)
		rest.ask.sector_bytes = 512;
	if (fat_layout_plan(&rest.ask, &layout) == FAT_OK)
		must(layout.geometry.n_clus > 0);
}

/* The whole file from the input, or the words of the advice. */
static const char *make_file(struct fuzz_input *input)
{
	static uint8_t text[4096];
	size_t n = input->n_bytes < 2048 ? input->n_bytes : 2048;

	if (!(fuzz_take(input, 8) & 1))
		return fuzz_file(input->data, input->n_bytes);
	n = input->n_bytes < n ? input->n_bytes : n;
	memcpy(text, before, sizeof before - 1);
	memcpy(text + sizeof before - 1, input->data, n);
	memcpy(text + sizeof before - 1 + n, behind, sizeof behind - 1);
	return fuzz_file(text, sizeof before - 1 + n + sizeof behind - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fuzz_input input = { data, n_bytes };
	char name[] = "mkfs.fat", option[] = "--advice", target[] = "target", path[64];
	char *argv[] = { name, option, path, target, NULL };
	struct mkfs_options options;
	int exit_status;

	strcpy(path, make_file(&input));
	optind = 0; /* getopt starts anew */
	if (mkfs_options_read(4, argv, &options, &exit_status))
		check_options(&options);
	else
		must(exit_status == MKFS_FAILED);
	return 0;
}
