/* SPDX-License-Identifier: MIT */
/*
 * host: what this machine knows of a device.
 *
 * The only code that includes <blkid.h> or <libudev.h>, and that reads /sys and /proc. It looks, it
 * never changes anything, and it decides nothing: the tools do. What cannot be found out (no /sys,
 * no library, no permission) is HOST_UNKNOWN, 0 or an empty string, never a guess and never an
 * error.
 *
 * Who links what: each function below stands in the source file named above it, so that a tool gets
 * only what it calls. fsck.fat calls nothing of signature.c, identity.c and device.c and needs
 * nothing but libc.
 */
#ifndef FATWISE_HOST_H
#define FATWISE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HOST_NAME_BYTES 64
#define HOST_TEXT_BYTES 256

enum host_answer {
	HOST_UNKNOWN = 0,
	HOST_NO,
	HOST_YES,
};

/* Where sysfs and procfs are. NULL in place of this: "/sys" and "/proc". Tests have their own. */
struct host_roots {
	const char *sys;
	const char *proc;
};

/* ---- target.c: what a path stands for -------------------------------------------------------- */

enum host_kind {
	HOST_MISSING = 0, /* nothing there, or it may not be looked at */
	HOST_FILE,        /* a regular file: an image */
	HOST_BLOCK,       /* a block device */
	HOST_OTHER,       /* a folder, a pipe, a terminal ... */
};

struct host_target {
	const char *path; /* as given; stays the caller's */
	enum host_kind kind;
	dev_t number;   /* a block device: its number; an image: that of the device it lies on */
	dev_t file_dev; /* with file_ino: which file it is */
	ino_t file_ino;
};

/* Looks at path, following links. Returns 0 or an errno; the kind is then HOST_MISSING. */
int host_target_init(struct host_target *target, const char *path);

/* ---- mounts.c: is it mounted ----------------------------------------------------------------- */

enum host_use_kind {
	HOST_USE_NONE = 0,
	HOST_USE_LOOP,    /* an image that a loop device has as its backing file; not mounted */
	HOST_USE_HELD,    /* a device on top of it: LVM, LUKS, RAID, multipath */
	HOST_USE_SWAP,    /* swap space */
	HOST_USE_MOUNTED, /* a mounted file system */
};

struct host_use {
	enum host_use_kind kind;
	char device[HOST_NAME_BYTES]; /* the one in use, "sdb1"; empty: the target itself */
	char by[HOST_TEXT_BYTES];     /* the mount point; the holder's name; the loop device's */
};

/*
 * Is the target itself mounted? By device number, by the source's path, and for an image through
 * the loop devices (and their partitions) that have it as their backing file. HOST_UNKNOWN: there
 * is no list of mounts. Needs nothing but libc.
 */
enum host_answer host_mount_find(const struct host_roots *roots, const struct host_target *target,
				 struct host_use *use);

/* "mounted at /mnt", "used as swap space" ...: goes after "is " or "DEVICE is ". Into buf. */
const char *host_use_text(const struct host_use *use, char *buf, size_t buf_bytes);

/* ---- holders.c: who else has it -------------------------------------------------------------- */

/*
 * Is the target, a partition on it, or the whole disk that it is a partition of in use: mounted,
 * swap, held; is an image attached to a loop device? The gravest use is reported.
 */
enum host_answer host_use_find(const struct host_roots *roots, const struct host_target *target,
			       struct host_use *use);

/* Does the target lie on the disk (or one of the disks) that the running system's root is on? */
enum host_answer host_on_system_disk(const struct host_roots *roots,
				     const struct host_target *target);

/* ---- topology.c: the block layer's numbers --------------------------------------------------- */

/*
 * Of an image, these are the numbers of the device that it lies on, and the partition start says
 * nothing of the image's own place. 0 is "unknown" wherever it is no possible value.
 */
struct host_topology {
	char name[HOST_NAME_BYTES]; /* "sdb1"; empty: sysfs has no such device, nothing is known */
	char disk[HOST_NAME_BYTES]; /* the whole disk: "sdb" */
	char driver[HOST_NAME_BYTES]; /* "loop" "dm" "nvme" "mmc" "usb" "virtio" "ata" or empty */
	bool is_partition;
	uint32_t n_partitions; /* of the target's device, that the kernel has: 0 of a partition */
	uint64_t size_bytes;   /* of the target's device */
	uint64_t disk_bytes;       /* of the whole disk */
	uint64_t part_start_bytes; /* of a partition, from the start of the whole disk */
	int64_t alignment_off;     /* to the next natural boundary; -1: misaligned */
	uint32_t logical_block_bytes;
	uint32_t physical_block_bytes;
	uint32_t minimum_io_bytes;
	uint32_t optimal_io_bytes;  /* as the device says; USB bridges say nonsense */
	uint32_t max_request_bytes; /* the largest one the kernel sends */
	uint32_t discard_granularity_bytes;
	uint64_t discard_max_bytes;  /* 0: takes no discards, or unknown */
	enum host_answer rotational; /* USB sticks claim it often */
	enum host_answer removable;
	enum host_answer read_only;
	enum host_answer write_cache;       /* "write back": a flush has a meaning */
	char backing_file[HOST_TEXT_BYTES]; /* of a loop device */
};

/* HOST_NO: there is no such device in sysfs. */
enum host_answer host_topology_read(const struct host_roots *roots,
				    const struct host_target *target,
				    struct host_topology *topology);

/* ---- flash.c: what SD and MMC cards say ------------------------------------------------------ */

struct host_flash {
	enum host_answer is_mmc;
	uint64_t preferred_erase_bytes; /* an SD card's AU, or the kernel's guess by capacity */
	uint64_t au_bytes;              /* AU_SIZE in the SD status: the card's own word */
	uint64_t uhs_au_bytes;          /* UHS_AU_SIZE there */
	uint32_t speed_class;           /* 2, 4, 6, 10 */
	uint32_t manufacturer_id;       /* manfid */
	uint32_t oem_id;
	char type[HOST_NAME_BYTES]; /* "SD", "MMC" */
	char name[HOST_NAME_BYTES];
	char serial[HOST_NAME_BYTES];
	char date[HOST_NAME_BYTES]; /* of manufacture */
};

enum host_answer host_flash_read(const struct host_roots *roots, const struct host_target *target,
				 struct host_flash *flash);

/*
 * The same of an SD status register, 64 bytes, as the kernel prints it in hexadecimal: sets
 * au_bytes, uhs_au_bytes, speed_class. false: not that, or all zero. [SD Physical Layer 4.10.2]
 */
bool host_flash_decode_ssr(const char *hex, struct host_flash *flash);

/* ---- geometry.c: heads and sectors ----------------------------------------------------------- */

struct host_geometry {
	uint32_t heads;
	uint32_t sectors_per_track;
	uint64_t start_sec; /* of a partition, in 512-byte sectors */
};

/* What the kernel says of an open block device (HDIO_GETGEO). HOST_NO: it has no geometry. */
enum host_answer host_geometry_read(int fd, struct host_geometry *geometry);

/* ---- identity.c: which device it is (libudev, else sysfs) ------------------------------------ */

struct host_identity {
	char bus[HOST_NAME_BYTES]; /* "usb", "mmc", "ata" ... */
	char vendor[HOST_NAME_BYTES];
	char model[HOST_NAME_BYTES];
	char revision[HOST_NAME_BYTES];
	char serial[HOST_NAME_BYTES]; /* as good a key for remembering as there is */
};

/* udev's database is asked only with roots NULL. Free text from a device: print it harmlessly. */
enum host_answer host_identity_read(const struct host_roots *roots,
				    const struct host_target *target,
				    struct host_identity *identity);

/* ---- signature.c: what is on it (libblkid) --------------------------------------------------- */

struct host_signature {
	bool is_table;              /* a partition table rather than a file system */
	bool is_fat;                /* a FAT volume */
	char type[HOST_NAME_BYTES]; /* "ext4", "vfat", "gpt", "crypto_LUKS" ... */
	char label[HOST_TEXT_BYTES];
};

/*
 * Looks for a file system, RAID, swap or partition table from off on, len_bytes long (0: to the
 * end), through fd, which keeps its place. HOST_NO: nothing known is there. HOST_UNKNOWN: built
 * without libblkid, or it could not read. A file system is reported before a table, for FAT boot
 * sectors resemble tables.
 */
enum host_answer host_signature_read(int fd, uint64_t off, uint64_t len_bytes,
				     struct host_signature *signature);

/* ---- device.c: all of it --------------------------------------------------------------------- */

struct host_device {
	struct host_target target;
	enum host_answer in_use; /* use says by whom */
	struct host_use use;
	enum host_answer on_system_disk;
	struct host_topology topology;
	struct host_flash flash;
	struct host_identity identity;
	struct host_geometry geometry;
	enum host_answer has_signature; /* signature says which */
	struct host_signature signature;
};

/* Fills in all that can be found. fd: the target, open for reading; -1 leaves out what needs it. */
void host_device_read(const struct host_roots *roots, const char *path, int fd,
		      struct host_device *device);

#endif
