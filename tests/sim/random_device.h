/* SPDX-License-Identifier: MIT */
/*
 * random_device: devices by seed, from the ranges that published measurements give.
 */
#ifndef FATWISE_TESTS_RANDOM_DEVICE_H
#define FATWISE_TESTS_RANDOM_DEVICE_H

#include "advisor/sim.h"

/* The same seed always gives the same device. max_noise 0.03 is the usual set. */
void random_device(uint64_t seed, double max_noise, struct sim_params *params);

/* Does a read across an erase block's boundary stand out of this device's noise? */
bool random_device_shows_block(const struct sim_params *params);
bool random_device_shows_page(const struct sim_params *params);

#endif
