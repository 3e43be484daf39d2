/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See thread_times.h. */
#include "system/thread_times.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

/* Each takes some microseconds to read. */
#define THREADS_MOST 2048

struct thread_time {
	pid_t pid, thread;
	uint64_t ns;
};

/* False if there is no such thread. */
static bool thread_time_read(pid_t pid, pid_t thread, uint64_t *ret_ns)
{
	struct buffer text = { 0 };
	char name[48];
	const char *at;
	bool read;

	snprintf(name, sizeof(name), "task/%d/schedstat", (int)thread);
	read = !proc_read_text("/proc", pid, name, &text);
	at = text.data;
	read = read && proc_take_number(&at, text.data + text.length, 10, ret_ns);
	buffer_free(&text);
	return read;
}

static void thread_times_add(struct thread_times *times, pid_t pid, pid_t thread)
{
	uint64_t ns;

	times->cut |= times->count == THREADS_MOST;
	if (times->cut || !thread_time_read(pid, thread, &ns))
		return;
	times->items =
		memory_grow(times->items, times->count, &times->capacity, sizeof(*times->items));
	times->items[times->count++] = (struct thread_time){ pid, thread, ns };
}

void thread_times_read(struct thread_times *times, pid_t pid)
{
	struct dirent *entry;
	char path[40];
	DIR *folder;
	long thread;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && !times->cut && (entry = readdir(folder))) {
		thread = strtol(entry->d_name, NULL, 10);
		if (thread > 0)
			thread_times_add(times, pid, (pid_t)thread);
	}
	if (folder)
		closedir(folder);
}

uint64_t thread_times_since(const struct thread_times *times, pid_t pid, pid_t thread)
{
	uint64_t now_ns;
	size_t i;

	if (!thread_time_read(pid, thread, &now_ns))
		return 0;
	for (i = 0; i < times->count; i++)
		if (times->items[i].pid == pid && times->items[i].thread == thread)
			return now_ns > times->items[i].ns ? now_ns - times->items[i].ns : 0;
	return times->cut ? 0 : now_ns;
}

void thread_times_free(struct thread_times *times)
{
	free(times->items);
	*times = (struct thread_times){ 0 };
}
