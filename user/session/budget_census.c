/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_census.h. */
#include "session/budget_census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "heap/census.h"

/* Of a CPU, censuses take one part in so many, and they are no closer together. What they wait for a CPU costs nobody anything. */
#define REST 50
#define REST_MIN_NS 2000000000

/* A large heap is not walked to its end in one turn: others wait. */
#define WALK_NS 2000000000

/* Structures that change all the time are not recognized each time. */
#define FIND_TRIES 4

/* glibc's chunks are multiples of this. One that has too little left over for another is larger by one. */
#define CHUNK_STEP 16

/* A block with a mapping of its own has whole pages, which may be huge. */
#define MAPPED_MORE (2u << 20)

/* A walk, and what it is for. */
struct census_pass {
	const char *allocator; /* the one that is walked */
	struct census_counts *counts;
	const struct budget_cohort_set *cohort;
	uint32_t target_id;
};

static bool allocator_is_glibc(const char *allocator)
{
	return allocator && !strcmp(allocator, "glibc");
}

/* Of a chunk of glibc's, 8 bytes are its own; other allocators have classes that the census knows. */
static uint64_t allocator_usable(const char *allocator, uint64_t size)
{
	if (!allocator_is_glibc(allocator) || size > INT64_MAX)
		return size;
	return size <= 24 ? 24 : ((size + 8 + CHUNK_STEP - 1) & ~(CHUNK_STEP - 1ull)) - 8;
}

uint64_t budget_census_usable(const struct budget_census_series *series, uint64_t size)
{
	return allocator_usable(series->allocator, size);
}

bool budget_census_is_same(const char *allocator, const struct cohort_block *block,
			   const struct census_block *seen)
{
	uint64_t least = allocator_usable(allocator, block->size);

	if (block->sized)
		return seen->size == block->size;
	if (block->added)
		return true;
	if (seen->size < least)
		return false;
	if (seen->mapped)
		return seen->size - least < MAPPED_MORE;
	return !allocator_is_glibc(allocator) || seen->size - least <= CHUNK_STEP;
}

static bool pass_see_block(void *context, const struct census_block *seen)
{
	struct census_pass *pass = context;
	uint32_t size_class = budget_size_class(seen->size);
	struct cohort_block *block;

	pass->counts->blocks[size_class]++;
	pass->counts->bytes[size_class] += seen->size;
	block = budget_cohort_find(pass->cohort, pass->target_id, seen->address);
	if (!block || !budget_census_is_same(pass->allocator, block, seen))
		return true;
	budget_cohort_resize(block, seen->size);
	block->sized = block->counted = true;
	return true;
}

static void census_set_reason(struct budget_census_series *series, const char *reason)
{
	free(series->reason);
	series->reason = reason ? memory_copy_string(reason) : NULL;
}

/* Walk the heap of one allocator. Returns 1 if it was walked, 0 if it is not at work here, or a negative errno. */
static int census_walk(struct budget_census_series *series, const struct heap_allocator *allocator,
		       struct image *image, const struct thread_list *threads,
		       struct census_pass *pass)
{
	const struct census_sink sink = { .block = pass_see_block, .context = pass };
	struct heap_totals totals = { 0 };
	struct heap_layout *layout = NULL;
	struct error reason = { 0 };
	int code = allocator->find(image, threads, &layout, &reason);

	pass->allocator = allocator->name;
	if (code == -ENOTSUP)
		census_set_reason(series, reason.text);
	if (code)
		return code == -ENOENT ? 0 : code;
	code = allocator->walk(layout, image, &sink, &totals);
	allocator->free(layout);
	if (!code) {
		series->allocator = allocator->name;
		series->by_address &= !totals.counts_only;
		pass->counts->totals.live_blocks += totals.live_blocks;
		pass->counts->totals.live_bytes += totals.live_bytes;
		pass->counts->totals.unknown_bytes += totals.unknown_bytes;
	}
	heap_totals_free(&totals);
	return code ? code : 1;
}

/* Of a process with several allocators, all count. True if there was one, and each could be walked. */
static bool census_walk_all(struct budget_census_series *series, struct image *image,
			    struct census_pass *pass)
{
	struct thread_list threads;
	size_t i, tries, walked = 0;
	bool failed = false;
	int code;

	thread_list_find(image, &threads);
	series->by_address = true;
	for (tries = 0; tries < FIND_TRIES && !walked && !failed; tries++) {
		for (i = 0; census_allocators[i]; i++) {
			code = census_walk(series, census_allocators[i], image, &threads, pass);
			walked += code > 0;
			failed |= code < 0;
		}
	}
	thread_list_free(&threads);
	return walked && !failed && !image_is_over(image);
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
	whole = census_walk_all(series, image, &pass);
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
