/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See selector.h. */
#include "discover/selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/command_text.h"
#include "system/proc.h"

/* The tracer's own processes are its children and theirs. */
#define OWN_GENERATIONS 3

void selector_free(struct selector *selector)
{
	free(selector->folder);
	pattern_free(&selector->command);
	*selector = (struct selector){ 0 };
}

int selector_find_group(struct selector *selector, struct error *error)
{
	const char *name = selector->group_name;

	if (selector->folder || selector->group == SELECT_ANY_GROUP)
		return 0;
	if (selector->group == SELECT_CONTAINER)
		selector->folder = cgroup_find_container(CGROUP_ROOT, name, error);
	else if (selector->group == SELECT_UNIT)
		selector->folder = cgroup_find_unit(CGROUP_ROOT, name, error);
	else
		selector->folder = cgroup_find(CGROUP_ROOT, name, error);
	return selector->folder ? 0 : -ENOENT;
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

/* The kernel keeps the first 15 bytes of a name; of what runs from a file, the file has all of it. */
static bool process_has_name(pid_t pid, const struct proc_status *status, const char *name)
{
	const char *base;
	char *exe;
	bool has;

	if (!strncmp(status->comm, name, sizeof(status->comm) - 1))
		return true;
	exe = proc_read_exe("/proc", pid);
	base = exe ? strrchr(exe, '/') : NULL;
	has = base && !strcmp(base + 1, name);
	free(exe);
	return has;
}

static bool process_has_command(pid_t pid, const struct pattern *pattern)
{
	char *text = command_text_read(pid);
	bool has = text && pattern_matches(pattern, text);

	free(text);
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

/* What is cheap to find out comes first. */
static bool selector_is_met(const struct selector *selector, pid_t pid,
			    const struct proc_status *status)
{
	if (selector->by_user && status->uid != selector->user)
		return false;
	if (selector->name && !process_has_name(pid, status, selector->name))
		return false;
	if (selector->command.valid && !process_has_command(pid, &selector->command))
		return false;
	return selector->group == SELECT_ANY_GROUP ||
	       (selector->folder && cgroup_has(selector->folder, pid));
}

bool selector_has(const struct selector *selector, pid_t pid)
{
	struct proc_status status;

	/* Neither have the kernel's own threads memory, nor processes that have ended and wait for their parents. */
	if (proc_read_status("/proc", pid, &status) || !status.rss_bytes)
		return false;
	if (selector->kind == SELECT_SOME && !selector_is_met(selector, pid, &status))
		return false;
	return selector->kind != SELECT_NONE && !process_is_own(pid);
}

void selector_list(struct selector *selector, struct pid_list *list)
{
	if (selector->group == SELECT_ANY_GROUP)
		proc_list_pids("/proc", list);
	else if (!selector_find_group(selector, NULL))
		cgroup_list(selector->folder, list);
}
