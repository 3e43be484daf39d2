/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_objects.h. */
#include "python/python_objects.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/units.h"
#include "image/image_keep.h"
#include "image/window.h"
#include "objects/object_table.h"
#include "python/python_gc.h"
#include "python/python_pool.h"
#include "python/python_sizes.h"

/* Pools are read this many bytes at a time, and alone where they changed meanwhile. */
#define BATCH_BYTES (256u << 10)

/* Blocks of malloc's are read through a window of this size. */
#define WINDOW_BYTES (16u << 10)

/* A block of a page that is listed, and not there for a moment where the kernel moves it, is read so many times. */
#define READS_MAX 20u

/* Heads of objects: of none, of the garbage collector, and with that of attributes. */
#define HEADS_MAX 32
#define HEAD_STEP 16

/* Counts of references are no addresses. */
#define REFERENCES_MAX (1ull << 40)

/* The count, in 3.14, of what is never freed. */
#define IMMORTAL (3ull << 30)

/* Of so many blocks that are no objects, at least this part of their number are objects beside them in any Python. */
#define STRANGE_BLOCKS 500
#define STRANGE_PART 20

/* An arena of which at most so much is in use is sparse. */
#define SPARSE_PERCENT 2

struct pool_walk {
	struct python_heap *heap;
	struct python_objects *objects;
	struct python_arena *arena;
	struct python_growth *growth; /* NULL = not asked for */
	unsigned char free[PYTHON_BLOCKS_MAX];
};

static uint64_t objects_word(const unsigned char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/*
 * Addresses of a program that is not position-independent, and of its heap, are as low as counts: an array that has an object and behind it a
 * type looks like what an object begins with. A count that is an address by chance has millions of references, and is one of eight of those.
 */
static bool objects_is_address(const struct image *image, uint64_t references)
{
	const struct image_mapping *mapping;

	if (references & 7 || references == IMMORTAL)
		return false;
	mapping = image_find(image, references);
	return mapping && mapping->writable && !mapping->shared;
}

bool python_objects_are_counted(const struct python_heap *heap, uint64_t references)
{
	/* Above the 32 bits of the count there are flags; where they would be part of an address, it is of a freed object. */
	if (heap->offsets->narrow_references) {
		if (!(uint32_t)references || references >> 32 & 0xffff)
			return false;
	} else if (!references || references >= REFERENCES_MAX) {
		return false;
	}
	return !objects_is_address(heap->image, references);
}

struct python_type *python_objects_type(struct python_heap *heap, const unsigned char *block,
					size_t length, uint64_t size)
{
	struct python_type *type;
	uint32_t head;

	for (head = 0; head <= HEADS_MAX && head + PYTHON_OBJECT_HEAD <= length;
	     head += HEAD_STEP) {
		if (!python_objects_are_counted(heap, objects_word(block + head)))
			continue;
		type = python_type_get(&heap->types,
				       objects_word(block + head + PYTHON_OBJECT_TYPE));
		if (type && type->head == head && type->least_size <= size)
			return type;
	}
	return NULL;
}

/* Each object of a type has about the same chance to be a sample; those that stay come first. */
static void objects_sample(struct python_type *type, uint64_t address, bool is_retained)
{
	uint64_t count = type->retained ? type->retained : type->live;
	uint64_t random = hash_word(count, address) >> 8;

	if (type->retained && !is_retained)
		return;
	if (count <= PYTHON_SAMPLES)
		type->samples[count - 1] = address;
	else if (random % count < PYTHON_SAMPLES)
		type->samples[random % count] = address;
}

/* A number for an object: its type, and of its words those that seldom change. */
static uint32_t objects_tag(const struct python_heap *heap, const struct python_type *type,
			    const unsigned char *block, size_t length)
{
	uint64_t hash = hash_word(HASH_BEGIN, type->address);
	size_t first = PYTHON_OBJECT_HEAD, last = PYTHON_OBJECT_HEAD + 16, at;

	if (type->content == PYTHON_CONTENT_LIST)
		first = last = PYTHON_LIST_ITEMS;
	else if (type->content == PYTHON_CONTENT_DICT)
		first = last = PYTHON_DICT_KEYS;
	else if (type->content == PYTHON_CONTENT_SET)
		first = last = PYTHON_SET_TABLE;
	else if (type->flags & PYTHON_FLAG_STR)
		first = last = heap->offsets->text;
	for (at = first; at <= last && type->head + at + 8 <= length; at += 8)
		hash = hash_word(hash, objects_word(block + type->head + at));
	return (uint32_t)(hash >> 32) | 1;
}

/* Count the object in a block; with `growth` it is block `index` of the pool that is walked. */
static void objects_add(struct python_heap *heap, struct python_objects *objects,
			struct python_growth *growth, uint32_t index,
			const struct census_block *block)
{
	struct python_type *type =
		python_objects_type(heap, block->bytes, block->length, block->size);
	uint64_t other_bytes;
	bool is_retained;

	if (!type) {
		objects->raw_blocks++;
		return;
	}
	is_retained = growth &&
		      python_growth_add(growth, index,
					objects_tag(heap, type, block->bytes, block->length));
	objects->objects++;
	type->live++;
	type->retained += is_retained;
	objects_sample(type, block->address + type->head, is_retained);
	type->bytes += block->size;
	other_bytes = python_sizes_other(heap, type, block->bytes, block->length);
	type->other_bytes += other_bytes;
	python_longest_put(&objects->longest, type, block->address + type->head,
			   block->size + other_bytes, block->bytes + type->head,
			   block->length - type->head);
	if (type->is_code)
		python_code_put(&objects->code, heap, block->bytes + type->head,
				block->length - type->head, block->size);
}

static void objects_add_pool(struct pool_walk *walk, uint64_t address, const unsigned char *bytes,
			     const struct python_pool *pool)
{
	struct census_block block = { .address = address + PYTHON_POOL_HEADER,
				      .size = pool->block_size,
				      .bytes = bytes + PYTHON_POOL_HEADER,
				      .length = pool->block_size };
	uint32_t i;

	walk->objects->blocks += pool->blocks;
	walk->objects->free_blocks += pool->blocks - pool->used;
	walk->arena->used_bytes += (uint64_t)pool->used * pool->block_size;
	if (walk->growth)
		python_growth_add_pool(walk->growth, address, pool->blocks);
	for (i = 0; i < pool->reached; i++) {
		if (!walk->free[i])
			objects_add(walk->heap, walk->objects, walk->growth, i, &block);
		block.address += pool->block_size;
		block.bytes += pool->block_size;
	}
}

/* A pool that was read while it changed, or that is not all in memory: again, alone. */
static void objects_retry(struct pool_walk *walk, uint64_t address)
{
	unsigned char bytes[PYTHON_POOL_MAX];
	struct python_pool pool;

	switch (python_heap_read_pool(walk->heap, address, bytes, &pool, walk->free)) {
	case PYTHON_POOL_NONE:
		walk->objects->unread_pools++;
		break;
	case PYTHON_POOL_TORN:
		walk->objects->torn_pools++;
		break;
	case PYTHON_POOL_GOOD:
		objects_add_pool(walk, address, bytes, &pool);
		break;
	}
}

/* Pools [first, first + count), which follow each other, as far as one read reaches. Returns how many. */
static size_t objects_walk_batch(struct pool_walk *walk, size_t first, size_t count,
				 unsigned char *bytes)
{
	const struct python_place *places = &walk->heap->pools[first];
	uint64_t size = walk->heap->offsets->pool_size;
	size_t length = image_read_part(walk->heap->image, places[0].address, bytes, count * size);
	struct python_pool pool;
	size_t i;

	for (i = 0; i < count && (i + 1) * size <= length; i++) {
		if (python_pool_read(bytes + i * size, places[i].address, size, &pool,
				     walk->free) == PYTHON_POOL_GOOD)
			objects_add_pool(walk, places[i].address, bytes + i * size, &pool);
		else
			objects_retry(walk, places[i].address);
	}
	if (i < count)
		objects_retry(walk, places[i++].address);
	return i;
}

static void objects_walk_arena(struct pool_walk *walk, unsigned char *bytes)
{
	const struct python_place *pools = walk->heap->pools;
	size_t i = walk->arena->first_pool, end = i + walk->arena->pool_count, count;
	uint64_t size = walk->heap->offsets->pool_size;

	walk->arena->used_bytes = 0;
	while (i < end) {
		count = 1;
		while (i + count < end && count < BATCH_BYTES / size &&
		       pools[i + count].address == pools[i].address + count * size)
			count++;
		i += objects_walk_batch(walk, i, count, bytes);
	}
}

static void objects_clear(struct python_heap *heap)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&heap->types.by_address, &cursor))) {
		struct python_type *type = slot->value;

		type->live = type->bytes = type->other_bytes = type->retained = 0;
	}
}

void python_objects_walk(struct python_heap *heap, struct python_growth *growth,
			 struct python_objects *ret_objects)
{
	struct pool_walk *walk = memory_alloc(1, sizeof(*walk));
	unsigned char *bytes = memory_alloc(1, BATCH_BYTES);
	size_t i;

	*ret_objects = (struct python_objects){ 0 };
	objects_clear(heap);
	walk->heap = heap;
	walk->objects = ret_objects;
	walk->growth = growth;
	if (growth)
		python_growth_begin(growth);
	for (i = 0; i < heap->arena_count; i++) {
		walk->arena = &heap->arenas[i];
		objects_walk_arena(walk, bytes);
	}
	ret_objects->is_strange = ret_objects->raw_blocks >= STRANGE_BLOCKS &&
				  ret_objects->objects < ret_objects->raw_blocks / STRANGE_PART;
	free(bytes);
	free(walk);
}

/* What a block begins with, up to `*length` bytes of it; NULL = it is not there. */
static const unsigned char *objects_get_block(struct window *window, uint64_t address,
					      size_t *length)
{
	size_t wanted = *length;
	const unsigned char *bytes;
	unsigned int reads = 0;

	for (;;) {
		bytes = window_get_part(window, address, wanted, length);
		if (*length == wanted || ++reads == READS_MAX ||
		    !(image_page(window->image, address + *length) & IMAGE_PRESENT))
			return bytes;
		sched_yield();
	}
}

void python_objects_walk_blocks(struct python_heap *heap, struct python_objects *objects)
{
	struct census_block block;
	struct window window;
	size_t i;

	window_open(&window, heap->image, WINDOW_BYTES);
	for (i = 0; i < heap->large.count; i++) {
		block = (struct census_block){ .address = heap->large.items[i].address,
					       .size = heap->large.items[i].size };
		block.length = block.size < PYTHON_OBJECTS_BEGIN ? block.size
								 : PYTHON_OBJECTS_BEGIN;
		block.bytes = objects_get_block(&window, block.address, &block.length);
		if (block.bytes)
			objects_add(heap, objects, NULL, 0, &block);
	}
	window_close(&window);
	objects->lost_blocks = heap->large.lost;
}

static void objects_name(void *context, uint64_t id, char *ret_name, size_t size)
{
	struct python_types *types = context;

	snprintf(ret_name, size, "%s",
		 python_type_describe(types, table_get(&types->by_address, id)));
}

static void objects_report_arenas(const struct python_heap *heap, struct memory_runtime *runtime)
{
	size_t i;

	runtime->pages = heap->arena_count;
	runtime->page_bytes = heap->pool_count * (uint64_t)heap->offsets->pool_size;
	for (i = 0; i < heap->arena_count; i++) {
		const struct python_arena *arena = &heap->arenas[i];
		uint64_t bytes = arena->pool_count * (uint64_t)heap->offsets->pool_size;

		runtime->free_bytes += bytes > arena->used_bytes ? bytes - arena->used_bytes : 0;
		runtime->sparse_pages += arena->used_bytes * 100 <= bytes * SPARSE_PERCENT;
	}
}

static void objects_report_gc(struct python_heap *heap, struct memory_runtime *runtime)
{
	struct python_gc gc;
	bool is_found;

	/* The lists change all the time, and are whole at a moment only. */
	image_keep_pass_by(heap->image, true);
	is_found = python_gc_read(heap, &gc);
	image_keep_pass_by(heap->image, false);
	runtime->minor_gcs = is_found ? gc.collections[0] + gc.collections[1] : HEAP_UNKNOWN;
	runtime->major_gcs = is_found ? gc.collections[2] : HEAP_UNKNOWN;
	runtime->gc_ns = HEAP_UNKNOWN;
	if (!is_found)
		return;
	memcpy(runtime->gc_thresholds, gc.thresholds, sizeof(runtime->gc_thresholds));
	if (!gc.enabled || !gc.thresholds[0])
		buffer_append_string(&runtime->remarks,
				     "the garbage collector is off: objects that hold each other "
				     "stay until the program calls gc.collect()\n");
}

static void objects_remark(const struct python_objects *objects, size_t pools,
			   struct memory_runtime *runtime)
{
	if (objects->torn_pools)
		buffer_printf(&runtime->remarks,
			      "%llu of %zu pool%s changed at each read: not counted\n",
			      (unsigned long long)objects->torn_pools, pools, units_s(pools));
	if (objects->unread_pools)
		buffer_printf(&runtime->remarks,
			      "not in memory, and not counted: %llu of %zu pool%s\n",
			      (unsigned long long)objects->unread_pools, pools, units_s(pools));
	if (objects->is_strange)
		buffer_append_string(&runtime->remarks,
				     "hardly a block of its pools is an object: its layout is not "
				     "known, as that of PYTHONMALLOC=debug is not\n");
	if (objects->lost_blocks)
		buffer_printf(&runtime->remarks,
			      "%llu block%s of malloc too many: objects in them are not counted\n",
			      (unsigned long long)objects->lost_blocks,
			      units_s(objects->lost_blocks));
}

void python_objects_report(struct python_heap *heap, struct python_objects *objects, bool samples,
			   struct strings *names, struct memory_runtime *runtime)
{
	struct object_namer namer = { objects_name, &heap->types };
	struct object_table table = { 0 };
	const struct table_slot *slot;
	size_t cursor = 0;

	runtime->name = "python";
	memcpy(runtime->version, heap->version, sizeof(runtime->version));
	while ((slot = table_next(&heap->types.by_address, &cursor))) {
		const struct python_type *type = slot->value;
		struct object_class *class;

		if (!type->live)
			continue;
		class = object_table_get(&table, type->address);
		class->live = type->live;
		class->slot_bytes = type->bytes;
		class->other_bytes = type->other_bytes;
		class->retained = type->retained;
	}
	object_table_report(&table, &namer, names, runtime);
	object_table_free(&table);
	python_longest_report(&objects->longest, heap, samples, runtime);
	python_code_report(&objects->code, heap, names, runtime);
	runtime->slots = objects->blocks;
	runtime->free_slots = objects->free_blocks;
	objects_report_arenas(heap, runtime);
	objects_report_gc(heap, runtime);
	objects_remark(objects, heap->pool_count, runtime);
}
