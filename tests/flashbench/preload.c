/* SPDX-License-Identifier: MIT */
/*
 * preload: lets a program measure a simulated device in virtual time. Preloaded, it takes over one
 * path, SIM_DEVICE, and the clock; the device is that of tests/sim/random_device.c with the seed
 * SIM_SEED. It holds nothing but zeros. For flashbench: direct I/O from one thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "advisor/sim.h"
#include "tests/sim/random_device.h"

static struct sim_params params;
static struct sim *sim;
static uint64_t now_ns = 1000000000;
static int device_fd = -1;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static int open_device(void)
{
	const char *seed = getenv("SIM_SEED");

	if (!sim) {
		random_device(seed ? strtoull(seed, NULL, 10) : 1, 0.03, &params);
		sim = sim_new(&params);
	}
	device_fd = sim ? open("/dev/zero", O_RDONLY) : -1;
	return device_fd;
}

int open64(const char *path, int flags, ...)
{
	const char *device = getenv("SIM_DEVICE");
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))next("open64");
	mode_t mode;
	va_list args;

	if (device && strcmp(path, device) == 0)
		return open_device();
	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return real(path, flags, mode);
}

static ssize_t request(enum sim_op op, size_t len, off_t off)
{
	if (off < 0 || (uint64_t)off + len > params.size_bytes) {
		errno = EINVAL;
		return -1;
	}
	now_ns = sim_request(sim, op, (uint64_t)off, len, now_ns);
	return (ssize_t)len;
}

ssize_t pread64(int fd, void *buf, size_t len, off_t off)
{
	ssize_t (*real)(int, void *, size_t, off_t) =
		(ssize_t(*)(int, void *, size_t, off_t))next("pread64");

	if (fd != device_fd)
		return real(fd, buf, len, off);
	memset(buf, 0, len);
	return request(SIM_READ, len, off);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off_t off)
{
	ssize_t (*real)(int, const void *, size_t, off_t) =
		(ssize_t(*)(int, const void *, size_t, off_t))next("pwrite64");

	return fd == device_fd ? request(SIM_WRITE, len, off) : real(fd, buf, len, off);
}

off_t lseek64(int fd, off_t off, int whence)
{
	off_t (*real)(int, off_t, int) = (off_t(*)(int, off_t, int))next("lseek64");

	if (fd == device_fd && whence == SEEK_END)
		return (off_t)params.size_bytes + off;
	return real(fd, off, whence);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	now_ns += 50;
	time->tv_sec = (time_t)(now_ns / 1000000000);
	time->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}
