/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See thread_rest.h. */
#include "system/thread_rest.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "system/proc_text.h"

#define UNCOUNTED "0 0 0\n" /* by a kernel that does not count */

/* "S" of "4711 (name) S ...": the name may have any byte, and no line has a parenthesis behind it. */
static char rest_state(const struct buffer *stat)
{
	const char *end = stat->length ? memrchr(stat->data, ')', stat->length) : NULL;

	return end && end[1] == ' ' ? end[2] : 'R';
}

/* False if the thread runs, or it cannot be known. */
static bool rest_read_thread(const char *proc_root, pid_t pid, const char *thread,
			     struct buffer *state)
{
	char *name = memory_format("task/%s/schedstat", thread);
	struct buffer stat = { 0 };
	bool rests;

	rests = !proc_read_text(proc_root, pid, name, &stat) && stat.length &&
		strcmp(stat.data, UNCOUNTED) != 0;
	buffer_printf(state, "%s %s", thread, stat.length ? stat.data : "");
	buffer_clear(&stat);
	free(name);
	name = memory_format("task/%s/stat", thread);
	rests = rests && !proc_read_text(proc_root, pid, name, &stat) && rest_state(&stat) != 'R';
	free(name);
	buffer_free(&stat);
	return rests;
}

/* One that waits for a disk, or has ended, does not run before it is stopped. */
static bool rest_is_stopped(const char *proc_root, pid_t pid, const char *thread,
			    struct buffer *state)
{
	char *name = memory_format("task/%s/stat", thread);
	bool is_stopped = !proc_read_text(proc_root, pid, name, state) && state->length &&
			  strchr("TtDZX", rest_state(state));

	buffer_clear(state);
	free(name);
	return is_stopped;
}

/* True of what cannot be read. */
static bool rest_is_not_held(const char *proc_root, pid_t pid, const char *thread,
			     struct buffer *state)
{
	char *name = memory_format("task/%s/stat", thread);
	bool is_held = !proc_read_text(proc_root, pid, name, state) && state->length &&
		       rest_state(state) == 'T';

	buffer_clear(state);
	free(name);
	return !is_held;
}

/* Is it so of all threads? `none`: what it is where there is no such process. */
static bool rest_of_all(const char *proc_root, pid_t pid, struct buffer *state, bool none,
			bool (*is_so)(const char *proc_root, pid_t pid, const char *thread,
				      struct buffer *state))
{
	char *path = memory_format("%s/%d/task", proc_root, (int)pid);
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool all = folder || none;

	free(path);
	while (folder && all && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			all = is_so(proc_root, pid, entry->d_name, state);
	if (folder)
		closedir(folder);
	return all;
}

bool thread_rest_read(const char *proc_root, pid_t pid, struct buffer *state)
{
	return rest_of_all(proc_root, pid, state, false, rest_read_thread);
}

bool thread_rest_is_stopped(const char *proc_root, pid_t pid)
{
	struct buffer state = { 0 };
	const bool is_stopped = rest_of_all(proc_root, pid, &state, false, rest_is_stopped);

	buffer_free(&state);
	return is_stopped;
}

bool thread_rest_is_held(const char *proc_root, pid_t pid)
{
	struct buffer state = { 0 };
	const bool is_held = !rest_of_all(proc_root, pid, &state, true, rest_is_not_held);

	buffer_free(&state);
	return is_held;
}

bool thread_rest_is_same(const struct buffer *before, const struct buffer *after)
{
	return before->length && before->length == after->length &&
	       !memcmp(before->data, after->data, before->length);
}
