/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See oom_watch.h. */
#include "system/oom_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

/* All of these files have lines of a key and a number. */
#define KEY "oom_kill"

static int oom_read(const char *path, uint64_t *ret_kills)
{
	FILE *file = fopen(path, "re");
	int code = -ENODATA;
	uint64_t number;
	char key[64];

	if (!file)
		return -ENOENT;
	while (code && fscanf(file, "%63s %" SCNu64, key, &number) == 2)
		if (!strcmp(key, KEY)) {
			*ret_kills = number;
			code = 0;
		}
	fclose(file);
	return code;
}

static void oom_add_file(struct oom_watch *watch, char *path, uint64_t kills)
{
	watch->groups =
		memory_grow(watch->groups, watch->count, &watch->capacity, sizeof(*watch->groups));
	watch->groups[watch->count++] = (struct oom_group){ .path = path, .kills = kills };
}

/* False if there is no such file. */
static bool oom_add_path(struct oom_watch *watch, char *path)
{
	uint64_t kills;
	size_t i;

	for (i = 0; i < watch->count; i++)
		if (!strcmp(watch->groups[i].path, path)) {
			free(path);
			return true;
		}
	if (!oom_read(path, &kills)) {
		oom_add_file(watch, path, kills);
		return true;
	}
	free(path);
	return false;
}

/*
 * A line "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers. A path of another namespace begins with "/..": the root is as far as
 * it can be followed.
 */
static bool oom_add_line(struct oom_watch *watch, const char *root, const char *line)
{
	const char *words = strchr(line, ':'), *path = words ? strchr(words + 1, ':') : NULL;
	bool old = path && path != words + 1;

	if (!path || (old && strncmp(words + 1, "memory:", 7) != 0))
		return false;
	path++;
	if (strstr(path, "/..") || !strcmp(path, "/"))
		path = "";
	if (old)
		return oom_add_path(watch,
				    memory_format("%s/memory%s/memory.oom_control", root, path));
	return oom_add_path(watch, memory_format("%s%s/memory.events", root, path));
}

void oom_watch_add(struct oom_watch *watch, const char *proc_root, const char *root, pid_t pid)
{
	struct buffer text = { 0 };
	char *line, *rest = NULL;
	bool found = false;

	if (!proc_read_text(proc_root, pid, "cgroup", &text)) {
		for (line = text.data ? strtok_r(text.data, "\n", &rest) : NULL; line && !found;
		     line = strtok_r(NULL, "\n", &rest))
			found = oom_add_line(watch, root, line);
		if (!found)
			oom_add_path(watch, memory_format("%s/vmstat", proc_root));
	}
	buffer_free(&text);
}

uint64_t oom_watch_take(struct oom_watch *watch)
{
	uint64_t kills, taken = 0;
	size_t i, kept = 0;

	for (i = 0; i < watch->count; i++) {
		struct oom_group group = watch->groups[i];

		if (oom_read(group.path, &kills)) {
			free(group.path);
			continue;
		}
		taken += kills > group.kills ? kills - group.kills : 0;
		group.kills = kills;
		watch->groups[kept++] = group;
	}
	watch->count = kept;
	return taken;
}

void oom_watch_free(struct oom_watch *watch)
{
	size_t i;

	for (i = 0; i < watch->count; i++)
		free(watch->groups[i].path);
	free(watch->groups);
	*watch = (struct oom_watch){ 0 };
}
