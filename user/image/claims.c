/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See claims.h. Claims are kept in the order in which they were made. Before they are looked at, the address space is cut at all
 * their borders, and the pieces are given out in that order: a piece that has an owner is passed over by the links that lead to
 * the next free one, so that hostile overlaps cost no more than others.
 */
#include "image/claims.h"

#include <stdlib.h>

#include "base/memory.h"
#include "image/mapping_purpose.h"
#include "system/page_share.h"

struct claim {
	uint64_t start, end;
	enum purpose purpose;
	uint32_t detail;
};

/* What lies between two borders that follow each other. */
struct claim_piece {
	uint64_t start, end;
	const struct claim *owner; /* NULL = nobody */
	size_t next_free; /* the position itself if nobody has it */
};

struct claims {
	struct claim *items;
	size_t count, capacity;
	struct claim_piece *pieces; /* in the order of addresses */
	size_t piece_count;
	bool is_settled; /* `pieces` has all claims */
};

struct claims *claims_new(void)
{
	return memory_alloc(1, sizeof(struct claims));
}

void claims_free(struct claims *claims)
{
	if (!claims)
		return;
	free(claims->items);
	free(claims->pieces);
	free(claims);
}

void claims_add(struct claims *claims, enum purpose purpose, uint64_t start, uint64_t end,
		uint32_t detail)
{
	if (start >= end || purpose >= PURPOSE_COUNT)
		return;
	claims->items = memory_grow(claims->items, claims->count, &claims->capacity,
				    sizeof(*claims->items));
	claims->items[claims->count++] = (struct claim){ start, end, purpose, detail };
	claims->is_settled = false;
}

static int claims_compare_borders(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Cut at all borders. */
static void claims_cut(struct claims *claims)
{
	uint64_t *borders = memory_alloc(2 * claims->count + 1, sizeof(*borders));
	size_t i, count = 0;

	for (i = 0; i < claims->count; i++) {
		borders[2 * i] = claims->items[i].start;
		borders[2 * i + 1] = claims->items[i].end;
	}
	qsort(borders, 2 * claims->count, sizeof(*borders), claims_compare_borders);
	free(claims->pieces);
	/* One more, which nobody gets: the last link leads to it. */
	claims->pieces = memory_alloc(2 * claims->count + 1, sizeof(*claims->pieces));
	for (i = 0; i + 1 < 2 * claims->count; i++)
		if (borders[i] < borders[i + 1])
			claims->pieces[count++] =
				(struct claim_piece){ borders[i], borders[i + 1], NULL, 0 };
	claims->piece_count = count;
	for (i = 0; i <= count; i++)
		claims->pieces[i].next_free = i;
	free(borders);
}

/* The first piece from `at` on that nobody has. */
static size_t claims_next_free(struct claim_piece *pieces, size_t at)
{
	size_t free_one = at, next;

	while (pieces[free_one].next_free != free_one)
		free_one = pieces[free_one].next_free;
	for (; at != free_one; at = next) {
		next = pieces[at].next_free;
		pieces[at].next_free = free_one;
	}
	return free_one;
}

/* The position of the piece that holds `address`, or that follows it. */
static size_t claims_search(const struct claims *claims, uint64_t address)
{
	size_t low = 0, high = claims->piece_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (claims->pieces[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void claims_give(struct claims *claims, const struct claim *claim)
{
	struct claim_piece *pieces = claims->pieces;
	size_t at = claims_next_free(pieces, claims_search(claims, claim->start));

	while (at < claims->piece_count && pieces[at].start < claim->end) {
		pieces[at].owner = claim;
		pieces[at].next_free = at + 1;
		at = claims_next_free(pieces, at);
	}
}

static void claims_settle(struct claims *claims)
{
	size_t i;

	if (claims->is_settled)
		return;
	claims_cut(claims);
	for (i = 0; i < claims->count; i++)
		claims_give(claims, &claims->items[i]);
	claims->is_settled = true;
}

enum purpose claims_find(struct claims *claims, uint64_t address, uint32_t *ret_detail)
{
	const struct claim_piece *piece;
	size_t at;

	claims_settle(claims);
	at = claims_search(claims, address);
	piece = &claims->pieces[at];
	if (at == claims->piece_count || piece->start > address || !piece->owner)
		return PURPOSE_UNKNOWN;
	if (ret_detail)
		*ret_detail = piece->owner->detail;
	return piece->owner->purpose;
}

/* Sums */

/* Pages of [start, end) by what is in memory. */
static void claims_sum_pages(struct image *image, struct page_share *share, uint64_t start,
			     uint64_t end, struct purpose_sum *sum)
{
	struct image_run run;

	for (; image_next_run(image, start, end, &run); start = run.end) {
		if (run.bits & IMAGE_SWAPPED)
			sum->swap += run.end - run.start;
		if (!(run.bits & IMAGE_PRESENT) || run.bits & IMAGE_ZERO)
			continue;
		sum->rss += run.end - run.start;
		sum->pss +=
			share ? page_share_find(share, run.start, run.end, !(run.bits & IMAGE_FILE))
			      : run.end - run.start;
	}
}

static uint64_t claims_round_up(const struct image *image, uint64_t address)
{
	return (address + image->page_size - 1) & ~(image->page_size - 1);
}

/* A piece of a mapping; pages whose first byte lies in it. What the kernel puts there by itself is no memory of the process. */
static void claims_sum_piece(struct image *image, struct page_share *share,
			     const struct image_mapping *mapping, uint64_t start, uint64_t end,
			     struct purpose_sum *sum)
{
	start = claims_round_up(image, start);
	end = claims_round_up(image, end);
	if (start >= end)
		return;
	sum->mapped += end - start;
	if (mapping_purpose_counts(mapping))
		claims_sum_pages(image, share, start, end, sum);
}

static void claims_sum_mapping(const struct claims *claims, struct image *image,
			       struct page_share *share, const struct image_mapping *mapping,
			       struct purpose_sum sums[PURPOSE_COUNT])
{
	enum purpose own = mapping_purpose_find(image, mapping), purpose;
	uint64_t at = mapping->start, end, before;
	size_t i = claims_search(claims, at);
	bool is_left = false;

	for (; at < mapping->end; at = end) {
		const struct claim_piece *piece = &claims->pieces[i];
		bool inside = i < claims->piece_count && piece->start < mapping->end;
		bool is_owned = false;

		if (inside && piece->start <= at) {
			is_owned = piece->owner;
			purpose = is_owned ? piece->owner->purpose : own;
			end = piece->end < mapping->end ? piece->end : mapping->end;
			i++;
		} else {
			purpose = own;
			end = inside ? piece->start : mapping->end;
		}
		before = sums[purpose].mapped;
		claims_sum_piece(image, share, mapping, at, end, &sums[purpose]);
		is_left |= !is_owned && sums[purpose].mapped > before;
	}
	sums[own].count += is_left;
}

static int claims_compare_details(const void *a, const void *b)
{
	const struct claim *left = *(const struct claim *const *)a;
	const struct claim *right = *(const struct claim *const *)b;

	if (left->purpose != right->purpose)
		return left->purpose < right->purpose ? -1 : 1;
	return (left->detail > right->detail) - (left->detail < right->detail);
}

/* Different details of each purpose, of claims that have got something. */
static void claims_count(const struct claims *claims, struct purpose_sum sums[PURPOSE_COUNT])
{
	const struct claim **owners = memory_alloc(claims->piece_count + 1, sizeof(*owners));
	size_t i, count = 0;

	for (i = 0; i < claims->piece_count; i++)
		if (claims->pieces[i].owner)
			owners[count++] = claims->pieces[i].owner;
	qsort(owners, count, sizeof(*owners), claims_compare_details);
	for (i = 0; i < count; i++)
		if (!i || claims_compare_details(&owners[i - 1], &owners[i]))
			sums[owners[i]->purpose].count++;
	free(owners);
}

void claims_sum(struct claims *claims, struct image *image, struct page_share *share,
		struct purpose_sum sums[PURPOSE_COUNT])
{
	size_t i;

	for (i = 0; i < PURPOSE_COUNT; i++)
		sums[i] = (struct purpose_sum){ 0 };
	claims_settle(claims);
	for (i = 0; i < image->mapping_count; i++)
		if (mapping_purpose_is_own(&image->mappings[i]))
			claims_sum_mapping(claims, image, share, &image->mappings[i], sums);
	claims_count(claims, sums);
}
