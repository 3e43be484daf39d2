/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocator functions of one file: see scan.h. */
#include "probe/scan.h"

#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "probe/walker.h"
#include "tracer_abi.h"

/* More names than any honest file has; a hostile one may repeat a name at any number of offsets. */
#define SCAN_MAX 4096

/* The names that matter, by hash, and whether the file defines them. */
struct wanted {
	const char *symbol;
	const struct allocator_function *row; /* NULL = only identifies an allocator */
	bool defined;
};

struct gathering {
	struct scan *scan;
	struct table names; /* of struct wanted */
	uint64_t low, high; /* where the functions found lie */
};

static struct wanted *wanted_find(const struct table *names, const char *symbol)
{
	struct wanted *wanted = table_get(names, hash_string(HASH_BEGIN, symbol));

	return wanted && strcmp(wanted->symbol, symbol) == 0 ? wanted : NULL;
}

static void wanted_add(struct table *names, const char *symbol,
		       const struct allocator_function *row)
{
	struct wanted *wanted = wanted_find(names, symbol);

	if (!wanted) {
		wanted = memory_alloc(1, sizeof(*wanted));
		wanted->symbol = symbol;
		table_put(names, hash_string(HASH_BEGIN, symbol), wanted);
	}
	if (row)
		wanted->row = row;
}

static void wanted_list(struct table *names)
{
	const struct allocator_function *row;
	const char *marker;
	size_t i;

	for (row = allocator_functions(); row->symbol; row++)
		wanted_add(names, row->symbol, row);
	for (i = 0; (marker = allocator_marker(i)); i++)
		wanted_add(names, marker, NULL);
	for (i = 0; (marker = walker_marker(i)); i++)
		wanted_add(names, marker, NULL);
}

static void wanted_free(struct table *names)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(names, &cursor)))
		free(slot->value);
	table_free(names);
}

static bool gather_name(void *context, const struct elf_function *function)
{
	struct gathering *gathering = context;
	struct scan *scan = gathering->scan;
	struct wanted *wanted = wanted_find(&gathering->names, function->name);

	if (!wanted)
		return true;
	wanted->defined = true;
	if (!wanted->row)
		return true;
	if (scan->count == SCAN_MAX)
		return false;
	scan->items = memory_grow(scan->items, scan->count, &scan->capacity, sizeof(*scan->items));
	scan->items[scan->count++] = (struct scan_function){
		.row = wanted->row,
		.file_offset = function->file_offset,
		.size = function->size,
		.indirect = function->indirect,
	};
	return true;
}

static int gather_defines(void *context, const char *symbol)
{
	const struct wanted *wanted = wanted_find(context, symbol);

	return wanted && wanted->defined;
}

static int function_compare(const void *left, const void *right)
{
	const struct scan_function *a = left, *b = right;
	bool a_named = a->row->shape & SHAPE_NAMED, b_named = b->row->shape & SHAPE_NAMED;

	if (a->file_offset != b->file_offset)
		return a->file_offset < b->file_offset ? -1 : 1;
	if (a_named != b_named)
		return a_named ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static void scan_keep_applicable(struct scan *scan)
{
	size_t i, kept = 0;

	for (i = 0; i < scan->count; i++) {
		if (allocator_applies(scan->items[i].row, scan->allocator, scan->own_heap))
			scan->items[kept++] = scan->items[i];
	}
	scan->count = kept;
}

static void function_add_alias(struct scan_function *function, const struct scan_function *alias)
{
	size_t length = strlen(function->aliases);

	/* The names are those of the table, so they are plain text; what does not fit is left out whole. */
	if (length + strlen(alias->row->symbol) + 2 <= sizeof(function->aliases))
		sprintf(function->aliases + length, "%s%s", length ? " " : "", alias->row->symbol);
}

/* One item per file offset. */
static void scan_merge(struct scan *scan)
{
	size_t i, kept = 0;

	for (i = 0; i < scan->count; i++) {
		struct scan_function *item = &scan->items[i];
		struct scan_function *last = kept ? &scan->items[kept - 1] : NULL;

		if (!last || last->file_offset != item->file_offset) {
			scan->items[kept++] = *item;
			continue;
		}
		if (last->size != item->size)
			last->size = 0;
		last->indirect = last->indirect || item->indirect;
		if (last->row != item->row)
			function_add_alias(last, item);
	}
	scan->count = kept;
}

static void gather_range(struct gathering *gathering)
{
	size_t i;

	gathering->low = UINT64_MAX;
	gathering->high = 0;
	for (i = 0; i < gathering->scan->count; i++) {
		const struct scan_function *item = &gathering->scan->items[i];
		uint64_t end = item->file_offset + item->size;

		if (item->file_offset < gathering->low)
			gathering->low = item->file_offset;
		if (end > gathering->high)
			gathering->high = end;
	}
}

/* A function that holds the beginning of another one has no size that could be trusted. */
static bool gather_overlap(void *context, const struct elf_function *function)
{
	const struct gathering *gathering = context;
	uint64_t start = function->file_offset;
	size_t i;

	if (start <= gathering->low || start >= gathering->high)
		return true;
	for (i = 0; i < gathering->scan->count; i++) {
		struct scan_function *item = &gathering->scan->items[i];

		if (start > item->file_offset && start - item->file_offset < item->size)
			item->size = 0;
	}
	return true;
}

/* In a static program, `realloc` may be the program's own. */
static bool scan_has_chunks(const struct scan *scan)
{
	size_t i;

	if (strcmp(scan->allocator, "glibc") != 0)
		return false;
	for (i = 0; i < scan->count; i++)
		if (scan_function_has_name(&scan->items[i], "realloc") &&
		    scan_function_has_name(&scan->items[i], "__libc_realloc"))
			return true;
	return false;
}

void scan_file(struct elf_file *file, const struct allocator_function *const *more, size_t count,
	       struct scan *ret_scan)
{
	struct scan scan = { 0 };
	struct gathering gathering = { .scan = &scan };
	size_t i;

	wanted_list(&gathering.names);
	for (i = 0; i < count; i++)
		wanted_add(&gathering.names, more[i]->symbol, more[i]);
	elf_file_functions(file, gather_name, &gathering);
	scan.allocator = allocator_identify(gather_defines, &gathering.names);
	scan.walker = walker_identify(gather_defines, &gathering.names);
	scan.own_heap = gather_defines(&gathering.names, "malloc") &&
			gather_defines(&gathering.names, "free");
	if (!scan.own_heap && gather_defines(&gathering.names, "_Znwm"))
		scan.allocator = allocator_of_operators(scan.allocator);
	wanted_free(&gathering.names);
	scan_keep_applicable(&scan);
	if (scan.count)
		qsort(scan.items, scan.count, sizeof(*scan.items), function_compare);
	scan_merge(&scan);
	scan.chunks = scan_has_chunks(&scan);
	gather_range(&gathering);
	if (scan.count)
		elf_file_functions(file, gather_overlap, &gathering);
	*ret_scan = scan;
}

void scan_free(struct scan *scan)
{
	free(scan->items);
	memset(scan, 0, sizeof(*scan));
}

bool scan_function_has_name(const struct scan_function *function, const char *name)
{
	const char *alias = function->aliases;
	size_t length = strlen(name);

	if (strcmp(function->row->symbol, name) == 0)
		return true;
	for (; *alias;
	     alias += alias[strcspn(alias, " ")] ? strcspn(alias, " ") + 1 : strlen(alias))
		if (strncmp(alias, name, length) == 0 && strchr(" ", alias[length]))
			return true;
	return false;
}
