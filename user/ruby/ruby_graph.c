/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_graph.h. */
#include "ruby/ruby_graph.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

struct ruby_graph_page {
	uint64_t body;
	uint32_t start, slot_size, total_slots;
	uint32_t first; /* number of its first slot */
	const unsigned char *bytes; /* its slots */
};

#define BLOCK 4096u
#define HUGE_PAGE (2u << 20)
#define BLOCKS 512u

struct ruby_graph_block {
	uint64_t address;
	size_t length; /* 0 = nothing is there, or nothing was read yet */
	unsigned char bytes[BLOCK];
};

static void graph_grow_states(struct ruby_graph *graph, size_t count)
{
	if (count <= graph->state_capacity)
		return;
	graph->state_capacity = count * 2;
	graph->states = memory_resize(graph->states, graph->state_capacity, 1);
}

static void graph_add_page(struct ruby_graph *graph, const struct ruby_page *page)
{
	unsigned char *bytes = graph->bytes + graph->page_count * graph->heap->layout->page_size;
	struct ruby_graph_page *copy = &graph->pages[graph->page_count++];
	struct ruby_slot slot;
	uint32_t i;

	*copy = (struct ruby_graph_page){
		.body = page->body,
		.start = page->start,
		.slot_size = page->slot_size,
		.total_slots = page->total_slots,
		.first = graph->count + 1,
		.bytes = bytes,
	};
	memcpy(bytes, page->bytes + page->start, (size_t)page->slot_size * page->total_slots);
	graph_grow_states(graph, graph->count + 1ull + page->total_slots);
	for (i = 0; i < page->total_slots; i++) {
		ruby_slots_get(page, i, &slot);
		graph->states[copy->first + i] = (unsigned char)slot.state;
		graph->has_generic |= slot.state != RUBY_MISSING && ruby_slots_has_generic(&slot);
	}
	graph->count += page->total_slots;
	table_put(&graph->by_body, page->body, (void *)(uintptr_t)graph->page_count);
}

/* Room for all pages. Most of the time went to faults of 4 KB: huge pages take few of them. */
static unsigned char *graph_new_bytes(uint64_t size)
{
	unsigned char *bytes = memory_alloc(1, size);
	uintptr_t start = ((uintptr_t)bytes + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)bytes + size) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	return bytes;
}

bool ruby_graph_load(struct ruby_graph *graph, struct ruby_heap *heap, struct ruby_names *names,
		     uint64_t max_bytes)
{
	struct ruby_page page;
	size_t i;

	*graph = (struct ruby_graph){ .heap = heap, .names = names };
	if ((uint64_t)heap->page_count * heap->layout->page_size > max_bytes)
		return false;
	graph->pages = memory_alloc(heap->page_count + 1, sizeof(graph->pages[0]));
	graph->bytes = graph_new_bytes((uint64_t)heap->page_count * heap->layout->page_size);
	graph->blocks = memory_alloc(BLOCKS, sizeof(graph->blocks[0]));
	for (i = 0; i < heap->page_count; i++)
		if (ruby_heap_read(heap, i, &page) && !table_get(&graph->by_body, page.body))
			graph_add_page(graph, &page);
	return graph->count;
}

void ruby_graph_free(struct ruby_graph *graph)
{
	free(graph->pages);
	free(graph->bytes);
	free(graph->states);
	free(graph->blocks);
	table_free(&graph->by_body);
	table_free(&graph->generic);
	*graph = (struct ruby_graph){ 0 };
}

uint32_t ruby_graph_number(const struct ruby_graph *graph, uint64_t address)
{
	uint64_t mask = graph->heap->layout->page_size - 1;
	const struct ruby_graph_page *page;
	uint32_t offset = address & mask, number;
	uintptr_t place;

	if (!address || address & 7)
		return 0;
	place = (uintptr_t)table_get(&graph->by_body, address & ~mask);
	if (!place)
		return 0;
	page = &graph->pages[place - 1];
	if (offset < page->start || (offset - page->start) % page->slot_size ||
	    (offset - page->start) / page->slot_size >= page->total_slots)
		return 0;
	number = page->first + (offset - page->start) / page->slot_size;
	return graph->states[number] == RUBY_LIVE || graph->states[number] == RUBY_NEWBORN ? number
											   : 0;
}

static const struct ruby_graph_page *graph_page_of(const struct ruby_graph *graph, uint32_t number)
{
	size_t low = 0, high = graph->page_count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (graph->pages[middle].first <= number)
			low = middle;
		else
			high = middle;
	}
	return &graph->pages[low];
}

void ruby_graph_slot(const struct ruby_graph *graph, uint32_t number, struct ruby_slot *ret_slot)
{
	const struct ruby_graph_page *page = graph_page_of(graph, number);
	uint32_t offset = (number - page->first) * page->slot_size;
	struct ruby_slot slot = {
		.address = page->body + page->start + offset,
		.bytes = page->bytes + offset,
		.size = page->slot_size,
		.state = (enum ruby_state)graph->states[number],
	};

	slot.flags = ruby_slots_word(&slot, 0);
	slot.class = ruby_slots_word(&slot, 8);
	slot.type = (enum ruby_type)(slot.flags & (RUBY_TYPES - 1));
	*ret_slot = slot;
}

static const struct ruby_graph_block *graph_block(const struct ruby_graph *graph, uint64_t address)
{
	struct ruby_graph_block *block = &graph->blocks[address / BLOCK % BLOCKS];

	address &= ~(uint64_t)(BLOCK - 1);
	if (block->address != address) {
		block->address = address;
		block->length = image_read_part(graph->heap->image, address, block->bytes, BLOCK);
	}
	return block;
}

size_t ruby_graph_read(const struct ruby_graph *graph, uint64_t address, void *bytes, size_t size)
{
	size_t done = 0, from, part;

	while (done < size) {
		const struct ruby_graph_block *block = graph_block(graph, address + done);

		from = (address + done) % BLOCK;
		if (from >= block->length)
			break;
		part = block->length - from;
		part = part < size - done ? part : size - done;
		memcpy((char *)bytes + done, block->bytes + from, part);
		done += part;
	}
	return done;
}

uint64_t ruby_graph_word(const struct ruby_graph *graph, uint64_t address)
{
	uint64_t word;

	return ruby_graph_read(graph, address, &word, sizeof(word)) == sizeof(word) ? word : 0;
}
