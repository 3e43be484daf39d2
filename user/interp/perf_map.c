/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See perf_map.h. Only where a name is in the file is remembered: most are never asked for. New lines join a short list,
 * which becomes a sorted run when it is full; a run is merged with the one before it unless that is twice as long, so that
 * there are few, and what all merging costs grows little faster than the file, in whatever order its lines are.
 */
#include "interp/perf_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define FILE_MAX (256ull << 20)
#define CHUNK 65536u
#define NEW_MAX 1024u
#define RUNS_MAX 32u

/* A file that has been written anew is read anew; but in all, no more is read of one. */
#define READ_MAX (2 * FILE_MAX)

/* Entries below the nearest one that are searched: pieces of code may lie within the range of an older entry. */
#define OVERLAPS_MAX 16u

struct map_entry {
	uint64_t start, end;
	uint64_t order; /* offset of the name in the file: what is further back counts */
	uint32_t length;
};

/* Sorted by their starts. */
struct map_run {
	struct map_entry *entries;
	size_t count;
};

struct perf_map {
	int fd;
	uint64_t read; /* bytes of whole lines that are known */
	uint64_t read_ever;
	struct map_run runs[RUNS_MAX]; /* each at least twice as long as the next */
	size_t run_count;
	size_t sorted_count; /* of all runs */
	struct map_entry fresh[NEW_MAX];
	size_t fresh_count;
	size_t limit; /* of entries */
	bool cut;
	char chunk[CHUNK];
};

struct perf_map *perf_map_new(int fd, size_t limit)
{
	struct perf_map *map = memory_alloc(1, sizeof(*map));

	map->fd = fd;
	map->limit = limit;
	return map;
}

static void map_clear(struct perf_map *map)
{
	while (map->run_count)
		free(map->runs[--map->run_count].entries);
	map->sorted_count = 0;
	map->fresh_count = 0;
	map->read = 0;
	map->cut = false;
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	close(map->fd);
	map_clear(map);
	free(map);
}

bool perf_map_is_cut(const struct perf_map *map)
{
	return map->cut;
}

static int entry_compare(const void *left, const void *right)
{
	const struct map_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Append an entry to a run, without the last one if the new one, at the same place, covers it. */
static void run_append(struct map_run *run, const struct map_entry *entry)
{
	const struct map_entry *last = run->count ? &run->entries[run->count - 1] : NULL;

	if (last && last->start == entry->start && last->end <= entry->end)
		run->count--;
	run->entries[run->count++] = *entry;
}

static struct map_run run_merge(const struct map_run *first, const struct map_run *second)
{
	size_t count = first->count + second->count, i = 0, j = 0;
	struct map_run run = { .entries = memory_alloc(count, sizeof(*run.entries)) };

	while (i < first->count || j < second->count) {
		if (j == second->count ||
		    (i < first->count &&
		     entry_compare(&first->entries[i], &second->entries[j]) < 0))
			run_append(&run, &first->entries[i++]);
		else
			run_append(&run, &second->entries[j++]);
	}
	free(first->entries);
	free(second->entries);
	return run;
}

/* Make a run of the new entries, and merge the last runs while there may be longer ones. */
static void map_merge(struct perf_map *map)
{
	const struct map_run fresh = { map->fresh, map->fresh_count };
	struct map_run run = { .entries = memory_alloc(map->fresh_count, sizeof(*run.entries)) };
	size_t i;

	qsort(map->fresh, map->fresh_count, sizeof(*map->fresh), entry_compare);
	for (i = 0; i < fresh.count; i++)
		run_append(&run, &fresh.entries[i]);
	map->fresh_count = 0;
	while (map->run_count && map->runs[map->run_count - 1].count < 2 * run.count) {
		map->sorted_count -= map->runs[--map->run_count].count;
		run = run_merge(&map->runs[map->run_count], &run);
	}
	map->runs[map->run_count++] = run;
	map->sorted_count += run.count;
}

/* A hexadecimal number and the space behind it. Returns where it goes on, NULL if there is none. */
static const char *line_number(const char *at, const char *end, uint64_t *ret_number)
{
	const char *start = at;
	uint64_t number = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		start = at += 2;
	for (; at < end; at++) {
		unsigned char letter = (unsigned char)*at | 0x20;

		if (*at >= '0' && *at <= '9')
			number = number << 4 | (uint64_t)(*at - '0');
		else if (letter >= 'a' && letter <= 'f')
			number = number << 4 | (uint64_t)(letter - 'a' + 10);
		else
			break;
	}
	if (at == start || at - start > 16 || at == end || *at != ' ')
		return NULL;
	*ret_number = number;
	return at + 1;
}

static void map_add_line(struct perf_map *map, const char *line, const char *end, uint64_t offset)
{
	uint64_t start, size;
	const char *at = line_number(line, end, &start);

	at = at ? line_number(at, end, &size) : NULL;
	if (!at || at == end || !size || size > UINT64_MAX - start)
		return;
	if (map->fresh_count == NEW_MAX)
		map_merge(map);
	if (map->sorted_count + map->fresh_count >= map->limit) {
		map->cut = true;
		return;
	}
	map->fresh[map->fresh_count++] =
		(struct map_entry){ .start = start,
				    .end = start + size,
				    .order = offset + (uint64_t)(at - line),
				    .length = (uint32_t)(end - at) };
}

/* Take the whole lines of what was read. Returns how many bytes they are. */
static size_t map_add_lines(struct perf_map *map, size_t size)
{
	const char *line = map->chunk, *end = map->chunk + size, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
		map_add_line(map, line, newline, map->read + (uint64_t)(line - map->chunk));
		line = newline + 1;
	}
	/* A line as long as that is none. */
	if (line == map->chunk && size == CHUNK)
		line = end;
	return (size_t)(line - map->chunk);
}

/* Read a chunk. False if there is no more, or no more is to be read. */
static bool map_read_chunk(struct perf_map *map, uint64_t size)
{
	ssize_t got;
	size_t used;

	if (map->read >= FILE_MAX || map->read_ever >= READ_MAX)
		map->cut = true;
	if (map->read >= size || map->read >= FILE_MAX || map->read_ever >= READ_MAX)
		return false;
	got = pread(map->fd, map->chunk, CHUNK, (off_t)map->read);
	used = got > 0 ? map_add_lines(map, (size_t)got) : 0;
	map->read += used;
	map->read_ever += got > 0 ? (uint64_t)got : 0;
	return used;
}

/* Read what is new; all of it, if the file has become shorter and is therefore another one. */
static void map_read(struct perf_map *map)
{
	struct stat status;

	if (fstat(map->fd, &status))
		return;
	if ((uint64_t)status.st_size < map->read)
		map_clear(map);
	while (map_read_chunk(map, (uint64_t)status.st_size))
		;
}

static const struct map_entry *entry_later(const struct map_entry *found,
					   const struct map_entry *entry, uint64_t address)
{
	if (address < entry->start || address >= entry->end)
		return found;
	return !found || entry->order > found->order ? entry : found;
}

static const struct map_entry *run_search(const struct map_run *run, uint64_t address,
					  const struct map_entry *found)
{
	size_t low = 0, high = run->count, middle, i;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (run->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (i = 0; i < OVERLAPS_MAX && i < low; i++)
		found = entry_later(found, &run->entries[low - 1 - i], address);
	return found;
}

static const struct map_entry *map_search(const struct perf_map *map, uint64_t address)
{
	const struct map_entry *found = NULL;
	size_t i;

	for (i = 0; i < map->run_count; i++)
		found = run_search(&map->runs[i], address, found);
	for (i = 0; i < map->fresh_count; i++)
		found = entry_later(found, &map->fresh[i], address);
	return found;
}

bool perf_map_find(struct perf_map *map, uint64_t address, char name[PERF_MAP_NAME_MAX])
{
	const struct map_entry *entry;
	size_t size;

	map_read(map);
	entry = map_search(map, address);
	if (!entry)
		return false;
	size = entry->length < PERF_MAP_NAME_MAX ? entry->length : PERF_MAP_NAME_MAX - 1;
	if (pread(map->fd, name, size, (off_t)entry->order) != (ssize_t)size)
		return false;
	name[size] = '\0';
	return true;
}
