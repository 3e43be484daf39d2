/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps: see proc.h. */
#include "system/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

#define CHUNK 65536

#define MAPS_PATIENCE_NS 5000000000ull

#define NEWLINE_ESCAPE "\\012"

static bool maps_take_character(const char **at, const char *end, char character)
{
	if (*at == end || **at != character)
		return false;
	(*at)++;
	return true;
}

static bool maps_take_range(const char **at, const char *end, struct proc_mapping *mapping)
{
	return proc_take_number(at, end, 16, &mapping->start) &&
	       maps_take_character(at, end, '-') && proc_take_number(at, end, 16, &mapping->end) &&
	       maps_take_character(at, end, ' ') && mapping->start < mapping->end;
}

/* One of the four letters of "rwxp": `yes`, or `no`. */
static bool maps_take_flag(const char **at, const char *end, char yes, char no, bool *ret_flag)
{
	*ret_flag = *at < end && **at == yes;
	return maps_take_character(at, end, *ret_flag ? yes : no);
}

static bool maps_take_permissions(const char **at, const char *end, struct proc_mapping *mapping)
{
	return maps_take_flag(at, end, 'r', '-', &mapping->readable) &&
	       maps_take_flag(at, end, 'w', '-', &mapping->writable) &&
	       maps_take_flag(at, end, 'x', '-', &mapping->executable) &&
	       maps_take_flag(at, end, 's', 'p', &mapping->shared) &&
	       maps_take_character(at, end, ' ');
}

static bool maps_take_file(const char **at, const char *end, struct proc_mapping *mapping)
{
	uint64_t major, minor;

	if (!proc_take_number(at, end, 16, &mapping->file_offset) ||
	    !maps_take_character(at, end, ' ') || !proc_take_number(at, end, 16, &major) ||
	    !maps_take_character(at, end, ':') || !proc_take_number(at, end, 16, &minor) ||
	    !maps_take_character(at, end, ' ') || !proc_take_number(at, end, 10, &mapping->inode) ||
	    major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	mapping->device = makedev((unsigned int)major, (unsigned int)minor);
	return true;
}

/*
 * The kernel escapes the newline and nothing else in this file, not even the backslash: any other octal sequence
 * belongs to the name.
 */
static char *maps_unescape(const char *text, size_t length)
{
	char *path = memory_alloc(length + 1, 1);
	size_t from = 0, to = 0;

	while (from < length) {
		if (length - from >= strlen(NEWLINE_ESCAPE) &&
		    memcmp(text + from, NEWLINE_ESCAPE, strlen(NEWLINE_ESCAPE)) == 0) {
			path[to++] = '\n';
			from += strlen(NEWLINE_ESCAPE);
		} else {
			path[to++] = text[from++];
		}
	}
	return path;
}

/* The rest of the line: nothing, or blanks and a name. A name may begin with blanks only after a '/'. */
static bool maps_take_path(const char *at, const char *end, struct proc_mapping *mapping)
{
	if (at < end && *at != ' ')
		return false;
	while (at < end && *at == ' ')
		at++;
	if (memchr(at, '\0', (size_t)(end - at)))
		return false;
	mapping->path = maps_unescape(at, (size_t)(end - at));
	mapping->deleted = proc_strip_deleted(mapping->path);
	return true;
}

static bool maps_parse_line(const char *line, const char *end, struct proc_mapping *ret_mapping)
{
	struct proc_mapping mapping = { 0 };

	if (!maps_take_range(&line, end, &mapping) ||
	    !maps_take_permissions(&line, end, &mapping) || !maps_take_file(&line, end, &mapping) ||
	    !maps_take_path(line, end, &mapping))
		return false;
	*ret_mapping = mapping;
	return true;
}

void proc_parse_maps(const char *text, size_t length, struct proc_map_list *ret_list)
{
	struct proc_map_list list = { 0 };
	const char *end = text + length;
	struct proc_mapping mapping;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		if (maps_parse_line(text, line_end, &mapping)) {
			list.items = memory_grow(list.items, list.count, &list.capacity,
						 sizeof(*list.items));
			list.items[list.count++] = mapping;
		}
		text = newline ? newline + 1 : end;
	}
	*ret_list = list;
}

static void maps_add_line(struct proc_map_list *list, const char *line, const char *end, bool code)
{
	struct proc_mapping mapping;

	/* "START-END rwxp": that it is executable is in the third letter. */
	if (code) {
		const char *letters = memchr(line, ' ', (size_t)(end - line));

		if (!letters || end - letters < 4 || letters[3] != 'x')
			return;
	}
	if (!maps_parse_line(line, end, &mapping))
		return;
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = mapping;
}

/* What is known of the text is whole lines but for the last one, which is kept. Returns its length. */
static size_t maps_add_lines(struct proc_map_list *list, char *text, size_t size, bool code)
{
	const char *line = text, *end = text + size, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
		maps_add_line(list, line, newline, code);
		line = newline + 1;
	}
	memmove(text, line, (size_t)(end - line));
	return (size_t)(end - line);
}

static int maps_read(int fd, bool code, struct proc_map_list *list)
{
	char *text = memory_alloc(1, CHUNK);
	size_t kept = 0, read_ever = 0;
	ssize_t got = 1;

	while (got > 0 && kept < CHUNK && !list->cut) {
		got = TEMP_FAILURE_RETRY(read(fd, text + kept, CHUNK - kept));
		if (got > 0) {
			read_ever += (size_t)got;
			kept = maps_add_lines(list, text, kept + (size_t)got, code);
		}
		list->cut = read_ever > PROC_TEXT_MAX || list->count > PROC_MAPPINGS_MAX;
	}
	if (!got && kept)
		maps_add_line(list, text, text + kept, code);
	free(text);
	return got < 0 ? -errno : 0;
}

static int maps_open_and_read(const char *proc_root, pid_t pid, bool code,
			      struct proc_map_list *ret_list)
{
	char *path = pid ? memory_format("%s/%d/maps", proc_root, (int)pid)
			 : memory_format("%s/self/maps", proc_root);
	struct proc_map_list list = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status = fd < 0 ? -errno : maps_read(fd, code, &list);

	if (fd >= 0)
		close(fd);
	free(path);
	if (status)
		proc_map_list_free(&list);
	else
		*ret_list = list;
	return status == -ENOENT ? -ESRCH : status;
}

int proc_read_maps(const char *proc_root, pid_t pid, struct proc_map_list *ret_list)
{
	return maps_open_and_read(proc_root, pid, false, ret_list);
}

struct maps_call {
	struct timed_call call;
	pid_t pid;
	bool code;
	int status;
	struct proc_map_list list;
};

static void maps_call_run(struct timed_call *call)
{
	struct maps_call *maps = (struct maps_call *)call;

	maps->status = maps_open_and_read("/proc", maps->pid, maps->code, &maps->list);
}

static void maps_call_free(struct timed_call *call)
{
	struct maps_call *maps = (struct maps_call *)call;

	proc_map_list_free(&maps->list);
	free(maps);
}

int proc_read_maps_within(pid_t pid, bool code, struct call_patience *patience,
			  struct proc_map_list *ret_list)
{
	struct maps_call *maps = memory_alloc(1, sizeof(*maps));
	int status;

	*maps = (struct maps_call){ .call = { maps_call_run, maps_call_free },
				    .pid = pid,
				    .code = code };
	if (!patience->full_ns)
		patience->full_ns = MAPS_PATIENCE_NS;
	status = timed_call_run(&maps->call, patience);
	if (status)
		return status;
	status = maps->status;
	if (!status)
		*ret_list = maps->list;
	free(maps);
	return status;
}

void proc_map_list_free(struct proc_map_list *list)
{
	size_t i;

	if (!list)
		return;
	for (i = 0; i < list->count; i++)
		free(list->items[i].path);
	free(list->items);
	*list = (struct proc_map_list){ 0 };
}
