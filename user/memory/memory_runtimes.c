/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_runtimes.h. */
#include "memory/memory_runtimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "heap/census_heaps.h"
#include "image/image_keep.h"
#include "kinds/kind.h"
#include "objects/plain_heaps.h"
#include "python/python_holders.h"
#include "python/python_objects.h"
#include "ruby/ruby_objects.h"
#include "ruby/ruby_pages.h"

#define HEAP_TRIES 4 /* searches of an allocator that was there before */

/* Holders are searched for this many of the largest classes, and as many of the program's own. */
#define HOLDERS_CLASSES 16

/* What a copy of memory may take that is looked through for holders. */
#define KEEP_BYTES (256ull << 20)

/* Memory that is looked at for references, and four times what a copy of a runtime's heap may take. */
#define HOLDERS_BYTES (1ull << 30)

struct memory_kept {
	struct program_identity program; /* that all of it is of; zeroes = none yet */
	struct ruby_keep *ruby;
	struct python_growth python;
	struct kind_census *kinds;
};

struct memory_kept *memory_kept_new(void)
{
	struct memory_kept *kept = memory_alloc(1, sizeof(*kept));

	kept->ruby = ruby_keep_new();
	return kept;
}

static void kept_clear(struct memory_kept *kept)
{
	ruby_keep_free(kept->ruby);
	python_growth_free(&kept->python);
	kind_census_free(kept->kinds);
	*kept = (struct memory_kept){ 0 };
}

void memory_kept_free(struct memory_kept *kept)
{
	if (!kept)
		return;
	kept_clear(kept);
	free(kept);
}

bool memory_kept_has_begun(const struct memory_kept *kept)
{
	return kept->program.start_time;
}

bool memory_kept_begin(struct memory_kept *kept, const struct image *image)
{
	/* The next process that was selected by its name or group is a new one, and no other program of this one. */
	bool is_new = kept->program.start_time != image->program.start_time;

	if (!is_new && program_identity_is_same(&kept->program, &image->program))
		return true;
	kept_clear(kept);
	kept->ruby = ruby_keep_new();
	kept->program = image->program;
	return is_new;
}

struct kind_census **memory_kept_kinds(struct memory_kept *kept)
{
	return kept ? &kept->kinds : NULL;
}

/* Blocks on their way to a sink. */
struct runtimes_passed {
	const struct census_sink *sink;
	uint64_t count;
};

static bool runtimes_pass(void *context, const struct census_block *block)
{
	struct runtimes_passed *passed = context;

	passed->count++;
	return passed->sink->block(passed->sink->context, block);
}

/* Where blocks are known from. */
struct runtimes_blocks {
	struct image *image;
	const struct kind_census *kinds; /* that has seen them; NULL = none */
};

/* False if it is not known which of its blocks are in use. */
static bool runtimes_walk_heap(const struct census_heap *heap, struct image *image,
			       const struct census_sink *sink)
{
	struct runtimes_passed passed = { sink, 0 };
	const struct census_sink counted = { runtimes_pass, &passed };
	struct heap_totals totals = { 0 };
	int code = heap->allocator->walk(heap->layout, image, &counted, &totals);
	bool is_listed = !code && (!totals.counts_only || passed.count);

	heap_totals_free(&totals);
	return is_listed;
}

/*
 * Pass the blocks of all allocators to the sink: those that a census of kinds has, else by a walk.
 * False if not all allocators are known, or not which of their blocks are in use.
 */
static bool runtimes_walk_heaps(const struct runtimes_blocks *blocks,
				const struct census_sink *sink)
{
	struct thread_list threads;
	struct census_heaps heaps;
	bool is_whole;
	size_t i;

	if (blocks->kinds && kind_census_pass(blocks->kinds, sink))
		return true;
	thread_list_find(blocks->image, &threads);
	is_whole = census_heaps_find_again(&heaps, blocks->image, &threads, HEAP_TRIES);
	for (i = 0; i < heaps.count; i++)
		if (!heaps.items[i].code)
			is_whole &= runtimes_walk_heap(&heaps.items[i], blocks->image, sink);
	census_heaps_free(&heaps);
	thread_list_free(&threads);
	return is_whole;
}

static bool runtimes_walk_for_ruby(void *context, const struct census_sink *sink)
{
	return runtimes_walk_heaps(context, sink);
}

/* Where objects lie. */
struct runtimes_pages {
	struct claims *claims;
	struct kind_roots *roots;
};

static void runtimes_claim_ruby(void *context, uint64_t start, uint64_t end)
{
	const struct runtimes_pages *pages = context;

	claims_add(pages->claims, PURPOSE_RUBY_HEAP, start, end, 0);
	kind_roots_add(pages->roots, start, end, "Ruby heap page");
}

static void runtimes_look_at_ruby(struct runtimes_blocks *blocks,
				  const struct memory_wanted *wanted, struct runtimes_pages *pages,
				  struct memory_report *report)
{
	struct image *image = blocks->image;
	const struct ruby_objects_wanted counted = {
		.wait_ns = wanted->wait_ns,
		.keep = wanted->objects && wanted->kept ? wanted->kept->ruby : NULL,
		.classes = wanted->objects,
		.holders = wanted->objects && !wanted->totals_only,
		.samples = wanted->samples,
		.walk_blocks = wanted->totals_only ? NULL : runtimes_walk_for_ruby,
		.walk_context = blocks,
		.max_bytes = HOLDERS_BYTES
	};
	struct memory_runtime runtime;
	struct ruby_objects *objects;
	struct error reason = { 0 };
	uint64_t transient;
	int code = ruby_objects_open(image, &objects, &reason);

	if (code == -ENOTSUP)
		memory_report_remark(report,
				     "Ruby: %s. Pages of its heap known by their form: %zu.",
				     reason.text, ruby_pages_claim(image, pages->claims));
	if (code)
		return;
	if (ruby_objects_census(objects, &counted, &report->names, &runtime, NULL))
		memory_report_remark(report, "Ruby: its heap could not be read.");
	else
		*memory_report_add_runtime(report) = runtime;
	/* Those that it has after it was waited for a collection. */
	ruby_objects_each_page(objects, runtimes_claim_ruby, pages);
	transient = ruby_objects_transient(objects);
	if (transient)
		claims_add(pages->claims, PURPOSE_RUBY_TRANSIENT, transient,
			   transient + RUBY_TRANSIENT_SIZE, 0);
	ruby_objects_free(objects);
}

struct python_look {
	struct python_heap *heap;
	struct python_objects objects;
};

static void runtimes_claim_python(const struct python_heap *heap, struct runtimes_pages *pages)
{
	size_t i;

	for (i = 0; i < heap->arena_count; i++) {
		uint64_t start = heap->arenas[i].start, end = heap->arenas[i].end;

		claims_add(pages->claims, PURPOSE_PYTHON_ARENA, start, end, (uint32_t)i);
		kind_roots_add(pages->roots, start, end, "Python arena");
	}
}

static bool runtimes_add_block(void *context, const struct census_block *block)
{
	struct python_look *look = context;

	python_blocks_add(&look->heap->large, block->address, block->size);
	return true;
}

/* Before pools are looked for: a walk takes long, and they would be old. False if objects in blocks are not known. */
static bool runtimes_add_blocks(const struct runtimes_blocks *blocks,
				const struct memory_wanted *wanted, struct python_look *look)
{
	const struct census_sink sink = { runtimes_add_block, look };
	bool is_walked;

	if (!wanted->objects || wanted->totals_only)
		return true;
	is_walked = runtimes_walk_heaps(blocks, &sink);
	python_blocks_sort(&look->heap->large);
	return is_walked;
}

static void runtimes_count_python(struct image *image, const struct memory_wanted *wanted,
				  struct python_look *look, bool has_large,
				  struct memory_report *report)
{
	struct memory_runtime *runtime = memory_report_add_runtime(report);

	look->objects = (struct python_objects){ .blocks = look->heap->blocks,
						 .free_blocks = look->heap->free_blocks };
	if (wanted->objects) {
		python_objects_walk(look->heap, wanted->kept ? &wanted->kept->python : NULL,
				    &look->objects);
		python_objects_walk_blocks(look->heap, &look->objects);
	}
	python_objects_report(look->heap, &look->objects, wanted->samples, &report->names, runtime);
	runtime->blocks_unknown = !has_large;
	if (!has_large)
		buffer_append_string(&runtime->remarks,
				     "objects of more than 512 bytes are not counted: which "
				     "blocks of malloc's are in use is not known\n");
	if (wanted->objects && !look->heap->pool_count)
		buffer_append_string(&runtime->remarks,
				     "its objects are blocks of malloc's (PYTHONMALLOC)\n");
	if (wanted->objects && !wanted->totals_only)
		python_holders_find(look->heap, HOLDERS_CLASSES, image->until_ns, wanted->samples,
				    &report->names, runtime);
}

static void runtimes_look_at_python(const struct runtimes_blocks *blocks,
				    const struct memory_wanted *wanted,
				    struct runtimes_pages *pages, struct memory_report *report)
{
	struct image *image = blocks->image;
	struct python_look look;
	struct error reason = { 0 };
	int code = python_heap_open(image, &look.heap, &reason);
	bool has_large;

	if (code == -ENOTSUP)
		memory_report_remark(report, "Python: %s.", reason.text);
	if (code)
		return;
	has_large = runtimes_add_blocks(blocks, wanted, &look);
	if (wanted->objects && !wanted->totals_only)
		image_keep_begin(image, KEEP_BYTES);
	python_heap_find_pools(look.heap);
	runtimes_claim_python(look.heap, pages);
	runtimes_count_python(image, wanted, &look, has_large, report);
	python_heap_free(look.heap);
}

void memory_runtimes_look(struct image *image, const struct memory_wanted *wanted,
			  const struct kind_census *kinds, struct claims *claims,
			  struct kind_roots *roots, struct memory_report *report)
{
	struct runtimes_blocks blocks = { image, kinds };
	struct runtimes_pages pages = { claims, roots };

	runtimes_look_at_ruby(&blocks, wanted, &pages, report);
	runtimes_look_at_python(&blocks, wanted, &pages, report);
	/* Ruby lists its pages by where their structs are. */
	kind_roots_sort(roots);
	if (!wanted->totals_only)
		plain_heaps_claim(image, claims);
}
