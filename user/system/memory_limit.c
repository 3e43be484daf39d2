/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_limit.h. In a namespace of its own, a group is the root of what is mounted. */
#include "system/memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The number in a file; "max", or no file, is none. */
static uint64_t limit_of_file(const char *folder, const char *name)
{
	char *path = memory_format("%s/%s", folder, name);
	FILE *file = fopen(path, "re");
	uint64_t limit = UINT64_MAX;

	if (file && fscanf(file, "%" SCNu64, &limit) != 1)
		limit = UINT64_MAX;
	if (file)
		fclose(file);
	free(path);
	return limit;
}

/* Of a group and of all around it: `path` begins with a slash and is shortened on the way. */
static uint64_t limit_of_path(const char *root, char *path, const char *name)
{
	uint64_t least = UINT64_MAX, limit;
	char *folder, *slash;

	for (;;) {
		folder = memory_format("%s%s", root, path);
		limit = limit_of_file(folder, name);
		free(folder);
		least = limit < least ? limit : least;
		slash = strrchr(path, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* A line of /proc/PID/cgroup: "0::/path", or "4:cpu,memory:/path" of version 1. */
static uint64_t limit_of_line(const char *cgroup_root, char *line)
{
	char *controllers = strchr(line, ':'), *path, *root;
	uint64_t limit = UINT64_MAX;

	path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path || path[1] != '/')
		return limit;
	*path++ = '\0';
	if (!strcmp(controllers, ":"))
		return limit_of_path(cgroup_root, path, "memory.max");
	if (!strstr(controllers, "memory"))
		return limit;
	root = memory_format("%s/memory", cgroup_root);
	limit = limit_of_path(root, path, "memory.limit_in_bytes");
	free(root);
	return limit;
}

uint64_t memory_limit_read(const char *proc_root, const char *cgroup_root)
{
	char *path = memory_format("%s/self/cgroup", proc_root), *line = NULL;
	FILE *file = fopen(path, "re");
	uint64_t least = UINT64_MAX, limit;
	size_t size = 0;
	ssize_t length;

	while (file && (length = getline(&line, &size, file)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		limit = limit_of_line(cgroup_root, line);
		least = limit < least ? limit : least;
	}
	if (file)
		fclose(file);
	free(line);
	free(path);
	return least;
}
