/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcmalloc's spans: those pages of its tree's leaves that are in memory, each entry that is a span's first page. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "heap/tcmalloc.h"

#define RECORD 48
#define CENTRAL_SPANS 112 /* how many a class has, and how many objects are in their lists */
#define LEAF_ENTRIES (TCMALLOC_LEAF / 8)
/* Limits of what somebody else chose. */
#define LEAVES_MOST 16384
#define ODD_MOST 65536
#define TRIES 3
#define OBJECTS_MOST 65535 /* of a span: it counts them in 16 bits */

struct tcmalloc_reader {
	const struct heap_layout *layout;
	struct image *image;
	struct tcmalloc_spans *spans;
	uint64_t leaf, slot, last;
	uint64_t until; /* page number: pages below belong to spans that were read */
};

bool tcmalloc_span_read(struct image *image, uint64_t record, uint64_t page,
			struct tcmalloc_span *ret_span)
{
	uint64_t words[RECORD / 8];
	uint32_t bits;

	if (!record || record & 7 || record >> 48 ||
	    !image_read(image, record, words, sizeof(words)))
		return false;
	bits = (uint32_t)words[5];
	if (words[0] > page || page - words[0] >= words[1] || words[1] >> 34 || words[0] >> 35)
		return false;
	*ret_span = (struct tcmalloc_span){ .record = record,
					    .start = words[0] << TCMALLOC_PAGE_SHIFT,
					    .size = words[1] << TCMALLOC_PAGE_SHIFT,
					    .objects = words[4],
					    .references = bits & 0xffff,
					    .size_class = bits >> 16 & 0xff,
					    .location = bits >> 24 & 3 };
	return ret_span->location <= TCMALLOC_RETURNED && ret_span->size_class < TCMALLOC_CLASSES;
}

bool tcmalloc_span_is_same(struct image *image, const struct tcmalloc_span *span,
			   struct tcmalloc_span *ret_now)
{
	return tcmalloc_span_read(image, span->record, span->start >> TCMALLOC_PAGE_SHIFT,
				  ret_now) &&
	       ret_now->start == span->start && ret_now->size == span->size &&
	       ret_now->size_class == span->size_class && ret_now->location == span->location;
}

bool tcmalloc_class_counters(const struct heap_layout *layout, struct image *image,
			     unsigned int size_class, uint64_t ret_counters[2])
{
	return image_read(image, layout->central + TCMALLOC_CENTRAL * size_class + CENTRAL_SPANS,
			  ret_counters, 2 * sizeof(*ret_counters));
}

static bool tcmalloc_span_is_sound(const struct heap_layout *layout,
				   const struct tcmalloc_span *span)
{
	uint64_t size = layout->sizes[span->size_class];

	/* Only spans of objects count any. */
	if (span->location != TCMALLOC_IN_USE || !span->size_class)
		return !span->references;
	return size && size <= span->size && span->size / size <= OBJECTS_MOST &&
	       span->references <= span->size / size;
}

static void tcmalloc_spans_add(struct tcmalloc_reader *reader, const struct tcmalloc_span *span)
{
	struct tcmalloc_spans *spans = reader->spans;

	spans->items =
		memory_grow(spans->items, spans->count, &spans->capacity, sizeof(*spans->items));
	spans->items[spans->count++] = *span;
	reader->until = (span->start + span->size) >> TCMALLOC_PAGE_SHIFT;
}

static bool tcmalloc_read_entry(void *context, uint64_t address, uint64_t entry)
{
	struct tcmalloc_reader *reader = context;
	uint64_t page = reader->slot * LEAF_ENTRIES + (address - reader->leaf) / 8;
	struct tcmalloc_span span = { 0 };
	bool sound = false;
	unsigned int i;

	if (page < reader->until && entry == reader->last)
		return true;
	reader->last = entry;
	for (i = 0; i < TRIES && !sound; i++)
		sound = tcmalloc_span_read(reader->image, entry, page, &span) &&
			tcmalloc_span_is_sound(reader->layout, &span);
	if (sound && span.start >> TCMALLOC_PAGE_SHIFT == page && page >= reader->until)
		tcmalloc_spans_add(reader, &span);
	/* Pages inside of spans that were merged still lead to those which they were in. */
	else if (page >= reader->until)
		reader->spans->odd_spans++;
	return reader->spans->odd_spans < ODD_MOST + reader->spans->count;
}

/* Leaves do not overlap: what they hold in memory bounds what is read of them. */
static bool tcmalloc_leaf_is_new(const struct tcmalloc_spans *spans, uint64_t leaf)
{
	size_t i;

	for (i = 0; i < spans->leaf_count; i++)
		if (leaf + TCMALLOC_LEAF > spans->leaves[i] &&
		    leaf < spans->leaves[i] + TCMALLOC_LEAF)
			return false;
	return spans->leaf_count < LEAVES_MOST;
}

static bool tcmalloc_read_leaf(void *context, uint64_t address, uint64_t leaf)
{
	struct heap_range range = { leaf, leaf + TCMALLOC_LEAF };
	struct tcmalloc_reader *reader = context;
	struct tcmalloc_spans *spans = reader->spans;

	if (leaf >> 48 || !image_search_anonymous(reader->image, leaf, TCMALLOC_LEAF) ||
	    !tcmalloc_leaf_is_new(spans, leaf)) {
		spans->odd_leaves++;
		return true;
	}
	spans->leaves = memory_grow(spans->leaves, spans->leaf_count, &spans->leaf_capacity,
				    sizeof(*spans->leaves));
	spans->leaves[spans->leaf_count++] = leaf;
	reader->leaf = leaf;
	reader->slot = (address - reader->layout->root) / 8;
	reader->last = 0;
	return image_search_words(reader->image, &range, tcmalloc_read_entry, reader);
}

void tcmalloc_spans_read(const struct heap_layout *layout, struct image *image,
			 struct tcmalloc_spans *ret_spans)
{
	struct tcmalloc_reader reader = { .layout = layout, .image = image, .spans = ret_spans };
	struct heap_range root = { layout->root, layout->root + TCMALLOC_ROOT };
	uint64_t counters[2];
	unsigned int i;

	memset(ret_spans, 0, sizeof(*ret_spans));
	for (i = 1; i < TCMALLOC_CLASSES && layout->sizes[i]; i++)
		if (tcmalloc_class_counters(layout, image, i, counters))
			ret_spans->expected[i] = counters[0];
	image_search_words(image, &root, tcmalloc_read_leaf, &reader);
}

void tcmalloc_spans_free(struct tcmalloc_spans *spans)
{
	free(spans->items);
	free(spans->leaves);
	memset(spans, 0, sizeof(*spans));
}
