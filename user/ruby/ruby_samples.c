/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_samples.h. */
#include "ruby/ruby_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "ruby/ruby_path.h"

#define SAMPLES 24 /* of a class */
#define WAYS 2 /* that are shown of a class */

struct sample_row {
	uint64_t seen;
	uint32_t numbers[SAMPLES];
};

/* Ways of one shape. */
struct sample_way {
	uint64_t shape;
	unsigned int count;
	char *text; /* the first one; owned */
};

/* Each object has the same chance. */
static void samples_add(struct sample_row *row, uint32_t number)
{
	uint64_t place = row->seen++;

	if (place >= SAMPLES)
		place = hash_word(HASH_BEGIN, number) % row->seen;
	if (place < SAMPLES)
		row->numbers[place] = number;
}

static struct sample_row *samples_take(const struct ruby_graph *graph, const struct ruby_rows *rows,
				       const struct memory_runtime *runtime)
{
	struct sample_row *taken = memory_alloc(rows->count + 1, sizeof(*taken));
	struct ruby_slot slot;
	uint32_t number;
	size_t row;

	for (number = 1; number <= graph->count; number++) {
		if (graph->states[number] != RUBY_LIVE)
			continue;
		ruby_graph_slot(graph, number, &slot);
		row = rows->find(rows->context, &slot);
		if (row >= rows->count || row >= runtime->class_count)
			continue;
		if (!rows->keep || !runtime->classes[row].retained ||
		    ruby_keep_has(rows->keep, slot.address))
			samples_add(&taken[row], number);
	}
	return taken;
}

static void samples_add_way(struct sample_way *ways, size_t *count, struct buffer *text)
{
	uint64_t shape = ruby_path_shape(text->data);
	size_t i;

	for (i = 0; i < *count && ways[i].shape != shape;)
		i++;
	if (i == *count)
		ways[(*count)++] = (struct sample_way){ shape, 0, memory_copy_string(text->data) };
	ways[i].count++;
}

static int samples_compare(const void *left, const void *right)
{
	const struct sample_way *a = left, *b = right;

	return a->count < b->count ? 1 : a->count > b->count ? -1 : strcmp(a->text, b->text);
}

/* A way with the share of the samples that have it. */
static char *samples_describe(const struct sample_way *way, unsigned int all)
{
	struct buffer safe = { 0 };
	char *text;

	text_append_safe(&safe, way->text);
	if (way->count < all)
		text = memory_format("%s (%u of %u)", safe.data, way->count, all);
	else
		text = memory_format("%s", safe.data);
	buffer_free(&safe);
	return text;
}

static void samples_hold_row(const struct ruby_holders *holders, const struct sample_row *row,
			     bool samples, struct memory_class *class)
{
	unsigned int taken = row->seen < SAMPLES ? (unsigned int)row->seen : SAMPLES, i;
	struct sample_way ways[SAMPLES];
	struct buffer text = { 0 };
	size_t count = 0, shown;

	for (i = 0; i < taken; i++) {
		if (!holders->parents[row->numbers[i]])
			continue;
		buffer_clear(&text);
		ruby_path_append(holders, row->numbers[i], samples, &text);
		samples_add_way(ways, &count, &text);
	}
	buffer_free(&text);
	qsort(ways, count, sizeof(ways[0]), samples_compare);
	shown = count < WAYS ? count : WAYS;
	class->holders = memory_alloc(shown + 1, sizeof(class->holders[0]));
	class->holder_percent = count && taken ? ways[0].count * 100 / taken : 0;
	for (i = 0; i < shown; i++)
		class->holders[class->holder_count++] = samples_describe(&ways[i], taken);
	for (i = 0; i < count; i++)
		free(ways[i].text);
}

void ruby_samples_hold(const struct ruby_holders *holders, const struct ruby_rows *rows,
		       bool samples, struct memory_runtime *runtime)
{
	struct sample_row *taken = samples_take(holders->graph, rows, runtime);
	size_t i;

	for (i = 0; i < rows->count && i < runtime->class_count; i++)
		samples_hold_row(holders, &taken[i], samples, &runtime->classes[i]);
	free(taken);
}
