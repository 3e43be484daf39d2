/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See translator.h. */
#include "discover/translator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "system/proc.h"

/* Valgrind's tools are in a folder of this name: /usr/libexec/valgrind/memcheck-amd64-linux, with a version behind it in some builds. */
static bool translator_is_valgrind(const char *exe, const char *base)
{
	static const char folder[] = "/valgrind";
	const char *found = strstr(exe, folder);

	return found && found + strlen(folder) < base && strstr(base, "-linux");
}

/* qemu-x86_64, qemu-x86_64-static */
static bool translator_is_qemu(const char *base)
{
	static const char prefix[] = "qemu-";
	struct utsname name;
	size_t length;

	if (strncmp(base, prefix, strlen(prefix)) != 0 || uname(&name))
		return false;
	base += strlen(prefix);
	length = strlen(name.machine);
	return !strncmp(base, name.machine, length) &&
	       (!base[length] || !strcmp(base + length, "-static"));
}

const char *translator_find(const char *exe)
{
	const char *slash = exe ? strrchr(exe, '/') : NULL;

	if (!slash)
		return NULL;
	if (translator_is_valgrind(exe, slash + 1))
		return "valgrind";
	return translator_is_qemu(slash + 1) ? "qemu-user" : NULL;
}

const char *translator_find_of(pid_t pid)
{
	char *exe = proc_read_exe("/proc", pid);
	const char *found = translator_find(exe);

	free(exe);
	return found;
}

bool translator_is_running(void)
{
	struct pid_list list = { 0 };
	bool found = false;
	size_t i;

	proc_list_pids("/proc", &list);
	for (i = 0; i < list.count && !found; i++)
		found = translator_find_of(list.pids[i]) != NULL;
	pid_list_free(&list);
	return found;
}
