/* SPDX-License-Identifier: MIT */
/*
 * expect: what a recipe says about fsck's answer, and the comparison with what came.
 *
 * Knows no fsck: results are exit statuses, fault codes and the image afterwards.
 */
#ifndef RECIPES_EXPECT_H
#define RECIPES_EXPECT_H

#include "survey.h"

#define ANY_STATUS (-1)

struct expectation {
	int check, repair, again; /* exit statuses */
	bool refuses;             /* repair must not write a byte */
	bool unharmed;            /* it may leave the volume alone, or repair all of it */
	bool clean;               /* nor may it find a thing */
	bool unjudged;            /* the volume stays broken: no survey of it */
	bool has_codes;
	const char **code; /* exactly these, each at least once */
	size_t n_codes;
	bool may_be_new; /* anything may turn up */
	bool has_new;
	size_t n_new;         /* files and folders that the description has not */
	const char **allowed; /* a problem of the survey with this text in it is all right */
	size_t n_allowed;
};

/* Reads the statements and notes what is owed in the image's nodes. */
void expect_read(struct image *image, struct expectation *expect);
void expect_free(struct expectation *expect);

/* Compares the set of codes found with those expected. */
void expect_codes(const struct expectation *expect, const char *const *found, size_t n_found,
		  struct notes *complaints);

/*
 * Judges the volume after the repair; before is the damaged one. Each complaint is one line.
 * image->dev is not used.
 */
void expect_judge(struct image *image, const struct expectation *expect, struct fat_dev *before,
		  struct fat_dev *after, struct notes *complaints);

#endif
