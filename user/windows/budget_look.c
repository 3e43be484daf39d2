/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_look.h. */
#include "windows/budget_look.h"

#include <stdlib.h>

#include "base/hash.h"

/* How much of a block is hashed. */
#define LOOK_BYTES 64

/* Blocks are read together if no more than a page lies between them. */
#define GAP_MAX 4096
#define CHUNK_BYTES 65536

static int item_compare(const void *left, const void *right)
{
	const struct look_item *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static uint64_t item_end(const struct look_item *item)
{
	return item->address + (item->size < LOOK_BYTES ? item->size : LOOK_BYTES);
}

static void item_set(struct look_item *item, const unsigned char *bytes)
{
	item->state = LOOK_READ;
	item->length = (uint32_t)(item_end(item) - item->address);
	item->contents = (uint32_t)hash_bytes(HASH_BEGIN, bytes, item->length);
}

/* It was not read with the others: some page among them is not in memory. */
static void look_alone(struct image *image, struct look_item *item)
{
	unsigned char bytes[LOOK_BYTES];
	const uint64_t length = item_end(item) - item->address;
	const struct image_mapping *mapping;

	if (image_read(image, item->address, bytes, length)) {
		item_set(item, bytes);
		return;
	}
	mapping = image_find(image, item->address);
	item->state = LOOK_UNKNOWN;
	/* Where lists are cut, it may be in what they lack. */
	if (!image_is_over(image) && !image->pages_unknown &&
	    (!mapping || !image_page(image, item->address)))
		item->state = LOOK_GONE;
}

static void look_together(struct image *image, struct look_item *items, size_t count)
{
	static unsigned char bytes[CHUNK_BYTES];
	const uint64_t start = items[0].address;
	const size_t got = count > 1 ? image_read_part(image, start, bytes,
						       item_end(&items[count - 1]) - start)
				     : 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (item_end(&items[i]) - start <= got)
			item_set(&items[i], bytes + (items[i].address - start));
		else
			look_alone(image, &items[i]);
	}
}

void budget_look(struct image *image, struct look_item *items, size_t count)
{
	size_t first, next;

	if (count)
		qsort(items, count, sizeof(*items), item_compare);
	for (first = 0; first < count; first = next) {
		for (next = first + 1; next < count; next++)
			if (items[next].address > item_end(&items[next - 1]) + GAP_MAX ||
			    item_end(&items[next]) < items[next].address ||
			    item_end(&items[next]) - items[first].address > CHUNK_BYTES ||
			    item_end(&items[next]) < item_end(&items[next - 1]))
				break;
		look_together(image, &items[first], next - first);
	}
}
