/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_pass.h. */
#include "memory/leaks_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "heap/census_heaps.h"
#include "reach/reach_ending.h"
#include "reach/reach_scan.h"
#include "system/kernel_words.h"
#include "system/memory_sharer.h"
#include "system/thread_rest.h"

/* How often allocators are looked for: structures that change all the time are not recognized each time. */
#define HEAP_TRIES 16
#define HEAP_GAP_NS 5000000

#define NEED_STEP 65536 /* blocks between two looks at how much memory they need */

/* glibc's malloc and free know a block that they have in hand by its header, which is so many bytes before it. */
#define HEADER_BYTES 16

/* Where a thread pointer leads to, the C library keeps its table of thread-local storage: a pointer to the second entry of a block. */
#define DTV_PLACE 8
#define DTV_ENTRY 16

static void pass_open_roots(struct leaks_pass *pass)
{
	reach_roots_free(&pass->roots);
	reach_roots_open(&pass->roots, pass->image, &pass->modules, &pass->threads,
			 &pass->registers);
	leaks_objects_claim(pass->objects, &pass->roots);
}

/* A census whose blocks go to a list. */
struct listing {
	struct leaks_pass *pass; /* NULL = the list alone */
	struct reach_blocks *blocks;
	uint64_t max_memory;
	uint64_t count; /* also of those for which there is no memory */
	bool is_full;
	bool has_heap; /* an allocator was recognized, whether its blocks can be listed or not */
	/* Some of these blocks may be free: lists of glibc's changed while they were followed. */
	bool is_inexact;
	struct leaks_motion motion;
	struct leaks_damage damage;
	struct reach_blocks *unknown; /* without a pass: ranges that were not understood */
};

static bool listing_see(void *context, const struct census_block *block)
{
	struct listing *listing = context;

	listing->count++;
	if (listing->count % NEED_STEP == 0 &&
	    reach_graph_need(listing->count) > listing->max_memory)
		listing->is_full = true;
	if (!listing->is_full)
		reach_blocks_add(listing->blocks, block->address, block->size);
	return true;
}

static void listing_see_unknown(void *context, uint64_t start, uint64_t end)
{
	const struct listing *listing = context;

	if (listing->pass)
		reach_roots_add_unknown(&listing->pass->roots, start, end);
	else if (end > start)
		reach_blocks_add(listing->unknown, start, end - start);
}

static void listing_see_free_list(void *context, uint64_t start, uint64_t end)
{
	const struct listing *listing = context;

	if (listing->pass)
		reach_roots_add_free_list(&listing->pass->roots, start, end);
}

static int listing_walk(struct listing *listing, const struct census_heap *heap,
			struct image *image, struct error *reason)
{
	const struct census_sink sink = { listing_see, listing, listing_see_unknown,
					  listing_see_free_list, true };
	const struct heap_allocator *allocator = heap->allocator;
	struct heap_totals totals = { 0 };
	int code = allocator->walk(heap->layout, image, &sink, &totals);

	listing->is_inexact |= totals.counts_only && !totals.is_listed;
	listing->motion.is_moving |= totals.is_listed;
	listing->motion.bytes += totals.moving_bytes;
	listing->motion.sizes += totals.moving_sizes;
	listing->damage.unknown_bytes += totals.unknown_bytes;
	listing->damage.places += totals.resyncs;
	listing->damage.blocks += totals.live_blocks;
	listing->damage.bytes += totals.live_bytes;
	if (totals.remarks.length)
		buffer_append_string(&listing->damage.remarks, totals.remarks.data);
	if (!code && totals.counts_only && !totals.is_listed &&
	    strcmp(allocator->name, "glibc") != 0)
		code = error_set(reason, ERROR_NOTHING, -ENOTSUP,
				 "blocks of %s are counted only, while the process is at work",
				 allocator->name);
	if (!code && listing->pass) {
		allocator->claim(heap->layout, image, listing->pass->roots.claims);
		listing->pass->roots.has_glibc |= !strcmp(allocator->name, "glibc");
		listing->pass->roots.has_jemalloc |= !strcmp(allocator->name, "jemalloc");
	}
	heap_totals_free(&totals);
	return code;
}

static int listing_fail(const struct listing *listing, struct image *image,
			const struct error *reason, struct error *error)
{
	char need[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX];

	if (image_is_over(image))
		return error_set(error, ERROR_PERMISSION, -ETIMEDOUT,
				 "there was no time to list all blocks: --deadline is longer");
	if (listing->is_full)
		return error_set(error, ERROR_PERMISSION, -ENOMEM,
				 "%s blocks take %s of the tracer's memory: --max-memory is more",
				 units_format_count(listing->count, count),
				 units_format_size(reach_graph_need(listing->count), need));
	return error_set(error, ERROR_NOTHING, -ENOTSUP,
			 "the process's blocks cannot be listed: %s",
			 reason->text[0]       ? reason->text
			 : image->mappings_cut ? "it has more mappings than are looked at"
					       : "no allocator was recognized");
}

static void listing_free_damage(struct leaks_damage *damage)
{
	buffer_free(&damage->remarks);
	*damage = (struct leaks_damage){ 0 };
}

/* Forget what a listing has passed that was given up, also what it has claimed. */
static void listing_begin(struct listing *listing)
{
	reach_blocks_free(listing->blocks);
	if (listing->pass)
		pass_open_roots(listing->pass);
	else
		reach_blocks_free(listing->unknown);
	listing->count = 0;
	listing->is_full = listing->is_inexact = listing->has_heap = false;
	listing->motion = (struct leaks_motion){ 0 };
	listing_free_damage(&listing->damage);
}

/* True if all heaps of the process were listed. */
static bool listing_try(struct listing *listing, struct image *image,
			const struct thread_list *threads, struct error *reason)
{
	struct census_heaps heaps;
	bool is_whole = census_heaps_find(&heaps, image, threads, 1);
	size_t i;

	listing_begin(listing);
	for (i = 0; i < heaps.count; i++) {
		listing->has_heap |= heaps.items[i].code != -ENOENT;
		if (census_heap_is_refused(&heaps.items[i]))
			error_set(reason, ERROR_NOTHING, -ENOTSUP, "%s",
				  heaps.items[i].reason.text);
	}
	for (i = 0; is_whole && i < heaps.count && !image_is_over(image); i++)
		if (!heaps.items[i].code)
			is_whole = !listing_walk(listing, &heaps.items[i], image, reason);
	census_heaps_free(&heaps);
	return is_whole;
}

/* Allocators have nothing to recognize before the first call. */
static bool listing_is_unused(struct listing *listing, const struct image *image)
{
	struct leaks_pass *pass = listing->pass;

	if (!pass || listing->has_heap || image->mappings_cut)
		return false;
	pass->is_unused = pass->wanted->saw_no_call &&
			  pass->wanted->saw_no_call(pass->wanted->context);
	return pass->is_unused;
}

static int listing_run(struct listing *listing, struct image *image,
		       const struct thread_list *threads, struct error *error)
{
	const struct timespec gap = { .tv_nsec = HEAP_GAP_NS };
	struct error reason = { 0 };
	bool is_whole = false;
	unsigned int tries;

	for (tries = 0; tries < HEAP_TRIES && !is_whole; tries++) {
		/* Arenas may be new. */
		if (tries && (nanosleep(&gap, NULL) || !census_refresh(image)))
			break;
		reason = (struct error){ 0 };
		is_whole = listing_try(listing, image, threads, &reason);
		if (listing->is_full || image_is_over(image))
			break;
	}
	if (listing->is_full || image_is_over(image) ||
	    (!is_whole && !listing_is_unused(listing, image)))
		return listing_fail(listing, image, &reason, error);
	return 0;
}

int leaks_pass_list(struct image *image, const struct leaks_wanted *wanted,
		    struct leaks_list *ret_list, struct error *error)
{
	struct listing listing = { .blocks = &ret_list->blocks,
				   .unknown = &ret_list->unknown,
				   .max_memory = wanted->max_memory };
	struct thread_list threads;
	int code;

	thread_list_find(image, &threads);
	code = listing_run(&listing, image, &threads, error);
	thread_list_free(&threads);
	reach_blocks_settle(&ret_list->blocks);
	reach_blocks_settle(&ret_list->unknown);
	ret_list->is_exact = !listing.is_inexact;
	ret_list->motion = listing.motion;
	listing_free_damage(&listing.damage);
	return code;
}

void leaks_list_free(struct leaks_list *list)
{
	reach_blocks_free(&list->blocks);
	reach_blocks_free(&list->unknown);
	*list = (struct leaks_list){ 0 };
}

static void pass_read_registers(struct leaks_pass *pass)
{
	const struct leaks_wanted *wanted = pass->wanted;

	pass->has_registers &= wanted->registers &&
			       wanted->registers(wanted->context, &pass->registers) &&
			       pass->registers.is_whole;
}

static void pass_add_registers(const struct leaks_pass *pass, struct reach_scan *scan)
{
	size_t i, n;

	for (i = 0; i < pass->registers.count; i++) {
		reach_scan_word(scan, pass->registers.items[i].signal_stack, LEAK_ROOT_KERNEL);
		for (n = 0; n < pass->registers.items[i].count; n++) {
			const uint64_t word = pass->registers.items[i].words[n];

			reach_scan_word(scan, word, LEAK_ROOT_REGISTER);
			if (pass->roots.has_glibc)
				reach_scan_word(scan, word + HEADER_BYTES, LEAK_ROOT_REGISTER);
		}
	}
}

static void pass_add_words(struct leaks_pass *pass, struct reach_scan *scan)
{
	struct kernel_words words = { 0 };
	size_t i;

	pass_add_registers(pass, scan);
	if (pass->image->pid)
		kernel_words_read("/proc", pass->image->pid, pass->image->thread, &words);
	for (i = 0; i < words.count; i++)
		reach_scan_word(scan, words.items[i], LEAK_ROOT_KERNEL);
	pass->kernel_hides |= words.hidden;
	free(words.items);
	for (i = 0; i < pass->threads.count; i++)
		reach_scan_word(
			scan,
			image_word(pass->image, pass->threads.items[i].descriptor + DTV_PLACE) -
				DTV_ENTRY,
			LEAK_ROOT_TLS);
}

static enum leak_heuristic pass_judge(void *context, uint32_t target, uint64_t offset)
{
	struct leaks_pass *pass = context;

	return reach_heuristics_judge(&pass->heuristics, &pass->blocks.items[target], offset);
}

static int pass_scan(struct leaks_pass *pass, struct error *error)
{
	struct reach_scan scan = { .index = &pass->index,
				   .roots = &pass->roots,
				   .graph = &pass->graph };
	bool has_all;

	pass->odd_blocks = reach_blocks_settle(&pass->blocks);
	reach_index_fill(&pass->index, &pass->blocks);
	reach_roots_settle(&pass->roots);
	reach_graph_open(&pass->graph, pass->blocks.count);
	pass->judge = (struct reach_judge){ pass_judge, pass };
	pass->graph.judge = pass->wanted->heuristics ? &pass->judge : NULL;
	pass_add_words(pass, &scan);
	has_all = reach_scan_memory(&scan, pass->image, pass->direction, &pass->left);
	/* What was in memory may be in a register now. */
	pass->registers.count = 0;
	pass_read_registers(pass);
	pass_add_registers(pass, &scan);
	if (!has_all)
		return error_set(error, ERROR_PERMISSION, -ETIMEDOUT,
				 "there was no time to read all memory: --deadline is longer");
	if (pass->graph.is_cut)
		return error_set(error, ERROR_PERMISSION, -ENOMEM,
				 "there are more pointers between blocks than can be counted");
	return 0;
}

/* Has nobody but the threads of the process its memory, as of these registers? */
static bool pass_is_alone(const struct leaks_pass *pass)
{
	uint32_t users = 0, threads = 0;
	size_t i;

	for (i = 0; i < pass->registers.count; i++) {
		if (!pass->registers.items[i].memory_users)
			continue;
		threads++;
		users = pass->registers.items[i].memory_users;
	}
	return threads && users <= threads;
}

/* In other pid namespaces are processes that nothing shows but their number. */
static void pass_check_sharers(struct leaks_pass *pass)
{
	if (pass->sharer || !memory_sharer_is_blind("/proc") || pass_is_alone(pass))
		return;
	pass->sharer = -1;
	pass->is_quiet = false;
}

/* Whether main() has returned, the registers of the thread that ends the process show. */
static void pass_find_ending(struct leaks_pass *pass)
{
	struct thread_registers *thread;
	size_t i;

	for (i = 0; pass->wanted->is_ending && i < pass->registers.count; i++) {
		thread = &pass->registers.items[i];
		thread->dead_end =
			reach_ending_frames(pass->image, &pass->modules, thread->stack_pointer);
	}
}

static int pass_look(struct leaks_pass *pass, struct error *error)
{
	struct listing listing = { .pass = pass,
				   .blocks = &pass->blocks,
				   .max_memory = pass->wanted->max_memory };
	int code;

	pass->has_registers = true;
	pass_read_registers(pass);
	pass_check_sharers(pass);
	thread_list_find(pass->image, &pass->threads);
	module_ranges_find(pass->image, &pass->modules);
	pass_find_ending(pass);
	code = listing_run(&listing, pass->image, &pass->threads, error);
	pass->is_exact = !listing.is_inexact;
	pass->motion = listing.motion;
	pass->damage = listing.damage;
	return code ? code : pass_scan(pass, error);
}

void leaks_pass_check_rest(struct leaks_pass *pass)
{
	struct buffer now = { 0 };

	pass->is_quiet = pass->is_quiet && thread_rest_read("/proc", pass->wanted->pid, &now) &&
			 thread_rest_is_same(&pass->rest, &now);
	buffer_free(&now);
}

int leaks_pass_run(struct leaks_pass *pass, struct image *image, const struct leaks_wanted *wanted,
		   const struct leaks_objects *objects, enum reach_direction direction,
		   struct error *error)
{
	int code;

	*pass = (struct leaks_pass){
		.image = image, .wanted = wanted, .objects = objects, .direction = direction
	};
	pass->is_quiet = thread_rest_read("/proc", wanted->pid, &pass->rest);
	if (pass->is_quiet)
		pass->sharer = memory_sharer_find("/proc", wanted->pid);
	pass->is_quiet = pass->is_quiet && !pass->sharer;
	code = image_refresh_whole(image, error);
	if (!code)
		code = pass_look(pass, error);
	leaks_pass_check_rest(pass);
	/* Where nothing runs and the ends of stacks are known, nobody reads what is behind them. */
	pass->graph.forgets_stale = wanted->is_ending && pass->is_quiet && pass->has_registers;
	pass->is_quiet &= !code;
	if (code)
		return code;
	reach_heuristics_open(&pass->heuristics, image, wanted->heuristics);
	reach_graph_mark(&pass->graph);
	reach_heuristics_close(&pass->heuristics);
	return 0;
}

void leaks_pass_free(struct leaks_pass *pass)
{
	reach_graph_free(&pass->graph);
	reach_index_free(&pass->index);
	reach_roots_free(&pass->roots);
	reach_blocks_free(&pass->blocks);
	module_ranges_free(&pass->modules);
	thread_list_free(&pass->threads);
	free(pass->registers.items);
	listing_free_damage(&pass->damage);
	buffer_free(&pass->rest);
	*pass = (struct leaks_pass){ 0 };
}
