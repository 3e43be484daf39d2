/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See generations.h. */
#include "model/generations.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Marks */

void marks_add(struct marks *marks, uint64_t time_ns)
{
	if (marks->count && time_ns <= marks->times_ns[marks->count - 1])
		return;
	marks->times_ns = memory_grow(marks->times_ns, marks->count, &marks->capacity,
				      sizeof(*marks->times_ns));
	marks->times_ns[marks->count++] = time_ns;
}

void marks_free(struct marks *marks)
{
	free(marks->times_ns);
	*marks = (struct marks){ 0 };
}

/* How many are before a time. */
static size_t marks_count_before(const struct marks *marks, uint64_t time_ns)
{
	size_t from = 0, to = marks->count, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (marks->times_ns[middle] < time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

uint64_t marks_before(const struct marks *marks, uint64_t time_ns)
{
	size_t count = marks_count_before(marks, time_ns);

	return count ? marks->times_ns[count - 1] : 0;
}

bool marks_have(const struct marks *marks, uint64_t time_ns)
{
	size_t count = marks_count_before(marks, time_ns);

	return count < marks->count && marks->times_ns[count] == time_ns;
}

/* Generations */

static void generations_sum(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* Where a generation is, or would be. */
static size_t generations_place(const struct generations *generations, uint64_t since_ns)
{
	size_t from = 0, to = generations->count, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (generations->items[middle].since_ns < since_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

const struct generation *generations_find(const struct generations *generations, uint64_t since_ns)
{
	size_t at = generations_place(generations, since_ns);

	if (at == generations->count || generations->items[at].since_ns != since_ns)
		return NULL;
	return &generations->items[at];
}

void generations_add(struct generations *generations, const struct generation *more)
{
	size_t at = generations_place(generations, more->since_ns);
	struct generation *to;

	if (!generations_find(generations, more->since_ns)) {
		generations->items = memory_grow(generations->items, generations->count,
						 &generations->capacity,
						 sizeof(*generations->items));
		to = &generations->items[at];
		memmove(to + 1, to, (generations->count++ - at) * sizeof(*to));
		*to = (struct generation){ .since_ns = more->since_ns };
	}
	to = &generations->items[at];
	generations_sum(&to->bytes, more->bytes);
	generations_sum(&to->objects, more->objects);
}

void generations_copy(struct generations *to, const struct generations *from)
{
	*to = (struct generations){ 0 };
	if (!from->count)
		return;
	to->items = memory_alloc(from->count, sizeof(*to->items));
	memcpy(to->items, from->items, from->count * sizeof(*to->items));
	to->count = to->capacity = from->count;
}

void generations_clear(struct generations *generations)
{
	generations->count = 0;
}

void generations_free(struct generations *generations)
{
	free(generations->items);
	*generations = (struct generations){ 0 };
}

struct generation generations_between(const struct generations *generations, uint64_t from_ns,
				      uint64_t to_ns)
{
	struct generation sum = { .since_ns = from_ns };
	size_t i;

	for (i = 0; i < generations->count; i++) {
		const struct generation *item = &generations->items[i];

		if (item->since_ns < from_ns || item->since_ns >= to_ns)
			continue;
		generations_sum(&sum.bytes, item->bytes);
		generations_sum(&sum.objects, item->objects);
	}
	return sum;
}
