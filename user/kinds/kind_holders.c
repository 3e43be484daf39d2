/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kind_holders.h. What the walk has not remembered of blocks is read once, in the order of addresses. */
#include "kinds/kind_holders.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/deadline.h"
#include "base/memory.h"
#include "kinds/kind_index.h"
#include "image/window.h"

#define HOLDERS_WINDOW (1u << 20)
#define HOLDERS_STEP 4096 /* blocks between two looks at the clock */
#define HOLDERS_NEAR 64 /* bytes between words of one static: an array, a table */
#define HOLDERS_ALIKE 16 /* bytes: an allocator rounds up now and then */

/* A part of memory that is read for words. */
struct scan {
	struct kind_holders *holders;
	struct kind_index index;
	struct window window;
	enum kind_holder holder;
	uint32_t by; /* the block, if it is one */
	uint32_t root; /* the position, if it is one */
	/* Of statics: where the last word was, what it holds, and the first word of that run. */
	uint64_t last, first;
	uint32_t last_row;
};

uint32_t kind_holders_first(struct kind_holders *holders, uint32_t i)
{
	struct kind_held *items = holders->items;

	while (items[i].parent != i) {
		items[i].parent = items[items[i].parent].parent;
		i = items[i].parent;
	}
	return i;
}

/* May they be nodes of one list or tree? */
static bool scan_are_alike(const struct kind_holders *holders, uint32_t a, uint32_t b)
{
	const struct kind_block *left = &holders->census->list.items[a];
	const struct kind_block *right = &holders->census->list.items[b];
	uint64_t larger = left->bytes > right->bytes ? left->bytes : right->bytes;
	uint64_t smaller = left->bytes > right->bytes ? right->bytes : left->bytes;

	if (left->row == right->row)
		return true;
	return left->row != KIND_REST && right->row != KIND_REST && holders->plain[left->row] &&
	       holders->plain[right->row] && larger - smaller <= HOLDERS_ALIKE;
}

/* The lower address stays the first one. */
static void scan_unite(struct kind_holders *holders, uint32_t a, uint32_t b)
{
	uint32_t left = kind_holders_first(holders, a), right = kind_holders_first(holders, b);
	uint32_t first = left < right ? left : right, other = left < right ? right : left;
	struct kind_held *one = &holders->items[first], *two = &holders->items[other];

	if (first == other)
		return;
	two->parent = first;
	one->is_linked = true;
	one->is_mixed |= two->is_mixed || holders->census->list.items[first].bytes !=
						  holders->census->list.items[other].bytes;
}

/* Statics are read upward: words near each other that hold blocks of one kind are one array. */
static uint64_t scan_place(struct scan *scan, uint64_t place, uint32_t row)
{
	if (scan->holder != HOLDER_STATIC)
		return place;
	if (row != scan->last_row || place - scan->last > HOLDERS_NEAR)
		scan->first = place;
	scan->last = place;
	scan->last_row = row;
	return scan->first;
}

static void scan_word(struct scan *scan, uint64_t word, uint64_t place)
{
	struct kind_holders *holders = scan->holders;
	uint32_t found = kind_index_find(&scan->index, word);
	struct kind_held *held;

	if (found == KIND_NO_BLOCK || found == scan->by)
		return;
	if (scan->by != KIND_NO_BLOCK && scan_are_alike(holders, found, scan->by)) {
		scan_unite(holders, found, scan->by);
		return;
	}
	place = scan_place(scan, place, holders->census->list.items[found].row);
	held = &holders->items[found];
	if (scan->holder > held->holder) {
		held->holder = (uint8_t)scan->holder;
		held->place = place;
		held->by = scan->holder == HOLDER_RUNTIME ? scan->root : scan->by;
	}
}

/* What is in memory of [start, end). */
static void scan_range(struct scan *scan, uint64_t start, uint64_t end)
{
	const unsigned char *bytes;
	uint64_t word;
	size_t got, at;

	for (start = (start + 7) & ~7ull; start + 8 <= end; start += got & ~(size_t)7) {
		bytes = window_get_part(&scan->window, start, end - start, &got);
		if (got < 8) {
			uint64_t next;

			if (!image_next_present(scan->window.image, start, end, &start, &next) ||
			    start + 8 > end)
				return;
			bytes = window_get_part(&scan->window, start, end - start, &got);
			/* It has gone, or is not what it was: the next page. */
			if (got < 8) {
				if (deadline_has_passed(scan->window.image->until_ns))
					return;
				start = (start | 4095) + 1;
				got = 0;
			}
		}
		for (at = 0; at + 8 <= got; at += 8) {
			memcpy(&word, bytes + at, 8);
			scan_word(scan, word, start + at);
		}
	}
}

static void scan_statics(struct scan *scan)
{
	const struct module_ranges *modules = scan->holders->census->modules;
	size_t i;

	scan->holder = HOLDER_STATIC;
	for (i = 0; i < modules->count; i++)
		if (module_range_is_writable(&modules->items[i]))
			scan_range(scan, modules->items[i].start, modules->items[i].end);
}

static void scan_threads(struct scan *scan, const struct thread_list *threads)
{
	const struct image *image = scan->window.image;
	size_t i;

	for (i = 0; i < threads->count; i++) {
		const struct thread_info *thread = &threads->items[i];

		scan->holder = HOLDER_THREAD;
		if (thread->tls_start < thread->descriptor)
			scan_range(scan, thread->tls_start, thread->descriptor);
		scan->holder = HOLDER_STACK;
		if (thread->state == THREAD_RUNS && thread->stack_start < thread->stack_end)
			scan_range(scan, thread->stack_start, thread->stack_end);
	}
	for (i = 0; i < image->mapping_count; i++)
		if (!strcmp(image->mappings[i].name, "[stack]"))
			scan_range(scan, image->mappings[i].start, image->mappings[i].end);
}

static bool scan_roots(struct scan *scan, const struct kind_roots *roots)
{
	size_t i;

	scan->holder = HOLDER_RUNTIME;
	for (i = 0; i < roots->count; i++) {
		if (deadline_has_passed(scan->window.image->until_ns))
			return false;
		scan->root = (uint32_t)i;
		scan_range(scan, roots->items[i].start, roots->items[i].end);
	}
	return true;
}

/* The block that is read. */
static void scan_enter(struct scan *scan, uint32_t i)
{
	uint32_t row = scan->holders->census->list.items[i].row;

	scan->by = i;
	scan->holder = row == KIND_REST ? HOLDER_BLOCK : scan->holders->ranks[row];
}

/* What the walk has remembered, and what it had not at hand. */
static bool scan_pointers(struct scan *scan)
{
	const struct kind_census *census = scan->holders->census;
	const struct kind_pointers *pointers = &census->pointers;
	const struct kind_block *block;
	uint64_t last = 0;
	uint32_t found = KIND_NO_BLOCK;
	size_t i;

	for (i = 0; i < pointers->count; i++) {
		const struct kind_pointer *pointer = &pointers->items[i];

		if (i % HOLDERS_STEP == 0 && deadline_has_passed(census->image->until_ns))
			return false;
		if (pointer->block != last)
			found = kind_index_find(&scan->index, pointer->block);
		last = pointer->block;
		if (found == KIND_NO_BLOCK)
			continue;
		scan_enter(scan, found);
		scan_word(scan, pointer->word, pointer->block + pointer->at * sizeof(uint64_t));
	}
	for (i = 0; i < pointers->rest_count; i++) {
		found = kind_index_find(&scan->index, pointers->rests[i].block);
		if (found == KIND_NO_BLOCK)
			continue;
		if (deadline_has_passed(census->image->until_ns))
			return false;
		scan_enter(scan, found);
		block = &census->list.items[found];
		scan_range(scan, block->address + pointers->rests[i].from,
			   block->address + block->bytes);
	}
	return true;
}

static bool scan_blocks(struct scan *scan)
{
	const struct kind_census *census = scan->holders->census;
	const struct kind_block *block;
	size_t i;

	if (census->pointers.is_whole)
		return scan_pointers(scan);

	for (i = 0; i < census->list.count; i++) {
		if (i % HOLDERS_STEP == 0 && deadline_has_passed(census->image->until_ns))
			return false;
		block = &census->list.items[i];
		scan_enter(scan, (uint32_t)i);
		scan_range(scan, block->address, block->address + block->bytes);
	}
	return !deadline_has_passed(census->image->until_ns);
}

static void holders_open(struct kind_holders *holders, struct kind_census *census)
{
	static const char *const plain[] = { "data", "pointers", "zeroes", "tree node" };
	size_t i, n;

	*holders = (struct kind_holders){ .census = census };
	holders->items = memory_alloc(census->list.count, sizeof(*holders->items));
	for (i = 0; i < census->list.count; i++)
		holders->items[i].parent = (uint32_t)i;
	holders->plain = memory_alloc(census->row_count + 1, sizeof(*holders->plain));
	holders->ranks = memory_alloc(census->row_count + 1, sizeof(*holders->ranks));
	for (i = 0; i < census->row_count; i++) {
		const char *kind = census->rows[i]->kind;

		for (n = 0; n < sizeof(plain) / sizeof(*plain); n++)
			holders->plain[i] |= !strcmp(kind, plain[n]);
		holders->ranks[i] = !strcmp(kind, "class") || !strcmp(kind, "vtable")
					    ? HOLDER_CLASS
					    : HOLDER_BLOCK;
	}
}

/* The best of those that are one. */
static void holders_gather(struct kind_holders *holders)
{
	size_t i;

	for (i = 0; i < holders->census->list.count; i++) {
		struct kind_held *held = &holders->items[i];
		struct kind_held *first = &holders->items[kind_holders_first(holders, (uint32_t)i)];

		if (held->holder > first->holder) {
			first->holder = held->holder;
			first->place = held->place;
			first->by = held->by;
		}
	}
}

bool kind_holders_find(struct kind_holders *holders, struct kind_census *census,
		       const struct thread_list *threads, const struct kind_roots *roots)
{
	struct scan scan = { .holders = holders, .by = KIND_NO_BLOCK };
	bool has_all;

	holders_open(holders, census);
	holders->roots = roots;
	kind_index_fill(&scan.index, &census->list);
	window_open(&scan.window, census->image, HOLDERS_WINDOW);
	scan_statics(&scan);
	scan_threads(&scan, threads);
	has_all = scan_roots(&scan, roots) && scan_blocks(&scan);
	window_close(&scan.window);
	kind_index_free(&scan.index);
	holders_gather(holders);
	return has_all;
}

void kind_holders_free(struct kind_holders *holders)
{
	free(holders->items);
	free(holders->plain);
	free(holders->ranks);
	*holders = (struct kind_holders){ 0 };
}

void kind_roots_add(struct kind_roots *roots, uint64_t start, uint64_t end, const char *name)
{
	roots->items =
		memory_grow(roots->items, roots->count, &roots->capacity, sizeof(*roots->items));
	roots->items[roots->count++] = (struct kind_root){ start, end, name };
}

static int roots_compare(const void *left, const void *right)
{
	const struct kind_root *a = left, *b = right;

	return compare_numbers(a->start, b->start);
}

void kind_roots_sort(struct kind_roots *roots)
{
	if (roots->count)
		qsort(roots->items, roots->count, sizeof(*roots->items), roots_compare);
}

uint64_t kind_roots_bytes(const struct kind_roots *roots)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < roots->count; i++)
		bytes += roots->items[i].end - roots->items[i].start;
	return bytes;
}

void kind_roots_free(struct kind_roots *roots)
{
	free(roots->items);
	*roots = (struct kind_roots){ 0 };
}
