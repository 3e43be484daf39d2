/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See debug_index.h. */
#include "discover/debug_index.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "system/regular_file.h"

#define FILES_MAX 20000
#define DEPTH_MAX 16

static void index_add(struct debug_index *index, const char *path)
{
	if (index->count == FILES_MAX) {
		index->cut = true;
		return;
	}
	index->items =
		memory_grow(index->items, index->count, &index->capacity, sizeof(*index->items));
	index->items[index->count++] =
		(struct debug_index_file){ .path = memory_copy_string(path) };
}

static void index_walk(struct debug_index *index, const char *folder, int depth);

static void index_enter(struct debug_index *index, const char *path, int depth)
{
	struct stat status;

	if (lstat(path, &status))
		return;
	if (S_ISDIR(status.st_mode))
		index_walk(index, path, depth + 1);
	else if (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))
		index_add(index, path);
}

static void index_walk(struct debug_index *index, const char *folder, int depth)
{
	const struct dirent *entry;
	DIR *stream;
	char *path;

	if (depth > DEPTH_MAX) {
		index->cut = true;
		return;
	}
	stream = opendir(folder);
	while (stream && !index->cut && (entry = readdir(stream))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		path = memory_format("%s/%s", folder, entry->d_name);
		index_enter(index, path, depth);
		free(path);
	}
	if (stream)
		closedir(stream);
}

/* The order of a folder is the file system's; equal folders give equal indexes. */
static int index_compare(const void *left, const void *right)
{
	const struct debug_index_file *a = left, *b = right;

	return strcmp(a->path, b->path);
}

void debug_index_list(struct debug_index *index, const char *folder)
{
	index_walk(index, folder, 0);
	if (index->count)
		qsort(index->items, index->count, sizeof(*index->items), index_compare);
}

int debug_index_open(const struct debug_index *index, size_t number)
{
	return regular_file_keep_elf(
		regular_file_open(index->items[number].path, REGULAR_FILE_LINKS));
}

bool debug_index_fits(const struct debug_index *index, size_t number, const struct debug_want *want)
{
	const struct debug_index_file *file = &index->items[number];
	const char *slash = strrchr(file->path, '/');

	if (want->kind == WANT_DEBUGLINK)
		return slash && !strcmp(slash + 1, want->name);
	return file->build_id_size && file->build_id_size == want->build_id_size &&
	       !memcmp(file->build_id, want->build_id, want->build_id_size);
}

void debug_index_free(struct debug_index *index)
{
	size_t i;

	for (i = 0; i < index->count; i++)
		free(index->items[i].path);
	free(index->items);
	*index = (struct debug_index){ 0 };
}
