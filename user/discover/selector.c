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
/* And so many generations of processes that have started it are looked at. */
#define ANCESTORS_MAX 64

void selector_free(struct selector *selector)
{
	size_t i;

	for (i = 0; i < SELECT_GROUPS; i++)
		free(selector->folders[i]);
	pattern_free(&selector->command);
	*selector = (struct selector){ 0 };
}

int selector_find_groups(struct selector *selector, struct error *error)
{
	static char *(*const find[SELECT_GROUPS])(const char *root, const char *name,
						  struct error *error) = {
		[SELECT_CGROUP] = cgroup_find,
		[SELECT_CONTAINER] = cgroup_find_container,
		[SELECT_UNIT] = cgroup_find_unit,
	};
	size_t i;

	for (i = 0; i < SELECT_GROUPS; i++) {
		if (!selector->groups[i] || selector->folders[i])
			continue;
		selector->folders[i] = find[i](CGROUP_ROOT, selector->groups[i], error);
		if (!selector->folders[i])
			return -ENOENT;
	}
	return 0;
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

/* Has this process started the tracer, or one that has, as a shell or sudo does? */
static bool process_is_ancestor(pid_t pid)
{
	struct proc_status status = { .parent_pid = getppid() };
	int i;

	/* The first process of a container may be its application, and whoever has lost a parent is its child. */
	for (i = 0; i < ANCESTORS_MAX && status.parent_pid > 1; i++) {
		if (status.parent_pid == pid)
			return true;
		if (proc_read_status("/proc", status.parent_pid, &status))
			break;
	}
	return false;
}

/* Who starts the tracer may have the tracer's own arguments among its own, and with them the pattern. */
static bool process_has_command(pid_t pid, const struct pattern *pattern)
{
	char *text = command_text_read(pid);
	bool has = text && pattern_matches(pattern, text) && !process_is_ancestor(pid);

	free(text);
	return has;
}

static bool cgroup_has(const char *folder, pid_t pid)
{
	struct pid_list list = { 0 };
	bool has;

	cgroup_list(folder, &list);
	has = pid_list_has(&list, pid);
	pid_list_free(&list);
	return has;
}

static bool selector_has_groups(const struct selector *selector, pid_t pid)
{
	size_t i;

	for (i = 0; i < SELECT_GROUPS; i++)
		if (selector->groups[i] &&
		    (!selector->folders[i] || !cgroup_has(selector->folders[i], pid)))
			return false;
	return true;
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
	return selector_has_groups(selector, pid);
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
	size_t i;

	if (selector_find_groups(selector, NULL))
		return;
	for (i = 0; i < SELECT_GROUPS; i++) {
		if (!selector->folders[i])
			continue;
		cgroup_list(selector->folders[i], list);
		return;
	}
	proc_list_pids("/proc", list);
}
