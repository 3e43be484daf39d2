/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_gc_counter.h. */
#include "ruby/ruby_gc_counter.h"

#include "interp/frames_ops.h"
#include "interp/gc_counter.h"
#include "ruby/ruby_release.h"

/* A process with more heap pages has more memory than there is. */
#define RUBY_PAGES_MAX (1ULL << 32)

/*
 * Each page of the heap begins with the address of its description, which leads to a pool, one of
 * five inside the object space, which has the sorted list of all pages. Before 3.1 there are no
 * pools: the virtual machine has the address of the object space.
 */

/* Is this page at its place in the list of a candidate for the object space? */
static bool counter_lists_page(const struct ruby_release *release,
			       const struct target_memory *memory, uint64_t space, uint64_t page,
			       uint64_t start)
{
	uint64_t list = target_word_present(memory, space + release->pages), count, low = 0, middle,
		 found;

	count = target_word_present(memory,
				    release->page_count ? space + release->page_count : list);
	if (!list || !count || count > RUBY_PAGES_MAX)
		return false;
	list += release->page_count ? 0 : 16;
	while (low < count) {
		middle = low + (count - low) / 2;
		found = target_word_present(memory, list + middle * 8);
		if (found == page)
			return true;
		if (!found)
			return false;
		if (target_word_present(memory, found + release->start) < start)
			low = middle + 1;
		else
			count = middle;
	}
	return false;
}

/* Is it an object space: does the first page of its list begin with the address of its description? */
static bool counter_is_space(const struct ruby_release *release, const struct target_memory *memory,
			     uint64_t space)
{
	uint64_t list = space ? target_word_present(memory, space + release->pages) : 0;
	uint64_t page = list ? target_word_present(memory, list) : 0;
	uint64_t start = page ? target_word_present(memory, page + release->start) : 0;

	return start &&
	       target_word_present(memory, start & ~(uint64_t)(release->page_size - 1)) == page &&
	       counter_lists_page(release, memory, space, page, start);
}

/* Words of the virtual machine, one of which is the object space's address. */
#define RUBY_VM_FIRST 1024
#define RUBY_VM_END 1280

static uint64_t counter_find_space_by_vm(const struct ruby_release *release,
					 const struct target_memory *memory, uint64_t globals)
{
	uint64_t vm = target_word_present(memory, globals), space, offset;

	for (offset = RUBY_VM_FIRST; vm && offset < RUBY_VM_END; offset += 8) {
		space = target_word_present(memory, vm + offset);
		if (counter_is_space(release, memory, space))
			return space;
	}
	return 0;
}

static uint64_t counter_find_space_by_object(const struct ruby_release *release,
					     const struct target_memory *memory, uint64_t globals)
{
	uint64_t object, page, pool, start, space;
	int i;

	object = target_word_present(memory, globals);
	page = target_word_present(memory, object & ~(uint64_t)(release->page_size - 1));
	pool = target_word_present(memory, page + release->pool);
	start = target_word_present(memory, page + release->start);
	if (!object || !page || !pool || (start ^ object) & ~(uint64_t)(release->page_size - 1))
		return 0;
	for (i = 0; i < RUBY_POOLS; i++) {
		space = pool - release->pools - (uint64_t)i * release->pool_size;
		if (counter_lists_page(release, memory, space, page, start))
			return space;
	}
	return 0;
}

bool ruby_gc_counter_is_known(const struct interpreter *interpreter)
{
	return ruby_release_has_heap(ruby_release_of(interpreter));
}

bool ruby_gc_counter_find(const struct interpreter *interpreter, const struct target_memory *memory,
			  struct gc_counter *ret_counter)
{
	const struct ruby_release *release = ruby_release_of(interpreter);
	uint64_t globals = interpreter->globals, space;

	if (!ruby_release_has_heap(release) || !globals)
		return false;
	space = release->pool ? counter_find_space_by_object(release, memory, globals)
			      : counter_find_space_by_vm(release, memory, globals);
	if (space)
		*ret_counter =
			(struct gc_counter){ space + release->major_gcs, space + release->mode };
	return space;
}
