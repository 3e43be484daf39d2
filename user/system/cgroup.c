/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cgroup.h. Folders are walked to a bounded depth and number; names in them may be anything. */
#include "system/cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define DEPTH_MAX 32
#define FOLDERS_MAX 65536

/* The ids of containers; shorter ones are what people copy. */
#define ID_LENGTH 64
#define ID_SHORTEST 4
#define SCOPE ".scope" /* what systemd puts behind a group of processes that others have started */
#define SLICE ".slice" /* what it puts behind a group of groups */
#define UNIT_NAME_MAX 255

void pid_list_add(struct pid_list *list, pid_t pid)
{
	list->pids = memory_grow(list->pids, list->count, &list->capacity, sizeof(*list->pids));
	list->pids[list->count++] = pid;
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

void pid_list_free(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){ 0 };
}

/* A walk over the folders below one: `visit` returns false to leave out what is in a folder. */
struct cgroup_walk {
	bool (*visit)(struct cgroup_walk *walk, const char *folder, const char *name);
	void *context;
	size_t folders;
};

static bool entry_is_folder(const char *path, const struct dirent *entry)
{
	struct stat status;

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !lstat(path, &status) && S_ISDIR(status.st_mode);
}

static void cgroup_walk_below(struct cgroup_walk *walk, const char *folder, unsigned int depth)
{
	DIR *directory = depth < DEPTH_MAX ? opendir(folder) : NULL;
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		char *path = memory_format("%s/%s", folder, entry->d_name);

		if (entry_is_folder(path, entry) && walk->folders++ < FOLDERS_MAX &&
		    walk->visit(walk, path, entry->d_name))
			cgroup_walk_below(walk, path, depth + 1);
		free(path);
	}
	closedir(directory);
}

static bool is_group(const char *folder)
{
	char *procs = memory_format("%s/cgroup.procs", folder);
	bool is = !access(procs, F_OK);

	free(procs);
	return is;
}

/* A hierarchy is `root` itself (version 2) or a folder in it (version 1, or both versions side by side). */
static char *cgroup_find_below(const char *root, const char *path)
{
	char *folder = memory_format("%s/%s", root, path);
	DIR *directory = NULL;
	struct dirent *entry;

	if (!is_group(folder))
		directory = opendir(root);
	while (directory && !is_group(folder) && (entry = readdir(directory))) {
		free(folder);
		folder = memory_format("%s/%s/%s", root, entry->d_name, path);
	}
	if (directory)
		closedir(directory);
	if (is_group(folder))
		return folder;
	free(folder);
	return NULL;
}

char *cgroup_find(const char *root, const char *path, struct error *error)
{
	char *folder;

	if (strstr(path, "..")) {
		error_set(error, ERROR_USAGE, -EINVAL, "a path of a cgroup has no '..': '%s'",
			  path);
		return NULL;
	}
	if (*path == '/' && is_group(path))
		return memory_copy_string(path);
	folder = cgroup_find_below(root, path);
	if (!folder)
		error_set(error, ERROR_TARGET, -ENOENT,
			  "there is no cgroup '%s', neither by this path nor below %s", path, root);
	return folder;
}

static bool name_ends_with(const char *name, size_t length, const char *end)
{
	return length > strlen(end) && !memcmp(name + length - strlen(end), end, strlen(end));
}

/*
 * The id in the name of a group: "ID", "docker-ID.scope", "cri-containerd-ID.scope", "crio-ID", "libpod-ID.scope".
 * NULL if it has none. An attendant, such as "crio-conmon-ID.scope", is not the container.
 */
static const char *name_find_id(const char *name)
{
	size_t length = strlen(name), i;
	const char *id;

	if (name_ends_with(name, length, SCOPE))
		length -= strlen(SCOPE);
	if (length < ID_LENGTH || strstr(name, "conmon"))
		return NULL;
	id = name + length - ID_LENGTH;
	for (i = 0; i < ID_LENGTH; i++)
		if (!isxdigit((unsigned char)id[i]))
			return NULL;
	return id == name || id[-1] == '-' || id[-1] == ':' ? id : NULL;
}

/* What was found of one rank. */
struct cgroup_match {
	char *folder; /* NULL = nothing */
	char id[ID_LENGTH + 1]; /* of a container */
	bool several; /* groups, of different containers or units */
};

/*
 * Users may make groups of any name where a part of the tree is theirs. So those of root's count, and those of users only
 * where root has none. A container may run a systemd of its own, whose units have the names of the machine's: those of the
 * machine's come first.
 */
enum cgroup_rank { RANK_SYSTEM, RANK_ROOT, RANK_USER, RANK_COUNT };

struct cgroup_search {
	const char *wanted; /* the start of a container's id, or the name of a unit */
	const char *root;
	bool unified; /* `root` is a hierarchy itself */
	struct cgroup_match matches[RANK_COUNT];
};

/* The path of a group within its hierarchy. */
static const char *search_path(const struct cgroup_search *search, const char *folder)
{
	const char *path = folder + strlen(search->root) + 1;
	const char *below = search->unified ? NULL : strchr(path, '/');

	return below ? below + 1 : path;
}

static enum cgroup_rank search_rank(const char *folder)
{
	struct stat status;

	return !stat(folder, &status) && status.st_uid == 0 ? RANK_ROOT : RANK_USER;
}

/* Of the hierarchies of version 1, any one will do: there a group has the same path. */
static void search_add(struct cgroup_search *search, enum cgroup_rank rank, const char *folder,
		       const char *id)
{
	struct cgroup_match *match = &search->matches[rank];

	if (match->folder &&
	    (strncmp(match->id, id, ID_LENGTH) != 0 ||
	     strcmp(search_path(search, match->folder), search_path(search, folder)) != 0))
		match->several = true;
	if (!match->folder && is_group(folder)) {
		match->folder = memory_copy_string(folder);
		memcpy(match->id, id, strnlen(id, ID_LENGTH));
	}
}

static bool search_visit_container(struct cgroup_walk *walk, const char *folder, const char *name)
{
	struct cgroup_search *search = walk->context;
	const char *id = name_find_id(name);

	if (!id || strncmp(id, search->wanted, strlen(search->wanted)) != 0)
		return true;
	search_add(search, search_rank(folder), folder, id);
	return false;
}

/* Are all groups around a group slices, as they are around the units of the machine's systemd? */
static bool search_is_in_slices(const struct cgroup_search *search, const char *folder)
{
	const char *path = search_path(search, folder), *slash;

	while ((slash = strchr(path, '/'))) {
		if (!name_ends_with(path, (size_t)(slash - path), SLICE))
			return false;
		path = slash + 1;
	}
	return true;
}

static bool search_visit_unit(struct cgroup_walk *walk, const char *folder, const char *name)
{
	struct cgroup_search *search = walk->context;
	enum cgroup_rank rank;

	if (strcmp(name, search->wanted) != 0)
		return true;
	rank = search_rank(folder);
	if (rank == RANK_ROOT && search_is_in_slices(search, folder))
		rank = RANK_SYSTEM;
	search_add(search, rank, folder, "");
	return false;
}

/* The folder that was found, which the caller frees. NULL if there is none, or more than one: then `*ret_several` is set. */
static char *search_run(struct cgroup_search *search,
			bool (*visit)(struct cgroup_walk *walk, const char *folder,
				      const char *name),
			bool *ret_several)
{
	struct cgroup_walk walk = { .visit = visit, .context = search };
	char *folder = NULL;
	int i;

	*ret_several = false;
	search->unified = is_group(search->root);
	cgroup_walk_below(&walk, search->root, 0);
	for (i = 0; i < RANK_COUNT; i++) {
		struct cgroup_match *match = &search->matches[i];

		if (!folder && !*ret_several && match->folder) {
			*ret_several = match->several;
			folder = match->several ? NULL : memory_copy_string(match->folder);
		}
		free(match->folder);
	}
	return folder;
}

static bool id_is_sound(const char *id)
{
	size_t length = strlen(id);

	return length >= ID_SHORTEST && length <= ID_LENGTH &&
	       strspn(id, "0123456789abcdef") == length;
}

char *cgroup_find_container(const char *root, const char *id, struct error *error)
{
	struct cgroup_search search = { .wanted = id, .root = root };
	bool several;
	char *folder;

	if (!id_is_sound(id)) {
		error_set(error, ERROR_USAGE, -EINVAL,
			  "'%s' is not the id of a container: %d to %d hexadecimal digits", id,
			  ID_SHORTEST, ID_LENGTH);
		return NULL;
	}
	folder = search_run(&search, search_visit_container, &several);
	if (several)
		error_set(error, ERROR_USAGE, -EINVAL,
			  "several cgroups belong to containers whose ids begin with '%s': give "
			  "more of the id, or the group's own path with --cgroup",
			  id);
	else if (!folder)
		error_set(error, ERROR_TARGET, -ENOENT,
			  "no cgroup below %s belongs to a container whose id begins with '%s'",
			  root, id);
	return folder;
}

/* The name of a unit with its type; that of a service needs none. Free with free(). */
static char *unit_complete(const char *name)
{
	static const char *const types[] = {
		".service", SCOPE, SLICE, ".mount", ".socket", ".swap"
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (name_ends_with(name, strlen(name), types[i]))
			return memory_copy_string(name);
	return memory_format("%s.service", name);
}

char *cgroup_find_unit(const char *root, const char *name, struct error *error)
{
	char *unit = unit_complete(name), *folder;
	struct cgroup_search search = { .wanted = unit, .root = root };
	bool several = false;

	folder = strlen(unit) > UNIT_NAME_MAX || !*name || strchr(name, '/')
			 ? NULL
			 : search_run(&search, search_visit_unit, &several);
	if (several)
		error_set(error, ERROR_USAGE, -EINVAL,
			  "several cgroups have the name of a unit '%s': give the path of one with "
			  "--cgroup",
			  unit);
	else if (!folder)
		error_set(error, ERROR_TARGET, -ENOENT,
			  "no unit '%s' has a cgroup below %s: 'systemctl status %s' shows "
			  "whether it runs",
			  unit, root, unit);
	free(unit);
	return folder;
}

/* The pids of one group. A process of another pid namespace, which has no pid here, is listed as 0. */
static int cgroup_read(const char *folder, struct pid_list *list)
{
	char *path = memory_format("%s/cgroup.procs", folder);
	FILE *file = fopen(path, "re");
	int code = file ? 0 : -errno, pid;

	free(path);
	while (file && fscanf(file, "%d", &pid) == 1)
		if (pid > 0)
			pid_list_add(list, pid);
	if (file)
		fclose(file);
	return code;
}

static bool list_visit(struct cgroup_walk *walk, const char *folder, const char *name)
{
	(void)name;
	cgroup_read(folder, walk->context);
	return true;
}

int cgroup_list(const char *folder, struct pid_list *list)
{
	struct cgroup_walk walk = { .visit = list_visit, .context = list };
	int code = cgroup_read(folder, list);

	/* In a threaded group of version 2 the processes are listed by the groups above it only. */
	if (code && code != -EOPNOTSUPP)
		return code;
	cgroup_walk_below(&walk, folder, 0);
	return 0;
}
