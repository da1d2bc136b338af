/* SPDX-License-Identifier: MIT */
/*
 * Runs recipes and prints a line of TAP for each volume.
 *
 *   test_recipes [-l] [-n] [FOLDER or FILE or NAME...]
 *
 * Without arguments: the folders of `make check`. A NAME is that of one volume, as printed. -l:
 * those of `tier long` too. -n: the check alone, no repair. RECIPES_EVERY=9 in the environment:
 * every ninth volume, for instrumented builds.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define FOLDER "tests/recipes/"

struct sum {
	unsigned n, failed;
	unsigned long every, n_seen;
	bool with_long, check_only;
	const char *only; /* name of one volume, or NULL */
};

static void print_result(struct sum *sum, const char *name, struct notes *complaints)
{
	sum->n++;
	sum->failed += complaints->n > 0;
	printf("%sok %u - %s\n", complaints->n ? "not " : "", sum->n, name);
	for (size_t i = 0; i < complaints->n && i < 12; i++)
		printf("# %s\n", complaints->line[i]);
	fflush(stdout);
	notes_free(complaints);
}

static void run_recipe(const struct recipe *recipe, void *ctx)
{
	struct sum *sum = ctx;
	struct instance instance[MAX_INSTANCES];
	size_t n = recipe_instances(recipe, instance);

	if (run_is_long(recipe) && !sum->with_long && !sum->only)
		return;
	for (size_t i = 0; i < n; i++) {
		char *name = recipe_instance_name(recipe, &instance[i]);
		struct notes complaints = { 0 };

		if (sum->only ? strcmp(sum->only, name) == 0 : sum->n_seen++ % sum->every == 0) {
			run_instance(recipe, &instance[i], sum->check_only, &complaints);
			print_result(sum, name, &complaints);
		}
		free(name);
	}
}

/* "R01.fat12.512" is in one of the folders. */
static void run_named(struct sum *sum, const char *name)
{
	static const char *const folders[] = { "cases", "faults", "kinds", "todo" };

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		char *file = xformat(FOLDER "%s/%.*s.recipe", folders[i], (int)strcspn(name, "=."),
				     name);

		sum->only = strchr(name, '.') ? name : NULL;
		if (access(file, R_OK) == 0)
			recipe_each_in(file, run_recipe, sum);
		free(file);
	}
	sum->only = NULL;
}

int main(int argc, char **argv)
{
	static const char *const folders[] = { FOLDER "cases", FOLDER "faults", FOLDER "kinds" };
	const char *every = getenv("RECIPES_EVERY");
	struct sum sum = { .every = every ? strtoul(every, NULL, 10) : 1 };
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		sum.with_long |= strcmp(argv[i], "-l") == 0;
		sum.check_only |= strcmp(argv[i], "-n") == 0;
	}
	for (size_t k = 0; i == argc && k < sizeof folders / sizeof folders[0]; k++)
		if (access(folders[k], R_OK) == 0)
			recipe_each_in(folders[k], run_recipe, &sum);
	for (; i < argc; i++)
		if (access(argv[i], R_OK) == 0)
			recipe_each_in(argv[i], run_recipe, &sum);
		else
			run_named(&sum, argv[i]);
	printf("1..%u\n", sum.n);
	return sum.failed > 0;
}
