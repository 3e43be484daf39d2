/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_longest.h. */
#include "ruby/ruby_longest.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "ruby/ruby_path.h"

#define BYTES_MIN 4096u
#define SAMPLE_SIZE 61 /* with its NUL */

#define STRING_APART (1ull << 13)
#define HASH_TABLE (1ull << 15)
#define TABLE_COUNT (24 + 16) /* in the slot of a hash */

void ruby_longest_put(struct ruby_longest *longest, enum ruby_longest_kind kind,
		      const struct ruby_longest_item *item)
{
	struct ruby_longest_item *items = longest->items[kind];
	size_t place = RUBY_LONGEST;

	while (place && items[place - 1].length < item->length)
		place--;
	if (place == RUBY_LONGEST || item->bytes < BYTES_MIN)
		return;
	memmove(items + place + 1, items + place, (RUBY_LONGEST - 1 - place) * sizeof(items[0]));
	items[place] = *item;
}

void ruby_longest_put_slot(struct ruby_longest *longest, const struct ruby_release *layout,
			   const struct ruby_slot *slot, uint64_t bytes)
{
	struct ruby_longest_item item = { slot->address, 0, bytes };

	/* Nearly all are short. */
	if (bytes < BYTES_MIN)
		return;
	item.length = ruby_slots_word(slot, 16);
	if (slot->type == RUBY_T_STRING && slot->flags & STRING_APART) {
		ruby_longest_put(longest, RUBY_LONGEST_STRING, &item);
	} else if (slot->type == RUBY_T_ARRAY) {
		ruby_longest_put(longest, RUBY_LONGEST_ARRAY, &item);
	} else if (slot->type == RUBY_T_HASH && layout->tables_inside && slot->flags & HASH_TABLE) {
		item.length = ruby_slots_word(slot, TABLE_COUNT);
		ruby_longest_put(longest, RUBY_LONGEST_HASH, &item);
	}
}

static char *longest_sample(const struct ruby_names *names, uint64_t string)
{
	struct buffer safe = { 0 };
	char text[SAMPLE_SIZE];

	ruby_class_string(names, string, text, sizeof(text));
	text_append_safe(&safe, text);
	return safe.data;
}

void ruby_longest_report(const struct ruby_longest *longest, const struct ruby_names *names,
			 bool samples, struct memory_runtime *runtime)
{
	static const char *const kinds[RUBY_LONGEST_KINDS] = { "String", "Array", "Hash" };
	size_t kind, i;

	for (kind = 0; kind < RUBY_LONGEST_KINDS; kind++)
		for (i = 0; i < RUBY_LONGEST && longest->items[kind][i].address; i++) {
			const struct ruby_longest_item *item = &longest->items[kind][i];
			struct memory_longest *row = memory_runtime_add_longest(runtime);

			*row = (struct memory_longest){ .kind = kinds[kind],
							.address = item->address,
							.length = item->length,
							.bytes = item->bytes };
			if (samples && kind == RUBY_LONGEST_STRING)
				row->sample = longest_sample(names, item->address);
		}
}

void ruby_longest_hold(const struct ruby_holders *holders, bool samples,
		       struct memory_runtime *runtime)
{
	struct buffer text = { 0 }, safe = { 0 };
	size_t i;

	for (i = 0; i < runtime->longest_count; i++) {
		uint32_t number = ruby_graph_number(holders->graph, runtime->longest[i].address);

		if (!number || !holders->parents[number])
			continue;
		buffer_clear(&text);
		buffer_clear(&safe);
		ruby_path_append(holders, number, samples, &text);
		text_append_safe(&safe, text.data);
		runtime->longest[i].holder = memory_copy_string(safe.data);
	}
	buffer_free(&text);
	buffer_free(&safe);
}
