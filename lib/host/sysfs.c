/* SPDX-License-Identifier: MIT */
/*
 * sysfs: attributes as text and numbers.
 *
 * Knows how sysfs writes things down; knows no attribute by name.
 */
#include "sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

const char *host_sys(const struct host_roots *roots)
{
	return roots ? roots->sys : "/sys";
}

const char *host_proc(const struct host_roots *roots)
{
	return roots ? roots->proc : "/proc";
}

void host_copy(char *to, size_t to_bytes, const char *from)
{
	size_t n = strnlen(from, to_bytes - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

bool host_join(char path[HOST_PATH_BYTES], const char *dir, const char *name)
{
	int n = snprintf(path, HOST_PATH_BYTES, *name ? "%s/%s" : "%s", dir, name);

	return n > 0 && n < HOST_PATH_BYTES;
}

void host_block_dir(const struct host_roots *roots, dev_t number, char dir[HOST_PATH_BYTES])
{
	snprintf(dir, HOST_PATH_BYTES, "%s/dev/block/%u:%u", host_sys(roots), major(number),
		 minor(number));
}

bool host_attr_text(const char *dir, const char *name, char *text, size_t text_bytes)
{
	char path[HOST_PATH_BYTES];
	char *end;
	ssize_t n;
	int fd;

	text[0] = '\0';
	if (!host_join(path, dir, name))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = read(fd, text, text_bytes - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (end = text + strlen(text); end > text && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	memmove(text, text + strspn(text, " \t"), strlen(text + strspn(text, " \t")) + 1);
	return text[0] != '\0';
}

bool host_attr_u64(const char *dir, const char *name, uint64_t *value)
{
	char text[HOST_NAME_BYTES];
	bool hex;
	char *end;

	*value = 0;
	if (!host_attr_text(dir, name, text, sizeof text) || !isdigit((unsigned char)text[0]))
		return false;
	hex = strncmp(text, "0x", 2) == 0;
	errno = 0;
	*value = strtoull(text, &end, hex ? 16 : 10);
	if (errno == 0 && *end == '\0')
		return true;
	*value = 0;
	return false;
}

enum host_answer host_attr_answer(const char *dir, const char *name)
{
	uint64_t v;

	if (!host_attr_u64(dir, name, &v))
		return HOST_UNKNOWN;
	return v ? HOST_YES : HOST_NO;
}

bool host_parse_number(const char *text, dev_t *number)
{
	char *colon, *end;
	unsigned long major_no = strtoul(text, &colon, 10), minor_no;

	if (!isdigit((unsigned char)text[0]) || colon[0] != ':' ||
	    !isdigit((unsigned char)colon[1]))
		return false;
	minor_no = strtoul(colon + 1, &end, 10);
	if (*end || major_no > UINT32_MAX || minor_no > UINT32_MAX)
		return false;
	*number = makedev((unsigned)major_no, (unsigned)minor_no);
	return true;
}

bool host_attr_number(const char *dir, const char *name, dev_t *number)
{
	char text[HOST_NAME_BYTES];

	return host_attr_text(dir, name, text, sizeof text) && host_parse_number(text, number);
}

bool host_link_name(const char *dir, const char *name, char *text, size_t text_bytes)
{
	char path[HOST_PATH_BYTES];
	char *real = host_join(path, dir, name) ? realpath(path, NULL) : NULL;
	const char *last = real ? strrchr(real, '/') : NULL;

	host_copy(text, text_bytes, last ? last + 1 : "");
	free(real);
	return text[0] != '\0';
}
