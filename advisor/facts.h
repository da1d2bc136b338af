/* SPDX-License-Identifier: MIT */
/*
 * facts: what the host says of the device, and whether it may be touched at all.
 */
#ifndef FATWISE_ADVISOR_FACTS_H
#define FATWISE_ADVISOR_FACTS_H

#include "advise.h"

/*
 * false, with words in why that complete "PATH: ", where path or anything on it is mounted, swap,
 * held by another device, or on the disk the system runs from. A missing path may be touched:
 * opening it will say more.
 */
bool advise_may_touch(const char *path, char *why, size_t why_bytes);

/* What the host knows; zeros where it knows nothing. */
void advise_facts_read(const char *path, uint64_t size_bytes, struct advise_facts *facts);

#endif
