/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See selector.h. */
#include "discover/selector.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/proc.h"

/* The tracer's own processes are its children and theirs. */
#define OWN_GENERATIONS 3

void selector_free(struct selector *selector)
{
	free(selector->folder);
	*selector = (struct selector){ 0 };
}

static bool process_is_own(pid_t pid)
{
	struct proc_status status;
	int i;

	for (i = 0; i <= OWN_GENERATIONS && pid > 1; i++) {
		if (pid == getpid())
			return true;
		if (proc_read_status("/proc", pid, &status))
			return false;
		pid = status.parent_pid;
	}
	return false;
}

/* Neither have the kernel's own threads memory, nor processes that have ended and wait for their parents. */
static bool process_has_memory(pid_t pid)
{
	struct proc_status status;

	return !proc_read_status("/proc", pid, &status) && status.rss_bytes;
}

/* The kernel keeps the first 15 bytes of a name; of what runs from a file, the file has all of it. */
static bool process_has_name(pid_t pid, const char *name)
{
	struct proc_status status;
	const char *base;
	char *exe;
	bool has;

	if (proc_read_status("/proc", pid, &status))
		return false;
	if (!strncmp(status.comm, name, sizeof(status.comm) - 1))
		return true;
	exe = proc_read_exe("/proc", pid);
	base = exe ? strrchr(exe, '/') : NULL;
	has = base && !strcmp(base + 1, name);
	free(exe);
	return has;
}

static bool list_has(const struct pid_list *list, pid_t pid)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

static bool cgroup_has(const char *folder, pid_t pid)
{
	struct pid_list list = { 0 };
	bool has;

	cgroup_list(folder, &list);
	has = list_has(&list, pid);
	pid_list_free(&list);
	return has;
}

bool selector_has(const struct selector *selector, pid_t pid)
{
	if (!process_has_memory(pid) || process_is_own(pid))
		return false;
	if (selector->kind == SELECT_NAME)
		return process_has_name(pid, selector->name);
	if (selector->kind == SELECT_CGROUP)
		return cgroup_has(selector->folder, pid);
	return selector->kind == SELECT_ALL;
}

void selector_list(const struct selector *selector, struct pid_list *list)
{
	if (selector->kind == SELECT_CGROUP)
		cgroup_list(selector->folder, list);
	else
		proc_list_pids("/proc", list);
}
