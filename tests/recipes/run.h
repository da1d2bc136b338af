/* SPDX-License-Identifier: MIT */
/* run: one volume of a recipe from the check to the undo. */
#ifndef RECIPES_RUN_H
#define RECIPES_RUN_H

#include "expect.h"

/* Each complaint is one line; none: the recipe holds. check_only: without the repair. */
void run_instance(const struct recipe *recipe, const struct instance *instance, bool check_only,
		  struct notes *complaints);

/* "options ..." of a recipe that hold for an instance; *n words, the recipe's own. */
char *const *run_options(const struct recipe *recipe, const struct instance *instance, size_t *n);
/* "tier long" */
bool run_is_long(const struct recipe *recipe);

#endif
