/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cgroup_account.h. */
#include "system/cgroup_account.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

/* Version 1 writes "no limit" as the largest number of pages. */
#define LIMIT_NONE (1ull << 62)

#define FIELD(name) offsetof(struct cgroup_account, name)

/* The lines of memory.stat. In version 1, those with "total_" have the groups in the group, too. */
static const struct account_line {
	const char *key;
	size_t field;
	bool old; /* of version 1 */
} lines[] = {
	{ "anon", FIELD(anon), false },	       { "file", FIELD(file), false },
	{ "shmem", FIELD(shmem), false },      { "kernel", FIELD(kernel), false },
	{ "slab", FIELD(slab), false },	       { "sock", FIELD(socket), false },
	{ "total_rss", FIELD(anon), true },    { "total_cache", FIELD(file), true },
	{ "total_shmem", FIELD(shmem), true },
};

static void account_store(struct cgroup_account *account, bool old, const char *key,
			  uint64_t number)
{
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (lines[i].old == old && !strcmp(lines[i].key, key))
			memcpy((char *)account + lines[i].field, &number, sizeof(number));
}

static FILE *account_open(const char *folder, const char *name)
{
	char *path = memory_format("%s/%s", folder, name);
	FILE *file = fopen(path, "re");

	free(path);
	return file;
}

static uint64_t account_number(const char *folder, const char *name)
{
	FILE *file = account_open(folder, name);
	uint64_t number = UINT64_MAX;

	if (file && (fscanf(file, "%" SCNu64, &number) != 1 || number >= LIMIT_NONE))
		number = UINT64_MAX;
	if (file)
		fclose(file);
	return number;
}

static int account_read_folder(const char *folder, bool old, struct cgroup_account *ret_account)
{
	struct cgroup_account account;
	FILE *file = account_open(folder, "memory.stat");
	uint64_t number;
	char key[64];

	if (!file)
		return -ENOENT;
	memset(&account, 0xff, sizeof(account));
	while (fscanf(file, "%63s %" SCNu64, key, &number) == 2)
		account_store(&account, old, key, number);
	fclose(file);
	account.usage = account_number(folder, old ? "memory.usage_in_bytes" : "memory.current");
	account.limit = account_number(folder, old ? "memory.limit_in_bytes" : "memory.max");
	if (old)
		account.kernel = account_number(folder, "memory.kmem.usage_in_bytes");
	if (account.usage == UINT64_MAX)
		return -ENOENT;
	*ret_account = account;
	return 0;
}

/* A group by its path, in the hierarchy of version 2 or that of the memory controller. */
struct account_group {
	char *path; /* NULL = there is none */
	bool old;
};

/* A line "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers. */
static struct account_group account_parse(const char *line)
{
	const char *words = strchr(line, ':'), *path = words ? strchr(words + 1, ':') : NULL;
	bool old = path && path != words + 1;

	if (!path || path[1] != '/' || strstr(path, "/..") ||
	    (old && strncmp(words + 1, "memory:", 7) != 0))
		return (struct account_group){ 0 };
	return (struct account_group){ memory_copy_string(path + 1), old };
}

static struct account_group account_find(const char *proc_root, pid_t pid)
{
	struct account_group group = { 0 };
	struct buffer text = { 0 };
	char *line, *rest = NULL;

	if (!proc_read_text(proc_root, pid, "cgroup", &text) && text.data)
		for (line = strtok_r(text.data, "\n", &rest); line && !group.path;
		     line = strtok_r(NULL, "\n", &rest))
			group = account_parse(line);
	buffer_free(&text);
	return group;
}

/* Cut `path` to the group that both are in. */
static void account_cut(char *path, const char *other)
{
	size_t i, end = 0;

	for (i = 0; path[i] == other[i] && path[i]; i++)
		if (path[i] == '/')
			end = i;
	if ((!path[i] && (other[i] == '/' || !other[i])) || (path[i] == '/' && !other[i]))
		end = i;
	path[end] = '\0';
}

int cgroup_account_read(const char *proc_root, const char *root, const struct pid_list *list,
			struct cgroup_account *ret_account)
{
	struct account_group all = { 0 }, one;
	char *folder;
	int code = -ENOENT;
	size_t i;

	for (i = 0; i < list->count; i++) {
		one = account_find(proc_root, list->pids[i]);
		if (!all.path) {
			all = one;
			continue;
		}
		if (one.path)
			account_cut(all.path, one.old == all.old ? one.path : "");
		free(one.path);
	}
	/* The root of all has everything of the machine. */
	if (all.path && all.path[0] && strcmp(all.path, "/") != 0) {
		folder = memory_format("%s%s%s", root, all.old ? "/memory" : "", all.path);
		code = account_read_folder(folder, all.old, ret_account);
		free(folder);
	}
	free(all.path);
	return code;
}
