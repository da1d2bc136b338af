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
	/* Writes the bits that are set in mask. NULL: done by a read and a write. */
	enum fat_status (*write_bits)(struct fat_dev *dev, uint64_t off, const void *buf,
				      const void *mask, size_t len_bytes);
	/* Makes a range read as zeros. NULL: done by writes. */
	enum fat_status (*zero)(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);
	/* Tells the device that a range is not needed any more. NULL: not offered. */
	enum fat_status (*discard)(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);
	/* Asks for a range to be read soon. NULL: nothing. */
	void (*prefetch)(struct fat_dev *dev, uint64_t off, uint64_t len_bytes);
	enum fat_status (*flush)(struct fat_dev *dev);
	/* Makes the device longer or shorter. NULL: it has one size. */
	enum fat_status (*resize)(struct fat_dev *dev, uint64_t size_bytes);
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
 * Writes only the bits that are set in mask; the others stay, also where they are to change in
 * another stage of a dev_txn. At most FAT_BITS_BYTES long, else FAT_ERR_ARGUMENT.
 */
#define FAT_BITS_BYTES 512u
enum fat_status fat_dev_write_bits(struct fat_dev *dev, uint64_t off, const void *buf,
				   const void *mask, size_t len_bytes);

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

/* FAT_ERR_KIND where the device has one size for good; else its size_bytes follows. */
enum fat_status fat_dev_resize(struct fat_dev *dev, uint64_t size_bytes);

/* Closes dev and everything below it. NULL is allowed. Does not flush. */
void fat_dev_close(struct fat_dev *dev);

/* The lowest layer, where the statistics are. O(depth). */
struct fat_dev *fat_dev_base(struct fat_dev *dev);

/*
 * For layers: n_bytes of zeroed memory that begin with a struct fat_dev of these operations; size,
 * blocks and read-only are those of below (NULL: a base). The layer's close() frees it. Returns
 * NULL without memory.
 */
struct fat_dev *fat_dev_new(size_t n_bytes, const struct fat_dev_ops *ops, struct fat_dev *below);

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
 * closed with fat_dev_close(). On failure *dev is NULL, a file that was created is gone again, and
 * *error has the detail: FAT_ERR_OPEN, FAT_ERR_BUSY, FAT_ERR_KIND, FAT_ERR_SIZE (empty),
 * FAT_ERR_MEMORY.
 */
enum fat_status fat_dev_file_open(const char *path, unsigned flags, struct fat_dev **dev,
				  struct fat_error *error);

/*
 * The same on a descriptor that is already open; it is closed with the device. One of the standard
 * streams' numbers (0 to 2) is exchanged for a higher one, and closed at once.
 */
enum fat_status fat_dev_file_from_fd(int fd, unsigned flags, struct fat_dev **dev,
				     struct fat_error *error);

/* The descriptor of a dev_file, for ioctls; -1 for any other device. */
int fat_dev_file_fd(const struct fat_dev *dev);

/* Replaces the system calls of a dev_file (tests). calls must outlive the device. */
void fat_dev_file_set_calls(struct fat_dev *dev, const struct fat_dev_file_calls *calls);

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

/*
 * dev_salvage: goes on where `below` cannot be read. Units of unit_bytes (a power of two, a
 * multiple of the medium's block) that cannot be read read as zeros and are put on a list; they are
 * not tried again. A write that covers such a unit as a whole is tried, flushed and read back, and
 * takes it off the list; other writes to it are left out and, like those that fail, only counted.
 * Up to 1,024 ranges of 65,536 units in all; what is more gives FAT_ERR_IO as ever. Takes over
 * `below`. FAT_ERR_MEMORY.
 */
enum fat_status fat_dev_salvage_open(struct fat_dev *below, uint32_t unit_bytes,
				     struct fat_dev **dev);

struct fat_dev_range {
	uint64_t off, len_bytes;
};

/*
 * For a medium that is shorter than what is on it: all layers from dev down to the dev_salvage have
 * size_bytes from now on, and what lies behind the medium's end cannot be read. FAT_ERR_ARGUMENT:
 * no such layer.
 */
enum fat_status fat_dev_salvage_extend(struct fat_dev *dev, uint64_t size_bytes);

/*
 * Asked of any device of a stack with a dev_salvage in it (offsets must be the same there); without
 * one everything is readable. O(log n): whether a part of the range is on the list.
 */
bool fat_dev_unreadable(const struct fat_dev *dev, uint64_t off, uint64_t len_bytes);
/* The list, ascending; it holds until the next call that reads or writes. */
size_t fat_dev_unreadable_list(const struct fat_dev *dev, const struct fat_dev_range **list);
/* How many units were ever put on the list; how many writes did not take one off it. */
uint64_t fat_dev_unreadable_units(const struct fat_dev *dev);
uint64_t fat_dev_unhealed_units(const struct fat_dev *dev);

/* ---- stable: boot sector and geometry ------------------------------------------------------ */

enum fat_type { FAT_TYPE_12 = 12, FAT_TYPE_16 = 16, FAT_TYPE_32 = 32 };

#define FAT_BOOT_BYTES	     512u
#define FAT_FIRST_CLUS	     2u
#define FAT_MAX_CLUS_12	     4084u	/* data clusters [FATSPEC 3.5] */
#define FAT_MAX_CLUS_16	     65524u
#define FAT_MAX_CLUS_32	     268435444u /* numbers 2 to 0x0FFFFFF5 */
#define FAT_MIN_SECTOR_BYTES 512u
#define FAT_MAX_SECTOR_BYTES 32768u	/* [COMPAT 3]; drivers take 4096 */
#define FAT_MAX_ROOT_ENTRIES 65535u

/* The fields of a boot sector as they stand there [FATSPEC 3.1 to 3.3], believed or not. */
struct fat_boot {
	uint8_t jump[3];
	uint8_t oem[8];
	uint16_t sector_bytes;
	uint8_t cluster_sec;
	uint16_t reserved_sec;
	uint8_t n_fats;
	uint16_t root_entries;
	uint16_t total16_sec;
	uint8_t media;
	uint16_t fat16_sec; /* 0: the layout is FAT32's, and the fields marked so hold */
	uint16_t track_sec;
	uint16_t heads;
	uint32_t hidden_sec;
	uint32_t total32_sec;
	uint32_t fat32_sec;   /* FAT32 */
	uint16_t ext_flags;   /* FAT32: mirroring, active FAT */
	uint16_t version;     /* FAT32 */
	uint32_t root_clus;   /* FAT32 */
	uint16_t fsinfo_sec;  /* FAT32 */
	uint16_t backup_sec;  /* FAT32 */
	uint8_t drive;
	uint8_t state;	      /* bit 0 dirty, bit 1 surface scan wanted [LINUX] */
	uint8_t ext_sig;      /* 0x28, 0x29: volume_id follows; 0x29: label and fs_type too */
	uint32_t volume_id;
	uint8_t label[11];
	uint8_t fs_type[8];
	uint16_t signature;   /* 0xAA55 */
};

#define FAT_STATE_DIRTY	  0x01u
#define FAT_STATE_SURFACE 0x02u

/* Reads the fields. Any bytes are taken; nothing is judged. Pure. */
void fat_boot_decode(const uint8_t sector[FAT_BOOT_BYTES], struct fat_boot *boot);

/* Puts the fields into the sector; bytes that belong to none (boot code) stay. Pure. */
void fat_boot_encode(const struct fat_boot *boot, uint8_t sector[FAT_BOOT_BYTES]);

bool fat_boot_is_fat32_layout(const struct fat_boot *boot);
uint32_t fat_boot_total_sec(const struct fat_boot *boot);
uint32_t fat_boot_fat_sec(const struct fat_boot *boot);

/*
 * What can be wrong with a boot sector taken by itself. A fatal deviation leaves no volume to speak
 * of. X(name, fatal)
 */
#define FAT_BOOT_DEVIATIONS(X)                                                                    \
	X(SECTOR_BYTES, true)	 /* not 512..32768 or no power of two */                          \
	X(SECTOR_LARGE, false)	 /* above 4096: drivers refuse it */                              \
	X(CLUSTER_SEC, true)	 /* 0 or no power of two */                                       \
	X(CLUSTER_LARGE, false)	 /* cluster above 64 KiB: few drivers take it */                  \
	X(RESERVED, true)	 /* no reserved sector */                                         \
	X(N_FATS_ZERO, true)	 /* no FAT */                                                     \
	X(N_FATS_MANY, false)	 /* more than 2 */                                                \
	X(TOTAL_ZERO, true)	 /* both counts 0 */                                              \
	X(TOTAL_BOTH, false)	 /* both counts set and different */                              \
	X(TOTAL16_ON_32, false)	 /* FAT32 with the 16-bit count */                                \
	X(TOTAL_SMALL, true)	 /* no room for one cluster behind the metadata */                \
	X(TOTAL_LARGE, false)	 /* reaches beyond the device */                                  \
	X(FAT_SEC_ZERO, true)	 /* FAT size 0 */                                                 \
	X(FAT_SMALL, false)	 /* FAT too small for the clusters */                             \
	X(CLUSTERS_MANY, true)	 /* more clusters than the type can number */                     \
	X(CLUSTERS_FEW_32, false) /* FAT32 below 65525 clusters: firmware takes it for FAT16 */   \
	X(ROOT_ENTRIES_ZERO, true) /* FAT12/16 without a root directory */                        \
	X(ROOT_ENTRIES_ODD, false) /* root directory does not fill its sectors */                 \
	X(ROOT_ENTRIES_ON_32, false)                                                              \
	X(MEDIA, false)		 /* neither F0h nor F8h..FFh */                                   \
	X(SIGNATURE, false)	 /* no 55 AA at 510 */                                            \
	X(JUMP, false)		 /* no jump instruction */                                        \
	X(EXT_SIG, false)	 /* neither 28h nor 29h */                                        \
	X(FS_TYPE, false)	 /* type text does not name the type */                           \
	X(VERSION, false)	 /* FAT32 version is not 0.0 */                                   \
	X(ACTIVE_FAT, false)	 /* mirroring off, and the active FAT does not exist */           \
	X(ROOT_CLUS, false)	 /* FAT32 root cluster outside the volume */                      \
	X(FSINFO_NONE, false)	 /* no FSInfo sector (0 or FFFFh) */                              \
	X(FSINFO_SEC, false)	 /* FSInfo outside the reserved sectors, or on the boot sector */ \
	X(BACKUP_NONE, false)	 /* no backup boot sector (0 or FFFFh) */                         \
	X(BACKUP_SEC, false)	 /* backup outside the reserved sectors, or on FSInfo */          \
	X(DIRTY, false)		 /* dirty bit */                                                  \
	X(SURFACE, false)	 /* surface scan bit */

enum fat_boot_deviation_id {
#define FAT_BOOT_DEVIATION_ENUM(name, fatal) FAT_BOOT_##name,
	FAT_BOOT_DEVIATIONS(FAT_BOOT_DEVIATION_ENUM)
#undef FAT_BOOT_DEVIATION_ENUM
	FAT_BOOT_N_DEVIATIONS
};

struct fat_boot_deviation {
	enum fat_boot_deviation_id id;
	uint64_t found;	   /* the value that is wrong */
	uint64_t expected; /* what it ought to be, or its limit; 0 where that says nothing */
};

struct fat_boot_report {
	size_t n_deviations;
	bool fatal; /* one of them is */
	struct fat_boot_deviation deviation[FAT_BOOT_N_DEVIATIONS];
};

/*
 * Judges a boot sector: each deviation once, in the order of the list. device_bytes 0: not known.
 * Pure. [FATSPEC 3.1 to 3.5]
 */
void fat_boot_check(const struct fat_boot *boot, uint64_t device_bytes,
		    struct fat_boot_report *report);

/* A volume's layout in host terms; what offsets are computed from, counted from its start. */
struct fat_geometry {
	enum fat_type type;
	uint32_t sector_bytes;
	uint32_t cluster_sec;
	uint32_t cluster_bytes;
	uint32_t reserved_sec;
	uint32_t n_fats;
	uint32_t fat_sec;      /* of one FAT */
	uint32_t root_entries; /* FAT12/16, else 0 */
	uint32_t root_sec;     /* FAT12/16: sectors of the root directory, else 0 */
	uint32_t total_sec;
	uint32_t n_clus;       /* data clusters: numbers 2 to n_clus + 1 */
	uint8_t media;
	bool mirrored;	       /* FAT32 can switch it off */
	uint32_t active_fat;   /* 0-based; 0 where mirrored */
	uint32_t root_clus;    /* FAT32, else 0 */
	uint32_t fsinfo_sec;   /* FAT32; 0: none that can be believed */
	uint32_t backup_sec;   /* FAT32; 0: none that can be believed */
};

/*
 * The layout that a boot sector describes; its type by rule of [FATSPEC 3.5] and [LINUX]: FAT32
 * if the 16-bit FAT length is 0, else FAT12 up to 4084 clusters. FAT_ERR_FORMAT, and *geometry
 * untouched, where a fatal deviation leaves none. Pointers that make no sense become 0. Pure.
 */
enum fat_status fat_geometry_decode(const struct fat_boot *boot, struct fat_geometry *geometry);

uint64_t fat_geometry_fat_off(const struct fat_geometry *geometry, uint32_t copy);
uint64_t fat_geometry_fat_bytes(const struct fat_geometry *geometry);
uint64_t fat_geometry_root_off(const struct fat_geometry *geometry); /* FAT12/16 */
uint64_t fat_geometry_root_bytes(const struct fat_geometry *geometry);
uint64_t fat_geometry_data_off(const struct fat_geometry *geometry);
uint64_t fat_geometry_total_bytes(const struct fat_geometry *geometry);
/* clus must be in the volume. */
uint64_t fat_geometry_cluster_off(const struct fat_geometry *geometry, uint32_t clus);
/* The cluster that holds a byte of the data area; 0 for bytes before it or behind the last one. */
uint32_t fat_geometry_clus_at(const struct fat_geometry *geometry, uint64_t off);
uint32_t fat_geometry_last_clus(const struct fat_geometry *geometry);
bool fat_geometry_has_clus(const struct fat_geometry *geometry, uint32_t clus);
/* Entries that a FAT of fat_sec sectors holds, the two reserved ones included. */
uint64_t fat_geometry_fat_entries(enum fat_type type, uint32_t fat_sec, uint32_t sector_bytes);
/* Clusters that n bytes of content take. */
uint64_t fat_geometry_clus_for(const struct fat_geometry *geometry, uint64_t n_bytes);

/* FSInfo [FATSPEC 5]. */
#define FAT_FSINFO_BYTES   512u
#define FAT_FSINFO_UNKNOWN 0xFFFFFFFFu

struct fat_fsinfo {
	bool lead_ok, struct_ok, trail_ok; /* its three signatures */
	uint32_t n_free;
	uint32_t next_clus;
};

void fat_fsinfo_decode(const uint8_t sector[FAT_FSINFO_BYTES], struct fat_fsinfo *fsinfo);
/* Writes signatures and counts; other bytes stay. */
void fat_fsinfo_encode(const struct fat_fsinfo *fsinfo, uint8_t sector[FAT_FSINFO_BYTES]);

/* ---- stable: FAT entries ------------------------------------------------------------------- */

enum fat_entry_kind {
	FAT_ENTRY_FREE,
	FAT_ENTRY_NEXT,	   /* the number of a cluster of the volume */
	FAT_ENTRY_BAD,
	FAT_ENTRY_END,
	FAT_ENTRY_INVALID, /* 1, or a number behind the last cluster */
};

/* All value bits of the type: FFFh, FFFFh, 0FFFFFFFh. This is also the end mark we write. */
uint32_t fat_entry_mask(enum fat_type type);
uint32_t fat_entry_bad(enum fat_type type);
/* The lowest end mark. */
uint32_t fat_entry_end_min(enum fat_type type);

/* Entry n of a FAT's bytes, which start with entry 0; without FAT32's four reserved bits. */
uint32_t fat_entry_get(enum fat_type type, const uint8_t *table, uint32_t n);
/* Sets it; the neighbour's nibble (FAT12) and the four reserved bits (FAT32) stay. */
void fat_entry_set(enum fat_type type, uint8_t *table, uint32_t n, uint32_t value);
/* Byte offset of entry n in a FAT; a FAT12 entry may straddle two sectors. */
uint64_t fat_entry_off(enum fat_type type, uint32_t n);
enum fat_entry_kind fat_entry_classify(enum fat_type type, uint32_t value, uint32_t last_clus);

/* Bits of entry 1 that are 1 on a sound volume; 0 for FAT12, which has none [FATSPEC 4.2]. */
uint32_t fat_entry_clean_bit(enum fat_type type);
uint32_t fat_entry_no_error_bit(enum fat_type type);

/* ---- stable: directory slots --------------------------------------------------------------- */

#define FAT_SLOT_BYTES	      32u
#define FAT_SLOT_DELETED_MARK 0xE5u /* first byte of a deleted slot; 05h stands for it in a name */
#define FAT_SHORT_BYTES	      11u
#define FAT_LONG_SLOT_UNITS   13u
#define FAT_LONG_SLOTS	      20u /* of one name, at most */
#define FAT_NAME_UNITS	      255u
#define FAT_NAME_BYTES	      (3 * FAT_NAME_UNITS + 1) /* the same as UTF-8 with its end */
#define FAT_MAX_DIR_SLOTS     65536u

enum fat_attr {
	FAT_ATTR_READ_ONLY = 0x01,
	FAT_ATTR_HIDDEN = 0x02,
	FAT_ATTR_SYSTEM = 0x04,
	FAT_ATTR_VOLUME = 0x08,
	FAT_ATTR_DIRECTORY = 0x10,
	FAT_ATTR_ARCHIVE = 0x20,
	FAT_ATTR_LONG = 0x0F,
	FAT_ATTR_KNOWN = 0x3F,
};

enum fat_slot_kind {
	FAT_SLOT_END,	  /* this one and all behind it are unused */
	FAT_SLOT_DELETED,
	FAT_SLOT_LONG,	  /* a part of a long name */
	FAT_SLOT_LABEL,
	FAT_SLOT_DOT,	  /* named "." */
	FAT_SLOT_DOTDOT,
	FAT_SLOT_FILE,
	FAT_SLOT_DIRECTORY,
};

/* What drivers take a slot for. Pure. [FATSPEC 6] */
enum fat_slot_kind fat_slot_classify(const uint8_t slot[FAT_SLOT_BYTES]);

struct fat_dirent {
	uint8_t name[FAT_SHORT_BYTES];
	uint8_t attr;
	uint8_t name_case;   /* bit 3: base in lower case, bit 4: extension */
	uint8_t create_fine; /* hundredths of a second, 0 to 199 */
	uint16_t create_time, create_date;
	uint16_t access_date;
	uint16_t write_time, write_date;
	uint32_t start_clus; /* FAT12/16: the low 16 bits; the other two bytes are not touched */
	uint32_t size_bytes;
};

#define FAT_CASE_LOWER_BASE 0x08u
#define FAT_CASE_LOWER_EXT  0x10u

void fat_dirent_decode(const uint8_t slot[FAT_SLOT_BYTES], enum fat_type type,
		       struct fat_dirent *dirent);
void fat_dirent_encode(const struct fat_dirent *dirent, enum fat_type type,
		       uint8_t slot[FAT_SLOT_BYTES]);

/* A slot that holds 13 UTF-16 units of a long name [FATSPEC 7]. */
struct fat_long_slot {
	uint8_t order; /* 1 is nearest to the short entry; the farthest has bit 6 set */
	uint8_t attr;
	uint8_t type;
	uint8_t checksum;
	uint16_t start_clus;
	uint16_t unit[FAT_LONG_SLOT_UNITS];
};

#define FAT_LONG_LAST 0x40u

void fat_long_slot_decode(const uint8_t slot[FAT_SLOT_BYTES], struct fat_long_slot *part);
void fat_long_slot_encode(const struct fat_long_slot *part, uint8_t slot[FAT_SLOT_BYTES]);

struct fat_datetime {
	uint16_t year; /* 1980 to 2107 */
	uint8_t month, day, hour, minute, second, hundredths;
};

/* false, and nothing set, where FAT cannot tell that time. */
bool fat_datetime_encode(const struct fat_datetime *at, uint16_t *date, uint16_t *time,
			 uint8_t *fine);
void fat_datetime_decode(uint16_t date, uint16_t time, uint8_t fine, struct fat_datetime *at);
/* 0 is no date (but the way to say "not recorded"). A day that its month lacks is let pass. */
bool fat_date_is_valid(uint16_t date);
bool fat_time_is_valid(uint16_t time);

/* ---- stable: code pages -------------------------------------------------------------------- */

#define FAT_CODEPAGE_DEFAULT 850u
#define FAT_CODEPAGE_LEAD    0xFFFFu /* in unicode[]: first byte of a pair, or no character */
#define FAT_CHAR_UNKNOWN     0xFFFDu

struct fat_codepage {
	unsigned number;
	uint16_t unicode[128]; /* of bytes 80h to FFh */
};

/* 437 and 850 always; others as the system's iconv knows them, else FAT_ERR_ARGUMENT. */
enum fat_status fat_codepage_init(struct fat_codepage *page, unsigned number);

/*
 * The character at bytes (n_bytes > 0 of them): its code point, FAT_CHAR_UNKNOWN where there is
 * none; *used is 1, or 2 for a pair.
 */
uint32_t fat_codepage_decode(const struct fat_codepage *page, const uint8_t *bytes, size_t n_bytes,
			     size_t *used);

/* Code point c as 1 or 2 bytes; 0 if the page lacks it. */
size_t fat_codepage_encode(const struct fat_codepage *page, uint32_t c, uint8_t bytes[2]);

/* ---- stable: names ------------------------------------------------------------------------- */

/* The capital of a UTF-16 unit, one to one; the unit itself where there is none. Pure. */
uint16_t fat_unit_upcase(uint16_t unit);

/*
 * UTF-16 to UTF-8: as much as fits with an end mark; halves of surrogate pairs become U+FFFD.
 * Returns the bytes without the end mark.
 */
size_t fat_units_to_utf8(const uint16_t *units, size_t n_units, char *text, size_t text_bytes);
/* UTF-8 to UTF-16. false: not valid UTF-8, or more than max_units. */
bool fat_units_from_utf8(const char *text, uint16_t *units, size_t max_units, size_t *n_units);

/* Of the name in capitals, so that names that drivers take for the same are the same number. */
uint64_t fat_units_hash(const uint16_t *units, size_t n_units);
bool fat_units_same(const uint16_t *a, size_t n_a, const uint16_t *b, size_t n_b);

/* What is wrong with the 11 bytes of a short name. */
enum fat_short_flaw {
	FAT_SHORT_CONTROL = 1,	/* bytes that no driver can address, or a blank first */
	FAT_SHORT_RESERVED = 2, /* + , . ; = [ ] DEL: forbidden, but taken by all drivers */
	FAT_SHORT_LOWER = 4,	/* small letters */
};
unsigned fat_short_check(const uint8_t name[FAT_SHORT_BYTES]);

/* "NAME.EXT" as shown, into units (13 have room); returns how many. */
size_t fat_short_to_units(const uint8_t name[FAT_SHORT_BYTES], uint8_t name_case,
			  const struct fat_codepage *page, uint16_t units[13]);
/* The same as UTF-8. */
void fat_short_to_utf8(const uint8_t name[FAT_SHORT_BYTES], uint8_t name_case,
		       const struct fat_codepage *page, char *text, size_t text_bytes);
/* "name.ext" (UTF-8) to 11 bytes in capitals; false if it is no short name. */
bool fat_short_from_utf8(const char *text, const struct fat_codepage *page,
			 uint8_t name[FAT_SHORT_BYTES]);

/* Ties a long name's slots to their short entry [FATSPEC 7.2]. */
uint8_t fat_short_checksum(const uint8_t name[FAT_SHORT_BYTES]);

struct fat_long_name {
	size_t n_units;
	uint16_t unit[FAT_LONG_SLOTS * FAT_LONG_SLOT_UNITS];
};

enum fat_long_verdict {
	FAT_LONG_OK,
	FAT_LONG_ORDER,	   /* numbers out of order, first or last part missing */
	FAT_LONG_CHECKSUM, /* belongs to another short name */
	FAT_LONG_LENGTH,   /* empty, or more than 255 units */
	FAT_LONG_CHARS,	   /* control characters or a slash: no driver can use it */
};

enum fat_long_flaw {
	FAT_LONG_PADDING = 1,	/* not ended with 0 and filled with FFFFh as it should be */
	FAT_LONG_TYPE = 2,	/* attributes, type or cluster fields are not those of a part */
	FAT_LONG_FORBIDDEN = 4, /* " * : < > ? \ |, and FFFFh, which is padding */
	FAT_LONG_TRAILING = 8,	/* ends in a dot or blank */
};

/*
 * Puts together the n_slots slots (in disk order) before the short entry `name`. The verdict says
 * whether drivers use the long name; *flaws (enum fat_long_flaw) what they put up with. *longname
 * is set whenever n_slots is 1 to 20, so that a bad set can be looked at. Pure.
 */
enum fat_long_verdict fat_long_assemble(const uint8_t (*slots)[FAT_SLOT_BYTES], size_t n_slots,
					const uint8_t name[FAT_SHORT_BYTES],
					struct fat_long_name *longname, unsigned *flaws);

/* The slots for a long name (1 to 255 units) in disk order; returns how many, at most 20. */
size_t fat_long_split(const uint16_t *units, size_t n_units, const uint8_t name[FAT_SHORT_BYTES],
		      uint8_t slots[FAT_LONG_SLOTS][FAT_SLOT_BYTES]);

/*
 * The short name for a long one [FATSPEC 7.3]: with tail 0 the name itself, cut to 8.3; else with
 * "~tail". Returns true if tail 0 lost nothing but letter case, so that no tail is needed; the
 * caller sees to it that it is the only one in its directory.
 */
bool fat_short_alias(const uint16_t *units, size_t n_units, uint32_t tail,
		     const struct fat_codepage *page, uint8_t name[FAT_SHORT_BYTES]);

/* ---- stable: the FATs as one table --------------------------------------------------------- */

/* Entries first_clus to last_clus come from `copy`. */
struct fat_table_range {
	uint32_t first_clus, last_clus;
	uint32_t copy;
};

/* Read only from outside. */
struct fat_table {
	struct fat_dev *dev;
	const struct fat_geometry *geometry;
	uint32_t copy; /* where entries come from that are in none of the ranges */
	const struct fat_table_range *ranges;
	size_t n_ranges;
	const struct fat_table_range *bad; /* parts of a copy that cannot be read */
	size_t n_bad;
	uint8_t **window;
	uint8_t *was_evicted; /* a byte a window */
	size_t window_bytes, n_windows, n_loaded, max_loaded, hand, n_again;
};

/*
 * The table of a volume; entries come from the active copy. Keeps windows of the FAT up to about
 * budget_bytes; up to 56 MiB where chains are in no order at all. dev and geometry must outlive it.
 * FAT_ERR_MEMORY.
 */
enum fat_status fat_table_init(struct fat_table *table, struct fat_dev *dev,
			       const struct fat_geometry *geometry, size_t budget_bytes);
void fat_table_fini(struct fat_table *table);

/* Lets go of all windows: after writes to the FATs that did not go through the table. */
void fat_table_forget(struct fat_table *table);

/*
 * From now on entries come from `copy`, but those in the ranges (ascending, without overlap; they
 * stay the caller's) from theirs.
 */
void fat_table_set_source(struct fat_table *table, uint32_t copy,
			  const struct fat_table_range *ranges, size_t n_ranges);

/*
 * Which parts of which copies cannot be read; the list stays the caller's. Such entries come from
 * the first other copy that can be read, if the copies are mirrored; without one they are blind: 0.
 */
void fat_table_set_bad(struct fat_table *table, const struct fat_table_range *bad, size_t n_bad);
/* O(n_bad) */
bool fat_table_is_bad(const struct fat_table *table, uint32_t copy, uint32_t clus);
bool fat_table_is_blind(const struct fat_table *table, uint32_t clus);

/* Which copy entry clus comes from. O(log n_ranges + n_bad). */
uint32_t fat_table_copy_of(const struct fat_table *table, uint32_t clus);

/* clus 0 to the last cluster. A read of a window now and then, else O(1). */
enum fat_status fat_table_get(struct fat_table *table, uint32_t clus, uint32_t *value);
/* What the copy has, whether the table believes it or not: read from the device each time. */
enum fat_status fat_table_get_in_copy(const struct fat_table *table, uint32_t copy, uint32_t clus,
				      uint32_t *value);
/* Asks the processor for an entry that is in memory and will be wanted soon. */
void fat_table_prefetch(const struct fat_table *table, uint32_t clus);

/* Sets an entry in the one copy that it comes from. The other copies are the caller's business. */
enum fat_status fat_table_set(struct fat_table *table, uint32_t clus, uint32_t value);
enum fat_status fat_table_set_in_copy(struct fat_table *table, uint32_t copy, uint32_t clus,
				      uint32_t value);

/* Any status but FAT_OK ends the scan and becomes its result. */
struct fat_table_visitor {
	void *context;
	/* n entries from first_clus on (0 to begin with); values NULL: they are all 0. */
	enum fat_status (*entries)(void *context, uint32_t first_clus, uint32_t n,
				   const uint32_t *values);
	/* Entries of a copy differ from the table's (reserved bits do not count). */
	enum fat_status (*differ)(void *context, uint32_t copy, uint32_t first_clus,
				  uint32_t last_clus);
};

/*
 * All entries in their order. Reads the copies in step, each once, and compares them if the visitor
 * wants to know and the volume is mirrored; 400 KiB of memory.
 */
enum fat_status fat_table_scan(struct fat_table *table, const struct fat_table_visitor *visitor);

/* ---- stable: directories and volumes ------------------------------------------------------- */

/* A directory being read. off, buf, len_bytes: the piece read last; the rest is dir.c's. */
struct fat_dir {
	uint64_t off;
	uint8_t *buf;
	size_t len_bytes; /* 0: the end */
	struct fat_table *table;
	uint32_t next_clus;
	uint32_t n_left;
	uint32_t limit_clus; /* set it after open to read no more clusters than this; 0: all */
	size_t room_bytes;
	bool is_fixed_root;
};

/* start_clus 0: the root directory of FAT12/16. */
enum fat_status fat_dir_open(struct fat_dir *dir, struct fat_table *table, uint32_t start_clus);
void fat_dir_close(struct fat_dir *dir);

/*
 * Reads the next piece: a run of neighbouring clusters, up to 128 KiB or one cluster. Ends where
 * the chain ends or runs into something that is no cluster in use.
 */
enum fat_status fat_dir_read(struct fat_dir *dir);

struct fat_volume {
	struct fat_dev *dev;
	uint8_t sector[FAT_BOOT_BYTES]; /* the boot sector's first 512 bytes */
	struct fat_boot boot;
	struct fat_geometry geometry;
	struct fat_table table;
};

/*
 * Opens the volume that starts at byte 0 of dev. The volume must not move in memory afterwards.
 * FAT_ERR_FORMAT: there is none. dev stays the caller's.
 */
enum fat_status fat_volume_open(struct fat_volume *volume, struct fat_dev *dev,
				size_t budget_bytes);
void fat_volume_close(struct fat_volume *volume);

/* ---- stable: planning a volume ------------------------------------------------------------- */

/*
 * The planner: every number of a new volume, each with its reason, from what was asked for. Pure:
 * mkfs.fat --dry-run prints a plan, fatadvise ranks several, fat_format() writes one.
 *
 * The arithmetic is [COMPAT 3], so that a plan equals dosfstools 4.2's; with deviations where
 * [COMPAT 2] wants them.
 */

/* What has to begin where. */
enum fat_layout_align {
	/* Reserved sectors, FATs and root directory are whole clusters, counted from the start of
	 * the disk; nothing is aligned on volumes of up to 8192 sectors. dosfstools' way. */
	FAT_ALIGN_CLUSTER,
	FAT_ALIGN_NONE, /* nothing */
	FAT_ALIGN_BOUNDARY, /* the data area begins at align_phase_bytes modulo align_bytes */
	/* Clusters are in phase with the boundaries, so that none straddles one, and the data area
	 * follows the FATs and the root directory directly: all three may share an erase block. */
	FAT_ALIGN_PHASE,
};

/* Where padding for FAT_ALIGN_BOUNDARY and FAT_ALIGN_PHASE goes. */
enum fat_layout_padding {
	FAT_PAD_RESERVED, /* more reserved sectors, at most 65535 in all */
	FAT_PAD_FATS,     /* longer FATs; what is left of the division, reserved sectors */
};

/* What is wanted. All zero means: dosfstools' defaults for size_bytes of a plain file. */
struct fat_layout_request {
	uint64_t size_bytes;   /* room for the volume; a part of a sector is not used */
	uint64_t target_bytes; /* the device's size, which chooses defaults; 0: size_bytes */
	uint64_t disk_bytes;   /* the whole disk's, chooses the geometry; 0: target_bytes */
	uint64_t start_off;    /* where the volume begins on the whole disk; for alignment */
	uint32_t sector_bytes; /* 512 to 32768, a power of two; 0: 512 */
	uint32_t type;         /* 12, 16, 32; 0: chosen */
	uint32_t cluster_sec;  /* 1 to 128, a power of two; 0: chosen */
	uint32_t reserved_sec; /* exact; 0: chosen */
	uint32_t reserved_min_sec; /* where they are chosen: from here on; 0: 32 on FAT32, else 1 */
	uint32_t n_fats;       /* 1 to 4; 0: 2 */
	uint32_t root_entries; /* FAT12/16, at least; 0: chosen */
	uint32_t heads, track_sec; /* 0: chosen */
	bool is_geometry_exact; /* else track_sec is replaced where it does not divide the volume */
	bool whole_tracks;     /* round the volume down to whole tracks */
	bool fixed_disk;       /* no floppy disk, whatever its size */
	bool atari;            /* GEMDOS' variant: larger sectors, not clusters; no alignment */
	bool has_backup_sec;   /* backup_sec was given; 0 there means none */
	uint32_t backup_sec;
	bool has_drive;
	uint8_t drive;
	uint8_t media;         /* F0h, F8h to FFh; 0: chosen */
	uint32_t hidden_sec;
	bool is_sector_own, is_hidden_own; /* the device's, nobody asked: for the reasons only */
	enum fat_layout_align align;
	uint64_t align_bytes;  /* BOUNDARY, PHASE: any number above 0, a power of two or not */
	uint64_t align_phase_bytes; /* where boundaries are: at this modulo align_bytes */
	enum fat_layout_padding padding;
};

/* Each number of a plan. X(name, words) */
#define FAT_LAYOUT_ITEMS(X)                                                                       \
	X(TYPE, "FAT type")                                                                       \
	X(SECTOR_BYTES, "bytes per sector")                                                       \
	X(TOTAL_SEC, "sectors")                                                                   \
	X(CLUSTER_SEC, "sectors per cluster")                                                     \
	X(RESERVED_SEC, "reserved sectors")                                                       \
	X(N_FATS, "FATs")                                                                         \
	X(FAT_SEC, "sectors per FAT")                                                             \
	X(ROOT_ENTRIES, "root directory entries")                                                 \
	X(DATA_OFF, "first byte of the data area")                                                \
	X(N_CLUS, "clusters")                                                                     \
	X(MEDIA, "media byte")                                                                    \
	X(DRIVE, "drive number")                                                                  \
	X(TRACK_SEC, "sectors per track")                                                         \
	X(HEADS, "heads")                                                                         \
	X(HIDDEN_SEC, "hidden sectors")                                                           \
	X(FSINFO_SEC, "FSInfo sector")                                                            \
	X(BACKUP_SEC, "backup boot sector")

enum fat_layout_item {
#define FAT_LAYOUT_ITEM_ENUM(name, words) FAT_LAYOUT_##name,
	FAT_LAYOUT_ITEMS(FAT_LAYOUT_ITEM_ENUM)
#undef FAT_LAYOUT_ITEM_ENUM
	FAT_LAYOUT_N_ITEMS
};

/* Why a number is what it is. X(name, words) */
#define FAT_LAYOUT_REASONS(X)                                                                     \
	X(GIVEN, "as asked for")                                                                  \
	X(OWN, "as the device has it")                                                            \
	X(USUAL, "the usual value")                                                               \
	X(ALL_SPACE, "all of the space")                                                          \
	X(WHOLE_TRACKS, "whole tracks of the geometry that was given")                            \
	X(LIMIT, "the most that the format can count")                                            \
	X(ATARI, "GEMDOS wants it so")                                                            \
	X(FLOPPY, "a floppy disk of this size has it")                                            \
	X(SIZE_TABLE, "usual for this size")                                                      \
	X(LARGE, "512 MiB or more")                                                               \
	X(MORE_CLUSTERS, "holds more clusters than the other types")                              \
	X(CLUSTER_DECIDES, "the cluster size that was given leaves this type")                    \
	X(SMALL_VOLUME, "too small for FAT32")                                                    \
	X(DOUBLED, "doubled until the clusters could be numbered")                                \
	X(FIRMWARE, "smaller than usual, so that firmware sees FAT32")                            \
	X(FITS, "follows from the other numbers")                                                 \
	X(CLUSTER_ALIGNED, "whole clusters, so that the data area is aligned to them")            \
	X(WHOLE_SECTORS, "rounded up to whole sectors")                                           \
	X(BOUNDARY, "padded: the data area begins on the boundary")                               \
	X(PHASE, "padded: no cluster straddles a boundary")                                       \
	X(DIVIDES, "divides the sectors, which keeps mtools content")                             \
	X(IN_RESERVED, "where the reserved sectors have room")                                    \
	X(NONE, "none on such a volume")

enum fat_layout_reason {
#define FAT_LAYOUT_REASON_ENUM(name, words) FAT_LAYOUT_BY_##name,
	FAT_LAYOUT_REASONS(FAT_LAYOUT_REASON_ENUM)
#undef FAT_LAYOUT_REASON_ENUM
	FAT_LAYOUT_N_REASONS
};

/* Why there is no plan. */
enum fat_layout_problem {
	FAT_LAYOUT_OK = 0,
	FAT_LAYOUT_BAD_REQUEST,    /* a value outside its range: the caller's fault */
	FAT_LAYOUT_NO_FIT,         /* no cluster size makes the type and the size fit */
	FAT_LAYOUT_NO_FIT_CLUSTER, /* the cluster size that was given does not */
	FAT_LAYOUT_TOO_FEW,        /* less than 32 KiB left behind the metadata */
	FAT_LAYOUT_RESERVED_32,    /* FAT32 needs 2 reserved sectors */
	FAT_LAYOUT_BACKUP_FSINFO,  /* the backup boot sector lies on FSInfo or the boot sector */
	FAT_LAYOUT_BACKUP_OUTSIDE, /* ... or behind the reserved sectors */
	FAT_LAYOUT_ATARI_SECTORS,  /* more than 65531 sectors of the size that was given */
	FAT_LAYOUT_ATARI_ENTRIES,  /* ... or more FAT entries than the type can have */
	FAT_LAYOUT_ATARI_LARGE,    /* sectors of 16 KiB are still too small */
	FAT_LAYOUT_ATARI_HIDDEN,   /* more hidden sectors than 16 bits can tell */
	FAT_LAYOUT_ALIGN_FAR,      /* padding cannot reach the boundary; see better_start_off */
};

struct fat_layout {
	enum fat_layout_problem problem;
	struct fat_geometry geometry;
	uint32_t heads, track_sec;
	uint32_t hidden_sec;
	uint8_t drive;
	uint64_t start_off; /* of the request */
	enum fat_layout_reason why[FAT_LAYOUT_N_ITEMS];
	bool is_atari;
	bool is_cut;          /* there is more space than the format can count */
	bool is_small_32;     /* FAT32 with so few clusters that firmware takes it for FAT16 */
	uint64_t firmware_bytes;   /* is_small_32: the smallest with such clusters that is none */
	uint64_t better_start_off; /* ALIGN_FAR: where the volume should begin instead */
};

/*
 * Plans. FAT_OK, or FAT_ERR_ARGUMENT with layout->problem saying why; then the numbers that were
 * found so far stand in layout and nothing may be made of them. Cost: some hundred steps. Pure.
 */
enum fat_status fat_layout_plan(const struct fat_layout_request *request,
				struct fat_layout *layout);

/* Something that plans as fat_layout_plan() does, by rules of its own. ctx is its owner's. */
typedef enum fat_status (*fat_planner)(void *ctx, const struct fat_layout_request *request,
				       struct fat_layout *layout);

/* A number of the plan. */
uint64_t fat_layout_value(const struct fat_layout *layout, enum fat_layout_item item);

/* "sectors per cluster", "as asked for"; "" for what is none. */
const char *fat_layout_item_text(enum fat_layout_item item);
const char *fat_layout_reason_text(enum fat_layout_reason reason);

/* One sentence without a full stop; "" for FAT_LAYOUT_OK. */
const char *fat_layout_problem_text(enum fat_layout_problem problem);

/* ---- stable: writing a planned volume ------------------------------------------------------ */

/* Consecutive clusters of a chain, or bad ones: what the FATs of a new volume hold. */
struct fat_run {
	uint32_t first_clus, n_clus;
	uint32_t next; /* the last one's entry: where the chain goes on, or an end mark */
	bool is_bad;   /* all of them are bad, and next means nothing */
};

/* What a volume has besides its layout. All zero is a volume without a label, dated 1980-00-00. */
struct fat_format_options {
	uint32_t volume_id;
	bool has_label;
	uint8_t label[11];	/* as it stands on the disk: the volume's code page, padded */
	uint16_t date_dos;	/* of the label's entry */
	uint16_t time_dos;
	const uint8_t *message; /* the boot code's, without an end mark; NULL: ours */
	size_t message_bytes;	/* at most fat_boot_message_max() */
	bool has_table;		/* a partition table in the boot sector, one entry for the volume */
	uint32_t disk_id;	/* has_table: its signature */
	/*
	 * Ascending, apart from each other; the caller's. If FAT32's root directory is in none, it
	 * is the one cluster root_clus.
	 */
	const struct fat_run *runs;
	size_t n_runs;
	uint32_t next_clus;	/* FSInfo's hint; 0: the usual one */
	bool discard;		/* tell the device first that nothing in the volume is needed */
};

/* The boot sector of a planned volume. Pure. */
void fat_format_boot(const struct fat_layout *layout, const struct fat_format_options *options,
		     uint8_t sector[FAT_BOOT_BYTES]);

/* Bytes of a boot message that fit behind the code. */
size_t fat_boot_message_max(enum fat_type type, bool has_table);

/*
 * Puts the boot code (real mode, 29 bytes: prints a message, waits for a key, boots the next
 * device) and its message into a boot sector. message NULL: our words. Pure.
 */
void fat_boot_code_put(enum fat_type type, const uint8_t *message, size_t message_bytes,
		       uint8_t sector[FAT_BOOT_BYTES]);

/*
 * Writes everything but the boot sector, in this order: the old boot sector wiped, flush;
 * signatures of what was there wiped, flush; FATs, root directory, FSInfo, backup. dev begins where
 * the volume does. From its first flush on, until fat_format_finish() is through, dev holds no file
 * system. Nothing outside the volume is touched, nor clusters that are in no run. Memory: 64 KiB.
 * FAT_ERR_ARGUMENT: dev is too small, or runs are not as they should be; nothing was written then.
 * Else the device's errors, or FAT_ERR_MEMORY.
 */
enum fat_status fat_format_begin(struct fat_dev *dev, const struct fat_layout *layout,
				 const struct fat_format_options *options);

/* Flushes, writes the boot sector, flushes: now it is a volume. */
enum fat_status fat_format_finish(struct fat_dev *dev, const struct fat_layout *layout,
				  const struct fat_format_options *options);

/* Both. */
enum fat_status fat_format(struct fat_dev *dev, const struct fat_layout *layout,
			   const struct fat_format_options *options);

/* ---- experimental: verify ------------------------------------------------------------------ */

/*
 * dev_verify: a layer that remembers what was written (a checksum for each write, zeros as ranges),
 * so that it can be read back. Takes over `below`; FAT_ERR_MEMORY: it stays the caller's. Memory:
 * 32 bytes a write that was not written over.
 */
enum fat_status fat_verify_open(struct fat_dev *below, struct fat_dev **dev);

/*
 * Reads back all that was written, in order. FAT_OK and *is_right; where not, *wrong_off is the
 * start of the first range that reads otherwise. A range that was written over in part is left out.
 */
enum fat_status fat_verify_check(struct fat_dev *dev, bool *is_right, uint64_t *wrong_off);

/* ---- experimental: undo -------------------------------------------------------------------- */

/*
 * dev_undo: a layer that saves what a write is about to destroy, in a store (an undo file), before
 * the write goes down: append, flush the store, only then write. First contents only, so rolling
 * back gives the state before the run, whatever interrupted it. fat-undo(5) has the format.
 *
 * The store is a device of its own: a new regular file, which grows, or any device that reads as
 * zeros. Discard is not offered through this layer: what it destroys cannot be saved.
 */
struct fat_undo_origin {
	char program[16];      /* who is writing, for the reader of the file; need not end in 0 */
	uint64_t created_unix; /* seconds since 1970; 0: not told */
};

/*
 * Puts the layer on `below` and starts the store with the identity of `below` (size and samples of
 * its content: 16 reads of 4 KiB). Takes over both; on failure (FAT_ERR_IO with store->error or
 * below->error, FAT_ERR_MEMORY) they stay the caller's. Closing the layer closes the store.
 */
enum fat_status fat_undo_create(struct fat_dev *below, struct fat_dev *store,
				const struct fat_undo_origin *origin, struct fat_dev **dev);

/*
 * Saves a range that will be written soon, without flushing the store: many ranges can share the
 * flush that the next write makes. Costs a read of what was not saved yet.
 */
enum fat_status fat_undo_save(struct fat_dev *undo, uint64_t off, uint64_t len_bytes);

/* Notes that the run is over and what it left, so that a later rollback can tell. */
enum fat_status fat_undo_finish(struct fat_dev *undo);

/* Bytes of the store in use. */
uint64_t fat_undo_store_bytes(const struct fat_dev *undo);

enum fat_undo_verdict {
	FAT_UNDO_SOUND,
	FAT_UNDO_NOT_UNDO,   /* no undo file at all */
	FAT_UNDO_VERSION,    /* of a version we do not know */
	FAT_UNDO_CORRUPT,    /* a record that was flushed does not verify */
	FAT_UNDO_OTHER_SIZE, /* the device has another size */
	FAT_UNDO_OTHER_DATA, /* the device would not become what it was: another, or changed */
};

/* What an undo file holds, after everything in it was verified. */
struct fat_undo_info {
	struct fat_undo_origin origin;
	uint64_t device_bytes;
	uint64_t n_records;  /* that restore something */
	uint64_t saved_bytes;
	bool finished;	     /* the run that wrote it came to its end */
	bool rolled_back;    /* a rollback was begun before */
};

/*
 * Verifies a whole store: every header and payload. A torn tail, which no write can have followed,
 * is left out. Reads the store once.
 */
enum fat_status fat_undo_verify(struct fat_dev *store, struct fat_undo_info *info,
				enum fat_undo_verdict *verdict);

/* Whether rolling back makes dev what it was. Writes nothing. */
enum fat_status fat_undo_match(struct fat_dev *store, struct fat_dev *dev,
			       enum fat_undo_verdict *verdict);

/*
 * Writes the saved contents back, newest first, and flushes. The caller has verified, and matched
 * or been told not to. Notes in the store that it began, so that it can be repeated.
 */
enum fat_status fat_undo_rollback(struct fat_dev *store, struct fat_dev *dev);

/* ---- experimental: staged edits ------------------------------------------------------------ */

/*
 * dev_txn: an overlay that holds edits back until they are committed, stage by stage, a flush after
 * each. Reads through it see all edits, later stages over earlier ones whatever the order of calls.
 * Nothing passes to the layer below before fat_txn_commit(), so edits are welcome over a read-only
 * device too: that shows what a repair would do.
 *
 * The stages are those of a repair, in the order in which a power cut between them does no harm.
 */
enum fat_stage {
	FAT_STAGE_MARK,	   /* the dirty flag */
	FAT_STAGE_CONTENT, /* content of clusters that nothing refers to yet */
	FAT_STAGE_PREPARE, /* and their entries: whatever chain is there has its content */
	FAT_STAGE_DETACH,  /* references removed; in-place fixes within one sector */
	FAT_STAGE_ATTACH,  /* references added */
	FAT_STAGE_RELEASE, /* unreferenced clusters become free */
	FAT_STAGE_MIRROR,  /* other FAT copies, backup boot sector, damaged evidence */
	FAT_STAGE_SUMMARY, /* FSInfo; what became free in the other FAT copies */
	FAT_STAGE_CLEAN,   /* the dirty flag again */
	FAT_N_STAGES
};

/*
 * Puts the overlay on below and takes it over (not on failure: FAT_ERR_MEMORY). sector_bytes: what
 * is written whole, a power of two >= 512. max_bytes: of memory for edits; beyond it an edit gives
 * FAT_ERR_MEMORY and nothing is lost: the edits so far stay.
 */
enum fat_status fat_txn_open(struct fat_dev *below, uint32_t sector_bytes, uint64_t max_bytes,
			     struct fat_dev **dev);

/* Where fat_dev_write() on the overlay goes from now on. At first FAT_STAGE_PREPARE. */
void fat_txn_set_stage(struct fat_dev *txn, enum fat_stage stage);

/*
 * An edit of some bytes, or of those bits that are set in mask: what shares a byte or a sector can
 * go down in different stages. O(1) a sector.
 */
enum fat_status fat_txn_write(struct fat_dev *txn, enum fat_stage stage, uint64_t off,
			      const void *buf, size_t len_bytes);
enum fat_status fat_txn_write_bits(struct fat_dev *txn, enum fat_stage stage, uint64_t off,
				   const void *buf, const void *mask, size_t len_bytes);

/* What the medium will hold before a stage goes down; FAT_STAGE_MARK: what it holds now. */
enum fat_status fat_txn_read_before(struct fat_dev *txn, enum fat_stage stage, uint64_t off,
				    void *buf, size_t len_bytes);

/*
 * Whole ranges by name, not by content: a FAT of a gigabyte is mirrored with one edit. A copy takes
 * what the source is before this stage; where that is a range of this stage, what that takes. A
 * range takes the place of earlier edits of this stage there, and of patches of later ones; later
 * edits lie over it. Offsets and length in whole sectors; the source of a copy must not be
 * overwritten by another range of the same stage: FAT_ERR_ARGUMENT. O(n).
 */
enum fat_status fat_txn_fill(struct fat_dev *txn, enum fat_stage stage, uint8_t byte, uint64_t off,
			     uint64_t len_bytes);
enum fat_status fat_txn_copy(struct fat_dev *txn, enum fat_stage stage, uint64_t off,
			     uint64_t source_off, uint64_t len_bytes);

/* Whether a stage holds edits; FAT_N_STAGES: any stage. */
bool fat_txn_has_edits(const struct fat_dev *txn, enum fat_stage stage);

/* Memory that edits take now, and that is left for them. */
uint64_t fat_txn_used_bytes(const struct fat_dev *txn);
uint64_t fat_txn_free_bytes(const struct fat_dev *txn);

/*
 * Sends the stages down in order, sorted by offset within each, with a flush behind each that is
 * not empty; where undo is not NULL it is a layer of this stack, and a stage's ranges are saved in
 * it before the stage goes down. Stops at the first error: the stages before it are on the medium,
 * txn->error has the detail, *stage (may be NULL) the stage. On success the overlay is empty.
 */
enum fat_status fat_txn_commit(struct fat_dev *txn, struct fat_dev *undo, enum fat_stage *stage);

/* Forgets all edits. */
void fat_txn_rollback(struct fat_dev *txn);

/* ---- stable: labels ------------------------------------------------------------------------ */

#define FAT_LABEL_TEXT_BYTES (3 * FAT_SHORT_BYTES + 1) /* UTF-8 with its end */

/* What no label may be. X(name, words): what the sentence "labels ..." goes on with. [COMPAT 5] */
#define FAT_LABEL_FLAWS(X)                                                                        \
	X(OK, "")                                                                                 \
	X(BLANK, "can't be empty or white space only")                                            \
	X(UTF8, "must be valid UTF-8")                                                            \
	X(LONG, "can be no longer than 11 characters")                                            \
	X(CONTROL, "with characters below 0x20 are not allowed")                                  \
	X(RESERVED, "with characters *?.,;:/\\|+=<>[]\" are not allowed")                         \
	X(LEADING_BLANK, "can't start with a space character")                                    \
	X(CODEPAGE, "can't hold characters that the code page lacks")

enum fat_label_flaw {
#define FAT_LABEL_FLAW_ENUM(name, words) FAT_LABEL_##name,
	FAT_LABEL_FLAWS(FAT_LABEL_FLAW_ENUM)
#undef FAT_LABEL_FLAW_ENUM
};

/* Text (UTF-8) to a label's bytes, as in the boot sector: a first E5h is itself. Pure. */
enum fat_label_flaw fat_label_encode(const char *text, const struct fat_codepage *codepage,
				     uint8_t label[FAT_SHORT_BYTES]);
/* A label's bytes to text, without the blanks at its end. Pure. */
void fat_label_decode(const uint8_t label[FAT_SHORT_BYTES], const struct fat_codepage *codepage,
		      char text[FAT_LABEL_TEXT_BYTES]);
const char *fat_label_flaw_text(enum fat_label_flaw flaw);
/* "NO NAME", or all blank: the way to say that there is none. */
bool fat_label_is_none(const uint8_t label[FAT_SHORT_BYTES]);
void fat_label_set_none(uint8_t label[FAT_SHORT_BYTES]);
/* Small letters work badly on some systems. */
bool fat_label_has_lower(const uint8_t label[FAT_SHORT_BYTES], const struct fat_codepage *codepage);

/* ---- experimental: short aliases ----------------------------------------------------------- */

struct fat_alias {
	uint8_t name[FAT_SHORT_BYTES]; /* as on disk: 05h for a first E5h */
	uint8_t case_flags;            /* FAT_CASE_*: the parts that are all in lower case */
};

enum fat_alias_kind {
	FAT_ALIAS_WHOLE, /* says all there is to the name: no long name is needed */
	FAT_ALIAS_UPPER, /* is it but for case, or by code page: the long name is needed, too */
	FAT_ALIAS_LOSSY, /* something was left out, replaced or cut: a tail is needed as well */
};

/*
 * The 8.3 name that a long name (1 to 255 units, legal) gives by itself, by the rules that Windows
 * and the Linux driver share: capitals by Unicode and the code page; dots and blanks left out; what
 * has no short form becomes '_'; lower case of a whole part of ASCII kept as a flag. Pure.
 * [FATSPEC 7.3, LINUX]
 */
enum fat_alias_kind fat_alias_make(const struct fat_codepage *codepage, const uint16_t *name,
				   size_t n_units, struct fat_alias *alias);

/* The short names of one folder. Memory grows with them. */
struct fat_alias_set {
	uint8_t (*place)[FAT_SHORT_BYTES];
	size_t n_places, n_names;
};

void fat_alias_set_init(struct fat_alias_set *set);
void fat_alias_set_fini(struct fat_alias_set *set);
/* *added is false if it is in the set already. FAT_ERR_MEMORY. O(1) on average. */
enum fat_status fat_alias_set_add(struct fat_alias_set *set, const uint8_t name[FAT_SHORT_BYTES],
				  bool *added);

/*
 * An alias with a tail that no other name of the set has, and adds it: six characters and ~1 to ~4,
 * then two characters, a hash of the name in four digits, and ~1 to ~9. Depends on the name, the
 * set and nothing else. FAT_ERR_MEMORY.
 */
enum fat_status fat_alias_make_unique(const struct fat_codepage *codepage, const uint16_t *name,
				      size_t n_units, struct fat_alias_set *set,
				      struct fat_alias *alias);

/* ---- experimental: populate: a new volume filled from a tree ------------------------------- */

/*
 * open, add the nodes, finish; then for any number of geometries ask what is needed, and place;
 * then write, on a volume that was just formatted. The image depends on the nodes' names, times,
 * sizes and content, not on the order in which they were added. Memory: about 150 bytes a node and
 * a buffer of 1 MiB while writing.
 */
struct fat_populate;

#define FAT_POPULATE_MAX_NODES (1u << 31)
#define FAT_MAX_FILE_BYTES     0xFFFFFFFFu
#define FAT_MAX_PATH_UNITS     256u /* behind "C:\", with Windows' end mark: 260 [FATSPEC 7] */

struct fat_populate_entry {
	const char *name; /* UTF-8, without a slash; copied */
	uint32_t folder;  /* number of the folder that it lies in; 0: the root */
	bool is_folder;
	uint8_t attr;        /* FAT_ATTR_*, beside that of folders */
	uint64_t size_bytes; /* of a file */
	struct fat_datetime time; /* before 1980 or after 2107: the nearest that FAT can tell */
};

/* What FAT cannot hold. X(name, is a refusal, words that go behind the path) */
#define FAT_POPULATE_OBJECTIONS(X)                                                                \
	X(NAME_UTF8, true, "the name is not valid UTF-8")                                         \
	X(NAME_CHARACTER, true, "the name holds a character that FAT does not allow")             \
	X(NAME_END, true, "the name ends in a dot or a blank, which FAT does not keep")           \
	X(NAME_LENGTH, true, "the name has more than 255 UTF-16 units")                           \
	X(NAME_TWICE, true, "the name is that of another one but for upper and lower case")       \
	X(FILE_LARGE, true, "the file is larger than 4 GiB - 1")                                  \
	X(FOLDER_LARGE, true, "the folder needs more than 65536 directory entries")               \
	X(PATH_LONG, false, "the path has more characters than most Windows programs can open")   \
	X(ROOT_FULL, true, "the root directory has too few entries")                              \
	X(VOLUME_FULL, true, "the volume has too few clusters")

enum fat_populate_objection_id {
#define FAT_POPULATE_OBJECTION_ENUM(name, refusal, words) FAT_POPULATE_##name,
	FAT_POPULATE_OBJECTIONS(FAT_POPULATE_OBJECTION_ENUM)
#undef FAT_POPULATE_OBJECTION_ENUM
	FAT_POPULATE_N_OBJECTIONS
};

struct fat_populate_objection {
	enum fat_populate_objection_id id;
	uint32_t node;   /* 0 for those that concern the volume */
	uint32_t other;  /* NAME_TWICE: the other one */
	uint64_t found;  /* what is too much, or the character */
	uint64_t limit;
};

/* FAT_ERR_MEMORY. */
enum fat_status fat_populate_open(struct fat_populate **populate);
void fat_populate_close(struct fat_populate *populate);

/* *number is 1 for the first node and so on. FAT_ERR_MEMORY, FAT_ERR_ARGUMENT. */
enum fat_status fat_populate_add(struct fat_populate *populate,
				 const struct fat_populate_entry *entry, uint32_t *number);

/* The label's entry in the root; NULL: none. After finish, before place. */
void fat_populate_set_label(struct fat_populate *populate, const uint8_t label[FAT_SHORT_BYTES],
			    const struct fat_datetime *time);

/*
 * No more nodes: orders them, checks names, chooses aliases. The objections are data; what is
 * returned is FAT_ERR_MEMORY or FAT_ERR_ARGUMENT. O(n log n).
 */
enum fat_status fat_populate_finish(struct fat_populate *populate,
				    const struct fat_codepage *codepage);

/* All objections so far, in order of folders and names; the populate's own. */
const struct fat_populate_objection *fat_populate_objections(const struct fat_populate *populate,
							     size_t *n);
bool fat_populate_objection_is_refusal(enum fat_populate_objection_id id);
/* Words to go behind a path, never NULL. */
const char *fat_populate_objection_text(enum fat_populate_objection_id id);
/* One of them is a refusal: there is nothing to be written. */
bool fat_populate_is_refused(const struct fat_populate *populate);

uint32_t fat_populate_n_nodes(const struct fat_populate *populate); /* with the root */
bool fat_populate_is_folder(const struct fat_populate *populate, uint32_t node);
uint32_t fat_populate_folder_of(const struct fat_populate *populate, uint32_t node);
uint64_t fat_populate_content_bytes(const struct fat_populate *populate);
/* Path from the root, without a leading slash; returns its length as snprintf() does. */
size_t fat_populate_path(const struct fat_populate *populate, uint32_t node, char *path,
			 size_t path_bytes);

/* Slots of the root directory with the label's; clusters of everything. O(n) for the latter. */
uint32_t fat_populate_root_slots(const struct fat_populate *populate);
uint64_t fat_populate_clus_needed(const struct fat_populate *populate, enum fat_type type,
				  uint32_t cluster_bytes);

/*
 * The planner's answer to a request; where that leaves FAT12/16's root directory open and it would
 * be too small for the tree, it becomes large enough.
 */
enum fat_status fat_populate_plan(const struct fat_populate *populate,
				  const struct fat_layout_request *request,
				  struct fat_layout *layout);

/*
 * The smallest size, in whole KiB, for which the planner's answer to the request (whose size_bytes
 * it fills in) holds the tree; FAT32 only if firmware will take it for FAT32. The planner may
 * change everything else, but gives sectors and clusters no smaller than the request's; NULL stands
 * for fat_populate_plan(). *layout is that plan. FAT_ERR_SIZE: none does. Cost: some 10000 plans.
 */
enum fat_status fat_populate_fit(const struct fat_populate *populate,
				 const struct fat_layout_request *request, fat_planner planner,
				 void *ctx, struct fat_layout *layout, uint64_t *size_bytes);

/*
 * Gives each node its clusters: folders, then files, without gaps, around the bad ones (ascending
 * numbers; kept until the tree is written). FAT32's root must be the first good cluster. What has
 * no room is an objection; those of an earlier placing are dropped. FAT_ERR_ARGUMENT,
 * FAT_ERR_MEMORY.
 */
enum fat_status fat_populate_place(struct fat_populate *populate,
				   const struct fat_geometry *geometry, const uint32_t *bad,
				   size_t n_bad);
/* After placing: clusters in use, without the bad ones; the last one in use. */
uint32_t fat_populate_used_clus(const struct fat_populate *populate);
uint32_t fat_populate_last_clus(const struct fat_populate *populate);
/* After placing: all chains and the bad clusters, for fat_format_begin(); the populate's own. */
const struct fat_run *fat_populate_runs(const struct fat_populate *populate, size_t *n_runs);

/* Where files' content comes from. Asked for one node after another, from front to back. */
struct fat_populate_source {
	void *ctx;
	/* Exactly len_bytes, or an error. */
	enum fat_status (*read)(void *ctx, uint32_t node, uint64_t off, void *buf,
				size_t len_bytes);
	/*
	 * The first range at or behind off that is no hole; *data_off is the file's size if there
	 * is none. NULL: no file has holes.
	 */
	enum fat_status (*find_data)(void *ctx, uint32_t node, uint64_t off, uint64_t *data_off,
				     uint64_t *end_off);
	/* Bytes of content done so far; false: stop. NULL: nobody wants to know. */
	bool (*progress)(void *ctx, uint64_t done_bytes);
};

/*
 * Writes root directory, folders and files, each byte once and in this order; nothing is read from
 * the device, nothing flushed. Goes between fat_format_begin(), which writes the FATs, and
 * fat_format_finish(). FAT_ERR_CANCELLED; what a source returned, and then
 * fat_populate_failed_node() tells whose content it was; a device's error.
 */
enum fat_status fat_populate_write(struct fat_populate *populate, struct fat_dev *dev,
				   const struct fat_populate_source *source);
#define FAT_POPULATE_NO_NODE UINT32_MAX
uint32_t fat_populate_failed_node(const struct fat_populate *populate);

#ifdef __cplusplus
}
#endif

#endif
