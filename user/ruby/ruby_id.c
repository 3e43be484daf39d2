/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_id.h. */
#include "ruby/ruby_id.h"

#include <string.h>

#include "ruby/ruby_table.h"

#define ID_SHIFT 4
#define LAST_OPERATOR 256 /* numbers below have no scope in their lowest bits */
#define STRINGS_IN_ARRAY 512
#define SERIAL_MAX (1u << 26)
#define TABLE_MAX (1u << 24)
#define STEP 256 /* entries that are read at once */

#define ARRAY_EMBEDDED (1ull << 13)

#define VARIABLES_MAX 65536

struct id_table {
	int32_t capacity, count, used;
	uint32_t unused;
	uint64_t items;
};

struct id_item {
	uint32_t key, collision;
	uint64_t value;
};

/* An element of an array; 0 = it has none. */
static uint64_t id_element(const struct ruby_graph *graph, uint64_t array, uint64_t index)
{
	uint32_t number = ruby_graph_number(graph, array);
	struct ruby_slot slot;

	if (!number)
		return 0;
	ruby_graph_slot(graph, number, &slot);
	if (slot.type != RUBY_T_ARRAY)
		return 0;
	if (slot.flags & ARRAY_EMBEDDED)
		return ruby_slots_word(&slot, 16 + (uint32_t)(index < 1000 ? index : 1000) * 8);
	if (index >= ruby_slots_word(&slot, 16))
		return 0;
	return image_word(graph->heap->image, ruby_slots_word(&slot, 32) + index * 8);
}

static bool id_is_type(const struct ruby_graph *graph, uint64_t address, enum ruby_type type)
{
	uint32_t number = ruby_graph_number(graph, address);
	struct ruby_slot slot;

	if (!number)
		return false;
	ruby_graph_slot(graph, number, &slot);
	return slot.type == type;
}

/* Last serial, table of names, array of arrays, hash. */
static bool id_are_strings(const struct ruby_graph *graph, const uint64_t *words)
{
	uint64_t last = words[0] & UINT32_MAX;

	return last >= LAST_OPERATOR && last < SERIAL_MAX &&
	       id_is_type(graph, words[2], RUBY_T_ARRAY) &&
	       id_is_type(graph, words[3], RUBY_T_HASH) &&
	       id_is_type(graph, id_element(graph, words[2], 0), RUBY_T_ARRAY);
}

static uint32_t id_half(struct image *image, uint64_t address)
{
	uint32_t half;

	return image_read(image, address, &half, sizeof(half)) ? half : 0;
}

static bool id_open_table(struct image *image, uint64_t address, struct id_table *ret_table)
{
	return address && !(address & 7) &&
	       image_read(image, address, ret_table, sizeof(*ret_table)) &&
	       ret_table->capacity > 0 && ret_table->capacity <= (int32_t)TABLE_MAX &&
	       ret_table->count >= 0 && ret_table->count <= ret_table->capacity &&
	       ret_table->items && !(ret_table->items & 7);
}

bool ruby_id_walk(struct image *image, uint64_t address, uint64_t max,
		  bool (*entry)(void *context, uint64_t serial, uint64_t value), void *context)
{
	struct id_item items[STEP];
	struct id_table table;
	uint64_t done, step, i;

	if (!id_open_table(image, address, &table))
		return false;
	for (done = 0; done < (uint64_t)table.capacity && done < max; done += step) {
		step = (uint64_t)table.capacity - done < STEP ? (uint64_t)table.capacity - done
							      : STEP;
		if (!image_read(image, table.items + done * sizeof(items[0]), items,
				step * sizeof(items[0])))
			return false;
		for (i = 0; i < step; i++)
			if (items[i].key && !entry(context, items[i].key, items[i].value))
				return true;
	}
	return true;
}

struct id_check {
	struct image *image;
	unsigned int good, bad;
};

/* Of a global variable: its struct, then its ID, which has the key in it. */
static bool id_check_global(void *context, uint64_t serial, uint64_t value)
{
	struct id_check *check = context;
	uint64_t id = value & 7 ? 0 : image_word(check->image, value + 8);

	if (id && (id >> ID_SHIFT == serial || id == serial))
		check->good++;
	else
		check->bad++;
	return check->bad < 2;
}

static bool id_are_globals(struct image *image, uint64_t address)
{
	struct id_check check = { .image = image };

	return ruby_id_walk(image, address, 256, id_check_global, &check) && check.good > 10 &&
	       !check.bad;
}

static void id_look(const struct ruby_graph *graph, const uint64_t *words, struct ruby_ids *ids)
{
	struct image *image = graph->heap->image;
	uint32_t size = graph->heap->layout->shape_size;
	uint64_t behind[RUBY_SHAPE_WORDS];

	if (!ids->strings && id_are_strings(graph, words)) {
		ids->strings = words[2];
		ids->last = words[0] & UINT32_MAX;
	}
	if (!words[0] || words[0] & 7 || ruby_graph_number(graph, words[0]))
		return;
	if (size && !ids->shapes.list && !ruby_shape_open(image, size, words, &ids->shapes) &&
	    image_read(image, words[0], behind, sizeof(behind)))
		ruby_shape_open(image, size, behind, &ids->shapes);
	if (!ids->globals && id_are_globals(image, words[0]))
		ids->globals = words[0];
}

void ruby_id_find(const struct ruby_graph *graph, struct ruby_ids *ret_ids)
{
	uint64_t words[512 + 3], start, end;
	size_t size, i;

	*ret_ids = (struct ruby_ids){ .graph = graph };
	ruby_shape_find(graph->heap, &ret_ids->shapes);
	ruby_heap_static_range(graph->heap, &start, &end);
	for (; start < end; start += 512 * 8) {
		memset(words, 0, sizeof(words));
		size = image_read_part(graph->heap->image, start, words, sizeof(words)) / 8;
		for (i = 0; i + 3 < size && i < 512; i++)
			id_look(graph, words + i, ret_ids);
	}
}

size_t ruby_id_serial_name(const struct ruby_ids *ids, uint64_t serial, char *ret_name, size_t size)
{
	uint64_t strings;

	ret_name[0] = '\0';
	if (!ids->strings || serial > SERIAL_MAX)
		return 0;
	strings = id_element(ids->graph, ids->strings, serial / STRINGS_IN_ARRAY);
	return ruby_class_string(ids->graph->names,
				 id_element(ids->graph, strings, serial % STRINGS_IN_ARRAY * 2),
				 ret_name, size);
}

size_t ruby_id_name(const struct ruby_ids *ids, uint64_t id, char *ret_name, size_t size)
{
	return ruby_id_serial_name(ids, id <= LAST_OPERATOR ? id : id >> ID_SHIFT, ret_name, size);
}

struct id_search {
	struct image *image;
	bool by_entry; /* the value is the address of an entry that begins with the position */
	uint64_t index, found;
};

static bool id_look_index(void *context, uint64_t key, uint64_t value)
{
	struct id_search *search = context;

	if ((search->by_entry ? id_half(search->image, value) : value) == search->index)
		search->found = key;
	return !search->found;
}

/* Up to 3.1 each class has a table from names to positions. */
static uint64_t id_by_class(const struct ruby_ids *ids, const struct ruby_slot *object,
			    uint64_t index)
{
	const struct ruby_heap *heap = ids->graph->heap;
	struct id_search search = { .image = heap->image,
				    .by_entry = heap->layout->major > 2,
				    .index = index };
	uint64_t class = ruby_class_real(ids->graph->names, object->class), extension;

	extension = class ? image_word(heap->image, class + heap->layout->extension) : 0;
	if (extension)
		ruby_table_walk(heap->image, image_word(heap->image, extension), VARIABLES_MAX,
				id_look_index, &search);
	return search.found;
}

size_t ruby_id_variable(const struct ruby_ids *ids, const struct ruby_slot *object, uint64_t index,
			char *ret_name, size_t size)
{
	const struct ruby_heap *heap = ids->graph->heap;
	uint64_t id = heap->layout->shape_size
			      ? ruby_shape_name(heap->image, &ids->shapes, object->flags, index)
			      : id_by_class(ids, object, index);

	ret_name[0] = '\0';
	return id ? ruby_id_name(ids, id, ret_name, size) : 0;
}
