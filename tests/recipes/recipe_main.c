/* SPDX-License-Identifier: MIT */
/*
 * recipe: the recipes by hand.
 *
 *   recipe list FILE...             the instances that the recipes describe
 *   recipe compile FILE IMG [NAME]  an image file of one (by name, else the first)
 *   recipe codes FILE...            the faults that fsck finds in each
 *   recipe survey IMG               what the strict reader finds, and the tree
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev_snap.h"
#include "survey.h"
#include "tool.h"

struct wanted {
	const char *image_path; /* NULL: list them */
	const char *name;       /* NULL: any */
	bool done;
};

static void take(const struct recipe *recipe, void *ctx)
{
	struct wanted *wanted = ctx;
	struct instance instance[MAX_INSTANCES];
	size_t n = recipe_instances(recipe, instance);

	for (size_t i = 0; i < n; i++) {
		char *name = recipe_instance_name(recipe, &instance[i]);

		if (!wanted->image_path) {
			puts(name);
		} else if (!wanted->done && (!wanted->name || strcmp(name, wanted->name) == 0)) {
			struct image *image = image_build(recipe, &instance[i]);

			snap_to_file(image->dev, wanted->image_path);
			image_free(image);
			printf("%s: %s\n", wanted->image_path, name);
			wanted->done = true;
		}
		free(name);
	}
}

static void print_codes(const struct recipe *recipe, void *ctx)
{
	struct instance instance[MAX_INSTANCES];
	size_t n = recipe_instances(recipe, instance);

	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		struct image *image = image_build(recipe, &instance[i]);
		char *name = recipe_instance_name(recipe, &instance[i]);
		struct tool_result result;

		tool_check(image->dev, NULL, 0, &result);
		printf("%s: exit %d", name, result.status);
		for (size_t k = 0; k < result.codes.n; k++)
			printf(" %s", result.codes.line[k]);
		putchar('\n');
		tool_result_free(&result);
		free(name);
		image_free(image);
	}
}

static int compile(const char *path, const char *image_path, const char *name)
{
	struct wanted wanted = { image_path, name, false };

	recipe_each(path, take, &wanted);
	if (!wanted.done)
		fprintf(stderr, "recipe: %s has no instance %s\n", path, name);
	return !wanted.done;
}

static int survey(const char *path)
{
	struct fat_error error;
	struct fat_dev *dev;
	struct survey s;
	int status;

	if (fat_dev_file_open(path, 0, &dev, &error) != FAT_OK)
		die("recipe: %s: cannot be opened", path);
	survey_read(&s, dev);
	for (size_t i = 0; i < s.n_found; i++)
		printf("%c %10u %s\n", s.found[i].is_dir ? 'd' : '-', s.found[i].size,
		       s.found[i].path);
	for (size_t i = 0; i < s.problems.n; i++)
		printf("problem: %s\n", s.problems.line[i]);
	status = s.problems.n > 0;
	survey_free(&s);
	fat_dev_close(dev);
	return status;
}

int main(int argc, char **argv)
{
	struct wanted all = { NULL, NULL, false };

	if (argc >= 3 && strcmp(argv[1], "list") == 0) {
		for (int i = 2; i < argc; i++)
			recipe_each(argv[i], take, &all);
		return 0;
	}
	if (argc >= 3 && strcmp(argv[1], "codes") == 0) {
		for (int i = 2; i < argc; i++)
			recipe_each_in(argv[i], print_codes, NULL);
		return 0;
	}
	if ((argc == 4 || argc == 5) && strcmp(argv[1], "compile") == 0)
		return compile(argv[2], argv[3], argv[4]);
	if (argc == 3 && strcmp(argv[1], "survey") == 0)
		return survey(argv[2]);
	fprintf(stderr, "Usage: recipe list FILE... | codes FILE... | compile FILE IMG [NAME] | "
			"survey IMG\n");
	return 2;
}
