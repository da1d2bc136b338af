/* SPDX-License-Identifier: MIT */
/*
 * sysfs: attributes as text and numbers. Private to lib/host.
 *
 * A missing file, an empty one and one that is no number are the same: not known.
 */
#ifndef FATWISE_HOST_SYSFS_H
#define FATWISE_HOST_SYSFS_H

#include "host.h"

#define HOST_PATH_BYTES 512

const char *host_sys(const struct host_roots *roots);
const char *host_proc(const struct host_roots *roots);

/* The folder of a block device, "<sys>/dev/block/8:17", into dir. */
void host_block_dir(const struct host_roots *roots, dev_t number, char dir[HOST_PATH_BYTES]);

/* The first line of dir/name without surrounding blanks. false, and text empty: none. */
bool host_attr_text(const char *dir, const char *name, char *text, size_t text_bytes);

/* A number there, in base 10, or 16 with 0x before it. false, and *value 0: none. */
bool host_attr_u64(const char *dir, const char *name, uint64_t *value);

/* As "0" and "1" say. */
enum host_answer host_attr_answer(const char *dir, const char *name);

/* "8:17" as a device number. false: that it is not. */
bool host_parse_number(const char *text, dev_t *number);

/* The same of an attribute. */
bool host_attr_number(const char *dir, const char *name, dev_t *number);

/* The last part of the path that the link dir/name (name "": dir itself) leads to. */
bool host_link_name(const char *dir, const char *name, char *text, size_t text_bytes);

/* Copies as much as fits; always ended by 0. */
void host_copy(char *to, size_t to_bytes, const char *from);

/* Puts "dir/name" into path; false if it does not fit. */
bool host_join(char path[HOST_PATH_BYTES], const char *dir, const char *name);

#endif
