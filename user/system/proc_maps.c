/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps: see proc.h. */
#include "system/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

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

int proc_read_maps(const char *proc_root, pid_t pid, struct proc_map_list *ret_list)
{
	struct buffer text = { 0 };
	int status = proc_read_text(proc_root, pid, "maps", &text);

	if (!status)
		proc_parse_maps(text.data ? text.data : "", text.length, ret_list);
	buffer_free(&text);
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
