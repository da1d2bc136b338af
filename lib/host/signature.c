/* SPDX-License-Identifier: MIT */
/*
 * signature: what is on a device already, by libblkid.
 *
 * Reads; never wipes. Without the library the answer is "unknown", and the tools say that.
 */
#include <string.h>

#include "sysfs.h"

#ifdef HAVE_BLKID
#include <blkid.h>

static bool take(blkid_probe probe, const char *key, char *text, size_t text_bytes)
{
	const char *value = NULL;

	if (blkid_probe_lookup_value(probe, key, &value, NULL) != 0 || !value)
		return false;
	host_copy(text, text_bytes, value);
	return true;
}

static void choose_chains(blkid_probe probe)
{
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL |
							 BLKID_SUBLKS_USAGE);
	blkid_probe_enable_partitions(probe, 1);
}

/* Each call of blkid_do_probe() finds one more; the first file system, else the first table. */
static enum host_answer look(blkid_probe probe, struct host_signature *signature)
{
	int rc;

	while ((rc = blkid_do_probe(probe)) == 0) {
		if (take(probe, "TYPE", signature->type, sizeof signature->type)) {
			signature->is_table = false;
			signature->is_fat = strcmp(signature->type, "vfat") == 0;
			take(probe, "LABEL", signature->label, sizeof signature->label);
			return HOST_YES;
		}
		if (take(probe, "PTTYPE", signature->type, sizeof signature->type))
			signature->is_table = true;
	}
	if (signature->is_table)
		return HOST_YES;
	return rc == 1 ? HOST_NO : HOST_UNKNOWN;
}

enum host_answer host_signature_read(int fd, uint64_t off, uint64_t len_bytes,
				     struct host_signature *signature)
{
	blkid_probe probe = blkid_new_probe();
	enum host_answer answer = HOST_UNKNOWN;

	*signature = (struct host_signature){ .is_table = false };
	if (!probe)
		return HOST_UNKNOWN;
	if (blkid_probe_set_device(probe, fd, (blkid_loff_t)off, (blkid_loff_t)len_bytes) == 0) {
		choose_chains(probe);
		answer = look(probe, signature);
	}
	blkid_free_probe(probe);
	return answer;
}
#else
enum host_answer host_signature_read(int fd, uint64_t off, uint64_t len_bytes,
				     struct host_signature *signature)
{
	(void)fd;
	(void)off;
	(void)len_bytes;
	*signature = (struct host_signature){ .is_table = false };
	return HOST_UNKNOWN;
}
#endif
