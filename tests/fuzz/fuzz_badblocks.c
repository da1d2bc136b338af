/* SPDX-License-Identifier: MIT */
/* fuzz_badblocks: any list is refused, or gives clusters of the volume, ascending, each once. */
#include <string.h>

#include "fuzz.h"
#include "mkfs/badblocks.h"

/* Some geometry or other; the list's numbers are small. */
static bool choose_geometry(struct fuzz_input *input, struct fat_layout *layout)
{
	uint64_t bits = fuzz_take(input, 16);
	static const uint32_t types[] = { 0, 12, 16, 32 };
	struct fat_layout_request request = {
		.size_bytes = (64u << 10) << bits % 12,
		.sector_bytes = 512u << (bits >> 4 & 3),
		.type = types[bits >> 6 & 3],
		.cluster_sec = bits >> 8 & 1 ? 1u << (bits >> 9 & 7) : 0,
	};

	return fat_layout_plan(&request, layout) == FAT_OK;
}

static void check_runs(const struct mkfs_bad *bad)
{
	size_t n_runs, n = 0;
	struct fat_run *runs = mkfs_bad_runs(bad, &n_runs);

	must(runs);
	for (size_t i = 0; i < n_runs; i++) {
		must(runs[i].n_clus > 0);
		for (uint32_t k = 0; k < runs[i].n_clus; k++)
			must(n < bad->n && bad->clus[n++] == runs[i].first_clus + k);
	}
	must(n == bad->n);
	free(runs);
}

static void check_list(const struct mkfs_bad *bad, const struct fat_geometry *geometry)
{
	uint32_t good = mkfs_bad_first_good(bad, geometry);

	for (size_t i = 0; i < bad->n; i++) {
		must(fat_geometry_has_clus(geometry, bad->clus[i]));
		must(i == 0 || bad->clus[i - 1] < bad->clus[i]);
		must(bad->clus[i] != good);
	}
	must(good || bad->n == geometry->n_clus);
	check_runs(bad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fuzz_input input = { data, n_bytes };
	struct mkfs_bad bad = { 0 };
	struct fat_layout layout;

	if (!choose_geometry(&input, &layout))
		return 0;
	if (mkfs_bad_read_list(fuzz_file(input.data, input.n_bytes), &layout.geometry, &bad))
		check_list(&bad, &layout.geometry);
	mkfs_bad_free(&bad);
	return 0;
}
