/* SPDX-License-Identifier: MIT */
/*
 * libfat: the FAT12/16/32 format, and volumes on devices.
 *
 * Knows the format. Knows no terminal, no environment, no clock, no randomness: what depends on
 * them is a parameter. Has no globals, so any number of volumes may be used at once, each from one
 * thread at a time.
 *
 * An *error* is this library failing (I/O, memory, argument): a status. A *fault* is a volume
 * deviating from the format: data. No function mixes them.
 *
 * Units stand in names: _off and _bytes are bytes, _sec sectors, _clus cluster numbers, _slot
 * directory slots, n_ counts.
 *
 * Sources of rules: [FATSPEC] Microsoft's FAT specification (fatgen103), [SD] the SD Association's
 * file system specification, [LINUX] what the Linux driver does, [COMPAT] what dosfstools 4.2 does
 * and scripts rely on. fat-format(7) lists them.
 */
#ifndef LIBFAT_H
#define LIBFAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- stable: status ------------------------------------------------------------------------ */

enum fat_status {
	FAT_OK = 0,
	FAT_ERR_IO,        /* a read, write or flush failed */
	FAT_ERR_MEMORY,    /* out of memory */
	FAT_ERR_RANGE,     /* beyond the end of the device, or an offset that overflows */
	FAT_ERR_READ_ONLY, /* write to a device opened for reading */
	FAT_ERR_BUSY,      /* somebody else has the device */
	FAT_ERR_OPEN,      /* cannot be opened */
	FAT_ERR_SIZE,      /* its size cannot be found out, or is 0 */
	FAT_ERR_KIND,      /* neither a regular file nor a block device */
	FAT_ERR_ARGUMENT,  /* the caller's fault */
	FAT_ERR_FORMAT,    /* not a FAT volume */
	FAT_ERR_CANCELLED, /* a callback asked to stop */
};

/* Where and why the last operation failed. sys_errno is 0 where the system was not asked. */
struct fat_error {
	enum fat_status status;
	int sys_errno;
	const char *action; /* "read", "write", "flush", "open" ...; a string constant */
	uint64_t off;       /* bytes from the start of the device */
	uint64_t len_bytes;
};

/* A few words for people ("input/output error"), never NULL. Pure. */
const char *fat_status_text(enum fat_status status);

/* ---- stable: device ------------------------------------------------------------------------ */

/*
 * A device is a range of bytes with read, write and flush. Layers stack: each holds one `below`.
 * Every access goes through fat_dev_read() and its like, which check the bounds; a layer's own
 * operations can rely on off + len_bytes <= size_bytes, len_bytes > 0.
 */
struct fat_dev;

struct fat_dev_ops {
	const char *name;
	enum fat_status (*read)(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes);
	enum fat_status (*write)(struct fat_dev *dev, uint64_t off, const void *buf,
				 size_t len_bytes);
	/* Makes a range read as zeros. NULL: done by writes. */
	enum fat_status (*zero)(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);
	/* Tells the device that a range is not needed any more. NULL: not offered. */
	enum fat_status (*discard)(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);
	/* Asks for a range to be read soon. NULL: nothing. */
	void (*prefetch)(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);
	enum fat_status (*flush)(struct fat_dev *dev);
	void (*close)(struct fat_dev *dev); /* frees dev itself, not the layer below */
};

/* What went through the base of a stack; requests as the system saw them. */
struct fat_dev_stats {
	uint64_t n_reads, read_bytes;
	uint64_t n_writes, write_bytes;
	uint64_t n_zeroes, zero_bytes; /* by command, not by writes */
	uint64_t n_discards, discard_bytes;
	uint64_t n_readaheads, readahead_bytes; /* announced with prefetch */
	uint64_t n_flushes;
	uint64_t n_errors;
};

struct fat_dev {
	const struct fat_dev_ops *ops;
	struct fat_dev *below; /* NULL for a base */
	uint64_t size_bytes;
	uint32_t block_bytes; /* the medium's logical block, a power of two, at least 1 */
	bool read_only;
	struct fat_error error;     /* of the last call that failed */
	struct fat_dev_stats stats; /* counted by bases */
};

/*
 * Reads or writes len_bytes at off, whole or not at all as far as the caller can tell: after an
 * error the content of buf, or of that range of the device, is undefined. len_bytes 0 does nothing.
 * Returns FAT_OK, FAT_ERR_RANGE, FAT_ERR_READ_ONLY, FAT_ERR_IO; dev->error has the detail.
 */
enum fat_status fat_dev_read(struct fat_dev *dev, uint64_t off, void *buf, size_t len_bytes);
enum fat_status fat_dev_write(struct fat_dev *dev, uint64_t off, const void *buf, size_t len_bytes);

/*
 * Makes a range read as zeros, by the cheapest means the medium has (a hole that is zero already is
 * not written); otherwise by writes of up to 1 MiB.
 */
enum fat_status fat_dev_zero(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);

/* FAT_ERR_KIND where the device offers no discard. The content is undefined afterwards. */
enum fat_status fat_dev_discard(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);

/* A hint, clipped to the device; never fails. */
void fat_dev_prefetch(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);

/* After FAT_OK all that was written is on the medium, as far as it tells the truth. */
enum fat_status fat_dev_flush(struct fat_dev *dev);

/* Closes dev and everything below it. NULL is allowed. Does not flush. */
void fat_dev_close(struct fat_dev *dev);

/* The lowest layer, where the statistics are. O(depth). */
struct fat_dev *fat_dev_base(struct fat_dev *dev);

/* For layers: records an error and returns its status. */
enum fat_status fat_dev_fail(struct fat_dev *dev, enum fat_status status, const char *action,
			     uint64_t off, uint64_t len_bytes, int sys_errno);

/* dev_file: a regular file or a block device. */

enum fat_dev_file_flags {
	FAT_DEV_WRITE = 1,     /* for writing too */
	FAT_DEV_EXCLUSIVE = 2, /* block device: O_EXCL; regular file: an advisory lock */
	FAT_DEV_DIRECT = 4,    /* O_DIRECT: offsets, lengths, buffers in whole blocks */
	FAT_DEV_CREATE = 8,    /* a new file; fails if there is one */
};

/* The system calls dev_file makes; tests put their own here. */
struct fat_dev_file_calls {
	int64_t (*pread)(int fd, void *buf, size_t len_bytes, uint64_t off);
	int64_t (*pwrite)(int fd, const void *buf, size_t len_bytes, uint64_t off);
	int (*fsync)(int fd);
};

/*
 * Opens path. Interrupted and short transfers are continued. On success *dev is the caller's, to be
 * closed with fat_dev_close(). On failure *dev is NULL and *error has the detail: FAT_ERR_OPEN,
 * FAT_ERR_BUSY, FAT_ERR_KIND, FAT_ERR_SIZE (empty), FAT_ERR_MEMORY.
 */
enum fat_status fat_dev_file_open(const char *path, unsigned flags, struct fat_dev **dev,
				  struct fat_error *error);

/* The same on a descriptor that is already open; it is closed with the device. */
enum fat_status fat_dev_file_from_fd(int fd, unsigned flags, struct fat_dev **dev,
				     struct fat_error *error);

/* The descriptor of a dev_file, for ioctls; -1 for any other device. */
int fat_dev_file_fd(const struct fat_dev *dev);

/* Replaces the system calls of a dev_file (tests). calls must outlive the device. */
void fat_dev_file_set_calls(struct fat_dev *dev, const struct fat_dev_file_calls *calls);

/* Resizes a regular file. */
enum fat_status fat_dev_file_resize(struct fat_dev *dev, uint64_t size_bytes);

/*
 * dev_mem: a sparse device in memory, in pages that exist once written; unwritten ones read as
 * zeros. Memory is bounded by what is written. FAT_ERR_MEMORY, FAT_ERR_SIZE (0).
 */
enum fat_status fat_dev_mem_open(uint64_t size_bytes, struct fat_dev **dev);

/* Bytes of memory that hold content now. O(1). */
uint64_t fat_dev_mem_used(const struct fat_dev *dev);

/*
 * dev_window: the part of `below` from start_off on, len_bytes long (0: to the end), as a device of
 * its own. Takes over `below`; on failure (FAT_ERR_RANGE, FAT_ERR_MEMORY) it stays the caller's.
 */
enum fat_status fat_dev_window_open(struct fat_dev *below, uint64_t start_off, uint64_t len_bytes,
				    struct fat_dev **dev);

#ifdef __cplusplus
}
#endif

#endif
