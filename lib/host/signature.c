/* SPDX-License-Identifier: MIT */
/*
 * signature: what is on a device already, by libblkid.
 *
 * Reads; never wipes. Without the library the answer is "unknown", and the tools say that. On a
 * blank device it reads some thirty blocks.
 */
#include <string.h>
#include <unistd.h>

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

/*
 * Two of libblkid's looks would read more of a blank device than formatting it does. They are left
 * out where one block tells that they are in vain.
 */
#define ZFS_LABEL_BYTES 262144ull
#define ZFS_LIST_OFF	16384 /* in a label: its name-value list */

static bool read_head(int fd, uint64_t off, uint8_t head[4])
{
	return pread(fd, head, 4, (off_t)off) == 4;
}

/* libblkid reads all four labels, 1 MiB. The list in each begins with its encoding, always XDR. */
static bool may_be_zfs(int fd, uint64_t off, uint64_t len_bytes)
{
	uint64_t end_off = off + len_bytes / ZFS_LABEL_BYTES * ZFS_LABEL_BYTES;
	const uint64_t label_off[] = { off, off + ZFS_LABEL_BYTES, end_off - 2 * ZFS_LABEL_BYTES,
				       end_off - ZFS_LABEL_BYTES };

	for (size_t i = 0; len_bytes >= 4 * ZFS_LABEL_BYTES && i < 4; i++) {
		uint8_t head[4];

		if (!read_head(fd, label_off[i] + ZFS_LIST_OFF, head) ||
		    (head[0] == 1 && head[1] <= 1 && head[2] == 0 && head[3] == 0))
			return true;
	}
	return false;
}

/* libblkid reads 256 KiB. Every block of the log in use, so the first, begins with a mark. */
static bool may_be_xfs_log(int fd, uint64_t off)
{
	static const uint8_t unused[4];
	uint8_t head[4];

	return !read_head(fd, off, head) || memcmp(head, unused, sizeof head) != 0;
}

static void leave_out_vain(blkid_probe probe, int fd, uint64_t off)
{
	char zfs[] = "zfs_member", xfs_log[] = "xfs_external_log", *names[3] = { NULL };
	size_t n = 0;

	if (!may_be_zfs(fd, off, (uint64_t)blkid_probe_get_size(probe)))
		names[n++] = zfs;
	if (!may_be_xfs_log(fd, off))
		names[n++] = xfs_log;
	if (n > 0)
		blkid_probe_filter_superblocks_type(probe, BLKID_FLTR_NOTIN, names);
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
		leave_out_vain(probe, fd, off);
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
