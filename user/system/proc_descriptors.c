/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See proc_descriptors.h. */
#include "system/proc_descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

#define DESCRIPTORS_MAX (1u << 16)
/* Of a line of /proc/PID/net/tcp, counted from 0: "tx_queue:rx_queue" and the inode. */
#define FIELD_QUEUES 4
#define FIELD_INODE 9

struct inode_list {
	uint64_t *items;
	size_t count, capacity;
};

static void inode_list_add(struct inode_list *list, uint64_t inode)
{
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = inode;
}

static int inode_compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* By what its link in /proc leads to: "socket:[4711]", "pipe:[4712]", "anon_inode:[eventfd]", "/path". */
static void descriptors_count(struct proc_descriptors *descriptors, struct inode_list *sockets,
			      const char *target)
{
	if (!strncmp(target, "socket:[", 8)) {
		descriptors->sockets++;
		inode_list_add(sockets, strtoull(target + 8, NULL, 10));
	} else if (!strncmp(target, "pipe:[", 6)) {
		descriptors->pipes++;
	} else if (target[0] == '/') {
		descriptors->files++;
	} else {
		descriptors->others++;
	}
}

static int descriptors_list(const char *proc_root, pid_t pid, struct proc_descriptors *descriptors,
			    struct inode_list *sockets)
{
	char *folder = memory_format("%s/%d/fd", proc_root, (int)pid), target[64];
	DIR *directory = opendir(folder);
	int code = directory ? 0 : -errno;
	struct dirent *entry;
	ssize_t length;
	size_t i;

	free(folder);
	for (i = 0; directory && i < DESCRIPTORS_MAX && (entry = readdir(directory)); i++) {
		length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		if (length <= 0)
			continue;
		target[length] = '\0';
		descriptors_count(descriptors, sockets, target);
	}
	if (directory)
		closedir(directory);
	return code;
}

/* The start of field `wanted` of a line, or NULL. */
static const char *queues_field(const char *at, const char *end, unsigned int wanted)
{
	for (;; wanted--) {
		while (at < end && *at == ' ')
			at++;
		if (at == end)
			return NULL;
		if (!wanted)
			return at;
		while (at < end && *at != ' ')
			at++;
	}
}

/* A number of 32 bits in hexadecimal digits, which the kernel writes as capitals here; what has more digits is cut. */
static uint64_t queues_take(const char **at, const char *end)
{
	static const char digits[] = "0123456789ABCDEF";
	uint32_t number = 0;
	const char *digit;

	for (; *at < end && **at && (digit = strchr(digits, **at)); (*at)++)
		number = number << 4 | (uint32_t)(digit - digits);
	return number;
}

static uint64_t queues_of_line(const char *line, const char *end, const uint64_t *inodes,
			       size_t count)
{
	const char *queues = queues_field(line, end, FIELD_QUEUES);
	const char *inode = queues_field(line, end, FIELD_INODE);
	uint64_t number, sent;

	if (!queues || !inode || !proc_take_number(&inode, end, 10, &number) ||
	    !bsearch(&number, inodes, count, sizeof(*inodes), inode_compare))
		return 0;
	sent = queues_take(&queues, end);
	if (queues == end || *queues++ != ':')
		return 0;
	return sent + queues_take(&queues, end);
}

uint64_t proc_parse_queues(const char *text, size_t length, const uint64_t *inodes, size_t count)
{
	const char *end = text + length, *newline;
	uint64_t bytes = 0;

	for (; text < end; text = newline < end ? newline + 1 : end) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline)
			newline = end;
		bytes += queues_of_line(text, newline, inodes, count);
	}
	return bytes;
}

static uint64_t descriptors_read_queues(const char *proc_root, pid_t pid,
					struct inode_list *sockets)
{
	static const char *const files[] = { "net/tcp", "net/tcp6", "net/udp", "net/udp6" };
	struct buffer text = { 0 };
	uint64_t bytes = 0;
	size_t i;

	if (sockets->count)
		qsort(sockets->items, sockets->count, sizeof(*sockets->items), inode_compare);
	for (i = 0; sockets->count && i < sizeof(files) / sizeof(files[0]); i++) {
		buffer_clear(&text);
		if (!proc_read_text(proc_root, pid, files[i], &text) && text.length)
			bytes += proc_parse_queues(text.data, text.length, sockets->items,
						   sockets->count);
	}
	buffer_free(&text);
	return bytes;
}

int proc_read_descriptors(const char *proc_root, pid_t pid,
			  struct proc_descriptors *ret_descriptors)
{
	struct proc_descriptors descriptors = { 0 };
	struct inode_list sockets = { 0 };
	int code = descriptors_list(proc_root, pid, &descriptors, &sockets);

	if (!code) {
		descriptors.queued_bytes = descriptors_read_queues(proc_root, pid, &sockets);
		*ret_descriptors = descriptors;
	}
	free(sockets.items);
	return code;
}
