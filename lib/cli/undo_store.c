/* SPDX-License-Identifier: MIT */
/*
 * undo_store: the file behind --undo.
 *
 * A new file of its own (O_EXCL, 0600, no link followed), never on the device that is about to be
 * changed; its name is on the disk before anything is saved in it.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name must survive a power cut as well as the content does. */
static int sync_folder(const char *path)
{
	char copy[4096];
	int fd, saved_errno, result;

	if (strlen(path) >= sizeof copy) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(copy, path, strlen(path) + 1);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	result = fsync(fd);
	if (result < 0 && (errno == EINVAL || errno == EROFS))
		result = 0; /* a file system that syncs no folders */
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return result;
}

static bool lies_on(int fd, const char *device_path)
{
	struct stat store, device;

	return fstat(fd, &store) == 0 && stat(device_path, &device) == 0 &&
	       S_ISBLK(device.st_mode) && store.st_dev == device.st_rdev;
}

static bool refuse(const struct cli_program *program, int fd, const char *path, const char *why)
{
	cli_error(program, "%s: cannot be the undo file: %s", path, why);
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	return false;
}

bool cli_create_undo_store(const struct cli_program *program, const char *path,
			   const char *device_path, struct fat_dev **store)
{
	struct fat_error error;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	*store = NULL;
	if (fd < 0 && errno == EEXIST)
		return refuse(program, fd, path, "it exists; choose a new name");
	if (fd < 0)
		return refuse(program, fd, path, strerror(errno));
	if (lies_on(fd, device_path))
		return refuse(program, fd, path,
			      "it lies on the device that is to be changed; choose another disk");
	if (sync_folder(path) != 0)
		return refuse(program, fd, path, strerror(errno));
	if (fat_dev_file_from_fd(fd, FAT_DEV_WRITE | FAT_DEV_CREATE | FAT_DEV_EXCLUSIVE, store,
				 &error) != FAT_OK)
		return refuse(program, fd, path, fat_status_text(error.status));
	return true;
}
