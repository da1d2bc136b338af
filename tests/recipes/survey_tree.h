/* SPDX-License-Identifier: MIT */
/* survey_tree: the folders' part of the strict reader; for survey.c alone. */
#ifndef RECIPES_SURVEY_TREE_H
#define RECIPES_SURVEY_TREE_H

#include "survey.h"

/* Walks the tree, fills found and owner, notes problems. Ends on any input. */
void survey_walk(struct survey *survey);

#endif
