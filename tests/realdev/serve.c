/* SPDX-License-Identifier: MIT */
/*
 * serve MODEL MOUNTPOINT BACKING: a file that answers as slowly as a simulated device, in real
 * time. Speaks the kernel's FUSE protocol itself: the root of the mount is the file, so that there
 * are no names to look up. Ends when it is unmounted. For a loop device on top of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "advisor/sim.h"

#define MOST_BYTES (1u << 20)
#define ROOM       (MOST_BYTES + 4096)

struct server {
	int fuse, backing;
	struct sim *sim;
	uint64_t size_bytes;
	uint8_t in[ROOM], out[ROOM];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Until the device would be done: sleeps, and spins for the last part. */
static void take_time(struct server *s, enum sim_op op, uint64_t off, uint64_t len_bytes)
{
	const uint64_t spin_ns = 150000;
	uint64_t start = now_ns(), end = sim_request(s->sim, op, off, len_bytes, start);
	uint64_t until = end - spin_ns;
	struct timespec at = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

	if (end > start + spin_ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	while (now_ns() < end)
		;
}

static void reply(struct server *s, uint64_t unique, int error, size_t len_bytes)
{
	struct fuse_out_header *head = (struct fuse_out_header *)s->out;

	head->len = (uint32_t)(sizeof *head + (error ? 0 : len_bytes));
	head->error = -error;
	head->unique = unique;
	if (write(s->fuse, s->out, head->len) < 0 && errno != ENOENT)
		perror("serve: reply");
}

static void fill_attr(const struct server *s, struct fuse_attr *attr)
{
	*attr = (struct fuse_attr){ .ino = 1,
				    .size = s->size_bytes,
				    .blocks = s->size_bytes / 512,
				    .mode = S_IFREG | 0600,
				    .nlink = 1,
				    .blksize = 4096 };
}

static size_t answer_init(struct server *s, const struct fuse_init_in *in)
{
	struct fuse_init_out *out =
		(struct fuse_init_out *)(s->out + sizeof(struct fuse_out_header));

	memset(out, 0, sizeof *out);
	out->major = FUSE_KERNEL_VERSION;
	out->minor = FUSE_KERNEL_MINOR_VERSION;
	out->max_readahead = in->max_readahead;
	out->flags = in->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_READ);
	out->max_write = MOST_BYTES;
	out->max_pages = MOST_BYTES / 4096;
	return sizeof *out;
}

/* Returns the length of the answer, or -errno. */
static ssize_t answer(struct server *s, const struct fuse_in_header *head, const void *body)
{
	void *out = s->out + sizeof(struct fuse_out_header);
	const struct fuse_read_in *read_in = body;
	const struct fuse_write_in *write_in = body;
	ssize_t n;

	switch (head->opcode) {
	case FUSE_INIT:
		return (ssize_t)answer_init(s, body);
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		memset(out, 0, sizeof(struct fuse_attr_out));
		fill_attr(s, &((struct fuse_attr_out *)out)->attr);
		return sizeof(struct fuse_attr_out);
	case FUSE_OPEN:
		memset(out, 0, sizeof(struct fuse_open_out));
		((struct fuse_open_out *)out)->open_flags = FOPEN_DIRECT_IO;
		return sizeof(struct fuse_open_out);
	case FUSE_READ:
		n = pread(s->backing, out, read_in->size, (off_t)read_in->offset);
		if (n > 0)
			take_time(s, SIM_READ, read_in->offset, (uint64_t)n);
		return n < 0 ? -errno : n;
	case FUSE_WRITE:
		n = pwrite(s->backing, write_in + 1, write_in->size, (off_t)write_in->offset);
		if (n > 0)
			take_time(s, SIM_WRITE, write_in->offset, (uint64_t)n);
		memset(out, 0, sizeof(struct fuse_write_out));
		((struct fuse_write_out *)out)->size = (uint32_t)n;
		return n < 0 ? -errno : (ssize_t)sizeof(struct fuse_write_out);
	case FUSE_FSYNC:
		take_time(s, SIM_FLUSH, 0, 0);
		return 0;
	case FUSE_STATFS:
		memset(out, 0, sizeof(struct fuse_statfs_out));
		return sizeof(struct fuse_statfs_out);
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_ACCESS:
		return 0;
	default:
		return -ENOSYS;
	}
}

static void serve(struct server *s)
{
	for (;;) {
		ssize_t n = read(s->fuse, s->in, sizeof s->in);
		const struct fuse_in_header *head = (const struct fuse_in_header *)s->in;

		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof *head)
			return; /* unmounted */
		if (head->opcode != FUSE_FORGET && head->opcode != FUSE_BATCH_FORGET) {
			ssize_t len = answer(s, head, head + 1);

			reply(s, head->unique, len < 0 ? (int)-len : 0, len < 0 ? 0 : (size_t)len);
		}
	}
}

static int start(struct server *s, const char *model, const char *mount_point, const char *backing)
{
	const struct sim_params *params = sim_model_by_name(model);
	char options[128];

	if (!params || !(s->sim = sim_new(params)))
		return fprintf(stderr, "serve: %s: no such model\n", model);
	s->size_bytes = params->size_bytes;
	s->backing = open(backing, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	s->fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (s->backing < 0 || s->fuse < 0 || ftruncate(s->backing, (off_t)s->size_bytes) != 0)
		return fprintf(stderr, "serve: %s\n", strerror(errno));
	snprintf(options, sizeof options, "fd=%d,rootmode=100000,user_id=0,group_id=0,max_read=%u",
		 s->fuse, MOST_BYTES);
	if (mount("serve", mount_point, "fuse.serve", MS_NOSUID | MS_NODEV, options) != 0)
		return fprintf(stderr, "serve: cannot mount: %s\n", strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	static struct server server;

	if (argc != 4) {
		fputs("usage: serve MODEL MOUNTPOINT BACKING\n", stderr);
		return 1;
	}
	if (start(&server, argv[1], argv[2], argv[3]) != 0)
		return 1;
	serve(&server);
	return 0;
}
