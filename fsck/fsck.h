/* SPDX-License-Identifier: MIT */
/*
 * fsck: what the parts of the checker share.
 *
 * Observe, decide, act: passes (pass_*.c, check_*.c) observe and put down faults; policy.c decides;
 * repair*.c act, on the overlay alone; report.c tells people. fsck/README.md has the whole picture.
 *
 * The library part: no globals, no stdio but in report.c, options.c and main.c.
 */
#ifndef FATWISE_FSCK_H
#define FATWISE_FSCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bitmap.h"
#include "libfat.h"
#include "vec.h"

/* ---- faults (fault.c) ---- */

enum fault_severity { SEV_COSMETIC, SEV_MINOR, SEV_DAMAGE, SEV_DANGER, SEV_FATAL };
enum fault_auto { AUTO_FIX, AUTO_LEAVE, AUTO_NONE };

/*
 * Repairs of one level start when nothing of a lower one is left, and each level works on a fresh
 * look at the volume. So a chain that lost its tail meets the tail (RELINK) before its size is
 * given up (SHRINK), and what is lost is saved (SAVE) when nobody can want it any more.
 */
enum fault_level {
	LEVEL_BOOT,
	LEVEL_REVIVE, /* entries that are to be seen before their folder is judged */
	LEVEL_FLAT,   /* in place, nothing moves */
	LEVEL_CUT,    /* chains longer than their file */
	LEVEL_RELINK, /* not a fault's own level: what is tried before CLONE and SHRINK */
	LEVEL_CLONE,
	LEVEL_SHRINK,
	LEVEL_SAVE,
	LEVEL_SUMMARY,
};

enum fault_id {
#define FAULT(code, id, severity, automatic, level, how, message, fix) F_##id,
#include "faults.def"
#undef FAULT
	N_FAULT_IDS
};

/* Which part repairs a fault. */
enum fault_how { HOW_NONE, HOW_FLAT, HOW_NAME, HOW_DIR, HOW_CHAIN, HOW_SAVE };

struct fault_kind {
	const char *code; /* "F2103" */
	const char *id;
	enum fault_severity severity;
	enum fault_auto automatic;
	enum fault_level level;
	enum fault_how how;
	const char *message, *fix;
};

const struct fault_kind *fault_kind(enum fault_id id);

#define NO_DIR UINT32_MAX

/* One deviation of the volume. What a field means depends on the kind; unused ones are 0. */
struct fault {
	enum fault_id id;
	uint32_t dir;	      /* the directory it is in (index), NO_DIR: none */
	uint64_t entry_off;   /* byte offset of the short entry or slot */
	uint64_t *long_off;   /* of the long-name slots before it, in disk order; owned */
	uint32_t n_long;
	uint32_t start;	      /* the entry's start cluster */
	uint32_t clus;	      /* the cluster where it is wrong */
	uint32_t last;	      /* the last cluster that is right; 0: none */
	uint32_t n, need;     /* clusters there are, and that the size needs */
	uint32_t size;
	bool is_dir;
	uint64_t a, b;
	char *path;	      /* UTF-8; NULL: the volume itself; owned */
	char *text;	      /* more words; owned */
};

/* ---- options ---- */

enum fsck_mode { MODE_LOOK, MODE_AUTO, MODE_ASK };
enum fsck_variant { VARIANT_ANY, VARIANT_DOS, VARIANT_ATARI };

struct fsck_options {
	const char *device;
	enum fsck_mode mode;
	enum fsck_variant variant;
	bool boot_only, verbose, list, read_test, stats, json, free_lost, no_spaces, verify_again;
	bool upper_label, write_now;
	unsigned fat_number; /* -F: 0 none */
	uint32_t offset_sec;
	int progress_fd; /* -1: none */
	const char *undo_path;
	struct fat_codepage page;
	struct fat_vec drop, undelete; /* of const char *: paths */
};

/* ---- the check in progress ---- */

struct dir_node {
	uint32_t parent; /* index; the root is its own */
	uint32_t start;	 /* 0: the root of FAT12/16 */
	uint64_t entry_off; /* of its short entry; 0: the root */
	uint32_t n_clus;  /* of its chain, that are its own; 0: a fixed root */
	uint32_t name_at; /* in fsck->names */
	uint16_t name_bytes;
	bool is_full; /* in use to its last slot: it may have gone on */
};

struct lost_chain {
	uint32_t head, last, n;
	bool is_cycle, is_dir;
	bool is_open; /* does not end with an end mark */
	bool has_entry; /* a file's, which an entry in a lost directory has just as long */
	bool has_zeroed; /* an entry without its first byte leads to it */
	uint32_t dotdot; /* of a directory: where its ".." points */
	uint32_t above;	 /* a lost directory above it, which comes back with it in it; 0: none */
};

/* A slot that begins with 0 while the rest of it is an entry's: check_zeroed.c */
struct zeroed_entry {
	uint32_t dir; /* index */
	uint64_t off;
	uint8_t name[FAT_SHORT_BYTES]; /* with the first byte it is to have */
	uint32_t start, need;	       /* clusters */
	bool is_dir;
};

struct fsck_counts {
	uint32_t free, bad, used; /* clusters by the FAT: used has neither */
	uint32_t invalid; /* entries that are no cluster's number */
	uint32_t blind; /* entries that cannot be read */
	uint32_t gaps; /* directories with parts that cannot be read */
	uint64_t files; /* entries, directories and labels too, as 4.2 counts */
	uint64_t n_dirs;
	uint64_t sound; /* directories, and files whose chains are as long as they say */
	uint64_t lost_misfits; /* files in lost directories whose chains are not */
};

/* The root's labels. */
struct fsck_label {
	bool found;
	uint8_t name[FAT_SHORT_BYTES];
	uint64_t entry_off;
};

/* What a walk through the directories is for. */
enum fsck_sweep {
	SWEEP_CHECK,
	SWEEP_DIRS,  /* which clusters belong to directories; no faults */
	SWEEP_LINKS, /* who leads to the shared clusters; no faults */
	SWEEP_LIST,  /* tells the path of each entry; no faults */
};

/* An entry that leads to a cluster which another one leads to as well. */
struct claimant {
	uint32_t join; /* the first shared cluster on its way */
	uint32_t k;    /* its own clusters before that */
	uint32_t prev; /* the last of them; 0: it starts at join */
	uint32_t need; /* clusters its size needs */
	uint32_t nth;  /* the need-th cluster, if it comes before the join; else 0 */
	uint32_t start, size;
	uint32_t dir;
	uint64_t entry_off; /* 0: the root, which has no entry */
	bool is_dir;
	bool has_dots;	  /* a directory that looks like one */
	bool fits_parent; /* a directory: its ".." names this entry's directory */
	bool other_birth; /* a directory: its "." was made at another time than this entry */
	bool has_ended;	  /* a directory: its end mark lies before the join */
	bool no_room; /* cannot have a copy, and is not to be cut: stays as it is */
	bool is_dropped; /* bit by bit another's: without room for a copy it is deleted */
	char *path; /* owned */
};

/* Work in progress, of what kind. */
enum fsck_tick { TICK_FAT, TICK_TREE, TICK_LOST, TICK_READ, TICK_VERIFY };

struct fsck_watch {
	void *context;
	/* done of max are done; false: stop. Called often, a few thousand clusters apart. */
	bool (*tick)(void *context, enum fsck_tick tick, uint64_t done, uint64_t max);
};

struct fsck_lister {
	void *context;
	/* alias: the short name, if path ends in a long one; else NULL */
	void (*entry)(void *context, const char *path, const char *alias);
};

enum walk_end {
	WALK_END,
	WALK_FREE,
	WALK_BAD,
	WALK_RANGE,
	WALK_SHARED,
	WALK_LOOP,
	WALK_BLIND, /* how it goes on cannot be read; stop is the chain's last known cluster */
};

struct walk {
	uint32_t n;    /* clusters that are the chain's own */
	uint32_t last; /* the last of them; 0: none */
	uint32_t nth;  /* the one that the size ends in; 0: none or not reached */
	uint32_t stop; /* where it does not go on */
	uint32_t n_beyond; /* of its own that lie behind the device's end */
	uint32_t n_sick, sick; /* of its own that the read test could not read, and the first */
	enum walk_end end;
};

/* check_ahead.c: chains of the next entries, claimed side by side before it is their turn. */
#define AHEAD_CHAINS 16u

struct ahead_chain {
	uint32_t start, need;
	struct walk walk;
};

struct ahead {
	struct ahead_chain chain[AHEAD_CHAINS];
	uint32_t n;
	bool failed; /* something was wrong with one: no more of it in this look */
};

struct fsck {
	const struct fsck_options *options;
	const struct fsck_watch *watch; /* NULL: nobody watches */
	const struct fsck_lister *lister; /* with SWEEP_LIST */
	bool verifying;	  /* ticks are TICK_VERIFY's */
	uint64_t present_bytes; /* 0: the device is all there; else so long, and too short */
	uint32_t last_present;	/* the last cluster that lies on it */
	bool weighs_fats; /* a trial of what a FAT says: the root is there, however it is marked */
	bool read_tested; /* -t: what the device says it cannot read is all there is */
	enum fsck_sweep sweep;
	struct fat_bitmap dir_clusters; /* with SWEEP_DIRS behind it: a file may not claim these */
	bool has_dir_clusters;
	bool dirs_first; /* a file may be a directory: that shows when directories are known */
	struct fat_bitmap joins;    /* shared clusters, as faults named them */
	struct fat_vec claimants;   /* of struct claimant */
	struct fat_dev *dev; /* top of the stack: everything is read through it */
	uint8_t sector[FAT_BOOT_BYTES]; /* the one that was believed, as read */
	bool is_atari;
	bool boot_replaced;  /* sector is the backup's */
	bool boot_made_up;   /* there was nothing: the label is to be the root's */
	bool boot_undecided; /* the backup is as good, and another */
	bool label_differs;  /* the boot sector has another label than the root */
	bool write_backup;   /* the backup is to be made equal */
	struct fat_boot boot;
	struct fat_geometry geometry;
	bool has_table;
	struct fat_table table;
	struct fat_vec ranges;	  /* of struct fat_table_range: parts taken from another FAT */
	struct fat_vec bad; /* of struct fat_table_range: parts of a FAT that cannot be read */
	struct fat_vec blind;	  /* of the same: in no copy */
	uint64_t n_units_noted;	  /* unreadable units when that was put down */
	struct fat_vec differing; /* of struct fat_table_range: copy is not as table.copy */
	uint64_t n_differing[256]; /* entries, by copy */
	struct fat_bitmap reached; /* clusters that some entry leads to */
	struct ahead ahead;
	struct fat_vec dirs;	   /* of struct dir_node */
	struct fat_vec names;	   /* of char: directory names, not terminated */
	struct fat_vec doubtful;   /* of struct fault: entries to be judged last */
	struct fat_vec zeroed;	   /* of struct zeroed_entry */
	struct fat_vec lost;	   /* of struct lost_chain */
	struct fat_vec faults;	   /* of struct fault */
	uint64_t n_faults_dropped; /* for want of room */
	struct fsck_counts count;
	struct fsck_label label;
	enum fat_status status; /* of the first error; passes stop at it */
};

/* The working memory of a check; options, dev stay the caller's. */
enum fat_status fsck_init(struct fsck *fsck, const struct fsck_options *options,
			  struct fat_dev *dev);
void fsck_fini(struct fsck *fsck);
/* Forgets what the passes found, but not the boot sector, before another look. */
void fsck_reset(struct fsck *fsck);

/*
 * Puts down a fault; *fault is copied, its path, text and long_off become the list's. At the limit
 * it is only counted: the next round finds it again. Returns it, or NULL.
 */
struct fault *fsck_fault(struct fsck *fsck, const struct fault *fault);
/* Forgets all but the first n_kept. */
void fsck_drop_faults(struct fsck *fsck, size_t n_kept);

/* Tells how far the work is. FAT_ERR_CANCELLED: it is to stop. */
enum fat_status fsck_tick(struct fsck *fsck, enum fsck_tick tick, uint64_t done, uint64_t max);

/* Notes an error once. Returns status. */
enum fat_status fsck_error(struct fsck *fsck, enum fat_status status);

/* ---- passes ---- */

enum fat_status pass_boot(struct fsck *fsck);
enum fat_status pass_fat(struct fsck *fsck);
enum fat_status pass_tree(struct fsck *fsck);
enum fat_status pass_links(struct fsck *fsck);
enum fat_status pass_lost(struct fsck *fsck);
/* Of chains in the order that pass_lost leaves them in, the one with that head; NULL: none. */
struct lost_chain *lost_find(const struct fat_vec *chains, uint32_t head);
/* check_zeroed.c: what lost chains prove to be an entry's, though its slot begins with 0. */
void zeroed_report(struct fsck *fsck);
enum fat_status pass_summary(struct fsck *fsck);
enum fat_status pass_list(struct fsck *fsck, const struct fsck_lister *lister);
/* The read test. What it finds is told by the passes that run after it. */
enum fat_status pass_read(struct fsck *fsck);

/* pass_read.c: clusters that the read test could not read. */
bool cluster_is_sick(const struct fsck *fsck, uint32_t clus);
enum fat_status sick_report(struct fsck *fsck);
enum fat_status sick_free_clusters(struct fsck *fsck, void *context,
				   enum fat_status (*each)(void *context, uint32_t clus));

/* pass_summary.c: small letters of ASCII in a label. */
bool label_has_lower(const uint8_t label[FAT_SHORT_BYTES]);
void label_upcase(uint8_t label[FAT_SHORT_BYTES]);

/* check_dir.c: one directory's slots. */
enum fat_status check_dir(struct fsck *fsck, uint32_t dir);

/*
 * check_entry.c: another fault of the same entry, with all that of knows but its text. NULL: no
 * room.
 */
struct fault *fault_again(struct fsck *fsck, const struct fault *of, enum fault_id id);

/*
 * An entry marked as a directory, as a fault describes it: claims its clusters, to be looked into.
 */
enum fat_status check_claim_dir(struct fsck *fsck, const struct fault *of);

/*
 * check_ahead.c: the processor waits for each step of a chain that lies in no order; so large files
 * of a unit are followed together. Only where that changes nothing: a unit of sound files, and at
 * the first thing that is wrong all claims made ahead are taken back.
 */
void ahead_claim(struct fsck *fsck, const uint8_t *slots, size_t n_slots);
/* The walk of such a chain, whose turn it is; false: it was not followed. */
bool ahead_take(struct fsck *fsck, uint32_t start, uint32_t need, struct walk *walk);
/* Takes back what nobody took; false: there was none. */
bool ahead_cancel(struct fsck *fsck);

/* check_announce.c: asks for a directory that starts there, for those that slots lead to. */
void announce_dir(struct fsck *fsck, uint32_t start);
void announce_dirs_in(struct fsck *fsck, const uint8_t *slots, size_t n_slots);

/* check_chain.c */
/*
 * Follows a chain and claims its clusters. need: after how many clusters to note nth. Always ends:
 * each cluster is claimed once.
 */
enum fat_status chain_claim(struct fsck *fsck, uint32_t start, uint32_t need, struct walk *walk);
/* The same for a directory, which comes before any file. */
enum fat_status chain_claim_dir(struct fsck *fsck, uint32_t start, struct walk *walk);
/* The same for one that no entry leads to. */
enum fat_status chain_claim_lost(struct fsck *fsck, uint32_t start, struct walk *walk);
/* With SWEEP_LINKS: notes an entry that leads to a shared cluster. */
enum fat_status links_entry(struct fsck *fsck, uint32_t dir, uint64_t entry_off,
			    const struct fat_dirent *dirent, const char *name);

/* The same without claiming; stops after max clusters. */
enum fat_status chain_peek(struct fsck *fsck, uint32_t start, uint32_t max, struct walk *walk);
/* It has n clusters, and an end mark behind them. */
bool chain_has_just(struct fsck *fsck, uint32_t start, uint32_t n);

/* check_slot.c: what a slot or a cluster looks like, by itself. */
#define SLOT_START_HIGH_AT 20u /* FAT32: of the first cluster; FAT12/16: not ours */
bool slot_is_plausible(const struct fsck *fsck, const uint8_t *slot);
/* Its start is the head of a chain that is as long as its size needs, or of a directory. */
bool slot_is_proven(struct fsck *fsck, const uint8_t *slot);
/* Each field of it is as an entry has it: one slot of noise in 100 million is. */
bool slot_is_flawless(const struct fsck *fsck, const uint8_t *slot);
/* Hardly a field of it is an entry's, and it leads to nothing that it describes. */
bool slot_is_garbage(struct fsck *fsck, const uint8_t *slot);
/* 16 slots: more of them impossible than possible. */
bool slots_are_garbage(const struct fsck *fsck, const uint8_t *slots, size_t n_slots);
/* And not one is flawless, or leads to just what it says: chance brings forth no such thing. */
bool slots_are_noise(struct fsck *fsck, const uint8_t *slots, size_t n_slots);
/* What a cluster holds, by its first slots. */
enum cluster_look { LOOK_DIR, LOOK_PERHAPS, LOOK_NOT_DIR, LOOK_UNREADABLE };
enum fat_status cluster_look(struct fsck *fsck, uint32_t clus, enum cluster_look *look,
			     uint32_t *dotdot);
/*
 * Whether ".." of a directory that lies in `dir` may point there: 0 for the root, whatever it is.
 */
bool dir_is_parent(const struct fsck *fsck, uint32_t dir, uint32_t dotdot);
/* What ".." of this directory ought to hold. */
uint32_t dir_dotdot(const struct fsck *fsck, uint32_t dir);
/* Its "." was made at another time. Who makes a directory gives both the same one, or none. */
bool dir_other_birth(struct fsck *fsck, const struct fat_dirent *entry);

/*
 * unreadable.c: what cannot be read. Takes the device's list over for the table; *changed: there
 * was something new, so what was read before is to be looked at again.
 */
enum fat_status unreadable_note(struct fsck *fsck, bool *changed);
/* Clusters whose entries are blind. */
uint32_t unreadable_count(const struct fsck *fsck);
void unreadable_report(struct fsck *fsck);

/* trial.c: what a look makes of the volume, for comparing: the lower, the more fits together. */
#define TRIAL_FAULT_WEIGHT 8
int64_t trial_score(const struct fsck *probe);
/* Nothing is wrong, but for what the copies have to do with each other. */
bool trial_is_sound(const struct fsck *probe);
/* A whole look at the volume as that geometry has it, by its first FAT. */
enum fat_status trial_look(const struct fsck *fsck, const struct fat_boot *boot,
			   const struct fat_geometry *geometry, int64_t *score, bool *sound);

/* A device that ends before the volume does. FAT_ERR_RANGE: not even a FAT is there. */
enum fat_status unreadable_extend(struct fsck *fsck);
bool cluster_is_present(const struct fsck *fsck, uint32_t clus);

/* anchor.c: what the root's entries say about a geometry. */
struct anchor {
	bool first_right; /* a folder at the first cluster: says nothing about a cluster's size */
	uint32_t n_dirs_right, n_dirs_wrong; /* others */
	uint32_t n_dirs_misnamed; /* "." has another number: damage, or all are off by one */
	uint32_t shift, n_dirs_shifted; /* by how much the first one is, and how many as much */
	uint32_t n_files_right, n_files_wrong;
};

enum fat_status anchor_find(struct fat_dev *dev, const struct fat_geometry *geometry,
			    struct anchor *anchor);
/* The same by folders wherever they are, in the first 8 MiB: dearer, for when that leaves doubt. */
enum fat_status anchor_search(struct fat_dev *dev, const struct fat_geometry *geometry,
			      struct anchor *anchor);
bool anchor_holds(const struct anchor *anchor);
/* No folder and no file proves how large a cluster is, though there are some. */
bool anchor_is_weak(const struct anchor *anchor);
/* The geometry is wrong, as far as that can be seen. */
bool anchor_drags(const struct anchor *anchor);

/* The path of a directory, UTF-8, malloc'd; NULL: no memory. */
char *dir_path(const struct fsck *fsck, uint32_t dir);
/* The same and a name behind it. */
char *entry_path(const struct fsck *fsck, uint32_t dir, const char *name);

/* Frees what a fault owns, where no list has it. */
void fault_clear(struct fault *fault);
/* More words for a fault; a copy is kept. */
void fault_set_text(struct fault *fault, const char *text);

/* fault.c: the fault's message into buf, placeholders filled in. */
void fault_text(const char *form, const struct fault *fault, char *buf, size_t buf_bytes);

#define SLOT_GARBAGE_UNIT 16u /* slots: 512 bytes */

#endif
