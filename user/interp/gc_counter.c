/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gc_counter.h. */
#include "interp/gc_counter.h"

#include <linux/types.h>
#include <stddef.h>

#include "interp/interp_ops.h"
#include "interp/ruby_layout.h"

/* A process with more heap pages has more memory than there is. */
#define RUBY_PAGES_MAX (1ULL << 32)

/*
 * Ruby's heap is pages of objects, each of which begins with the address of its own description. That leads to a pool, which
 * is one of five inside of the object space, and that has the sorted list of all pages. Before 3.1 there are no pools: the virtual machine
 * has the address of the object space.
 */
struct ruby_heap {
	unsigned int major, minor;
	uint32_t page_size;
	uint16_t start; /* description: first object */
	/* Description: its pool; 0 = none: the virtual machine leads to the object space. */
	uint16_t pool;
	/* Object space: the first pool, and the size of one. */
	uint16_t pools, pool_size;
	uint16_t pages; /* object space: the list of pages */
	/* Object space: entries of the list; 0 = its first word has them, two words before the entries. */
	uint16_t page_count;
	uint16_t count; /* object space: full marks */
	uint16_t mode; /* object space: flags, with the mode in the lowest two bits */
};

#define RUBY_POOLS 5

static const struct ruby_heap *ruby_heap_find(const struct ruby_layout *layout)
{
	static const struct ruby_heap heaps[] = {
		{ 2, 7, 0x4000, 24, 0, 0, 0, 248, 256, 384, 16 },
		{ 3, 0, 0x4000, 24, 0, 0, 0, 240, 248, 376, 16 },
		{ 3, 1, 0x4000, 32, 16, 40, 160, 256, 264, 392, 16 },
		{ 3, 2, 0x10000, 32, 16, 40, 200, 1096, 1104, 1232, 16 },
		{ 3, 3, 0x10000, 32, 16, 32, 224, 1208, 1216, 1344, 16 },
		{ 3, 4, 0x10000, 40, 16, 40, 144, 832, 0, 960, 20 },
	};
	size_t i;

	for (i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++)
		if (heaps[i].major == layout->major && heaps[i].minor == layout->minor)
			return &heaps[i];
	return NULL;
}

/* 0 where it is not present. */
static uint64_t present_word(const struct target_memory *memory, uint64_t address)
{
	uint64_t word;

	return !(address & 3) && target_read_present(memory, address, &word, sizeof(word)) ? word
											   : 0;
}

/* Does the list of pages of what may be an object space have this page at its place? */
static bool ruby_lists_page(const struct ruby_heap *heap, const struct target_memory *memory,
			    uint64_t space, uint64_t page, uint64_t start)
{
	uint64_t list = present_word(memory, space + heap->pages), count, low = 0, middle, found;

	count = present_word(memory, heap->page_count ? space + heap->page_count : list);
	if (!list || !count || count > RUBY_PAGES_MAX)
		return false;
	list += heap->page_count ? 0 : 16;
	while (low < count) {
		middle = low + (count - low) / 2;
		found = present_word(memory, list + middle * 8);
		if (found == page)
			return true;
		if (!found)
			return false;
		if (present_word(memory, found + heap->start) < start)
			low = middle + 1;
		else
			count = middle;
	}
	return false;
}

/* Is it an object space: does the first page of its list begin with the address of its description? */
static bool ruby_is_space(const struct ruby_heap *heap, const struct target_memory *memory,
			  uint64_t space)
{
	uint64_t list = space ? present_word(memory, space + heap->pages) : 0;
	uint64_t page = list ? present_word(memory, list) : 0;
	uint64_t start = page ? present_word(memory, page + heap->start) : 0;

	return start && present_word(memory, start & ~(uint64_t)(heap->page_size - 1)) == page &&
	       ruby_lists_page(heap, memory, space, page, start);
}

/* Words of the virtual machine, one of which is the object space's address. */
#define RUBY_VM_FIRST 1024
#define RUBY_VM_END 1280

static uint64_t ruby_find_space_by_vm(const struct ruby_heap *heap,
				      const struct target_memory *memory, uint64_t globals)
{
	uint64_t vm = present_word(memory, globals), space, offset;

	for (offset = RUBY_VM_FIRST; vm && offset < RUBY_VM_END; offset += 8) {
		space = present_word(memory, vm + offset);
		if (ruby_is_space(heap, memory, space))
			return space;
	}
	return 0;
}

static uint64_t ruby_find_space_by_object(const struct ruby_heap *heap,
					  const struct target_memory *memory, uint64_t globals)
{
	uint64_t object, page, pool, start, space;
	int i;

	object = present_word(memory, globals);
	page = present_word(memory, object & ~(uint64_t)(heap->page_size - 1));
	pool = present_word(memory, page + heap->pool);
	start = present_word(memory, page + heap->start);
	if (!object || !page || !pool || (start ^ object) & ~(uint64_t)(heap->page_size - 1))
		return 0;
	for (i = 0; i < RUBY_POOLS; i++) {
		space = pool - heap->pools - (uint64_t)i * heap->pool_size;
		if (ruby_lists_page(heap, memory, space, page, start))
			return space;
	}
	return 0;
}

static bool ruby_find_counter(const struct ruby_layout *layout, uint64_t globals,
			      const struct target_memory *memory, struct gc_counter *ret_counter)
{
	const struct ruby_heap *heap = ruby_heap_find(layout);
	uint64_t space;

	if (!heap || !globals)
		return false;
	space = heap->pool ? ruby_find_space_by_object(heap, memory, globals)
			   : ruby_find_space_by_vm(heap, memory, globals);
	if (space)
		*ret_counter = (struct gc_counter){ space + heap->count, space + heap->mode };
	return space;
}

/* CPython: the heads of its lists of objects, 24 bytes apart, then figures of three generations, 24 bytes each. */
#define PYTHON_HEAD_SIZE 24
#define PYTHON_HEADS 3
#define PYTHON_FIGURES 104
#define PYTHON_OLDEST (2 * 24)
#define PYTHON_LINK_FLAGS 3ULL

/* Releases of one version, and builds, differ by what is before the heads. */
#define PYTHON_PLACES 3

#define PYTHON_IN_RUNTIME UINT16_MAX

struct python_heap {
	unsigned int minor;
	/* Runtime: the first interpreter; 0 = by the offsets that are in the runtime; PYTHON_IN_RUNTIME = that has the lists. */
	uint16_t interpreter;
	uint16_t heads[PYTHON_PLACES]; /* interpreter: the lists; 0 = none */
};

static const struct python_heap *python_heap_find(unsigned int minor)
{
	static const struct python_heap heaps[] = {
		{ 8, PYTHON_IN_RUNTIME, { 368 } },
		{ 9, 32, { 640 } },
		{ 10, 32, { 640 } },
		{ 11, 40, { 672 } },
		{ 12, 40, { 136 } },
		{ 13, 0, { 7424, 7420, 7432 } },
	};
	size_t i;

	for (i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++)
		if (heaps[i].minor == minor)
			return &heaps[i];
	return NULL;
}

/* In the runtime of 3.13, from the sixth word on: where the first interpreter is. */
#define PYTHON_OFFSET_OF_INTERPRETER 40

static bool python_is_list(const struct target_memory *memory, uint64_t head)
{
	uint64_t next = present_word(memory, head) & ~PYTHON_LINK_FLAGS;
	uint64_t previous = present_word(memory, head + 8) & ~PYTHON_LINK_FLAGS;

	return next && previous && (present_word(memory, next + 8) & ~PYTHON_LINK_FLAGS) == head &&
	       (present_word(memory, previous) & ~PYTHON_LINK_FLAGS) == head;
}

/* 0 where it is not known. */
static uint64_t python_lists_owner(const struct python_heap *heap, uint64_t runtime,
				   const struct target_memory *memory)
{
	uint64_t offset = heap->interpreter;

	if (offset == PYTHON_IN_RUNTIME)
		return runtime;
	if (!offset)
		offset = present_word(memory, runtime + PYTHON_OFFSET_OF_INTERPRETER);
	return present_word(memory, runtime + offset);
}

static bool python_find_counter(unsigned int minor, uint64_t runtime,
				const struct target_memory *memory, struct gc_counter *ret_counter)
{
	const struct python_heap *heap = python_heap_find(minor);
	uint64_t owner, head;
	int place, i;

	if (!heap || !runtime)
		return false;
	owner = python_lists_owner(heap, runtime, memory);
	for (place = 0; owner && place < PYTHON_PLACES && heap->heads[place]; place++) {
		head = owner + heap->heads[place];
		for (i = 0; i < PYTHON_HEADS; i++)
			if (!python_is_list(memory, head + (uint64_t)i * PYTHON_HEAD_SIZE))
				break;
		if (i < PYTHON_HEADS)
			continue;
		*ret_counter = (struct gc_counter){ head + PYTHON_FIGURES + PYTHON_OLDEST, 0 };
		return true;
	}
	return false;
}

bool gc_counter_is_known(const struct interpreter *interpreter)
{
	if (!interpreter->globals)
		return false;
	if (interpreter->kind == INTERP_RUBY)
		return ruby_heap_find(interpreter->ruby);
	return interpreter->kind == INTERP_PYTHON && python_heap_find(interpreter->python.minor);
}

bool gc_counter_find(const struct interpreter *interpreter, const struct target_memory *memory,
		     struct gc_counter *ret_counter)
{
	if (interpreter->kind == INTERP_RUBY)
		return ruby_find_counter(interpreter->ruby, interpreter->globals, memory,
					 ret_counter);
	if (interpreter->kind == INTERP_PYTHON)
		return python_find_counter(interpreter->python.minor, interpreter->globals, memory,
					   ret_counter);
	return false;
}

#define SEARCH_MIN_NS 50000000ull
#define SEARCH_MAX_NS 1000000000ull

bool gc_counter_search(struct gc_search *search, const struct interpreter *interpreter,
		       const struct target_memory *memory, uint64_t now_ns)
{
	if (search->counter.count)
		return true;
	if (now_ns < search->due_ns)
		return false;
	if (gc_counter_find(interpreter, memory, &search->counter))
		return true;
	search->wait_ns = search->wait_ns ? search->wait_ns * 2 : SEARCH_MIN_NS;
	if (search->wait_ns > SEARCH_MAX_NS)
		search->wait_ns = SEARCH_MAX_NS;
	search->due_ns = now_ns + search->wait_ns;
	return false;
}

bool gc_counter_read(const struct gc_counter *counter, const struct target_memory *memory,
		     uint64_t *ret_count, bool *ret_is_running)
{
	uint32_t mode = 0;

	if (!target_read_present(memory, counter->count, ret_count, sizeof(*ret_count)) ||
	    (counter->mode && !target_read_present(memory, counter->mode, &mode, sizeof(mode))))
		return false;
	*ret_is_running = mode & GC_MODE_MASK;
	return true;
}
