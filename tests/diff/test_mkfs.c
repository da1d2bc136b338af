/* SPDX-License-Identifier: MIT */
/*
 * test_mkfs: mkfs.fat against dosfstools 4.2 on the same options and sizes.
 *
 * Each case is a line of TAP: the image is the same byte for byte outside the boot code, or the
 * refusal is the same, or the difference is one that mkfs-differences.txt lists. Cases are the
 * usual sizes with every type and cluster size, then random ones (MKFS_DIFF_CASES of them, from
 * seed MKFS_DIFF_SEED). Where loop devices can be had, some are on devices with blocks of 512 or
 * 4096 bytes. The peer takes seconds for terabytes: those only with MKFS_DIFF_FULL=1. Skips where
 * there is no dosfstools 4.2.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libfat.h"

#define CHUNK_BYTES	(1u << 20)
#define MAX_ARGS	32
#define MAX_TEXT	256
#define MAX_RULES	64
#define MAX_FAT_BYTES	(1ull << 20) /* the peer writes them sector by sector */
#define MIB		(1ull << 20)

struct testcase {
	uint64_t size_bytes;
	int n_args;
	char args[MAX_ARGS][24];
	bool has_blocks;
	uint64_t n_blocks;
	uint64_t offset_bytes;
	uint32_t block_bytes; /* on a loop device with such blocks; 0: on a file */
};

struct outcome {
	int status;
	char text[2 * MAX_TEXT]; /* see mkfs-differences.txt */
};

struct rule {
	char name[64];
	regex_t when, unless;
	unsigned n_used;
};

static struct rule rules[MAX_RULES];
static size_t n_rules;
static const char *peer, *ours;
static char folder[] = "/dev/shm/fatwise-diff-XXXXXX", other_folder[] = "/tmp/fatwise-diff-XXXXXX";
static char peer_path[64], our_path[64];
static uint64_t random_state;
static bool is_full, has_loops;
static unsigned n_tests, n_same, n_refused, n_listed, n_on_devices;

/* ---- random numbers: the same everywhere for a seed ---- */

static uint64_t next_random(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

#define PICK(array) ((array)[next_random(sizeof(array) / sizeof *(array))])

/* ---- running ---- */

__attribute__((format(printf, 2, 3))) static void add(struct testcase *test, const char *format,
						      ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(test->args[test->n_args++], sizeof test->args[0], format, list);
	va_end(list);
}

/* Reads what came out of a pipe, behind what is in output already. */
static size_t drain(int fd, char *output, size_t used, size_t output_bytes)
{
	ssize_t got;

	while ((got = read(fd, output + used, output_bytes - 1 - used)) > 0)
		used += (size_t)got;
	output[used] = '\0';
	close(fd);
	return used;
}

/* Standard output, then standard error, into output; both are small. */
static int run_program(char **argv, char *output, size_t output_bytes)
{
	int out[2], err[2], status;
	pid_t pid;

	if (pipe(out) != 0 || pipe(err) != 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		dup2(out[1], 1);
		dup2(err[1], 2);
		for (int i = 0; i < 2; i++) {
			close(out[i]);
			close(err[i]);
		}
		execv(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	drain(err[0], output, drain(out[0], output, 0, output_bytes), output_bytes);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(const char *program, const struct testcase *test, const char *path, char *output,
	       size_t output_bytes)
{
	char *argv[MAX_ARGS + 4], blocks[24];
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)program;
	for (int i = 0; i < test->n_args; i++)
		argv[n++] = (char *)(uintptr_t)test->args[i];
	argv[n++] = (char *)(uintptr_t)path;
	snprintf(blocks, sizeof blocks, "%" PRIu64, test->n_blocks);
	if (test->has_blocks)
		argv[n++] = blocks;
	argv[n] = NULL;
	return run_program(argv, output, output_bytes);
}

static int make_image(const char *path, uint64_t size_bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0 && ftruncate(fd, (off_t)size_bytes) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- loop devices ---- */

/* A free one over the file, that goes with us; -1: there is none, or it may not be had. */
static int open_loop(int fd, uint32_t block_bytes, char path[64])
{
	const struct loop_config config = { .fd = (uint32_t)fd,
					    .block_size = block_bytes,
					    .info.lo_flags = LO_FLAGS_AUTOCLEAR };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), loop = -1;

	/* Others may take the free one first. */
	for (int i = 0; control >= 0 && loop < 0 && i < 10; i++) {
		snprintf(path, 64, "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
		loop = open(path, O_RDWR | O_CLOEXEC);
		if (loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &config) != 0) {
			close(loop);
			loop = -1;
		}
	}
	if (control >= 0)
		close(control);
	return loop;
}

/* What was written to it is in the file then. */
static bool close_loop(int loop)
{
	bool is_done = fsync(loop) == 0 && ioctl(loop, LOOP_CLR_FD) == 0;

	return close(loop) == 0 && is_done;
}

static bool loops_can_be_had(void)
{
	char path[64];
	int fd = make_image(our_path, MIB), loop = fd < 0 ? -1 : open_loop(fd, 4096, path);

	if (fd >= 0)
		close(fd);
	unlink(our_path);
	return loop >= 0 && close_loop(loop);
}

/* ---- outcomes ---- */

/* What a line says, without the program's and the file's name in front. */
static const char *message_in(const char *line, const char *path)
{
	size_t n = strlen(path);

	line += strncmp(line, "mkfs.fat: ", 10) == 0 ? 10 : 0;
	return strncmp(line, path, n) == 0 && strncmp(line + n, ": ", 2) == 0 ? line + n + 2 : line;
}

/* The first line that is neither the banner nor a warning, without a full stop. */
static void find_refusal(char *output, const char *path, char *text)
{
	char *line = strtok(output, "\n");
	const char *message = "";

	for (; line; line = strtok(NULL, "\n")) {
		message = message_in(line, path);
		if (strncmp(line, "mkfs.fat 4", 10) != 0 && strncasecmp(message, "warning", 7) != 0)
			break;
	}
	snprintf(text, MAX_TEXT, "%s", line ? message : "");
	if (*text && text[strlen(text) - 1] == '.')
		text[strlen(text) - 1] = '\0';
}

static void look_at_volume(int fd, uint64_t offset_bytes, char *text)
{
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot boot;
	struct fat_geometry g;

	if (pread(fd, sector, sizeof sector, (off_t)offset_bytes) != sizeof sector)
		return;
	fat_boot_decode(sector, &boot);
	if (fat_geometry_decode(&boot, &g) != FAT_OK)
		memset(&g, 0, sizeof g);
	snprintf(text, MAX_TEXT,
		 "ok r=%u k=%" PRIu32 " type=%d f=%" PRIu32 " e=%" PRIu32 " t=%" PRIu32
		 " c=%" PRIu32,
		 boot.reserved_sec, g.cluster_sec, (int)g.type, g.fat_sec, g.root_entries,
		 g.total_sec, g.n_clus);
}

/* Runs on the file, or on a loop device over it, whose name then is in path. */
static int run_on(const char *program, const struct testcase *test, char path[64], int fd,
		  char *output, size_t output_bytes)
{
	int status, loop;

	if (!test->block_bytes)
		return run(program, test, path, output, output_bytes);
	loop = open_loop(fd, test->block_bytes, path);
	*output = '\0';
	status = loop < 0 ? -1 : run(program, test, path, output, output_bytes);
	return loop >= 0 && close_loop(loop) ? status : -1;
}

static void try(const char *program, const struct testcase *test, const char *file, int fd,
		struct outcome *outcome)
{
	char output[8192], refusal[MAX_TEXT], path[64];

	snprintf(path, sizeof path, "%s", file);
	outcome->status = run_on(program, test, path, fd, output, sizeof output);
	outcome->text[0] = '\0';
	if (outcome->status == 0) {
		look_at_volume(fd, test->offset_bytes, outcome->text);
		return;
	}
	find_refusal(output, path, refusal);
	snprintf(outcome->text, sizeof outcome->text, "refused %s", refusal);
}

/* ---- comparing ---- */

/* The boot code and its message, in the boot sector at off or its backup. */
static void blank_code(uint8_t *chunk, uint64_t chunk_off, size_t n, uint64_t boot_off, bool is_32)
{
	uint64_t from = boot_off + (is_32 ? 90 : 62), to = boot_off + 510;

	for (uint64_t at = from; at < to; at++)
		if (at >= chunk_off && at < chunk_off + n)
			chunk[at - chunk_off] = 0;
}

struct image {
	int fd;
	uint64_t boot_off, backup_off; /* backup_off 0: none */
	bool is_32;
};

static void find_boot(struct image *image)
{
	uint8_t sector[FAT_BOOT_BYTES];
	struct fat_boot boot;

	if (pread(image->fd, sector, sizeof sector, (off_t)image->boot_off) != sizeof sector)
		return;
	fat_boot_decode(sector, &boot);
	image->is_32 = fat_boot_is_fat32_layout(&boot);
	if (image->is_32 && boot.backup_sec)
		image->backup_off = image->boot_off + (uint64_t)boot.backup_sec * boot.sector_bytes;
}

static void read_chunk(const struct image *image, uint64_t off, uint8_t *chunk, size_t n)
{
	ssize_t got = pread(image->fd, chunk, n, (off_t)off);

	if (got < 0)
		got = 0;
	memset(chunk + got, 0, n - (size_t)got);
	blank_code(chunk, off, n, image->boot_off, image->is_32);
	if (image->backup_off)
		blank_code(chunk, off, n, image->backup_off, true);
}

/* Over the extents of one image: does the other one hold the same? First difference in *at. */
static bool extents_are_same(const struct image *one, const struct image *other, uint64_t *at)
{
	static uint8_t a[CHUNK_BYTES], b[CHUNK_BYTES];
	off_t from = 0, to;

	while ((from = lseek(one->fd, from, SEEK_DATA)) >= 0) {
		to = lseek(one->fd, from, SEEK_HOLE);
		while (from < to) {
			size_t n =
				to - from < (off_t)CHUNK_BYTES ? (size_t)(to - from) : CHUNK_BYTES;

			read_chunk(one, (uint64_t)from, a, n);
			read_chunk(other, (uint64_t)from, b, n);
			if (memcmp(a, b, n) != 0) {
				for (size_t i = 0; a[i] == b[i]; i++)
					*at = (uint64_t)from + i + 1;
				return false;
			}
			from += (off_t)n;
		}
	}
	return true;
}

static bool images_are_same(int peer_fd, int our_fd, uint64_t boot_off, uint64_t *at)
{
	struct image a = { .fd = peer_fd, .boot_off = boot_off };
	struct image b = { .fd = our_fd, .boot_off = boot_off };

	find_boot(&a);
	find_boot(&b);
	*at = 0;
	return extents_are_same(&a, &b, at) && extents_are_same(&b, &a, at);
}

/* ---- listed differences ---- */

static bool compile(regex_t *regex, const char *text)
{
	return regcomp(regex, text, REG_EXTENDED) == 0;
}

static bool read_rules(const char *path)
{
	char line[1024], *when, *unless;
	FILE *in = fopen(path, "r");

	if (!in)
		return false;
	while (fgets(line, sizeof line, in) && n_rules < MAX_RULES) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		when = strchr(line, '\t');
		unless = when ? strchr(when + 1, '\t') : NULL;
		if (!unless)
			return false;
		*when++ = *unless++ = '\0';
		snprintf(rules[n_rules].name, sizeof rules[0].name, "%.63s", line);
		if (!compile(&rules[n_rules].when, when) ||
		    !compile(&rules[n_rules].unless, unless))
			return false;
		n_rules++;
	}
	fclose(in);
	return n_rules > 0;
}

static const char *find_rule(const char *line)
{
	for (size_t i = 0; i < n_rules; i++) {
		if (regexec(&rules[i].when, line, 0, NULL, 0) == 0 &&
		    regexec(&rules[i].unless, line, 0, NULL, 0) != 0) {
			rules[i].n_used++;
			return rules[i].name;
		}
	}
	return NULL;
}

/* ---- one case ---- */

static void describe(const struct testcase *test, char *text, size_t text_bytes)
{
	size_t n = (size_t)snprintf(text, text_bytes, "%" PRIu64, test->size_bytes);

	if (test->block_bytes)
		n += (size_t)snprintf(text + n, text_bytes - n, " on blocks of %" PRIu32,
				      test->block_bytes);
	for (int i = 0; i < test->n_args; i++)
		n += (size_t)snprintf(text + n, text_bytes - n, " %s", test->args[i]);
	if (test->has_blocks)
		n += (size_t)snprintf(text + n, text_bytes - n, " %" PRIu64, test->n_blocks);
	snprintf(text + n, text_bytes - n, " ");
}

static void say(bool is_ok, const char *name, const char *why, const char *detail)
{
	printf("%sok %u - %s: %s\n", is_ok ? "" : "not ", ++n_tests, name, why);
	if (!is_ok)
		printf("# %s\n", detail);
}

static void judge(const char *name, const struct outcome *a, const struct outcome *b, int peer_fd,
		  int our_fd, uint64_t boot_off)
{
	char line[5 * MAX_TEXT + 64];
	const char *rule;
	uint64_t at = 0;

	if (a->status == 0 && b->status == 0 && images_are_same(peer_fd, our_fd, boot_off, &at)) {
		n_same++;
		say(true, name, "same image", "");
		return;
	}
	if (a->status == 1 && b->status == 1 && strstr(b->text, a->text)) {
		n_refused++;
		say(true, name, "same refusal", "");
		return;
	}
	snprintf(line, sizeof line, "%s; peer: %s; ours: %s", name, a->text, b->text);
	rule = find_rule(line);
	n_listed += rule != NULL;
	if (!rule)
		snprintf(line + strlen(line), sizeof line - strlen(line),
			 "; first at byte %" PRIu64, at);
	say(rule != NULL, name, rule ? rule : "unexplained difference", line);
}

static void check(const struct testcase *test)
{
	struct outcome a, b;
	char name[MAX_TEXT];
	int peer_fd = make_image(peer_path, test->size_bytes);
	int our_fd = make_image(our_path, test->size_bytes);

	describe(test, name, sizeof name);
	if (peer_fd < 0 || our_fd < 0) {
		say(false, name, "cannot make the images", folder);
	} else {
		try(peer, test, peer_path, peer_fd, &a);
		try(ours, test, our_path, our_fd, &b);
		judge(name, &a, &b, peer_fd, our_fd, test->offset_bytes);
	}
	close(peer_fd);
	close(our_fd);
	unlink(peer_path);
	unlink(our_path);
}

/* ---- cases ---- */

static const uint64_t usual_sizes[] = {
	160ull << 10,      180ull << 10,  320ull << 10,     360ull << 10,      720ull << 10,
	1200ull << 10,     1440ull << 10, 2880ull << 10,    1 * MIB,           2 * MIB,
	4 * MIB,           4097ull << 10, 8 * MIB,          16 * MIB,          17 * MIB,
	32 * MIB,          64 * MIB,      128 * MIB,        129 * MIB,         256 * MIB,
	260 * MIB,         511 * MIB,     512 * MIB,        1024 * MIB,        2048 * MIB,
	4096 * MIB,        8192 * MIB,    8193 * MIB,       (16384 + 1) * MIB, 32768 * MIB,
	32769 * MIB,       65536 * MIB,   256 * 1024 * MIB, 1024 * 1024 * MIB, 2048 * 1024 * MIB,
	4096 * 1024 * MIB,
};
#define N_SIZES (sizeof usual_sizes / sizeof *usual_sizes)

static const char *const geometries[] = { "255/63", "16/63", "2/1", "64/32", "2/18" };

/* dosfstools' geometry by default, so that only what was asked for differs. */
static struct testcase start(uint64_t size_bytes)
{
	struct testcase test = { .size_bytes = size_bytes };

	add(&test, "--invariant");
	return test;
}

/* The peer would take too long: FATs of more than MAX_FAT_BYTES. */
static bool is_slow(uint64_t size_bytes, uint64_t cluster_bytes)
{
	return size_bytes / cluster_bytes * 8 > MAX_FAT_BYTES;
}

static void check_usual_sizes(void)
{
	static const int types[] = { 0, 12, 16, 32 };

	for (size_t i = 0; i < N_SIZES; i++) {
		for (size_t k = 0; k < 4; k++) {
			struct testcase test = start(usual_sizes[i]);

			if (is_slow(usual_sizes[i], k == 0 ? 1 << 20 : 32768) &&
			    !(k == 0 && is_full))
				continue;
			add(&test, "-g");
			add(&test, "%s", PICK(geometries));
			if (types[k])
				add(&test, "-F%d", types[k]);
			check(&test);
		}
	}
}

static void check_cluster_sizes(void)
{
	static const int types[] = { 12, 16, 32 };

	for (size_t i = 0; i < N_SIZES; i += 2) {
		for (uint32_t k = 1; k <= 128; k *= 2) {
			struct testcase test = start(usual_sizes[i]);

			if (is_slow(usual_sizes[i], k * 512ull))
				continue;
			add(&test, "-g");
			add(&test, "%s", PICK(geometries));
			add(&test, "-s%" PRIu32, k);
			add(&test, "-F%d", PICK(types));
			check(&test);
		}
	}
}

static uint64_t random_size(void)
{
	static const uint64_t sector[] = { 512, 512, 1024, 4096 };

	if (next_random(3) == 0)
		return usual_sizes[next_random(N_SIZES - 4)];
	return ((20 * 1024ull << next_random(20)) + next_random(MIB)) / 512 * 512 / PICK(sector) *
	       4096;
}

/* With a chance of one in `one_in`: an option with one of its values. */
#define MAYBE(test, one_in, option, values)                                                       \
	do {                                                                                      \
		if (next_random(one_in) == 0) {                                                   \
			add(test, "%s", option);                                                  \
			add(test, "%s", PICK(values));                                            \
		}                                                                                 \
	} while (0)

static void add_layout_options(struct testcase *test)
{
	static const char *const sectors[] = { "512", "1024", "2048", "4096", "8192" };
	static const char *const fats[] = { "1", "2", "3", "4" };
	static const char *const reserved[] = { "1",  "2",   "3",    "8",    "32",
						"33", "100", "2048", "65535" };
	static const char *const root[] = { "16", "17", "112", "511", "512", "1000", "32768" };
	static const char *const backup[] = { "0", "1", "2", "6", "12", "40" };

	MAYBE(test, 3, "-S", sectors);
	MAYBE(test, 3, "-f", fats);
	MAYBE(test, 4, "-R", reserved);
	MAYBE(test, 4, "-r", root);
	MAYBE(test, 6, "-b", backup);
	if (next_random(3) == 0)
		add(test, "-a");
	if (next_random(12) == 0)
		add(test, "-A");
}

static void add_field_options(struct testcase *test)
{
	static const char *const labels[] = {
		"LABEL",        "A",  "elevenchars", "X Y", "NO NAME", "G~!@#$%^&(_",
		"twelve chars", " X", "A*B",         ""
	};
	static const char *const ids[] = { "1234abcd", "0x2178694e", "0",
					   "FFFFFFFF", "xyz",        "123456789" };
	static const char *const media[] = { "0xF0", "0xF8", "0xFF", "249", "0xF1" };
	static const char *const drives[] = { "0", "0x80", "255" };
	static const char *const hidden[] = { "0", "63", "2048", "4294967295" };

	MAYBE(test, 3, "-n", labels);
	MAYBE(test, 3, "-i", ids);
	MAYBE(test, 5, "-M", media);
	MAYBE(test, 6, "-D", drives);
	MAYBE(test, 6, "-h", hidden);
}

/* The draw is the same where there are no loop devices. */
static void choose_device(struct testcase *test)
{
	static const uint32_t blocks[] = { 512, 4096, 4096 };
	uint32_t block_bytes = next_random(6) == 0 ? PICK(blocks) : 0;

	if (block_bytes == 0 || !has_loops)
		return;
	test->block_bytes = block_bytes;
	test->size_bytes -= test->size_bytes % block_bytes;
	n_on_devices++;
}

/* false: such that the peer would take too long; nothing was tried. */
static bool check_random(void)
{
	static const char *const clusters[] = { "1", "2", "4", "8", "16", "32", "64", "128" };
	static const char *const types[] = { "-F12", "-F16", "-F32", "-F32" };
	struct testcase test = start(random_size());
	uint64_t k = 0;

	add(&test, "-g");
	add(&test, "%s", PICK(geometries));
	if (next_random(2) == 0) {
		const char *cluster = PICK(clusters);

		k = strtoull(cluster, NULL, 10);
		add(&test, "-s");
		add(&test, "%s", cluster);
	}
	if (next_random(4) != 0)
		add(&test, "%s", PICK(types));
	add_layout_options(&test);
	add_field_options(&test);
	if (next_random(8) == 0) {
		test.has_blocks = true;
		test.n_blocks = 1 + next_random(test.size_bytes / 1024);
	}
	if (is_slow(test.size_bytes, k ? k * 512 : 4096))
		return false;
	choose_device(&test);
	check(&test);
	return true;
}

/* ---- start ---- */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static bool peer_is_there(void)
{
	static const struct testcase help = { .n_args = 1, .args = { "--help" } };
	char output[8192];

	peer = getenv("MKFS_DIFF_PEER") ? getenv("MKFS_DIFF_PEER") : "/usr/sbin/mkfs.fat";
	return access(peer, X_OK) == 0 && run(peer, &help, "x", output, sizeof output) == 0 &&
	       strstr(output, "mkfs.fat 4.2 (");
}

static void find_paths(void)
{
	static char our_program[512];
	const char *bin = getenv("FATWISE_BIN");
	const char *where = mkdtemp(folder);

	if (!where)
		where = mkdtemp(other_folder);
	snprintf(our_program, sizeof our_program, "%s/mkfs.fat", bin ? bin : "build/release");
	ours = our_program;
	snprintf(peer_path, sizeof peer_path, "%s/peer", where);
	snprintf(our_path, sizeof our_path, "%s/ours", where);
}

int main(void)
{
	uint64_t n_random = number_from("MKFS_DIFF_CASES", getenv("FATWISE_FULL") ? 330 : 110);

	if (!peer_is_there()) {
		printf("1..1\nok 1 - the same as dosfstools # skip no mkfs.fat 4.2 here\n");
		return 0;
	}
	is_full = number_from("MKFS_DIFF_FULL", 0) != 0;
	random_state = number_from("MKFS_DIFF_SEED", 20261130);
	setenv("TZ", "UTC", 1);
	unsetenv("SOURCE_DATE_EPOCH");
	find_paths();
	if (!read_rules("tests/diff/mkfs-differences.txt"))
		say(false, "mkfs-differences.txt", "cannot be read",
		    "run from the top of the tree");
	check_usual_sizes();
	check_cluster_sizes();
	has_loops = loops_can_be_had();
	while (n_random > 0)
		n_random -= check_random();
	rmdir(folder);
	rmdir(other_folder);
	printf("# %u cases, %u on loop devices: %u same images, %u same refusals, "
	       "%u listed differences, "
	       "%u unexplained\n",
	       n_tests, n_on_devices, n_same, n_refused, n_listed,
	       n_tests - n_same - n_refused - n_listed);
	for (size_t i = 0; i < n_rules; i++)
		printf("# %s: %u\n", rules[i].name, rules[i].n_used);
	printf("1..%u\n", n_tests);
	return 0;
}
