/* SPDX-License-Identifier: MIT */
/*
 * policy: what is done about a fault when nobody is asked.
 *
 * Automatic modes and -n take the same decisions; -n only keeps them in the overlay. Knows no disk.
 */
#include "engine.h"

bool policy_fixes(const struct fsck_options *options, const struct fault *fault)
{
	(void)options;
	if (fault->id == F_SICK_FILE && fault->n > fault->b)
		return false; /* no room for what can be read of it */
	return fault_kind(fault->id)->automatic == AUTO_FIX;
}
