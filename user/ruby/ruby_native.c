/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See ruby_native.h. Data of objects is claimed first; then all is followed that static data and the virtual machine lead to, which ends at
 * those claims; what is left is followed from the claims on, breadth first, so that a block goes to the nearest object.
 */
#include "ruby/ruby_native.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

#define BLOCKS_MAX (1u << 22)
#define WINDOW_SIZE (16u << 10)
#define PAGE 4096u

#define OWNER_OTHER 1u
#define OWNER_CLASSES 2u

void ruby_native_open(struct image *image, uint64_t max_bytes, struct ruby_native *ret_native)
{
	*ret_native = (struct ruby_native){ .image = image, .budget = max_bytes };
	window_open(&ret_native->window, image, WINDOW_SIZE);
}

void ruby_native_free(struct ruby_native *native)
{
	kind_blocks_free(&native->blocks);
	kind_index_free(&native->index);
	window_close(&native->window);
	free(native->owners);
	free(native->queue);
	*native = (struct ruby_native){ 0 };
}

static bool native_put(void *context, const struct census_block *block)
{
	struct ruby_native *native = context;

	native->too_many = native->blocks.count == BLOCKS_MAX;
	if (!native->too_many)
		kind_blocks_add(&native->blocks, block->address, block->size, NULL, 0, 0, 0);
	return !native->too_many;
}

struct census_sink ruby_native_sink(struct ruby_native *native)
{
	return (struct census_sink){ native_put, native };
}

/* Who owns a block stays its owner. Returns its number if it had none. */
static uint32_t native_own(struct ruby_native *native, uint64_t address, uint32_t owner)
{
	uint32_t number = kind_index_find(&native->index, address);

	if (number == KIND_NO_BLOCK || native->owners[number])
		return KIND_NO_BLOCK;
	native->owners[number] = owner;
	return number;
}

void ruby_native_keep(struct ruby_native *native, uint64_t address)
{
	native_own(native, address, OWNER_OTHER);
}

static void native_claim(struct ruby_native *native, uint64_t address, size_t class)
{
	native_own(native, address, OWNER_CLASSES + (uint32_t) class);
}

/* Where an object of Ruby's own types has the address of its buffer; 0 = nowhere. */
static uint32_t native_buffer(const struct ruby_release *layout, enum ruby_type type)
{
	switch (type) {
	case RUBY_T_STRING:
	case RUBY_T_STRUCT:
		return 24;
	case RUBY_T_ARRAY:
		return 32;
	case RUBY_T_OBJECT:
		return layout->shape_size ? 16 : 24;
	case RUBY_T_HASH:
	case RUBY_T_FILE:
	case RUBY_T_REGEXP:
		return 16;
	default:
		return 0;
	}
}

void ruby_native_put(struct ruby_native *native, const struct ruby_release *layout,
		     const struct ruby_slot *slot, size_t class)
{
	uint32_t at = native_buffer(layout, slot->type);

	if (at)
		ruby_native_keep(native, ruby_slots_word(slot, at));
	if (slot->type != RUBY_T_DATA)
		return;
	native_claim(native, ruby_slots_data(layout, slot), class);
	for (at = ruby_slots_data_inside(layout, slot); at && at + 8 <= slot->size; at += 8)
		native_claim(native, ruby_slots_word(slot, at), class);
}

static void native_reach(struct ruby_native *native, uint64_t address, uint32_t owner)
{
	uint32_t number = native_own(native, address, owner);

	if (number != KIND_NO_BLOCK)
		native->queue[native->queued++] = number;
}

bool ruby_native_begin(struct ruby_native *native, const struct ruby_heap *heap)
{
	if (!native->blocks.count || native->too_many)
		return false;
	kind_blocks_sort(&native->blocks);
	kind_index_fill(&native->index, &native->blocks);
	native->owners = memory_alloc(native->blocks.count, sizeof(native->owners[0]));
	native->queue = memory_alloc(native->blocks.count, sizeof(native->queue[0]));
	native_reach(native, heap->vm, OWNER_OTHER);
	native_reach(native, heap->space, OWNER_OTHER);
	return true;
}

/* Words of [start, end), as far as it is in memory. Returns where to go on, behind at least one word. */
static uint64_t native_read_part(struct ruby_native *native, uint64_t start, uint64_t end,
				 uint32_t owner)
{
	const unsigned char *bytes;
	uint64_t word, next;
	size_t got, at;

	bytes = window_get_part(&native->window, start, end - start, &got);
	if (got < sizeof(word)) {
		if (!image_next_present(native->image, start, end, &next, &word))
			return end;
		/* It may have gone since its pages were listed. */
		return next > start ? next : (start | (PAGE - 1)) + 1;
	}
	for (at = 0; at + sizeof(word) <= got; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		native_reach(native, word, owner);
	}
	native->budget -= at < native->budget ? at : native->budget;
	return start + at;
}

static void native_read(struct ruby_native *native, uint64_t start, uint64_t end, uint32_t owner)
{
	for (start = (start + 7) & ~7ull; start + 8 <= end && !native->cut;) {
		start = native_read_part(native, start, end, owner);
		native->cut = !native->budget || image_is_over(native->image);
	}
}

static int native_compare(const void *left, const void *right)
{
	return compare_numbers(*(const uint32_t *)left, *(const uint32_t *)right);
}

/* Read what is queued, level by level, each in the order of addresses. */
static void native_follow(struct ruby_native *native)
{
	uint32_t level;

	while (native->done < native->queued && !native->cut) {
		level = native->queued;
		qsort(native->queue + native->done, level - native->done, sizeof(native->queue[0]),
		      native_compare);
		for (; native->done < level && !native->cut; native->done++) {
			uint32_t number = native->queue[native->done];
			const struct kind_block *block = &native->blocks.items[number];

			native_read(native, block->address, block->address + block->bytes,
				    native->owners[number]);
		}
	}
}

static void native_follow_statics(struct ruby_native *native)
{
	struct module_ranges modules;
	size_t i;

	module_ranges_find(native->image, &modules);
	for (i = 0; i < modules.count; i++)
		if (module_range_is_writable(&modules.items[i]))
			native_read(native, modules.items[i].start, modules.items[i].end,
				    OWNER_OTHER);
	module_ranges_free(&modules);
	native_follow(native);
}

static void native_follow_claims(struct ruby_native *native)
{
	size_t i;

	for (i = 0; i < native->blocks.count; i++)
		if (native->owners[i] >= OWNER_CLASSES)
			native->queue[native->queued++] = (uint32_t)i;
	native_follow(native);
}

void ruby_native_count(struct ruby_native *native, struct object_table *table)
{
	size_t i;

	native_follow_statics(native);
	native_follow_claims(native);
	for (i = 0; i < native->blocks.count; i++) {
		struct object_class *class;

		if (native->owners[i] < OWNER_CLASSES)
			continue;
		class = &table->items[native->owners[i] - OWNER_CLASSES];
		class->other_bytes += native->blocks.items[i].bytes;
		class->native_bytes += native->blocks.items[i].bytes;
	}
}

void ruby_native_remark(const struct ruby_native *native, struct buffer *remarks)
{
	if (native->unknown)
		buffer_append_string(remarks,
				     "native memory behind objects is not counted: which blocks of "
				     "malloc's are in use is not known\n");
	if (native->too_many)
		buffer_append_string(remarks,
				     "native memory behind objects is not counted: there are "
				     "too many blocks\n");
	if (native->cut)
		buffer_append_string(remarks,
				     "native memory behind objects is not all counted: there "
				     "is too much of it, or was no time\n");
}
