/* SPDX-License-Identifier: MIT */
/*
 * recipe: the recipes by hand.
 *
 *   recipe list FILE...             the instances that the recipes describe
 *   recipe compile FILE IMG [NAME]  an image file of one (by name, else the first)
 *   recipe survey IMG               what the strict reader finds, and the tree
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev_snap.h"
#include "survey.h"

static void list(const char *path)
{
	struct recipe *recipe = recipe_read(path);
	struct instance instance[MAX_INSTANCES];
	size_t n = recipe_instances(recipe, instance);

	for (size_t i = 0; i < n; i++) {
		char *name = recipe_instance_name(recipe, &instance[i]);

		puts(name);
		free(name);
	}
	recipe_free(recipe);
}

static int compile(const char *path, const char *image_path, const char *wanted)
{
	struct recipe *recipe = recipe_read(path);
	struct instance instance[MAX_INSTANCES];
	size_t n = recipe_instances(recipe, instance);
	int status = 1;

	for (size_t i = 0; i < n && status != 0; i++) {
		char *name = recipe_instance_name(recipe, &instance[i]);

		if (!wanted || strcmp(name, wanted) == 0) {
			struct image *image = image_build(recipe, &instance[i]);

			snap_to_file(image->dev, image_path);
			image_free(image);
			printf("%s: %s\n", image_path, name);
			status = 0;
		}
		free(name);
	}
	if (status != 0)
		fprintf(stderr, "recipe: %s has no instance %s\n", path, wanted);
	recipe_free(recipe);
	return status;
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
	if (argc >= 3 && strcmp(argv[1], "list") == 0) {
		for (int i = 2; i < argc; i++)
			list(argv[i]);
		return 0;
	}
	if ((argc == 4 || argc == 5) && strcmp(argv[1], "compile") == 0)
		return compile(argv[2], argv[3], argv[4]);
	if (argc == 3 && strcmp(argv[1], "survey") == 0)
		return survey(argv[2]);
	fprintf(stderr, "Usage: recipe list FILE... | compile FILE IMG [NAME] | survey IMG\n");
	return 2;
}
