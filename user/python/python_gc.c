/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_gc.h. */
#include "python/python_gc.h"

#include <string.h>

/* Of the interpreter's state, this much is searched, with this step: builds pack it in different ways. */
#define STATE_BYTES 0x4000u
#define STATE_STEP 4
/* It is read in pieces, since not all of its pages need be in memory. */
#define STATE_READ 512

/* A generation: head of a list, threshold, count. Low bits of the links are flags. */
#define GENERATION_BYTES 24
#define GENERATION_THRESHOLD 16
#define GENERATION_COUNT 20
#define LINK_FLAGS 3ull
#define LISTS_BYTES ((size_t)PYTHON_GENERATIONS * GENERATION_BYTES)

/* Figures of a generation: collections, collected objects, those that could not be. */
#define FIGURES_BYTES 24
/* From the lists to the figures there are a generation, and up to 3.13 an address of the lists in front of it. */
#define FIGURES_PLACE (LISTS_BYTES + GENERATION_BYTES)
#define PADDING 4

/* In the runtime of 3.13 and later: where in it the first interpreter is. */
#define RUNTIME_PLACE 40

/* While objects come and go, the lists change from one word that is read to the next. */
#define ATTEMPTS 8

/* No counter is as large. */
#define COLLECTIONS_MAX (1ull << 40)

static uint64_t gc_word(const unsigned char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static uint32_t gc_half(const unsigned char *bytes)
{
	uint32_t half;

	memcpy(&half, bytes, sizeof(half));
	return half;
}

static uint64_t gc_find_interpreter(struct python_heap *heap)
{
	unsigned int minor = heap->offsets->minor;
	uint64_t place = minor <= 10 ? 32 : 40;

	if (!heap->runtime)
		return 0;
	if (minor >= 13)
		place = image_word(heap->image, heap->runtime + RUNTIME_PLACE);
	return place < STATE_BYTES ? image_word(heap->image, heap->runtime + place) : 0;
}

/* Can these two words be links of a list? */
static bool gc_may_link(const unsigned char *bytes)
{
	uint64_t next = gc_word(bytes), previous = gc_word(bytes + 8);

	return next > LINK_FLAGS && previous > LINK_FLAGS && next < 1ull << 47 &&
	       previous < 1ull << 47;
}

/* Does a neighbour of a list's head lead back to it? Those that are newer than the image's mappings cannot be read. */
static bool gc_leads_back(struct image *image, uint64_t neighbour, unsigned int back, uint64_t head,
			  bool may_be_newer)
{
	if (may_be_newer && !(neighbour & 7) && !image_find(image, neighbour))
		return true;
	return (image_word(image, neighbour + back) & ~LINK_FLAGS) == head;
}

/* The first object of the oldest generation has been there for long, the last one of any list may just have been made. */
static bool gc_is_list(struct image *image, uint64_t head, bool is_oldest)
{
	uint64_t next = image_word(image, head) & ~LINK_FLAGS;
	uint64_t previous = image_word(image, head + 8) & ~LINK_FLAGS;

	return gc_leads_back(image, next, 8, head, !is_oldest) &&
	       gc_leads_back(image, previous, 0, head, true);
}

static bool gc_are_lists(struct image *image, const unsigned char *bytes, uint64_t address)
{
	size_t i;

	for (i = 0; i < LISTS_BYTES; i += GENERATION_BYTES)
		if (!gc_may_link(bytes + i) ||
		    gc_half(bytes + i + GENERATION_THRESHOLD) > INT32_MAX)
			return false;
	for (i = 0; i < LISTS_BYTES; i += GENERATION_BYTES)
		if (!gc_is_list(image, address + i, i + GENERATION_BYTES == LISTS_BYTES))
			return false;
	return true;
}

/* In front of the lists: whether it is enabled, what is printed, and up to the next word nothing. */
static bool gc_is_enabled(const struct python_heap *heap, const unsigned char *lists,
			  uint64_t address)
{
	return heap->offsets->minor > 13 || gc_half(lists - (address & 4 ? 8 : 12));
}

static bool gc_fill(const struct python_heap *heap, const unsigned char *lists, uint64_t address,
		    struct python_gc *gc)
{
	const unsigned char *figures = lists + FIGURES_PLACE;
	size_t i;

	/* The lists may begin in the middle of a word; then there is half a word before that address. */
	for (i = 0; i <= PADDING; i += STATE_STEP)
		if (gc_word(lists + LISTS_BYTES + i) == address) {
			figures += i + sizeof(uint64_t);
			break;
		}
	gc->lists = address;
	gc->enabled = gc_is_enabled(heap, lists, address);
	for (i = 0; i < PYTHON_GENERATIONS; i++) {
		gc->collections[i] = gc_word(figures + i * FIGURES_BYTES);
		gc->thresholds[i] = gc_half(lists + i * GENERATION_BYTES + GENERATION_THRESHOLD);
		gc->counts[i] = gc_half(lists + i * GENERATION_BYTES + GENERATION_COUNT);
		if (gc->collections[i] > COLLECTIONS_MAX)
			return false;
	}
	return true;
}

static bool gc_search(struct python_heap *heap, uint64_t interpreter, struct python_gc *ret_gc)
{
	const size_t rest =
		FIGURES_PLACE + PADDING + 8 + (size_t)PYTHON_GENERATIONS * FIGURES_BYTES;
	unsigned char bytes[STATE_BYTES] = { 0 };
	size_t i;

	for (i = 0; i < sizeof(bytes); i += STATE_READ)
		image_read(heap->image, interpreter + i, bytes + i, STATE_READ);
	for (i = 16; i + rest <= sizeof(bytes); i += STATE_STEP)
		if (gc_are_lists(heap->image, bytes + i, interpreter + i))
			return gc_fill(heap, bytes + i, interpreter + i, ret_gc);
	return false;
}

bool python_gc_read(struct python_heap *heap, struct python_gc *ret_gc)
{
	uint64_t interpreter = gc_find_interpreter(heap);
	bool is_found = false;
	int i;

	*ret_gc = (struct python_gc){ 0 };
	for (i = 0; interpreter && i < ATTEMPTS && !is_found; i++)
		is_found = gc_search(heap, interpreter, ret_gc);
	return is_found;
}
