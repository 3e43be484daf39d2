/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading files of /proc as text: see proc_text.h. */
#include "system/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define CHUNK 65536
#define DELETED " (deleted)"

static int proc_read_all(int fd, struct buffer *text)
{
	char *chunk = memory_alloc(1, CHUNK);
	ssize_t got;
	int status = 0;

	while ((got = TEMP_FAILURE_RETRY(read(fd, chunk, CHUNK))) > 0) {
		buffer_append(text, chunk, (size_t)got);
		if (text->length > PROC_TEXT_MAX) {
			status = -EFBIG;
			break;
		}
	}
	if (got < 0)
		status = -errno;
	free(chunk);
	return status;
}

int proc_read_text(const char *proc_root, pid_t pid, const char *name, struct buffer *text)
{
	char *path = pid ? memory_format("%s/%d/%s", proc_root, (int)pid, name)
			 : memory_format("%s/self/%s", proc_root, name);
	int fd = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC));
	int status = fd < 0 ? -errno : proc_read_all(fd, text);

	if (fd >= 0)
		close(fd);
	free(path);
	return status == -ENOENT ? -ESRCH : status;
}

static bool proc_digit(char character, unsigned int base, unsigned int *ret_digit)
{
	unsigned int digit;

	if (character >= '0' && character <= '9')
		digit = (unsigned int)(character - '0');
	else if (character >= 'a' && character <= 'f')
		digit = (unsigned int)(character - 'a') + 10;
	else
		return false;
	*ret_digit = digit;
	return digit < base;
}

bool proc_take_number(const char **at, const char *end, unsigned int base, uint64_t *ret_number)
{
	const char *cursor = *at;
	unsigned int digit;
	uint64_t number = 0;

	for (; cursor < end && proc_digit(*cursor, base, &digit); cursor++)
		if (__builtin_mul_overflow(number, (uint64_t)base, &number) ||
		    __builtin_add_overflow(number, (uint64_t)digit, &number))
			return false;
	if (cursor == *at)
		return false;
	*at = cursor;
	*ret_number = number;
	return true;
}

bool proc_strip_deleted(char *path)
{
	size_t length = strlen(path);

	if (length <= strlen(DELETED) || strcmp(path + length - strlen(DELETED), DELETED) != 0)
		return false;
	path[length - strlen(DELETED)] = '\0';
	return true;
}

char *proc_read_link(const char *link)
{
	size_t capacity = 256;
	char *text = NULL;
	ssize_t length;

	do {
		capacity *= 2;
		text = memory_resize(text, capacity, 1);
		length = readlink(link, text, capacity);
	} while (length == (ssize_t)capacity && capacity < (1u << 20));
	if (length <= 0 || length == (ssize_t)capacity) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}
