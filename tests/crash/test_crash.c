/* SPDX-License-Identifier: MIT */
/*
 * Runs the recipes through the crash harness and prints a line of TAP for each volume.
 *
 *   test_crash                  a sample of volumes, a sample of states: for make check
 *   test_crash -a [FOLDER...]   every volume, every state: for make check-crash, an hour
 *   test_crash -s [FOLDER...]   every volume, a sample of states: some minutes
 *   test_crash [-s] NAME...     the same for the volumes whose name begins so
 *   test_crash NAME:ID          one state again, as a failure prints it after "replay"
 *   test_crash :order           the order of writes of every volume, nothing else: seconds
 *   test_crash -s :failures     failing calls and allocations alone, six of each kind: some minutes
 *   test_crash NAME:ID IMG      an image file of one state
 *
 * Instead of NAME: FILE.img, a damaged volume that fsck.fat -a makes sound.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash.h"
#include "tests/recipes/dev_snap.h"
#include "tests/recipes/expect.h"
#include "tests/recipes/run.h"
#include "tests/recipes/tool.h"

#define FOLDER        "tests/recipes/"
#define SAMPLE_EACH   24u /* one volume in so many */
#define SAMPLE_STATES 24u

struct sum {
	unsigned n, failed;
	bool all;
	size_t max_states;
	const char *only, *id, *image_path;
	size_t only_len;
	struct crash_counts counts;
};

struct words {
	char *const *word;
	size_t n;
};

static int run_tool(void *ctx, struct fat_dev *dev)
{
	const struct words *words = ctx;
	struct tool_result result;

	tool_repair(dev, words->word, words->n, &result);
	tool_result_free(&result);
	return result.status;
}

static void print_result(struct sum *sum, const char *name, struct notes *complaints)
{
	sum->n++;
	sum->failed += complaints->n > 0;
	printf("%sok %u - %s\n", complaints->n ? "not " : "", sum->n, name);
	for (size_t i = 0; i < complaints->n && i < 8; i++)
		printf("# %s\n", complaints->line[i]);
	fflush(stdout);
	notes_free(complaints);
}

/* Where the repair is complete, what a cut leaves can be judged by it. */
static bool is_repairable(const struct expectation *expect)
{
	return expect->repair == 1 && !expect->refuses;
}

static void explore_subject(struct sum *sum, const struct crash_subject *subject)
{
	struct notes complaints = { 0 };

	if (sum->image_path) {
		crash_save_state(subject, sum->id, sum->image_path);
	} else if (sum->id) {
		crash_replay(subject, sum->id, &complaints);
	} else {
		crash_explore(subject, &sum->counts, &complaints);
		crash_undo_cuts(subject, &sum->counts, &complaints);
	}
	print_result(sum, subject->name, &complaints);
}

static void explore(struct sum *sum, const struct recipe *recipe, const struct instance *instance,
		    const char *name)
{
	struct image *image = image_build(recipe, instance);
	struct expectation expect;
	struct words words = { 0 };
	struct crash_subject subject = { .name = name,
					 .s0 = image->dev,
					 .shape = image->shape,
					 .run = run_tool,
					 .ctx = &words,
					 .max_states = sum->max_states };

	words.word = run_options(recipe, instance, &words.n);
	expect_read(image, &expect);
	subject.is_unsound = expect.unharmed || expect.n_allowed > 0;
	if (is_repairable(&expect) && image->n_unreadable == 0)
		explore_subject(sum, &subject);
	expect_free(&expect);
	image_free(image);
}

/* What the volume is like is what its repair makes of it. */
static void explore_image(struct sum *sum, const char *path)
{
	struct fat_dev *s0 = snap_from_file(path), *s1 = snap_clone(s0);
	struct words words = { 0 };
	struct crash_subject subject = { .name = path,
					 .s0 = s0,
					 .run = run_tool,
					 .ctx = &words,
					 .max_states = sum->max_states };
	struct survey survey;

	if (run_tool(&words, s1) == 1) {
		survey_read(&survey, s1);
		subject.shape = survey.shape;
		if (survey.problems.n == 0)
			explore_subject(sum, &subject);
		survey_free(&survey);
	}
	fat_dev_close(s1);
	fat_dev_close(s0);
}

static bool is_wanted(const struct sum *sum, const char *name)
{
	if (sum->only)
		return strncmp(name, sum->only, sum->only_len) == 0;
	return sum->all || hash_text(name) % SAMPLE_EACH == 0;
}

static void run_recipe(const struct recipe *recipe, void *ctx)
{
	struct sum *sum = ctx;
	struct instance instance[MAX_INSTANCES];
	size_t n = recipe_instances(recipe, instance);

	for (size_t i = 0; i < n && !run_is_long(recipe); i++) {
		char *name = recipe_instance_name(recipe, &instance[i]);

		if (is_wanted(sum, name))
			explore(sum, recipe, &instance[i], name);
		free(name);
	}
}

static void run_folders(struct sum *sum)
{
	static const char *const folders[] = { FOLDER "cases", FOLDER "faults", FOLDER "kinds" };

	for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
		recipe_each_in(folders[k], run_recipe, sum);
}

static void run_named(struct sum *sum, const char *argument)
{
	char *path = xformat("%.*s", (int)sum->only_len, argument);

	if (sum->only_len > 4 && strcmp(path + sum->only_len - 4, ".img") == 0)
		explore_image(sum, path);
	else
		run_folders(sum);
	free(path);
}

/* A folder, or the name of a volume or of an image file, perhaps with a state's id. */
static void run_argument(struct sum *sum, const char *argument)
{
	sum->only_len = strcspn(argument, ":");
	sum->id = argument[sum->only_len] ? argument + sum->only_len + 1 : NULL;
	sum->only = argument;
	if (access(argument, R_OK) == 0 && !strstr(argument, ".img")) {
		sum->only = NULL;
		recipe_each_in(argument, run_recipe, sum);
	} else {
		run_named(sum, argument);
	}
}

int main(int argc, char **argv)
{
	struct sum sum = { .all = argc > 1, .max_states = argc > 1 ? 0 : SAMPLE_STATES };
	int i = 1;

	if (argc > 1 && (strcmp(argv[1], "-a") == 0 || strcmp(argv[1], "-s") == 0))
		sum.max_states = argv[i++][1] == 's' ? SAMPLE_STATES : 0;
	if (i == argc)
		run_folders(&sum);
	if (i + 2 == argc && strchr(argv[i], ':'))
		sum.image_path = argv[--argc];
	for (; i < argc; i++)
		run_argument(&sum, argv[i]);
	printf("1..%u\n# %llu states, %llu second cuts, %llu failing calls, %llu failing "
	       "allocations, "
	       "%llu rollbacks\n",
	       sum.n, (unsigned long long)sum.counts.n_states,
	       (unsigned long long)sum.counts.n_second, (unsigned long long)sum.counts.n_faults,
	       (unsigned long long)sum.counts.n_mallocs, (unsigned long long)sum.counts.n_undone);
	return sum.failed > 0;
}
