/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See java_classes.h. The class space lies behind the address that short class pointers count from, after the archive of classes,
 * which is a file. What classes consist of besides lies in pieces of the metaspace, which no field leads to: each class leads to some
 * of it, so memory to which many words of the class space lead is metaspace.
 */
#include "objects/java_classes.h"

#include "base/table.h"
#include "image/image_search.h"
#include "objects/java_heap.h"

/* The class space by default: of a larger one, the rest falls to its mapping. */
#define SPACE_DEFAULT (1ull << 30)
/* What is in front of it: the archive of classes. */
#define ARCHIVE_MAX (1ull << 30)

/* Pieces in which the metaspace is given out, and how many words lead to one at least. */
#define PIECE_SHIFT 22
#define POINTERS_MIN 32

static uint64_t classes_find_base(struct image *image, uint64_t table)
{
	static const struct {
		const char *type, *name;
	} places[] = {
		{ "CompressedKlassPointers", "_narrow_klass._base" }, /* 15 to 21 */
		{ "CompressedKlassPointers", "_base" },
		{ "Universe", "_narrow_klass._base" },
	};
	struct java_field field;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (java_find(image, table, places[i].type, places[i].name, &field))
			return image_word(image, field.address);
	return 0;
}

/* Contiguous memory behind the archive: whatever lies there and is no file. */
static bool classes_find_space(const struct image *image, uint64_t base,
			       struct heap_range *ret_range)
{
	const struct image_mapping *mapping = image_find(image, base), *last;
	uint64_t at = base;

	while (mapping && (mapping->inode || !mapping->writable) && at - base < ARCHIVE_MAX) {
		at = mapping->end;
		mapping = image_find(image, at);
	}
	if (!mapping || mapping->inode || mapping->shared || !mapping->writable)
		return false;
	ret_range->start = at;
	for (last = mapping; mapping && !mapping->inode && !mapping->shared &&
			     mapping->start - ret_range->start < SPACE_DEFAULT;
	     mapping = image_find(image, mapping->end))
		last = mapping;
	ret_range->end = last->end - ret_range->start < SPACE_DEFAULT
				 ? last->end
				 : ret_range->start + SPACE_DEFAULT;
	return true;
}

struct classes_search {
	struct image *image;
	struct claims *claims;
	struct heap_range space;
	struct table pieces; /* by number: how many words lead there */
};

static bool classes_count_word(void *context, uint64_t address, uint64_t word)
{
	struct classes_search *search = context;
	uint64_t piece = word >> PIECE_SHIFT;
	uintptr_t count;

	(void)address;
	if (word % 8 || (word >= search->space.start && word < search->space.end) ||
	    !image_search_anonymous(search->image, word, 8) ||
	    claims_find(search->claims, word, NULL) != PURPOSE_UNKNOWN)
		return true;
	count = (uintptr_t)table_get(&search->pieces, piece);
	if (count < POINTERS_MIN)
		table_put(&search->pieces, piece, (void *)(count + 1));
	return true;
}

/* Pieces are private anonymous memory: what else lies between two of them is none of theirs. */
static void classes_claim_piece(struct classes_search *search, uint64_t start, uint64_t end)
{
	const struct image *image = search->image;
	size_t i;

	for (i = image_find_index(image, start);
	     i < image->mapping_count && image->mappings[i].start < end; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (!mapping->inode && !mapping->shared && mapping->writable)
			claims_add(search->claims, PURPOSE_JAVA_CLASS,
				   mapping->start > start ? mapping->start : start,
				   mapping->end < end ? mapping->end : end, 1);
	}
}

static void classes_claim_pieces(struct classes_search *search)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&search->pieces, &cursor)))
		if ((uintptr_t)slot->value >= POINTERS_MIN)
			classes_claim_piece(search, slot->key << PIECE_SHIFT,
					    (slot->key + 1) << PIECE_SHIFT);
}

void java_classes_claim(struct image *image, uint64_t table, struct claims *claims)
{
	struct classes_search search = { .image = image, .claims = claims };
	uint64_t base = classes_find_base(image, table);

	if (!base || !classes_find_space(image, base, &search.space))
		return;
	image_search_words(image, &search.space, classes_count_word, &search);
	claims_add(claims, PURPOSE_JAVA_CLASS, search.space.start, search.space.end, 0);
	classes_claim_pieces(&search);
	table_free(&search.pieces);
}
