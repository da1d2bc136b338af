/* SPDX-License-Identifier: MIT */
/*
 * align: whether the volume's parts should lie on the erase blocks' boundaries. Pure.
 *
 * Alignment is a candidate, not a rule: on the boundary the root directory has a block of its own,
 * and where a stick keeps few blocks open this can cost more than it brings [PROBING 4]. So each
 * way is played on the model of the device, and the usual one is left only for one that is faster.
 */
#include <math.h>
#include <stdio.h>

#include "advise.h"
#include "bytes.h"
#include "play.h"

#define WORTH       1.05
#define LARGE_BYTES (64ull << 20)

/* The score of a volume of this layout, by the model. */
static double play_score(const struct sim_params *model, const struct advise_layout *layout,
			 const struct advise_purpose *purpose)
{
	struct advise_row row = { .layout = *layout };
	uint64_t large_bytes = min_u64(LARGE_BYTES, play_most_bytes(layout));

	for (int w = 0; w < ADVISE_N_WRITERS; w++)
		for (int k = 0; k < ADVISE_N_WORKLOADS; k++)
			if (purpose->weight[w][k] > 0)
				row.bytes_per_s[w][k] =
					play_on_model(model, layout, (enum advise_writer)w,
						      (enum advise_workload)k, large_bytes);
	return advise_score(&row, purpose);
}

/* mkfs.fat is told in options that dosfstools knows too: so many reserved sectors, no move. */
static bool plan_padded(const struct advise_facts *facts, enum fat_layout_align kind,
			const struct advise_inferred *inferred, const struct advise_layout *usual,
			struct advise_layout *layout)
{
	uint64_t block = inferred->block.value;
	struct advise_align align = {
		.kind = kind,
		.bytes = block,
		.phase_bytes = (facts->start_bytes + inferred->block_off) % block,
	};
	struct advise_align exact = { .kind = FAT_ALIGN_NONE };
	struct advise_layout padded;

	if (!advise_layout_plan(facts, usual->sector_bytes, usual->cluster_bytes, &align, &padded))
		return false;
	exact.reserved_sec = padded.reserved_sec;
	return advise_layout_plan(facts, usual->sector_bytes, usual->cluster_bytes, &exact,
				  layout) &&
	       layout->data_off == padded.data_off && layout->fat_bits == usual->fat_bits;
}

void advise_choose_align(const struct advise_facts *facts, const struct advise_inferred *inferred,
			 const struct advise_fit *fit, const struct advise_layout *usual,
			 const struct advise_purpose *purpose, struct advise_choice *choice)
{
	static const enum fat_layout_align kinds[] = { FAT_ALIGN_BOUNDARY, FAT_ALIGN_PHASE };
	double best;

	choice->layout = *usual;
	choice->align_gain = 1;
	if (!fit->params || inferred->block.value == 0)
		return;
	best = play_score(fit->params, usual, purpose);
	choice->align_tried = true;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct advise_layout padded;
		double score;

		if (!plan_padded(facts, kinds[i], inferred, usual, &padded))
			continue;
		score = play_score(fit->params, &padded, purpose);
		if (score < best * WORTH)
			continue;
		choice->align_gain *= score / best;
		best = score;
		choice->layout = padded;
		choice->is_padded = true;
		choice->align_bytes = inferred->block.value;
	}
}
