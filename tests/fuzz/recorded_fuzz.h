/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorded heap of an allocator (tests/unit/recorded_heap.h), which the input has written over: for each change a place among the words that are not 0
 * and in no block, what to do there, and a word. The census must end after a bounded number of reads, give only blocks in the process's
 * mappings, and count those that it gives. A target defines FUZZ_ALLOCATOR and includes this.
 */
#ifndef TESTS_FUZZ_RECORDED_FUZZ_H
#define TESTS_FUZZ_RECORDED_FUZZ_H

#include "../unit/recorded_heap.h"
#include "fuzz.h"

#define CHANGE 12 /* bytes: place, way, word */
#define CHANGES_MAX 32
#define READS_MAX 400000

struct change {
	uint64_t address, before;
};

static struct recorded_heap *heap;

/* Near a word that is not 0: zeroes are changed, too. */
static uint64_t change_place(const uint8_t *data)
{
	uint32_t number = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16;
	uint64_t address = heap->words[number % heap->word_count];
	uint64_t near = address + (data[3] & 0x40 ? 8 : 0);

	return recorded_heap_page(heap, near) ? near : address;
}

static uint64_t change_word(const uint8_t *data, uint64_t before)
{
	uint64_t word, other;

	memcpy(&word, data + 4, sizeof(word));
	other = heap->words[word % heap->word_count];
	switch (data[3] & 7) {
	case 0:
		return word;
	case 1:
		return before ^ 1ull << (word & 63);
	case 2:
		return before + (int16_t)word;
	case 3:
		return before + (word & 0xffff) * 4096;
	case 4:
		return other;
	case 5:
		return recorded_heap_get(heap, other);
	case 6:
		return word & 1 ? UINT64_MAX : word >> 1 & 1;
	default:
		return (before & ~0xffffffffull) | (uint32_t)word;
	}
}

static size_t change_all(const uint8_t *data, size_t size, struct change changes[CHANGES_MAX])
{
	size_t count = 0;

	for (; size >= CHANGE && count < CHANGES_MAX; data += CHANGE, size -= CHANGE) {
		struct change *change = &changes[count++];

		change->address = change_place(data);
		change->before = recorded_heap_get(heap, change->address);
		recorded_heap_put(heap, change->address, change_word(data, change->before));
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct change changes[CHANGES_MAX];
	struct recorded_found found = { 0 };
	size_t count;

	if (!heap)
		heap = recorded_heap_open(FUZZ_ALLOCATOR);
	MUST(heap && heap->word_count);
	count = change_all(data, size, changes);
	recorded_heap_census(heap, &found);
	MUST(heap->reads <= READS_MAX);
	MUST(!found.outside);
	if (!found.code && !found.totals.counts_only)
		MUST(found.given == found.totals.live_blocks &&
		     found.given_bytes == found.totals.live_bytes);
	heap_totals_free(&found.totals);
	while (count--)
		recorded_heap_put(heap, changes[count].address, changes[count].before);
	return 0;
}

#endif
