/* SPDX-License-Identifier: MIT */
/* fuzz_layout: any request is refused or gives a plan that adds up and keeps what was asked for. */
#include <string.h>

#include "bytes.h"
#include "fuzz.h"
#include "libfat.h"

static struct fat_layout_request read_request(struct fuzz_input *input)
{
	struct fat_layout_request r = { 0 };
	uint64_t flags = fuzz_take(input, 16);
	static const uint32_t types[] = { 0, 12, 16, 32 };

	r.size_bytes = fuzz_take(input, 48);
	r.sector_bytes =
		flags & 1 ? 512u << fuzz_take(input, 8) % 7 : (uint32_t)fuzz_take(input, 16);
	r.type = types[flags >> 1 & 3];
	r.cluster_sec = flags & 8 ? 1u << fuzz_take(input, 8) % 8 : 0;
	r.reserved_sec = flags & 16 ? (uint32_t)fuzz_take(input, 16) : 0;
	r.n_fats = flags >> 5 & 3;
	r.root_entries = flags & 128 ? (uint32_t)fuzz_take(input, 16) : 0;
	r.whole_tracks = flags & 256;
	if (flags & 512) {
		r.heads = (uint32_t)fuzz_take(input, 8);
		r.track_sec = (uint32_t)fuzz_take(input, 8);
		r.is_geometry_exact = true;
	}
	r.align = (enum fat_layout_align)(flags >> 10 & 3);
	r.padding = (enum fat_layout_padding)(flags >> 12 & 1);
	r.start_off = flags & 8192 ? fuzz_take(input, 32) * 512 : 0;
	r.align_bytes = fuzz_take(input, 32);
	r.align_phase_bytes = r.align_bytes ? fuzz_take(input, 32) % r.align_bytes : 0;
	return r;
}

static void check_plan(const struct fat_layout_request *r, const struct fat_layout *layout)
{
	const struct fat_geometry *g = &layout->geometry;

	must(g->n_clus > 0 && is_pow2(g->cluster_sec) && g->cluster_sec <= 128);
	must(fat_geometry_total_bytes(g) <= r->size_bytes);
	must(fat_geometry_data_off(g) + (uint64_t)g->n_clus * g->cluster_bytes <=
	     fat_geometry_total_bytes(g));
	must(fat_geometry_fat_entries(g->type, g->fat_sec, g->sector_bytes) >=
	     (uint64_t)g->n_clus + FAT_FIRST_CLUS);
	must(!r->reserved_sec || r->align >= FAT_ALIGN_BOUNDARY ||
	     g->reserved_sec == r->reserved_sec);
	must(!r->cluster_sec || g->cluster_sec == r->cluster_sec);
	must(!r->type || g->type == (enum fat_type)r->type);
	must(!r->n_fats || g->n_fats == r->n_fats);
	must(g->reserved_sec > 0 && g->reserved_sec <= 65535);
	if (r->align == FAT_ALIGN_BOUNDARY)
		must((r->start_off + fat_geometry_data_off(g)) % r->align_bytes ==
		     r->align_phase_bytes % r->align_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fuzz_input input = { data, n_bytes };
	struct fat_layout_request request = read_request(&input);
	struct fat_layout layout;

	if (fat_layout_plan(&request, &layout) == FAT_OK)
		check_plan(&request, &layout);
	else
		must(layout.problem != FAT_LAYOUT_OK);
	for (int i = 0; i < FAT_LAYOUT_N_ITEMS; i++) {
		must(*fat_layout_item_text((enum fat_layout_item)i));
		must(layout.problem != FAT_LAYOUT_OK ||
		     *fat_layout_reason_text(layout.why[i]));
	}
	return 0;
}
