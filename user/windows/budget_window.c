/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_window.h. */
#include "windows/budget_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kernel/link_task.h"
#include "follow/block_key.h"

#define PARTS (PROBES_FREES | PROBES_REALLOCS | PROBES_ALLOCATIONS)

/* How often it is looked whether the window has used its share. */
#define TICK_NS 250000

/* Frees are probed while contents are read: so many blocks are read in some milliseconds. */
#define LOOK_MOST 2048

static int block_compare(const void *left, const void *right)
{
	return block_key_compare(&((const struct window_block *)left)->key,
				 &((const struct window_block *)right)->key);
}

static void window_visit(void *context, const void *key, const void *value)
{
	struct budget_window_run *run = context;
	struct window_block *block;

	run->blocks = memory_grow(run->blocks, run->count, &run->capacity, sizeof(*run->blocks));
	block = &run->blocks[run->count++];
	memset(block, 0, sizeof(*block));
	memcpy(&block->key, key, sizeof(block->key));
	memcpy(&block->block, value, sizeof(block->block));
	block->draw = (uint32_t)hash_secret(run->seed ^ block->key.target_id, block->key.address);
}

/* Too many to be looked at: the draw decides which stay. */
static void window_thin(struct budget_window_run *run)
{
	size_t i, kept = 0;

	while (run->count >> run->bits > LOOK_MOST)
		run->bits++;
	for (i = 0; i < run->count; i++)
		if (!(run->blocks[i].draw & ((1u << run->bits) - 1)))
			run->blocks[kept++] = run->blocks[i];
	run->count = kept;
}

/* Look at the blocks [first, end) of one target that are not read; returns how many still are not. */
static size_t window_look_target(struct budget_window_run *run, struct image *image, size_t first,
				 size_t end)
{
	struct look_item *items = memory_alloc(end - first, sizeof(*items));
	size_t i, count = 0, unread = 0;

	for (i = first; i < end; i++) {
		struct window_block *block = &run->blocks[i];

		if (block->look.length)
			continue;
		items[count++] = (struct look_item){
			.address = block->key.address & ~NAMED_ADDRESS,
			.size = run->usable(run->context, block->key.target_id, block->block.size),
			.of = block
		};
	}
	budget_look(image, items, count);
	for (i = 0; i < count; i++) {
		struct window_block *block = items[i].of;

		block->look = items[i];
		unread += items[i].state != LOOK_READ;
	}
	free(items);
	return unread;
}

/* A mapping may be younger than the list: it is listed again, once per target. */
static void window_look(struct budget_window_run *run)
{
	struct image *image;
	size_t first, end;

	for (first = 0; first < run->count; first = end) {
		const uint32_t target_id = run->blocks[first].key.target_id;

		for (end = first; end < run->count; end++)
			if (run->blocks[end].key.target_id != target_id)
				break;
		image = run->image(run->context, target_id);
		if (image && window_look_target(run, image, first, end) && image_refresh(image))
			window_look_target(run, image, first, end);
	}
}

/* What is in use now, with its contents. */
static void window_read(struct budget_window_run *run)
{
	maps_read(run->maps, MAPS_BLOCKS, window_visit, run);
	window_thin(run);
	if (run->count)
		qsort(run->blocks, run->count, sizeof(*run->blocks), block_compare);
	window_look(run);
}

/* Those that are in use when the probes are out are taken out of the map; all others that it has, too. */
static void window_take(struct budget_window_run *run)
{
	struct budget_window_run now = { .seed = run->seed };
	size_t i;

	maps_read(run->maps, MAPS_BLOCKS, window_visit, &now);
	for (i = 0; i < now.count; i++) {
		struct window_block *block = run->count ? bsearch(&now.blocks[i], run->blocks,
								  run->count, sizeof(*run->blocks),
								  block_compare)
							: NULL;

		if (block && block->block.site == now.blocks[i].block.site &&
		    block->block.life == now.blocks[i].block.life)
			block->stayed = true;
		maps_remove(run->maps, MAPS_BLOCKS, &now.blocks[i].key);
	}
	free(now.blocks);
}

static void window_wait(struct budget_window_run *run, const struct budget_share *share,
			uint64_t hits)
{
	const struct timespec tick = { .tv_nsec = TICK_NS };
	uint64_t end_ns = run->window.start_ns + share->length_ns;

	while (clock_now_ns() < end_ns && bpf_programs_hits(run->programs) < hits &&
	       !run->is_over(run->context))
		nanosleep(&tick, NULL);
	run->window.cut = bpf_programs_hits(run->programs) >= hits;
}

/* After how many hits it ends. If attaching has taken more than expected, less is recorded. */
static uint64_t window_hits(const struct budget_window_run *run, const struct budget_share *share)
{
	uint64_t hits = run->window.attach_hits + share->hits;

	return hits < share->most_hits ? hits : share->most_hits;
}

/* Allocations are recorded, until the window has its length or its hits. */
static void window_record(struct budget_window_run *run, const struct budget_share *share)
{
	uint64_t hits = window_hits(run, share);

	bpf_programs_limit_hits(run->programs, hits);
	run->window.start_ns = clock_now_ns();
	bpf_programs_record(run->programs, RECORD_ALL);
	window_wait(run, share, hits);
	bpf_programs_record(run->programs, RECORD_ENDS);
	run->window.length_ns = clock_now_ns() - run->window.start_ns;
	if (run->window.cut)
		run->window.detach_hits = hits;
	else
		run->window.detach_hits = bpf_programs_hits(run->programs);
}

/* What allocates goes first: its hits are of no use any more while what is in use is read. */
static void window_record_and_read(struct budget_window_run *run, const struct budget_share *share)
{
	struct link_closing *allocations;

	window_record(run, share);
	allocations = probe_set_detach_begin(run->probes, PROBES_ALLOCATIONS);
	window_read(run);
	probe_set_detach(run->probes, PROBES_ALL);
	link_task_close_end(allocations);
	run->window.detach_hits = bpf_programs_hits(run->programs) - run->window.detach_hits;
}

/* Without all of its probes a window would take blocks for living that are freed. */
static int window_attach(struct budget_window_run *run, const struct budget_share *share,
			 struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int code = probe_set_attach(run->probes, PARTS, error);

	run->window.attach_ns = clock_now_ns() - begin_ns;
	run->window.attach_hits = bpf_programs_hits(run->programs);
	if (!code && run->window.attach_hits >= share->most_hits)
		code = error_set(error, ERROR_NOTHING, -ETIME,
				 "calls that were made while its probes were put in have used it "
				 "up; a larger --max-window leaves something of it");
	return code;
}

static void window_account(struct budget_window_run *run, uint64_t begin_ns)
{
	struct budget_window *window = &run->window;
	uint64_t now_ns = clock_now_ns();

	window->probed_ns = now_ns - begin_ns;
	window->detach_ns = now_ns - begin_ns - window->attach_ns - window->length_ns;
	window->hits = bpf_programs_hits(run->programs);
	if (window->lost)
		window->detach_hits = window->hits - window->attach_hits;
	meter_end(run->meter, now_ns, run->costs);
	window->cost_ns = run->meter->price.cost_ns;
	window->busiest_ns = run->meter->price.busiest_ns;
	window->weight = 1ull << run->bits;
}

int budget_window_trace(struct budget_window_run *run, const struct budget_share *share,
			struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int code;

	meter_begin(run->meter, begin_ns);
	bpf_programs_measure(run->programs, true);
	code = window_attach(run, share, error);
	run->window.lost = code != 0;
	if (code)
		probe_set_detach(run->probes, PROBES_ALL);
	else
		window_record_and_read(run, share);
	bpf_programs_record(run->programs, RECORD_NOTHING);
	bpf_programs_measure(run->programs, false);
	bpf_programs_limit_hits(run->programs, 0);
	window_account(run, begin_ns);
	window_take(run);
	return code;
}

void budget_window_free(struct budget_window_run *run)
{
	free(run->blocks);
	run->blocks = NULL;
	run->count = run->capacity = 0;
}
