/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_roots.h. The claims of allocators come last: what is left in their heaps is free. */
#include "reach/reach_roots.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

#define RED_ZONE 128 /* bytes below the stack pointer that a function may use */
#define DESCRIPTOR_BYTES 2304 /* of glibc's struct pthread: keys of pthread_setspecific are there */

/* jemalloc: a record of an extent is aligned to 128 bytes, and has bits, the address, the size with a number in the low bits. */
#define RECORD_ALIGNMENT 128
#define RECORD_ADDRESS 8
#define RECORD_PAGE 4096

#define CLAIM PURPOSE_DATA /* of a root, which is its detail */

static void roots_claim(struct reach_roots *roots, enum leak_root root, uint64_t start,
			uint64_t end)
{
	claims_add(roots->claims, CLAIM, start, end, (uint32_t)root);
}

static uint64_t roots_dead_end_of(const struct thread_registers *thread)
{
	return thread->dead_end			  ? thread->dead_end
	       : thread->stack_pointer > RED_ZONE ? (thread->stack_pointer - RED_ZONE) & ~7ull
						  : 0;
}

/* Where what is alive begins in [start, end), of the lowest stack pointer; 0 = there is none. */
static uint64_t roots_dead_end(const struct thread_registers_list *registers, uint64_t start,
			       uint64_t end)
{
	uint64_t found = 0, dead_end;
	size_t i;

	for (i = 0; i < registers->count; i++) {
		dead_end = roots_dead_end_of(&registers->items[i]);
		if (registers->items[i].stack_pointer >= start &&
		    registers->items[i].stack_pointer < end && (!found || dead_end < found))
			found = dead_end;
	}
	return found;
}

/* Below the stack pointer nothing is alive. */
static void roots_claim_stack(struct reach_roots *roots,
			      const struct thread_registers_list *registers, uint64_t start,
			      uint64_t end)
{
	uint64_t dead_end = roots_dead_end(registers, start, end);

	if (dead_end > start && dead_end < end) {
		roots_claim(roots, LEAK_ROOT_DEAD_STACK, start, dead_end);
		start = dead_end;
	}
	roots_claim(roots, LEAK_ROOT_STACK, start, end);
}

static void roots_claim_threads(struct reach_roots *roots, const struct thread_list *threads,
				const struct thread_registers_list *registers)
{
	size_t i;

	for (i = 0; i < threads->count; i++) {
		const struct thread_info *thread = &threads->items[i];

		if (thread->state == THREAD_RUNS)
			roots_claim(roots, LEAK_ROOT_TLS, thread->tls_start,
				    thread->descriptor + DESCRIPTOR_BYTES);
	}
	for (i = 0; i < threads->count; i++) {
		const struct thread_info *thread = &threads->items[i];

		if (thread->state == THREAD_RUNS)
			roots_claim_stack(roots, registers, thread->stack_start, thread->stack_end);
		else
			roots_claim(roots, LEAK_ROOT_DEAD_STACK, thread->stack_start,
				    thread->stack_end);
	}
}

void reach_roots_open(struct reach_roots *roots, struct image *image,
		      const struct module_ranges *modules, const struct thread_list *threads,
		      const struct thread_registers_list *registers)
{
	size_t i;

	*roots = (struct reach_roots){ .image = image, .modules = modules, .claims = claims_new() };
	roots_claim_threads(roots, threads, registers);
	for (i = 0; i < image->mapping_count; i++)
		if (!strcmp(image->mappings[i].name, "[stack]"))
			roots_claim_stack(roots, registers, image->mappings[i].start,
					  image->mappings[i].end);
	for (i = 0; i < modules->count; i++)
		roots_claim(roots, LEAK_ROOT_STATIC, modules->items[i].start,
			    modules->items[i].end);
}

void reach_roots_free(struct reach_roots *roots)
{
	claims_free(roots->claims);
	free(roots->free_lists);
	*roots = (struct reach_roots){ 0 };
}

void reach_roots_add_unknown(struct reach_roots *roots, uint64_t start, uint64_t end)
{
	roots_claim(roots, LEAK_ROOT_UNKNOWN, start, end);
}

void reach_roots_add_objects(struct reach_roots *roots, uint64_t start, uint64_t end,
			     enum leak_root root)
{
	roots_claim(roots, root, start, end);
}

void reach_roots_add_free_list(struct reach_roots *roots, uint64_t start, uint64_t end)
{
	roots->free_lists = memory_grow(roots->free_lists, roots->free_list_count,
					&roots->free_list_capacity, sizeof(*roots->free_lists));
	roots->free_lists[roots->free_list_count++] = (struct reach_range){ start, end };
}

static int range_compare(const void *a, const void *b)
{
	const struct reach_range *left = a, *right = b;

	return compare_numbers(left->start, right->start);
}

/* One where they overlap or touch. */
void reach_roots_settle(struct reach_roots *roots)
{
	struct reach_range *lists = roots->free_lists;
	size_t i, count = 0;

	if (roots->free_list_count)
		qsort(lists, roots->free_list_count, sizeof(*lists), range_compare);
	for (i = 0; i < roots->free_list_count; i++) {
		if (!count || lists[i].start > lists[count - 1].end)
			lists[count++] = lists[i];
		else if (lists[i].end > lists[count - 1].end)
			lists[count - 1].end = lists[i].end;
	}
	roots->free_list_count = count;
}

bool reach_roots_is_free_list(const struct reach_roots *roots, uint64_t place)
{
	size_t low = 0, high = roots->free_list_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (roots->free_lists[middle].end <= place)
			low = middle + 1;
		else
			high = middle;
	}
	return low < roots->free_list_count && place >= roots->free_lists[low].start;
}

enum leak_root reach_roots_of(const struct reach_roots *roots, uint64_t place)
{
	const struct image_mapping *mapping;
	uint32_t detail;

	switch (claims_find(roots->claims, place, &detail)) {
	case CLAIM:
		return (enum leak_root)detail;
	case PURPOSE_MALLOC_MAIN:
	case PURPOSE_MALLOC_ARENA:
	case PURPOSE_MALLOC_LARGE:
		return LEAK_ROOT_FREE;
	default:
		mapping = image_find(roots->image, place);
		return mapping && mapping->shared ? LEAK_ROOT_SHARED : LEAK_ROOT_UNKNOWN;
	}
}

/* The file in whose data `place` is, without its folder; "" = in none. */
static const char *roots_file(const struct reach_roots *roots, uint64_t place)
{
	const struct module_range *range = module_ranges_at(roots->modules, place);
	const char *name = range ? strrchr(roots->modules->modules[range->module].name, '/') : NULL;

	return name ? name + 1 : "";
}

/* Is it in data of the C library, or of a program that has it in its own file? */
static bool roots_is_library(const struct reach_roots *roots, uint64_t place)
{
	return module_ranges_at(roots->modules, place) &&
	       (roots->modules->module_count <= 2 || !strncmp(roots_file(roots, place), "libc", 4));
}

bool reach_roots_is_loader(const struct reach_roots *roots, enum leak_root root, uint64_t place)
{
	const char *file = root == LEAK_ROOT_STATIC ? roots_file(roots, place) : "";

	return !strncmp(file, "ld-", 3) || !strncmp(file, "ld.so", 5) || !strncmp(file, "ld64", 4);
}

/* glibc: bins and the top lead to headers of free chunks, which lie in the last 8 usable bytes of the block before. */
static bool roots_is_link(const struct reach_roots *roots, enum leak_root root,
			  const struct reach_word *word)
{
	if (word->word != word->block + word->size - sizeof(uint64_t))
		return false;
	return root == LEAK_ROOT_FREE ||
	       (root == LEAK_ROOT_STATIC && roots_is_library(roots, word->place));
}

/* jemalloc: the record of a large block, or of a slab, whose first block it is. */
static bool roots_is_extent(enum leak_root root, const struct reach_word *word)
{
	uint64_t size = word->next & ~(RECORD_PAGE - 1ull);

	return (root == LEAK_ROOT_UNKNOWN || root == LEAK_ROOT_FREE) && word->word == word->block &&
	       word->place % RECORD_ALIGNMENT == RECORD_ADDRESS && size >= word->size &&
	       size < 1ull << 47 &&
	       (word->block % RECORD_PAGE == 0 || size - word->size <= 2 * RECORD_PAGE);
}

bool reach_roots_is_record(const struct reach_roots *roots, enum leak_root root,
			   const struct reach_word *word)
{
	return (roots->has_glibc && roots_is_link(roots, root, word)) ||
	       (roots->has_jemalloc && roots_is_extent(root, word));
}
