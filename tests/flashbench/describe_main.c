/* SPDX-License-Identifier: MIT */
/*
 * describe SEED: prints the erase block and its offset of a device of tests/sim, if reads show it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/random_device.h"

int main(int argc, char **argv)
{
	struct sim_params p;

	if (argc != 2)
		return 1;
	random_device(strtoull(argv[1], NULL, 10), 0.03, &p);
	if (p.real_bytes == 0 && random_device_shows_block(&p))
		printf("%" PRIu64 " %" PRIu64 "\n", p.block_bytes, p.block_off);
	return 0;
}
