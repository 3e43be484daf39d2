/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See cgroup_memory.h. In a container, the path in /proc/self/cgroup may be one that only the host has: then the files at the
 * root of the hierarchy are the container's own.
 */
#include "system/cgroup_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

/* Version 1 writes "no limit" as the largest number of pages. */
#define LIMIT_NONE (1ull << 62)

/* UINT64_MAX if the group has no such file, or no number in it. */
static uint64_t memory_read(const char *folder, const char *path, size_t length, const char *name)
{
	char *full = memory_format("%s%.*s/%s", folder, (int)length, path, name);
	FILE *file = fopen(full, "re");
	uint64_t limit = UINT64_MAX;

	free(full);
	if (!file)
		return UINT64_MAX;
	if (fscanf(file, "%" SCNu64, &limit) != 1 || limit >= LIMIT_NONE)
		limit = UINT64_MAX;
	fclose(file);
	return limit;
}

/* The lowest limit of a group and of all around it. */
static uint64_t memory_walk(const char *folder, const char *path, const char *name)
{
	uint64_t lowest = UINT64_MAX, limit;
	size_t length = strlen(path);

	for (;;) {
		while (length && path[length - 1] == '/')
			length--;
		limit = memory_read(folder, path, length, name);
		lowest = limit < lowest ? limit : lowest;
		if (!length)
			return lowest;
		while (length && path[length - 1] != '/')
			length--;
	}
}

/* Is "memory" among the words between commas? */
static bool memory_is_controller(const char *words)
{
	static const char name[] = "memory";
	size_t length;

	for (;; words += length + 1) {
		length = strcspn(words, ",:");
		if (length == strlen(name) && !strncmp(words, name, length))
			return true;
		if (words[length] != ',')
			return false;
	}
}

/* By a line "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers. */
static uint64_t memory_of_line(const char *root, const char *line)
{
	const char *words = strchr(line, ':'), *path = words ? strchr(words + 1, ':') : NULL;
	uint64_t limit;
	char *folder;

	if (!path)
		return UINT64_MAX;
	if (path == words + 1)
		return memory_walk(root, path + 1, "memory.max");
	if (!memory_is_controller(words + 1))
		return UINT64_MAX;
	folder = memory_format("%s/memory", root);
	limit = memory_walk(folder, path + 1, "memory.limit_in_bytes");
	free(folder);
	return limit;
}

uint64_t cgroup_memory_limit(const char *proc_root, const char *root)
{
	uint64_t lowest = UINT64_MAX, limit;
	struct buffer text = { 0 };
	char *line, *rest;

	if (proc_read_text(proc_root, 0, "cgroup", &text) || !text.data) {
		buffer_free(&text);
		return UINT64_MAX;
	}
	for (line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		limit = memory_of_line(root, line);
		lowest = limit < lowest ? limit : lowest;
	}
	buffer_free(&text);
	return lowest;
}
