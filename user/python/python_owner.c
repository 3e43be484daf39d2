/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_owner.h. */
#include "python/python_owner.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "image/window.h"
#include "python/python_objects.h"
#include "python/python_text.h"

/* How far in front of a word an object in malloc's memory may begin, and how many such searches are made. */
#define BACK_MAX (8u << 10)
#define BACK_SEARCHES 4000u

/* Blocks of a deque: two links around 64 items. */
#define DEQUE_BLOCK (66u * 8)
#define DEQUE_BLOCKS_MAX 100000u

#define WINDOW_BYTES (16u << 10)
#define TABLES_MAX (4u << 20)

struct owner_table {
	uint64_t start, end, container, field;
	struct python_type *type;
};

struct python_owners {
	struct python_heap *heap;
	struct owner_table *tables; /* in the order of addresses */
	size_t table_count, table_capacity;
	/* The pool that was read last. */
	uint64_t pool_address;
	enum python_pool_state pool_state;
	struct python_pool pool;
	unsigned char pool_bytes[PYTHON_POOL_MAX], pool_free[PYTHON_BLOCKS_MAX];
	unsigned int searches; /* for objects in malloc's memory */
};

static uint64_t owner_word(const unsigned char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Only those that malloc has: what is in pools is found by its pool. */
static void owner_add_table(struct python_owners *owners, uint64_t start, uint64_t size,
			    uint64_t container, uint64_t field, struct python_type *type)
{
	if (!start || start & 7 || size < 8 || size > 1ull << 40 ||
	    python_heap_block_size(owners->heap, start) || owners->table_count >= TABLES_MAX)
		return;
	owners->tables = memory_grow(owners->tables, owners->table_count, &owners->table_capacity,
				     sizeof(owners->tables[0]));
	owners->tables[owners->table_count++] =
		(struct owner_table){ start, start + size, container, container + field, type };
}

static void owner_add_deque(struct python_owners *owners, uint64_t object, struct python_type *type,
			    uint64_t block)
{
	unsigned int i;

	for (i = 0; block && i < DEQUE_BLOCKS_MAX; i++) {
		owner_add_table(owners, block, DEQUE_BLOCK, object, PYTHON_DEQUE_LEFT, type);
		block = image_word(owners->heap->image, block + DEQUE_BLOCK - 8);
	}
}

static void owner_add_keys(struct python_owners *owners, uint64_t object, struct python_type *type,
			   uint64_t keys)
{
	const struct image_mapping *mapping;
	struct python_keys read;

	if (python_heap_block_size(owners->heap, keys))
		return;
	mapping = image_find(owners->heap->image, keys);
	if (!mapping || mapping->inode ||
	    !python_keys_read(owners->heap->image, owners->heap->offsets, keys, &read))
		return;
	owner_add_table(owners, keys, read.bytes, object, PYTHON_DICT_KEYS, type);
}

static void owner_see_object(struct python_owners *owners, uint64_t object,
			     struct python_type *type, const unsigned char *bytes, size_t length)
{
	uint64_t count;

	if (length < 48)
		return;
	switch (type->content) {
	case PYTHON_CONTENT_LIST:
		count = owner_word(bytes + PYTHON_LIST_ALLOCATED);
		owner_add_table(owners, owner_word(bytes + PYTHON_LIST_ITEMS),
				count < 1ull << 37 ? count * 8 : 0, object, PYTHON_LIST_ITEMS,
				type);
		break;
	case PYTHON_CONTENT_SET:
		count = owner_word(bytes + PYTHON_SET_MASK);
		owner_add_table(owners, owner_word(bytes + PYTHON_SET_TABLE),
				count < 1ull << 36 ? (count + 1) * 16 : 0, object, PYTHON_SET_TABLE,
				type);
		break;
	case PYTHON_CONTENT_DICT:
		owner_add_keys(owners, object, type, owner_word(bytes + PYTHON_DICT_KEYS));
		break;
	default:
		if (!strcmp(type->name, "collections.deque"))
			owner_add_deque(owners, object, type,
					owner_word(bytes + PYTHON_DEQUE_LEFT));
	}
}

/* Make `owners->pool` the pool at this address. False if it cannot be read as one. */
static bool owner_read_pool(struct python_owners *owners, uint64_t address)
{
	if (owners->pool_address != address) {
		owners->pool_state = python_heap_read_pool(owners->heap, address,
							   owners->pool_bytes, &owners->pool,
							   owners->pool_free);
		owners->pool_address = address;
	}
	return owners->pool_state == PYTHON_POOL_GOOD;
}

static void owner_see_pool(struct python_owners *owners, uint64_t address)
{
	uint32_t i, size, at = PYTHON_POOL_HEADER;
	struct python_type *type;

	if (!owner_read_pool(owners, address))
		return;
	size = owners->pool.block_size;
	for (i = 0; size >= 64 && i < owners->pool.reached; i++, at += size) {
		const unsigned char *block = owners->pool_bytes + at;

		type = owners->pool_free[i] ? NULL
					    : python_objects_type(owners->heap, block, size, size);
		if (type)
			owner_see_object(owners, address + at + type->head, type,
					 block + type->head, size - type->head);
	}
}

static int owner_compare(const void *left, const void *right)
{
	const struct owner_table *a = left, *b = right;

	return compare_numbers(a->start, b->start);
}

/* Without pools containers are malloc's, too. */
static void owner_see_blocks(struct python_owners *owners)
{
	struct python_heap *heap = owners->heap;
	const unsigned char *bytes;
	struct python_type *type;
	struct window window;
	size_t i, length;

	window_open(&window, heap->image, WINDOW_BYTES);
	for (i = 0; i < heap->large.count; i++) {
		const struct python_block *block = &heap->large.items[i];

		length = block->size < PYTHON_OBJECTS_BEGIN ? block->size : PYTHON_OBJECTS_BEGIN;
		bytes = window_get_part(&window, block->address, length, &length);
		type = bytes ? python_objects_type(heap, bytes, length, block->size) : NULL;
		if (type && length > type->head)
			owner_see_object(owners, block->address + type->head, type,
					 bytes + type->head, length - type->head);
	}
	window_close(&window);
}

struct python_owners *python_owners_new(struct python_heap *heap)
{
	struct python_owners *owners = memory_alloc(1, sizeof(*owners));
	size_t i;

	owners->heap = heap;
	for (i = 0; i < heap->pool_count; i++)
		owner_see_pool(owners, heap->pools[i].address);
	if (!heap->pool_count)
		owner_see_blocks(owners);
	if (owners->table_count)
		qsort(owners->tables, owners->table_count, sizeof(owners->tables[0]),
		      owner_compare);
	return owners;
}

void python_owners_free(struct python_owners *owners)
{
	free(owners->tables);
	free(owners);
}

static const struct owner_table *owner_table(const struct python_owners *owners, uint64_t at)
{
	size_t low = 0, high = owners->table_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (at < owners->tables[middle].start)
			high = middle;
		else if (at >= owners->tables[middle].end)
			low = middle + 1;
		else
			return &owners->tables[middle];
	}
	return NULL;
}

/* Classes and modules end a search. */
static enum python_owner_kind owner_kind(const struct python_type *type)
{
	if (type->flags & PYTHON_FLAG_TYPE)
		return PYTHON_OWNER_CLASS;
	return strcmp(type->name, "module") ? PYTHON_OWNER_OBJECT : PYTHON_OWNER_MODULE;
}

static struct python_owner owner_of_pool(struct python_owners *owners, uint64_t pool, uint64_t at)
{
	struct python_owner owner = { PYTHON_OWNER_NONE };
	uint32_t offset = (uint32_t)(at - pool), size, index;

	if (!owner_read_pool(owners, pool) || offset < PYTHON_POOL_HEADER)
		return owner;
	size = owners->pool.block_size;
	index = (offset - PYTHON_POOL_HEADER) / size;
	if (index >= owners->pool.reached || owners->pool_free[index])
		return owner;
	offset = PYTHON_POOL_HEADER + index * size;
	owner.type = python_objects_type(owners->heap, owners->pool_bytes + offset, size, size);
	owner.kind = owner.type ? owner_kind(owner.type) : PYTHON_OWNER_RAW;
	owner.address = pool + offset + (owner.type ? owner.type->head : 0);
	owner.size = owner.type ? size - owner.type->head : size;
	return owner;
}

static struct python_owner owner_of_block(struct python_owners *owners,
					  const struct python_block *block)
{
	struct python_owner owner = { .kind = PYTHON_OWNER_BLOCK,
				      .address = block->address,
				      .size = block->size };
	unsigned char bytes[PYTHON_OBJECTS_BEGIN];
	size_t length = block->size < sizeof(bytes) ? block->size : sizeof(bytes);

	length = image_read_part(owners->heap->image, block->address, bytes, length);
	owner.type = python_objects_type(owners->heap, bytes, length, block->size);
	if (!owner.type)
		return owner;
	owner.kind = owner_kind(owner.type);
	owner.address += owner.type->head;
	owner.size -= owner.type->head;
	return owner;
}

/* Does an object begin at `address`, and reach to `at`? */
static bool owner_reaches(struct python_owners *owners, uint64_t address, uint64_t at,
			  struct python_owner *ret_owner)
{
	struct image *image = owners->heap->image;
	struct python_type *type = python_type_get(&owners->heap->types,
						   image_word(image, address + PYTHON_OBJECT_TYPE));
	uint64_t size;

	if (!type || !python_objects_are_counted(owners->heap, image_word(image, address)))
		return false;
	/* A class is what ends a search: none but a whole one is taken for it. */
	if (type->flags & PYTHON_FLAG_TYPE && !python_type_get(&owners->heap->types, address))
		return false;
	size = type->basic_size;
	if (type->item_size)
		size += (image_word(image, address + PYTHON_OBJECT_SIZE) & UINT32_MAX) *
			type->item_size;
	if (at - address >= size)
		return false;
	*ret_owner = (struct python_owner){ owner_kind(type), address, size, type };
	return true;
}

/* An object in malloc's memory: go back to where one may begin. */
static struct python_owner owner_search(struct python_owners *owners, uint64_t at)
{
	struct python_owner owner = { PYTHON_OWNER_MEMORY, .address = at };
	uint64_t back = at & 4095, i;
	uint64_t words[BACK_MAX / 8];
	size_t length;

	if (owners->searches++ >= BACK_SEARCHES)
		return owner;
	/* As many whole pages as are there, up to the word. */
	while (back + 4096 <= BACK_MAX - 8 &&
	       image_page(owners->heap->image, at - back - 1) & IMAGE_PRESENT)
		back += 4096;
	length = image_read_part(owners->heap->image, at - back, words, back + 8);
	if (length < back + 8)
		return owner;
	for (i = 2; i <= back / 8; i++)
		if (python_objects_are_counted(owners->heap, words[back / 8 - i]) &&
		    owner_reaches(owners, at - i * 8, at, &owner))
			break;
	return owner;
}

/* In no block of malloc's, and yet its memory: free, so that words there are old, but for blocks that are younger than their walk. */
static bool owner_is_free(const struct python_owners *owners, const struct image_mapping *mapping,
			  uint64_t at)
{
	const struct python_blocks *blocks = &owners->heap->large;

	if (!strcmp(mapping->name, "[heap]"))
		return python_blocks_has(blocks, mapping->start, mapping->end);
	/* What lies beside its blocks may be another's, in a mapping that the kernel has merged. */
	return python_blocks_has(blocks, mapping->start, at) &&
	       python_blocks_has(blocks, at, mapping->end);
}

/* Free memory takes no more than half of the searches, and only an object counts there: one that was freed has no references. */
static struct python_owner owner_of_memory(struct python_owners *owners,
					   const struct image_mapping *mapping, uint64_t at)
{
	struct python_owner owner = { PYTHON_OWNER_NONE, .address = at };
	bool is_free = owner_is_free(owners, mapping, at);

	if (!is_free || owners->searches < BACK_SEARCHES / 2)
		owner = owner_search(owners, at);
	if (is_free && owner.kind == PYTHON_OWNER_MEMORY)
		owner.kind = PYTHON_OWNER_NONE;
	return owner;
}

static struct python_owner owner_of_mapping(struct python_owners *owners, uint64_t at)
{
	const struct image_mapping *mapping = image_find(owners->heap->image, at);
	struct python_owner owner = { PYTHON_OWNER_NONE, .address = at };
	struct python_type *type;

	if (!mapping)
		return owner;
	type = python_type_get(&owners->heap->types, at - PYTHON_TYPE_DICT);
	if (type)
		return (struct python_owner){ PYTHON_OWNER_CLASS, type->address, PYTHON_TYPE_BYTES,
					      type };
	if (!strcmp(mapping->name, "[stack]"))
		owner.kind = PYTHON_OWNER_STACK;
	else if (mapping->inode || (mapping > owners->heap->image->mappings && mapping[-1].inode &&
				    mapping[-1].end == mapping->start))
		owner.kind = PYTHON_OWNER_STATIC;
	else
		owner = owner_of_memory(owners, mapping, at);
	return owner;
}

struct python_owner python_owners_find(struct python_owners *owners, uint64_t at)
{
	uint64_t pool = at & ~(uint64_t)(owners->heap->offsets->pool_size - 1);
	const struct python_block *block;
	const struct owner_table *table;

	if (python_heap_block_size(owners->heap, at))
		return owner_of_pool(owners, pool, at);
	table = owner_table(owners, at);
	if (table)
		return (struct python_owner){ .kind = PYTHON_OWNER_TABLE,
					      .address = table->start,
					      .size = table->end - table->start,
					      .container = table->container,
					      .field = table->field,
					      .container_type = table->type };
	block = python_blocks_find(&owners->heap->large, at);
	return block ? owner_of_block(owners, block) : owner_of_mapping(owners, at);
}

struct python_owner python_owners_of_object(struct python_owners *owners, uint64_t address)
{
	struct python_owner owner = { PYTHON_OWNER_NONE };

	if (python_heap_room(owners->heap, address))
		owner = python_owners_find(owners, address);
	else
		owner_reaches(owners, address, address, &owner);
	if (owner.address != address || !owner.type)
		owner.kind = PYTHON_OWNER_NONE;
	return owner;
}
