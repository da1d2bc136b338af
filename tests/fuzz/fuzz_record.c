/* SPDX-License-Identifier: MIT */
/*
 * fuzz_record: any record is refused, or read; then writing and reading it again changes nothing,
 * and all the arithmetic behind it ends with an advice that a planner can follow.
 */
#include <string.h>

#include "advisor/record.h"
#include "fuzz.h"

struct text {
	char *bytes;
	size_t n_bytes;
};

static struct text as_text(const struct advise_facts *facts, const struct advise_measured *measured)
{
	struct text text = { 0 };
	FILE *out = open_memstream(&text.bytes, &text.n_bytes);

	must(out);
	advise_record_write(out, facts, measured);
	fclose(out);
	return text;
}

static void reads_again(const struct text *text)
{
	FILE *in = fmemopen(text->bytes, text->n_bytes, "r");
	struct advise_measured measured;
	struct advise_facts facts;
	struct text again;
	unsigned line;

	must(in && advise_record_read(in, &facts, &measured, &line));
	fclose(in);
	again = as_text(&facts, &measured);
	must(again.n_bytes == text->n_bytes &&
	     memcmp(again.bytes, text->bytes, text->n_bytes) == 0);
	free(again.bytes);
	advise_measured_fini(&measured);
}

static void advise(const struct advise_facts *facts, const struct advise_measured *measured)
{
	struct advise_layout layouts[ADVISE_N_CLUSTERS];
	struct advise_prediction prediction;
	struct advise_inferred inferred;
	struct advise_choice choice;
	struct sim_params model;
	struct advise_fit fit;

	advise_layouts(facts, 512, layouts);
	advise_infer(measured, &inferred);
	advise_fit_model(measured, &inferred, &model, &fit);
	advise_revise(&fit, &inferred);
	advise_predict(measured, &inferred, &fit, layouts, 100, &prediction);
	advise_choose(facts, measured, &inferred, &fit, &prediction, advise_purpose(0), &choice);
	must(choice.verdict <= ADVISE_CHOSEN);
	must(strnlen(choice.mkfs, sizeof choice.mkfs) < sizeof choice.mkfs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	FILE *in = n_bytes ? fmemopen((void *)(uintptr_t)data, n_bytes, "r") : NULL;
	struct advise_measured measured;
	struct advise_facts facts;
	unsigned line;

	if (!in)
		return 0;
	if (advise_record_read(in, &facts, &measured, &line)) {
		struct text text = as_text(&facts, &measured);

		reads_again(&text);
		free(text.bytes);
		advise(&facts, &measured);
	}
	advise_measured_fini(&measured);
	fclose(in);
	return 0;
}
