/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See classes.h. */
#include "recording/classes.h"

#include <inttypes.h>
#include <string.h>

#include "recording/number_rows.h"

void classes_append(struct buffer *text, const uint64_t classes[LIFE_CLASSES])
{
	unsigned int count = LIFE_CLASSES, i;

	while (count && !classes[count - 1])
		count--;
	for (i = 0; i < count; i++)
		buffer_printf(text, "%c%" PRIu64, i ? ',' : '[',
			      classes[i] < INT64_MAX ? classes[i] : INT64_MAX);
	if (count)
		buffer_append_string(text, "]");
}

bool classes_parse(const char *text, uint64_t ret_classes[LIFE_CLASSES])
{
	unsigned int i;

	memset(ret_classes, 0, LIFE_CLASSES * sizeof(*ret_classes));
	if (!text)
		return true;
	for (i = 0; i < LIFE_CLASSES; i++) {
		if (*text++ != (i ? ',' : '[') || !number_rows_parse_number(&text, &ret_classes[i]))
			return false;
		if (*text == ']')
			return !text[1];
	}
	return false;
}

static uint64_t classes_later(uint64_t age_ns, uint64_t ns)
{
	return age_ns < UINT64_MAX - ns ? age_ns + ns : UINT64_MAX;
}

/* How many of `blocks`, whose ages are evenly spread from `from` until `until`, are younger than `age`. */
static uint64_t classes_younger(uint64_t blocks, uint64_t from, uint64_t until, uint64_t age)
{
	if (age <= from)
		return 0;
	if (age >= until)
		return blocks;
	return (uint64_t)((unsigned __int128)blocks * (age - from) / (until - from));
}

void classes_grow_older(uint64_t ages[LIFE_CLASSES], uint64_t ns, uint64_t oldest_ns)
{
	uint64_t older[LIFE_CLASSES] = { 0 };
	unsigned int i, to;

	if (!ns)
		return;
	for (i = 0; i < LIFE_CLASSES; i++) {
		const uint64_t from = classes_later(lifespans_class_start(i), ns);
		uint64_t until = classes_later(lifespans_class_end(i), ns), younger;

		if (oldest_ns >= from && oldest_ns < until)
			until = oldest_ns;
		to = lifespans_class(from);
		younger = classes_younger(ages[i], from, until, lifespans_class_end(to));
		older[to] += younger;
		older[to + (to < LIFE_CLASSES - 1)] += ages[i] - younger;
	}
	memcpy(ages, older, sizeof(older));
}

bool classes_differ(const uint64_t ages[LIFE_CLASSES], const uint64_t other[LIFE_CLASSES])
{
	unsigned __int128 blocks = 0, moved = 0;
	unsigned int i;

	for (i = 0; i < LIFE_CLASSES; i++) {
		blocks += ages[i];
		moved += ages[i] > other[i] ? ages[i] - other[i] : 0;
	}
	return moved * CLASSES_PART > blocks;
}
