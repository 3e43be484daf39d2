/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See package_files.h. */
#include "system/package_files.h"

#include <string.h>

/* Whether a package has "/lib/x" or "/usr/lib/x" depends on when it was made. */
static void package_files_skip_usr(const char **path, size_t *size)
{
	static const char usr[] = "/usr/";

	if (*size < strlen(usr) || memcmp(*path, usr, strlen(usr)))
		return;
	*path += strlen(usr) - 1;
	*size -= strlen(usr) - 1;
}

bool package_files_has(const char *text, size_t size, const char *path, size_t path_size)
{
	const char *end = text + size, *line, *line_end;
	size_t length;

	package_files_skip_usr(&path, &path_size);
	if (!path_size)
		return false;
	while (text < end) {
		line = text;
		line_end = memchr(line, '\n', (size_t)(end - line));
		/* The last line may be cut. */
		if (!line_end)
			return false;
		length = (size_t)(line_end - line);
		package_files_skip_usr(&line, &length);
		if (length == path_size && !memcmp(line, path, length))
			return true;
		text = line_end + 1;
	}
	return false;
}
