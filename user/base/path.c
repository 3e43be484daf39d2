/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See path.h. */
#include "base/path.h"

#include <string.h>

/* Drop the last part of what stands in `out` from `begin` on. */
static void path_drop_part(struct buffer *out, size_t begin)
{
	while (out->length > begin && out->data[--out->length] != '/')
		;
	if (out->data)
		out->data[out->length] = '\0';
}

static void path_append_part(struct buffer *out, size_t begin, bool absolute, const char *part,
			     size_t length)
{
	if (!length || (length == 1 && *part == '.'))
		return;
	if (length == 2 && !memcmp(part, "..", 2)) {
		path_drop_part(out, begin);
		return;
	}
	if (absolute || out->length > begin)
		buffer_append_string(out, "/");
	buffer_append(out, part, length);
}

static void path_append_parts(struct buffer *out, size_t begin, bool absolute, const char *path)
{
	const char *end;

	for (;; path = end + 1) {
		end = strchrnul(path, '/');
		path_append_part(out, begin, absolute, path, (size_t)(end - path));
		if (!*end)
			return;
	}
}

void path_append_resolved(struct buffer *out, const char *directory, const char *path)
{
	bool absolute = *path == '/' || (directory && *directory == '/');
	size_t begin = out->length;

	if (*path != '/' && directory)
		path_append_parts(out, begin, absolute, directory);
	path_append_parts(out, begin, absolute, path);
	if (out->length == begin)
		buffer_append_string(out, absolute ? "/" : "");
}

const char *path_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (strncmp(path, directory, length) != 0)
		return NULL;
	path += length;
	if (length && directory[length - 1] == '/')
		return path;
	if (*path == '/')
		return path + 1;
	return *path ? NULL : path;
}

/*
 * Do the first bytes of `path` up to a slash look like those of `pattern`? Only the last star may have to take more, since
 * whatever could come before one may as well come before the next.
 */
static bool path_part_is_like(const char *path, const char *pattern)
{
	const char *star = NULL, *from = path;

	for (;;) {
		bool ended = !*path || *path == '/';

		if (*pattern == '*') {
			star = ++pattern;
			from = path;
		} else if (ended && (!*pattern || *pattern == '/')) {
			return true;
		} else if (!ended && (*pattern == *path ||
				      (*pattern == '#' && *path >= '0' && *path <= '9'))) {
			pattern++;
			path++;
		} else if (ended || !star) {
			return false;
		} else {
			pattern = star;
			path = ++from;
		}
	}
}

static bool path_begins_with_parts(const char *path, const char *pattern)
{
	while (path_part_is_like(path, pattern)) {
		pattern = strchrnul(pattern, '/');
		path = strchrnul(path, '/');
		if (!*pattern)
			return true;
		if (!*path)
			return false;
		pattern++;
		path++;
	}
	return false;
}

bool path_has_parts(const char *path, const char *pattern)
{
	for (;; path++) {
		if (path_begins_with_parts(path, pattern))
			return true;
		path = strchr(path, '/');
		if (!path)
			return false;
	}
}
