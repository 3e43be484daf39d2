/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_file.h. */
#include "recording/json_file.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "system/regular_file.h"

/* More than any process has of anything: sums of numbers within it are numbers, too. */
#define NUMBER_MAX (1ull << 56)

#define BLANKS " \t\r\n"

/* Of memory for a byte of text: reports take ten times their text, a text of "[],[]," forty times. */
#define MEMORY_PART 16
#define MEMORY_LEAST (1u << 20)

/* What the library holds, and may; it has one allocator for all of a program. */
static size_t json_file_held, json_file_most;

static int json_file_append(int fd, size_t most, struct buffer *text)
{
	char part[1 << 16];
	ssize_t size;

	while ((size = read(fd, part, sizeof(part))) > 0) {
		if (text->length + (size_t)size > most)
			return -EFBIG;
		buffer_append(text, part, (size_t)size);
	}
	return size < 0 ? -errno : 0;
}

int json_file_read(const char *path, size_t most, const char *what, struct buffer *text,
		   struct error *error)
{
	int fd = regular_file_open(path, REGULAR_FILE_LINKS), code = fd;
	struct buffer safe = { 0 };

	if (fd >= 0) {
		code = json_file_append(fd, most, text);
		close(fd);
	}
	if (!code)
		return 0;
	text_append_safe(&safe, path);
	error_set(error, ERROR_USAGE, code, "cannot read the %s '%s': %s", what,
		  safe.data ? safe.data : "", regular_file_failure(path, code));
	buffer_free(&safe);
	return code;
}

bool json_file_is(const char *path)
{
	int fd = regular_file_open(path, REGULAR_FILE_LINKS);
	char begin[64] = "";
	ssize_t size;

	if (fd < 0)
		return false;
	size = read(fd, begin, sizeof(begin) - 1);
	close(fd);
	return size > 0 && begin[strspn(begin, BLANKS)] == '{';
}

static void *json_file_allocate(size_t size)
{
	void *part = NULL;

	if (json_file_held < json_file_most && size <= json_file_most - json_file_held)
		part = malloc(size);
	json_file_held += part ? malloc_usable_size(part) : 0;
	return part;
}

static void json_file_release(void *part)
{
	json_file_held -= part ? malloc_usable_size(part) : 0;
	free(part);
}

json_t *json_file_last(const struct buffer *text, const char *what, struct error *error)
{
	const size_t size = text->length;
	json_t *last = NULL, *value;
	json_error_t reason;
	size_t at = 0;

	json_set_alloc_funcs(json_file_allocate, json_file_release);
	json_file_most = json_file_held + MEMORY_LEAST + size * MEMORY_PART;
	for (;;) {
		at += at < size ? strspn(text->data + at, BLANKS) : 0;
		if (at >= size)
			break;
		value = json_loadb(text->data + at, size - at, JSON_DISABLE_EOF_CHECK, &reason);
		json_decref(last);
		last = value;
		if (!value || reason.position <= 0) {
			json_decref(value);
			error_set(error, ERROR_USAGE, -EINVAL,
				  "what begins at byte %zu of the %s is no JSON, or too much of it",
				  at, what);
			return NULL;
		}
		at += (size_t)reason.position;
	}
	if (!last)
		error_set(error, ERROR_USAGE, -EINVAL, "the %s is empty", what);
	return last;
}

uint64_t json_file_value(const json_t *value, uint64_t other)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0)
		return other;
	return (uint64_t)number < NUMBER_MAX ? (uint64_t)number : NUMBER_MAX;
}

uint64_t json_file_number(const json_t *object, const char *key)
{
	return json_file_value(json_object_get(object, key), 0);
}

bool json_file_time(const json_t *value, int64_t *ret_time)
{
	const char *text = json_string_value(value);
	struct tm tm = { 0 };
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	if (!end || *end)
		return false;
	*ret_time = timegm(&tm);
	return true;
}
