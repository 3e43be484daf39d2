/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reader_names.h. */
#include "recording/reader_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* No process has so many files, and no place in one so many inlined functions. */
#define MODULES_MAX (1 << 18)
#define SYMBOLS_MAX 1024

static int reader_names_digit(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0' : digit - 'a' + 10;
}

/* As module_format_build_id writes it. */
static bool reader_names_parse_build_id(const char *text, struct module *module)
{
	size_t length = strlen(text), i;

	if (length % 2 || length > 2 * BUILD_ID_MAX || strspn(text, "0123456789abcdef") != length)
		return false;
	for (i = 0; i < length; i += 2)
		module->build_id[i / 2] = (unsigned char)(reader_names_digit(text[i]) << 4 |
							  reader_names_digit(text[i + 1]));
	module->build_id_size = length / 2;
	return true;
}

static void reader_names_add_module(struct reader *reader, struct query *query, size_t *capacity)
{
	struct module *module = memory_alloc(1, sizeof(*module));
	size_t count = reader->modules.count;
	uint64_t id = query_take_number(query, INT64_MAX);
	const char *path = query_take_text(query), *build_id;

	module->path = memory_copy_string(path ? path : "");
	build_id = query_take_text(query);
	if (build_id && !reader_names_parse_build_id(build_id, module))
		database_damage(&reader->database, "a build ID is none");
	module->device = query_take_word(query);
	module->inode = query_take_word(query);
	module->fd = -1;
	reader->module_ids =
		memory_grow(reader->module_ids, count, capacity, sizeof(*reader->module_ids));
	reader->module_ids[count] = id;
	module_list_add(&reader->modules, module);
	table_put(&reader->module_indexes, id, (void *)(uintptr_t)(count + 1));
}

void reader_names_open(struct reader *reader)
{
	struct query query;
	size_t capacity = 0;

	reader->unnamed = (struct symbol_list){ 1, &reader->unnamed_symbol };
	query_open(&query, &reader->database,
		   "SELECT id, path, build_id, device, inode FROM module ORDER BY id");
	while (query_next(&query)) {
		if (reader->modules.count == MODULES_MAX)
			database_damage(&reader->database, "it has too many modules");
		reader_names_add_module(reader, &query, &capacity);
	}
	query_close(&query);
	reader->symbols = memory_alloc(reader->modules.count + 1, sizeof(*reader->symbols));
	query_open(&reader->find_symbol, &reader->database,
		   "SELECT function, file, line, inlined FROM symbol WHERE module = ? AND"
		   " offset = ? ORDER BY position LIMIT 1024");
}

void reader_names_close(struct reader *reader)
{
	const struct table_slot *slot;
	size_t cursor, i;

	for (i = 0; reader->symbols && i < reader->modules.count; i++) {
		for (cursor = 0; (slot = table_next(&reader->symbols[i], &cursor));)
			free(slot->value);
		table_free(&reader->symbols[i]);
	}
	query_close(&reader->find_symbol);
	free(reader->symbols);
	free(reader->module_ids);
	table_free(&reader->module_indexes);
	module_list_free(&reader->modules);
	strings_free(&reader->strings);
}

/* The symbols of a place, in one piece; NULL = it has none. */
static struct symbol_list *reader_names_read(struct reader *reader, const struct frame *frame)
{
	struct query *query = &reader->find_symbol;
	struct symbol symbols[SYMBOLS_MAX];
	struct symbol_list *list;
	size_t count = 0;

	query_number(query, reader->module_ids[frame->module]);
	query_word(query, frame->offset);
	while (query_next(query) && count < SYMBOLS_MAX) {
		struct symbol *symbol = &symbols[count++];

		symbol->function = strings_keep(&reader->strings, query_take_text(query));
		symbol->file = strings_keep(&reader->strings, query_take_text(query));
		symbol->line = (uint32_t)query_take_number(query, UINT32_MAX);
		symbol->inlined = query_take_bool(query);
	}
	query_stop(query);
	if (!count)
		return NULL;
	list = memory_alloc(1, sizeof(*list) + count * sizeof(*symbols));
	*list = (struct symbol_list){ count, (struct symbol *)(list + 1) };
	memcpy(list->items, symbols, count * sizeof(*symbols));
	/* The last one is the function itself. */
	list->items[count - 1].inlined = false;
	return list;
}

const struct symbol_list *reader_lookup(struct reader *reader, const struct frame *frame)
{
	struct symbol_list *list;

	if (frame->kind != FRAME_NATIVE || frame->module >= reader->modules.count)
		return &reader->unnamed;
	list = table_get(&reader->symbols[frame->module], frame->offset);
	if (list)
		return list;
	list = reader_names_read(reader, frame);
	if (!list)
		return &reader->unnamed;
	table_put(&reader->symbols[frame->module], frame->offset, list);
	return list;
}

const char *reader_hint(struct reader *reader, const struct frame *frame)
{
	struct query query;
	const char *hint = NULL;

	if (frame->kind != FRAME_NATIVE || frame->module >= reader->modules.count)
		return NULL;
	query_open(&query, &reader->database,
		   "SELECT hint FROM symbol WHERE module = ? AND offset = ? AND position = 0");
	query_number(&query, reader->module_ids[frame->module]);
	query_word(&query, frame->offset);
	if (query_next(&query))
		hint = strings_keep(&reader->strings, query_take_text(&query));
	query_close(&query);
	return hint;
}
