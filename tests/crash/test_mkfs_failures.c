/* SPDX-License-Identifier: MIT */
/*
 * mkfs failures: each allocation, and each open, read, write and flush of whole runs of mkfs.fat
 * fails once, every run in a process of its own.
 *
 * A run that fails says so, removes what it created, and leaves the old volume, the whole new one,
 * or none: never a boot sector with half of a volume behind it. A run that goes on all the same has
 * said what it misses, or misses nothing. Knows the command line, and nothing inside. The
 * calls are those that libc has for 64-bit offsets (tests.mk wraps them); where they have other
 * names none fails.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"
#include "mkfs/mkfs.h"

#define IMAGE_BYTES (4u << 20)
#define MAX_WORDS   16

enum kind { ALLOCATIONS, CALLS };

/* ---- calls that fail ------------------------------------------------------------------------ */

static struct {
	bool armed;
	uint64_t count, nth;
} calls;

static bool fails_now(void)
{
	if (!calls.armed || ++calls.count != calls.nth)
		return false;
	errno = EIO;
	return true;
}

/* The names that the linker gives them (ld --wrap). */
ssize_t __real_pread64(int fd, void *buf, size_t n, off_t off) __attribute__((weak));
ssize_t __real_pwrite64(int fd, const void *buf, size_t n, off_t off) __attribute__((weak));
FILE *__real_fopen64(const char *path, const char *mode) __attribute__((weak));
int __real_open64(const char *path, int flags, mode_t mode) __attribute__((weak));
ssize_t __wrap_pread64(int fd, void *buf, size_t n, off_t off);
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t off);
int __wrap_fsync(int fd);
FILE *__wrap_fopen64(const char *path, const char *mode);
int __wrap_open64(const char *path, int flags, mode_t mode);

ssize_t __wrap_pread64(int fd, void *buf, size_t n, off_t off)
{
	return fails_now() ? -1 : __real_pread64(fd, buf, n, off);
}

ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t off)
{
	return fails_now() ? -1 : __real_pwrite64(fd, buf, n, off);
}

/* Nobody pulls a plug here: what is to be flushed is not. */
int __wrap_fsync(int fd)
{
	(void)fd;
	return fails_now() ? -1 : 0;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return fails_now() ? NULL : __real_fopen64(path, mode);
}

int __wrap_open64(const char *path, int flags, mode_t mode)
{
	return fails_now() ? -1 : __real_open64(path, flags, mode);
}

/* ---- runs ----------------------------------------------------------------------------------- */

struct content {
	uint8_t *bytes; /* NULL: no such file */
	size_t n;
};

/* What a run of mkfs.fat leaves. */
struct result {
	int status;
	uint64_t n_failable; /* calls or allocations of that run */
	struct content image, said;
};

static char dir[TEMP_PATH_BYTES];
static struct content before; /* what is in "image" before each run */

static struct content read_content(const char *name)
{
	struct content content = { NULL, 0 };
	FILE *file = fopen(temp_path(dir, name), "rb");

	if (!file)
		return content;
	content.bytes = malloc(IMAGE_BYTES);
	assert_non_null(content.bytes);
	content.n = fread(content.bytes, 1, IMAGE_BYTES, file);
	fclose(file);
	return content;
}

static bool is_same(const struct content *a, const struct content *b)
{
	return !a->bytes == !b->bytes && a->n == b->n &&
	       (!a->bytes || memcmp(a->bytes, b->bytes, a->n) == 0);
}

static void result_fini(struct result *result)
{
	free(result->image.bytes);
	free(result->said.bytes);
}

/* In a process of its own: getopt, stdout and what leaks begin anew. */
static void run_child(char **words, int n_words, enum kind kind, uint64_t nth, uint64_t *n_failable)
{
	int status;

	if (chdir(dir) != 0 || !freopen("out", "w", stdout) || !freopen("said", "w", stderr))
		_exit(126);
	if (kind == ALLOCATIONS)
		malloc_fail_arm(nth);
	calls.armed = kind == CALLS;
	calls.nth = nth;
	status = mkfs_main(n_words, words);
	calls.armed = false;
	*n_failable = kind == CALLS ? calls.count : malloc_fail_disarm();
	exit(status);
}

static void reset(void)
{
	FILE *file = fopen(temp_path(dir, "image"), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(before.bytes, 1, before.n, file), before.n);
	assert_int_equal(fclose(file), 0);
	unlink(temp_path(dir, "undo"));
	unlink(temp_path(dir, "new"));
}

/* line: of words between blanks; target: what it makes, "image", which is there, or "new". */
static struct result run(const char *line, const char *target, enum kind kind, uint64_t nth)
{
	uint64_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char text[256], *words[MAX_WORDS + 1] = { "mkfs.fat", "--invariant" };
	struct result result = { 0 };
	int n_words = 2, status;
	pid_t child;

	assert_true(shared != MAP_FAILED);
	snprintf(text, sizeof text, "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		assert_true(n_words < MAX_WORDS);
		words[n_words++] = word;
	}
	reset();
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		run_child(words, n_words, kind, nth, shared);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	result.status = WEXITSTATUS(status);
	result.n_failable = *shared;
	result.image = read_content(target);
	result.said = read_content("said");
	munmap(shared, sizeof *shared);
	return result;
}

/* ---- what must hold ------------------------------------------------------------------------- */

static bool has_mark(const struct content *image)
{
	return image->n >= 512 && image->bytes[510] == 0x55 && image->bytes[511] == 0xAA;
}

/* What is wrong with a run whose nth call or allocation failed; NULL: nothing. */
static const char *complaint(const struct result *result, const struct result *whole, bool is_new)
{
	if (result->status == 0) {
		if (!is_same(&result->image, &whole->image) &&
		    is_same(&result->said, &whole->said))
			return "it misses something and does not say so";
		return NULL;
	}
	if (result->status != 1)
		return "its status is neither 0 nor 1";
	if (result->said.n == 0 || memcmp(result->said.bytes, "mkfs.fat: ", 10) != 0)
		return "it fails without a word";
	if (is_new)
		return result->image.bytes ? "what it created is still there" : NULL;
	if (is_same(&result->image, &before) || is_same(&result->image, &whole->image) ||
	    !has_mark(&result->image))
		return NULL;
	return "half of a volume has a boot sector";
}

/* All of them in `make check-full`, elsewhere some. */
static uint64_t step(void)
{
	return getenv("FATWISE_FULL") ? 1 : 29;
}

static void fail_each(const char *line, const char *target)
{
	bool is_new = strcmp(target, "new") == 0;

	for (int kind = ALLOCATIONS; kind <= CALLS; kind++) {
		struct result whole = run(line, target, (enum kind)kind, 0);

		if (whole.status != 0)
			fail_msg("mkfs.fat %s: %.*s", line, (int)whole.said.n,
				 (const char *)whole.said.bytes);
		for (uint64_t nth = 1; nth <= whole.n_failable; nth += step()) {
			struct result result = run(line, target, (enum kind)kind, nth);
			const char *wrong = complaint(&result, &whole, is_new);

			if (wrong)
				fail_msg("mkfs.fat %s, %s %d: %s: %.*s", line,
					 kind == CALLS ? "call" : "allocation", (int)nth, wrong,
					 (int)result.said.n, (const char *)result.said.bytes);
			result_fini(&result);
		}
		result_fini(&whole);
	}
}

/* ---- tests ---------------------------------------------------------------------------------- */

static int setup(void **state)
{
	struct result old;

	(void)state;
	temp_make(dir);
	temp_write(dir, "tree/A file with a long name.txt", "content");
	temp_write(dir, "tree/folder/SHORT.TXT", "more content");
	temp_write(dir, "tree/folder/deeper/another long name", "");
	temp_link(dir, "tree/link", "tree/folder");
	temp_write(dir, "bad", "1000\n1001\n2000\n");
	temp_write(dir, "message", "No system here.\nGo on.\n");
	temp_write(dir, "advice",
		   "{ \"recommended\": { \"verdict\": \"chosen\", \"mkfs\": \"-F 16 -s 1\" } }\n");
	before.bytes = calloc(1, IMAGE_BYTES);
	before.n = IMAGE_BYTES;
	old = run("-F 12 -n OLD image", "image", ALLOCATIONS, 0);
	assert_int_equal(old.status, 0);
	free(before.bytes);
	before = old.image;
	memset(before.bytes + IMAGE_BYTES / 2, 'x', IMAGE_BYTES / 2);
	free(old.said.bytes);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(before.bytes);
	temp_remove(dir);
	return 0;
}

static void over_another_volume(void **state)
{
	(void)state;
	fail_each("-F 16 -s 1 -n NEW --undo undo --verify --stats image", "image");
}

static void with_bad_blocks_and_a_message(void **state)
{
	(void)state;
	fail_each("-F 32 -s 1 -l bad -m message -v -v image", "image");
	fail_each("-c --mbr=y --json image", "image");
}

static void filled_from_a_folder(void **state)
{
	(void)state;
	fail_each("-d tree --verify -n TREE image", "image");
	fail_each("-d tree -C new", "new");
	fail_each("--size-for tree", "new");
}

static void by_advice_or_profile(void **state)
{
	(void)state;
	fail_each("--advice advice image", "image");
	fail_each("--profile dos image", "image");
	fail_each("--profile windows -d tree -C new", "new");
}

static void planned_only(void **state)
{
	(void)state;
	fail_each("--dry-run --align 64K -v -v image", "image");
	fail_each("--dry-run --json -l bad image", "image");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_another_volume),
		cmocka_unit_test(with_bad_blocks_and_a_message),
		cmocka_unit_test(filled_from_a_folder),
		cmocka_unit_test(by_advice_or_profile),
		cmocka_unit_test(planned_only),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
