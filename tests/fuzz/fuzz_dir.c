/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dir: any bytes as the slots of a folder, of the root or of another one. Checksums of long
 * names are mended where the input wants it, so that the fuzzer gets past.
 */
#include <string.h>

#include "libfat.h"
#include "volume.h"

#define MAX_SLOTS 16u

static void mend(uint8_t *slots, size_t n_slots)
{
	for (size_t i = n_slots; i-- > 0;)
		if ((slots[i * DIRENT_BYTES + 11] & 0x3F) == 0x0F && i + 1 < n_slots &&
		    !(slots[i * DIRENT_BYTES + 12] & 1)) {
			const uint8_t *next = slots + (i + 1) * DIRENT_BYTES;

			slots[i * DIRENT_BYTES + 13] = (next[11] & 0x3F) == 0x0F
							       ? next[13]
							       : fat_short_checksum(next);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fuzz_input input = { data, n_bytes };
	const struct image *base = fuzz_base((unsigned)fuzz_take(&input, 8));
	uint32_t where = (uint32_t)fuzz_take(&input, 8);
	uint8_t slots[MAX_SLOTS * DIRENT_BYTES] = { 0 };
	struct fat_dev *dev = fuzz_clone(base);
	const struct node *folder = base->node[where % 4];
	uint64_t off;

	while (!folder->is_dir)
		folder = folder->parent;
	off = folder->n_chain ? shape_cluster_off(&base->shape, folder->chain[0])
			      : shape_root_off(&base->shape);
	if (where & 0x80 && folder->parent) /* its dots stay */
		off += 2 * (uint64_t)DIRENT_BYTES;
	n_bytes = input.n_bytes < sizeof slots ? input.n_bytes : sizeof slots;
	memcpy(slots, input.data, n_bytes);
	if (where & 0x40)
		mend(slots, MAX_SLOTS);
	put_bytes(dev, off, slots, n_bytes);
	fuzz_judge(base, dev);
	fat_dev_close(dev);
	return 0;
}
