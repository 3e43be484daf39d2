/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_census.h. */
#include "windows/budget_census.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "heap/census_all.h"

/* Of a CPU, censuses take one part in so many, and they are no closer together. What they wait for a CPU costs nobody anything. */
#define REST 50
#define REST_MIN_NS 2000000000

/* A large heap is not walked to its end in one turn: others wait. */
#define WALK_NS 2000000000

/* A walk, and what it is for. */
struct census_pass {
	struct census_counts *counts;
	const struct budget_cohort_set *cohort;
	uint32_t target_id;
};

uint64_t budget_census_usable(const struct budget_census_series *series, uint64_t size)
{
	return census_usable(series->allocator, size);
}

bool budget_census_is_same(const char *allocator, const struct cohort_block *block,
			   const struct census_block *seen)
{
	if (block->sized)
		return seen->size == block->size;
	if (block->added)
		return true;
	return census_fits(allocator, block->size, seen);
}

static void pass_see_block(void *context, const char *allocator, const struct census_block *seen)
{
	struct census_pass *pass = context;
	uint32_t size_class = budget_size_class(seen->size);
	struct cohort_block *block;

	pass->counts->blocks[size_class]++;
	pass->counts->bytes[size_class] += seen->size;
	block = budget_cohort_find(pass->cohort, pass->target_id, seen->address);
	if (!block || !budget_census_is_same(allocator, block, seen))
		return;
	budget_cohort_resize(block, seen->size);
	block->sized = block->counted = true;
}

static void census_set_reason(struct budget_census_series *series, const char *reason)
{
	free(series->reason);
	series->reason = reason ? memory_copy_string(reason) : NULL;
}

/* Of a process with several allocators, all count. True if there was one, and each could be walked. */
static bool census_walk(struct budget_census_series *series, struct image *image,
			struct census_pass *pass)
{
	struct census_all all = { .block = pass_see_block, .context = pass };
	bool whole = census_all_walk(&all, image);

	if (all.allocator)
		series->allocator = all.allocator;
	if (*all.reason.text)
		census_set_reason(series, all.reason.text);
	series->by_address = all.by_address;
	pass->counts->totals.live_blocks = all.live_blocks;
	pass->counts->totals.live_bytes = all.live_bytes;
	pass->counts->totals.unknown_bytes = all.unknown_bytes;
	return whole;
}

/* All blocks of the cohort that are of the process. */
static void census_find_missed(struct budget_cohort_set *cohort, uint32_t target_id,
			       uint64_t now_ns)
{
	struct cohort_block **missed = memory_alloc(cohort->blocks.count + 1, sizeof(*missed));
	const struct table_slot *slot;
	size_t cursor = 0, count = 0, i;

	while ((slot = table_next(&cohort->blocks, &cursor))) {
		struct cohort_block *block = slot->value;

		if (block->target_id != target_id)
			continue;
		block->missed = block->counted ? 0 : (unsigned char)(block->missed + 1);
		block->counted = false;
		if (block->missed > 1)
			missed[count++] = block;
	}
	for (i = 0; i < count; i++)
		budget_cohort_see(cohort, missed[i], now_ns, COHORT_FREED);
	free(missed);
}

/* Of the older ones every second goes, but not the first. */
static void census_make_room(struct budget_census_series *series)
{
	size_t i, kept = 1, half = BUDGET_CENSUSES_MAX / 2;

	if (series->count < BUDGET_CENSUSES_MAX)
		return;
	for (i = 1; i < series->count; i++) {
		if (i < half && i % 2)
			free(series->counts[i]);
		else
			series->counts[kept++] = series->counts[i];
	}
	series->count = kept;
}

static void census_forget_marks(const struct budget_cohort_set *cohort)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&cohort->blocks, &cursor)))
		((struct cohort_block *)slot->value)->counted = false;
}

void budget_census_take(struct budget_census_series *series, struct image *image,
			struct budget_cohort_set *cohort, uint32_t target_id)
{
	struct census_pass pass = { .counts = memory_alloc(1, sizeof(*pass.counts)),
				    .cohort = cohort,
				    .target_id = target_id };
	uint64_t begin_ns = clock_now_ns(), begin_cpu_ns = clock_thread_ns(), now_ns;
	bool whole;

	image->until_ns = begin_ns + WALK_NS;
	whole = census_walk(series, image, &pass);
	image->until_ns = 0;
	now_ns = clock_now_ns();
	series->next_ns = now_ns + REST_MIN_NS + REST * (clock_thread_ns() - begin_cpu_ns);
	if (!whole) {
		if (!series->reason)
			census_set_reason(series, "no heap was recognized, or it took too long");
		census_forget_marks(cohort);
		free(pass.counts);
		return;
	}
	census_set_reason(series, series->by_address
					  ? NULL
					  : "its blocks can be counted, but not which they are");
	pass.counts->totals.time_ns = begin_ns;
	census_make_room(series);
	series->counts[series->count++] = pass.counts;
	if (series->by_address)
		census_find_missed(cohort, target_id, now_ns);
	else
		census_forget_marks(cohort);
}

void budget_census_free(struct budget_census_series *series)
{
	size_t i;

	for (i = 0; i < series->count; i++)
		free(series->counts[i]);
	free(series->reason);
	*series = (struct budget_census_series){ 0 };
}

static bool census_has_class(const struct budget_census_series *series, uint32_t size_class)
{
	size_t i;

	for (i = 0; i < series->count; i++)
		if (series->counts[i]->blocks[size_class])
			return true;
	return false;
}

static void census_report_size(const struct budget_census_series *series, uint32_t size_class,
			       struct budget_size *size)
{
	size_t i;

	size->size_class = size_class;
	size->blocks = memory_alloc(series->count, sizeof(*size->blocks));
	size->bytes = memory_alloc(series->count, sizeof(*size->bytes));
	for (i = 0; i < series->count; i++) {
		size->blocks[i] = series->counts[i]->blocks[size_class];
		size->bytes[i] = series->counts[i]->bytes[size_class];
	}
}

void budget_census_report(const struct budget_census_series *series, uint32_t target_id,
			  uint64_t cpu_ns, struct budget_report *report)
{
	struct budget_heap *heap = budget_report_add_heap(report);
	uint32_t size_class;
	size_t i;

	heap->target_id = target_id;
	heap->cpu_ns = cpu_ns;
	heap->allocator = series->allocator;
	heap->reason = series->reason ? memory_copy_string(series->reason) : NULL;
	heap->censuses = memory_alloc(series->count + 1, sizeof(*heap->censuses));
	heap->census_count = series->count;
	for (i = 0; i < series->count; i++)
		heap->censuses[i] = series->counts[i]->totals;
	heap->sizes = memory_alloc(BUDGET_SIZE_CLASSES, sizeof(*heap->sizes));
	for (size_class = 0; size_class < BUDGET_SIZE_CLASSES; size_class++)
		if (census_has_class(series, size_class))
			census_report_size(series, size_class, &heap->sizes[heap->size_count++]);
}
