/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_tables.h. */
#include "render/json_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"
#include "base/strings.h"
#include "model/frame_kind.h"
#include "model/source.h"
#include "render/formats.h"

/* In the place of a position, or of a number that is not known. */
#define NOTHING UINT64_MAX

/* Records of some numbers, each once. */
struct record_table {
	size_t width; /* numbers of a record */
	uint64_t *numbers;
	size_t count, capacity;
	struct table by_hash; /* position + 1 of the last one with this hash */
	uint32_t *before; /* position + 1 of the one before it */
	size_t before_count, before_capacity;
};

enum { TABLE_MODULES, TABLE_CALLS, TABLE_FRAMES, TABLE_STACKS, TABLE_COUNT };

/* Any number may be an offset, so whether it is known is in the last one. */
#define FRAME_OFFSET 3
#define FRAME_FLAGS 6
#define FLAG_INLINED 1
#define FLAG_OFFSET 2

static const struct {
	const char *key;
	size_t width;
} table_shapes[TABLE_COUNT] = {
	[TABLE_MODULES] = { "modules", 2 }, /* path, build ID */
	[TABLE_CALLS] = { "calls", 3 }, /* source, allocator, function */
	[TABLE_FRAMES] = { "frames", 7 }, /* kind, function, module, offset, file, line, inlined */
	[TABLE_STACKS] = { "stacks", 2 }, /* the stack that called it, its innermost frame */
};

struct json_tables {
	uint64_t seed;
	struct strings pool;
	struct table by_address; /* of a string of the pool: its position + 1 */
	const char **strings;
	size_t string_count, string_capacity;
	struct record_table tables[TABLE_COUNT];
};

struct json_tables *json_tables_new(void)
{
	struct json_tables *tables = memory_alloc(1, sizeof(*tables));
	size_t i;

	tables->seed = seed_new();
	for (i = 0; i < TABLE_COUNT; i++)
		tables->tables[i].width = table_shapes[i].width;
	return tables;
}

void json_tables_free(struct json_tables *tables)
{
	size_t i;

	if (!tables)
		return;
	for (i = 0; i < TABLE_COUNT; i++) {
		table_free(&tables->tables[i].by_hash);
		free(tables->tables[i].numbers);
		free(tables->tables[i].before);
	}
	table_free(&tables->by_address);
	strings_free(&tables->pool);
	free(tables->strings);
	free(tables);
}

/* The position of a string; NOTHING for NULL. An empty string is kept in no pool. */
static uint64_t tables_string(struct json_tables *tables, const char *text)
{
	const char *kept = text && !*text ? "" : strings_keep(&tables->pool, text);
	uintptr_t position;

	if (!kept)
		return NOTHING;
	position = (uintptr_t)table_get(&tables->by_address, (uintptr_t)kept);
	if (position)
		return position - 1;
	tables->strings = memory_grow(tables->strings, tables->string_count,
				      &tables->string_capacity, sizeof(*tables->strings));
	tables->strings[tables->string_count++] = kept;
	table_put(&tables->by_address, (uintptr_t)kept, (void *)(uintptr_t)tables->string_count);
	return tables->string_count - 1;
}

static void record_add(struct record_table *table, const uint64_t *record, uint32_t before)
{
	table->numbers = memory_grow(table->numbers, table->count, &table->capacity,
				     table->width * sizeof(*table->numbers));
	memcpy(table->numbers + table->count++ * table->width, record,
	       table->width * sizeof(*record));
	table->before = memory_grow(table->before, table->before_count, &table->before_capacity,
				    sizeof(*table->before));
	table->before[table->before_count++] = before;
}

/* The position of a record of one of the tables. */
static uint32_t tables_record(struct json_tables *tables, int which, const uint64_t *record)
{
	struct record_table *table = &tables->tables[which];
	uint64_t hash = tables->seed;
	uint32_t last, at;
	size_t i;

	for (i = 0; i < table->width; i++)
		hash = hash_word(hash, record[i]);
	last = (uint32_t)(uintptr_t)table_get(&table->by_hash, hash);
	for (at = last; at; at = table->before[at - 1])
		if (!memcmp(table->numbers + (at - 1) * table->width, record,
			    table->width * sizeof(*record)))
			return at - 1;
	record_add(table, record, last);
	table_put(&table->by_hash, hash, (void *)(uintptr_t)table->count);
	return (uint32_t)table->count - 1;
}

uint32_t json_tables_call(struct json_tables *tables, const struct report_site *site)
{
	const uint64_t call[] = { tables_string(tables, source_name(site->source)),
				  tables_string(tables, site->allocator),
				  tables_string(tables, site->function) };

	return tables_record(tables, TABLE_CALLS, call);
}

static uint64_t tables_module(struct json_tables *tables, const struct report_frame *frame)
{
	const uint64_t module[] = { tables_string(tables, frame->module),
				    tables_string(tables, frame->build_id) };

	if (!frame->module && !frame->build_id)
		return NOTHING;
	return tables_record(tables, TABLE_MODULES, module);
}

uint32_t json_tables_frame(struct json_tables *tables, const struct report_frame *frame)
{
	const bool at = (frame->module || frame->kind == FRAME_KERNEL) && !frame->whole;
	const uint64_t record[] = {
		tables_string(tables, frame_kind_name(frame->kind)),
		tables_string(tables, frame->function),
		tables_module(tables, frame),
		at ? frame->offset : 0,
		tables_string(tables, frame->file),
		frame->line ? frame->line : NOTHING,
		(frame->inlined ? FLAG_INLINED : 0) | (at ? FLAG_OFFSET : 0),
	};

	return tables_record(tables, TABLE_FRAMES, record);
}

bool json_tables_stack(struct json_tables *tables, const struct report_frame *frames, size_t count,
		       uint32_t *ret_position)
{
	uint64_t stack[] = { NOTHING, 0 };
	size_t i;

	for (i = count; i > 0; i--) {
		stack[1] = json_tables_frame(tables, &frames[i - 1]);
		stack[0] = tables_record(tables, TABLE_STACKS, stack);
	}
	*ret_position = (uint32_t)stack[0];
	return count;
}

static void record_write_number(uint64_t number, bool known, struct json_writer *json)
{
	if (known)
		json_writer_integer(json, number);
	else
		json_writer_null(json);
}

static void record_write(const uint64_t *record, int which, struct json_writer *json)
{
	const bool is_frame = which == TABLE_FRAMES;
	size_t i;

	json_writer_open(json, '[');
	for (i = 0; i < table_shapes[which].width; i++) {
		if (is_frame && i == FRAME_OFFSET)
			record_write_number(record[i], record[FRAME_FLAGS] & FLAG_OFFSET, json);
		else if (is_frame && i == FRAME_FLAGS)
			json_writer_integer(json, record[i] & FLAG_INLINED);
		else
			record_write_number(record[i], record[i] != NOTHING, json);
	}
	json_writer_close(json, ']');
}

static void tables_write_strings(const struct json_tables *tables, struct json_writer *json,
				 const struct render_options *options)
{
	size_t i;

	json_writer_key(json, "strings");
	json_writer_open(json, '[');
	for (i = 0; i < tables->string_count && render_drain(options, json->out); i++)
		json_writer_string(json, tables->strings[i]);
	json_writer_close(json, ']');
}

void json_tables_write(const struct json_tables *tables, struct json_writer *json,
		       const struct render_options *options)
{
	const struct record_table *table;
	size_t i, at;

	tables_write_strings(tables, json, options);
	for (i = 0; i < TABLE_COUNT; i++) {
		table = &tables->tables[i];
		json_writer_key(json, table_shapes[i].key);
		json_writer_open(json, '[');
		for (at = 0; at < table->count && render_drain(options, json->out); at++)
			record_write(table->numbers + at * table->width, (int)i, json);
		json_writer_close(json, ']');
	}
}
