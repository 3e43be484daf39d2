/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See light.h. */
#include "windows/light.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "heap/census_all.h"
#include "follow/block_key.h"

/* A large heap is not walked to its end in one turn: others wait. */
#define WALK_NS 2000000000

/* Of the time, looks beside reports take one part in so many; more, if the table of blocks is half full. */
#define REST 50
#define REST_FULL 4
#define REST_MIN_NS 5000000000
#define REST_FULL_MIN_NS 200000000

/* A walk of a heap: which of the two it is, and of whom. */
struct light_walk {
	struct light *light;
	struct light_target *target;
	unsigned char bit; /* enum light_seen: of a block that it has found */
	unsigned char unclear; /* of one that it may have missed */
};

enum light_verdict light_judge(unsigned int seen)
{
	const unsigned int both = LIGHT_SEEN_FIRST | LIGHT_SEEN_SECOND;
	const unsigned int neither = LIGHT_UNCLEAR_FIRST | LIGHT_UNCLEAR_SECOND;

	/* Its address was handed out again meanwhile: what the second walk has seen there is this block, or the next one. */
	if (!(seen & LIGHT_SEEN_SAME))
		return seen & (LIGHT_SEEN_SECOND | LIGHT_UNCLEAR_SECOND) ? LIGHT_UNDECIDED
									 : LIGHT_REPLACED;
	/* The first walk may have missed it; what the second one misses may have been freed just before. */
	if (seen & both)
		return seen & LIGHT_SEEN_SECOND ? LIGHT_IN_USE : LIGHT_UNDECIDED;
	/* A walk that has been where it would be, and has not found it, is enough. */
	return (seen & neither) == neither ? LIGHT_UNDECIDED : LIGHT_ENDED;
}

/* Targets */

static struct light_target *light_find(struct light *light, uint32_t target_id)
{
	size_t i;

	for (i = 0; i < light->count; i++)
		if (light->targets[i].target_id == target_id)
			return &light->targets[i];
	return NULL;
}

static void heap_set_reason(struct light_heap *heap, const char *reason)
{
	free(heap->reason);
	heap->reason = reason ? memory_copy_string(reason) : NULL;
}

static void target_close(struct light_target *target)
{
	image_free(target->image);
	target->image = NULL;
}

/* Have the image of the program that the process runs now. */
static void target_open(struct light_target *target, const struct process *process)
{
	struct error error = { 0 };

	if (process->target.exited) {
		target_close(target);
		heap_set_reason(&target->heap, "the process has ended");
		return;
	}
	heap_set_reason(&target->heap, NULL);
	if (target->image && image_is_alive(target->image))
		return;
	target_close(target);
	if (image_open(process->target.pid, 0, &target->image, &error))
		heap_set_reason(&target->heap, error.text);
}

/* Processes that are new, have ended, or run another program than before. */
static void light_follow(struct light *light)
{
	size_t i;

	for (i = 0; i < light->processes->count; i++) {
		const struct process *process = light->processes->slots[i].process;
		struct light_target *target = light_find(light, process->target_id);

		if (!target && process->target.exited)
			continue;
		if (!target) {
			light->targets = memory_grow(light->targets, light->count, &light->capacity,
						     sizeof(*light->targets));
			target = &light->targets[light->count++];
			*target = (struct light_target){ .target_id = process->target_id };
		}
		target->heap.pid = process->target.pid;
		target_open(target, process);
	}
}

/* The table */

static int block_compare(const void *left, const void *right)
{
	return block_key_compare(&((const struct light_block *)left)->key,
				 &((const struct light_block *)right)->key);
}

static void light_add_block(void *context, const void *key, const void *value)
{
	struct light *light = context;
	struct light_block *block;

	light->blocks = memory_grow(light->blocks, light->block_count, &light->block_capacity,
				    sizeof(*light->blocks));
	block = &light->blocks[light->block_count++];
	memset(block, 0, sizeof(*block));
	memcpy(&block->key, key, sizeof(block->key));
	memcpy(&block->block, value, sizeof(block->block));
}

/* The position of the first block at an address or behind it. Walks mostly go from one address to the next. */
static size_t light_position(const struct light *light, uint32_t target_id, uint64_t address)
{
	struct block_key key = { .address = address, .target_id = target_id };
	size_t low = 0, high = light->block_count, middle, next = light->last;

	if (next < high && block_key_compare(&light->blocks[next].key, &key) < 0)
		low = ++next;
	if (next < high && (!next || block_key_compare(&light->blocks[next - 1].key, &key) < 0) &&
	    block_key_compare(&light->blocks[next].key, &key) >= 0)
		return next;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (block_key_compare(&light->blocks[middle].key, &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void light_mark_same(void *context, const void *key, const void *value)
{
	struct light *light = context;
	struct light_block *block;
	struct block_key wanted;
	size_t i;

	memcpy(&wanted, key, sizeof(wanted));
	for (i = light_position(light, wanted.target_id, wanted.address); i < light->block_count;
	     i++) {
		block = &light->blocks[i];
		if (block->key.address != wanted.address ||
		    block->key.target_id != wanted.target_id)
			return;
		if (block->key.exec_id == wanted.exec_id &&
		    !memcmp(&block->block, value, sizeof(block->block)))
			block->seen |= LIGHT_SEEN_SAME;
	}
}

/* Walks */

static enum light_blocks light_blocks_of(const struct light *light, const struct light_block *block)
{
	return light->blocks_of ? light->blocks_of(light->context, block->block.site)
				: LIGHT_BLOCKS_EXACT;
}

/* May what a census has seen at a block's address be that block? Of what realloc has added to others the size is unknown. */
static bool light_fits(const struct light *light, const struct light_block *block,
		       const char *allocator, const struct census_block *seen)
{
	if (block->block.life & LIFE_ADDED || census_fits(allocator, block->block.size, seen))
		return true;
	return seen->size >= block->block.size &&
	       light_blocks_of(light, block) != LIGHT_BLOCKS_EXACT;
}

static void walk_see_other(struct light_walk *walk, const struct census_block *seen)
{
	walk->target->heap.other_blocks++;
	walk->target->heap.other_bytes += seen->size;
}

/* The position behind the last entry that may be of a block: most are known by where it begins. */
static size_t walk_end(const struct light_walk *walk, const char *allocator,
		       const struct census_block *seen, size_t first)
{
	const struct light *light = walk->light;
	uint64_t last = seen->address;
	size_t i = first;

	if (census_aligns_inside(allocator) && seen->size)
		last += seen->size - 1;
	while (i < light->block_count &&
	       light->blocks[i].key.target_id == walk->target->target_id &&
	       light->blocks[i].key.address <= last)
		i++;
	return i;
}

/* May an entry be what a census has seen, from the entry's address on? */
static bool walk_fits(const struct light_walk *walk, const struct light_block *block,
		      const char *allocator, const struct census_block *seen)
{
	const uint64_t before = block->key.address - seen->address;
	const struct census_block part = { .address = block->key.address,
					   .size = seen->size - before,
					   .mapped = seen->mapped };

	return light_fits(walk->light, block, allocator, &part);
}

/* When the newest entry that fits was born: of several within one block, the others were freed before. 0 = all may be in use. */
static uint64_t walk_newest(const struct light_walk *walk, const char *allocator,
			    const struct census_block *seen, size_t first, size_t end)
{
	const struct light_block *blocks = walk->light->blocks;
	uint64_t newest = 0;
	size_t i;

	for (i = first; census_aligns_inside(allocator) && i < end; i++)
		if (LIFE_OF(blocks[i].block.life) > newest &&
		    walk_fits(walk, &blocks[i], allocator, seen))
			newest = LIFE_OF(blocks[i].block.life);
	return newest;
}

/*
 * Blocks of an earlier program of the process are not looked for: what is known of these is removed with it. One that realloc has
 * made larger may have come there later than it was born.
 */
static void walk_see_block(void *context, const char *allocator, const struct census_block *seen)
{
	struct light_walk *walk = context;
	struct light *light = walk->light;
	size_t i = light_position(light, walk->target->target_id, seen->address);
	const size_t end = walk_end(walk, allocator, seen, i);
	const uint64_t newest = walk_newest(walk, allocator, seen, i, end);
	bool known = false;

	light->last = i;
	for (; i < end; i++) {
		struct light_block *block = &light->blocks[i];
		const uint64_t life = block->block.life;

		if (!walk_fits(walk, block, allocator, seen) ||
		    (LIFE_OF(life) < newest && LIFE_OF(life) == life))
			continue;
		block->seen |= walk->bit;
		known = true;
	}
	if (!known)
		walk_see_other(walk, seen);
}

/* What was not found there may be in use, if it is memory at all. */
static void walk_see_unknown(void *context, uint64_t start, uint64_t end)
{
	struct light_walk *walk = context;
	struct light *light = walk->light;
	size_t i = light_position(light, walk->target->target_id, start);

	for (; i < light->block_count; i++) {
		struct light_block *block = &light->blocks[i];

		if (block->key.target_id != walk->target->target_id || block->key.address >= end)
			return;
		if (image_find(walk->target->image, block->key.address))
			block->seen |= walk->unclear;
	}
}

static void light_walk(struct light *light, struct light_target *target, unsigned char bit,
		       unsigned char unclear)
{
	struct light_walk walk = { light, target, bit, unclear };
	struct census_all all = { .block = walk_see_block,
				  .unknown = walk_see_unknown,
				  .context = &walk };
	struct light_heap *heap = &target->heap;
	bool whole;

	if (!target->image || heap->reason)
		return;
	heap->other_blocks = heap->other_bytes = 0;
	light->last = 0;
	target->image->until_ns = clock_now_ns() + WALK_NS;
	whole = image_refresh(target->image) && census_all_walk(&all, target->image);
	target->image->until_ns = 0;
	heap->allocator = all.allocator;
	heap->live_blocks = all.live_blocks;
	heap->live_bytes = all.live_bytes;
	heap->unknown_bytes = all.unknown_bytes;
	if (!whole)
		heap_set_reason(heap, *all.reason.text
					      ? all.reason.text
					      : "no heap was recognized, or it took too long");
	else if (!all.by_address)
		walk_see_unknown(&walk, 0, UINT64_MAX);
}

static void light_walk_all(struct light *light, unsigned char bit, unsigned char unclear)
{
	size_t i;

	for (i = 0; i < light->count; i++)
		light_walk(light, &light->targets[i], bit, unclear);
}

/* Verdicts */

/*
 * Take the entry of a block that has ended out of the table. If it is another one by now, that goes back, unless its address has been
 * handed out once more.
 */
static void light_end_block(struct light *light, const struct light_block *block)
{
	struct block taken;
	int code;

	if (light->cannot_take)
		return;
	code = maps_take(light->maps, MAPS_BLOCKS, &block->key, &taken);
	light->cannot_take = code && code != -ENOENT;
	if (!code && memcmp(&taken, &block->block, sizeof(taken)) != 0)
		maps_add(light->maps, MAPS_BLOCKS, &block->key, &taken);
	light->ended_blocks += !code;
}

static enum light_verdict light_decide(struct light *light, const struct light_block *block)
{
	struct light_target *target = light_find(light, block->key.target_id);
	enum light_verdict verdict = LIGHT_UNDECIDED;

	if (target && !target->heap.reason)
		verdict = light_judge(block->seen);
	if (verdict == LIGHT_ENDED && light_blocks_of(light, block) == LIGHT_BLOCKS_ELSEWHERE)
		verdict = LIGHT_UNDECIDED;
	if (verdict == LIGHT_UNDECIDED && target) {
		target->heap.undecided_blocks++;
		target->heap.undecided_bytes += block->block.size;
	}
	return verdict;
}

static void light_decide_all(struct light *light, light_visit *visit, void *context)
{
	enum light_verdict verdict;
	size_t i;

	for (i = 0; i < light->block_count; i++) {
		const struct light_block *block = &light->blocks[i];

		verdict = light_decide(light, block);
		if (verdict == LIGHT_ENDED)
			light_end_block(light, block);
		else if (visit && verdict != LIGHT_REPLACED)
			visit(context, &block->key, &block->block, verdict == LIGHT_UNDECIDED);
	}
}

int light_look(struct light *light, light_visit *visit, void *context)
{
	uint64_t begin_ns = clock_now_ns(), rest, least;
	bool full;
	size_t i;
	int code;

	light_follow(light);
	for (i = 0; i < light->count; i++)
		light->targets[i].heap.undecided_blocks = light->targets[i].heap.undecided_bytes =
			0;
	light->block_count = 0;
	code = maps_read(light->maps, MAPS_BLOCKS, light_add_block, light);
	qsort(light->blocks, light->block_count, sizeof(*light->blocks), block_compare);
	light_walk_all(light, LIGHT_SEEN_FIRST, LIGHT_UNCLEAR_FIRST);
	light_walk_all(light, LIGHT_SEEN_SECOND, LIGHT_UNCLEAR_SECOND);
	light->last = 0;
	if (!code)
		code = maps_read(light->maps, MAPS_BLOCKS, light_mark_same, light);
	if (!code)
		light_decide_all(light, visit, context);
	light->look_ns = clock_now_ns() - begin_ns;
	full = light->block_count > light->most_blocks / 2;
	rest = (full ? REST_FULL : REST) * light->look_ns;
	least = full ? REST_FULL_MIN_NS : REST_MIN_NS;
	light->next_ns = clock_now_ns() + (rest > least ? rest : least);
	return code;
}

uint64_t light_poll(struct light *light)
{
	if (light->on && light->next_ns && clock_now_ns() >= light->next_ns)
		light_look(light, NULL, NULL);
	return light->next_ns;
}

void light_start(struct light *light)
{
	light->next_ns = clock_now_ns() + REST_MIN_NS;
}

void light_free(struct light *light)
{
	size_t i;

	for (i = 0; i < light->count; i++) {
		target_close(&light->targets[i]);
		free(light->targets[i].heap.reason);
	}
	free(light->targets);
	free(light->blocks);
}

/* Reports */

struct light_report *light_report_make(const struct light *light)
{
	struct light_report *report = light_report_new();
	struct light_heap *heap;
	size_t i;

	report->look_ns = light->look_ns;
	report->ended_blocks = light->ended_blocks;
	for (i = 0; i < light->count; i++) {
		heap = light_report_add(report);
		*heap = light->targets[i].heap;
		heap->reason = heap->reason ? memory_copy_string(heap->reason) : NULL;
	}
	return report;
}

int light_check(pid_t pid, struct error *error)
{
	struct census_all all = { 0 };
	struct error reason = { 0 };
	struct image *image;
	bool whole;

	if (image_open(pid, 0, &image, &reason))
		return error_set(error, ERROR_NOTHING, -ENOTSUP,
				 "--light cannot look at the memory of process %d: %s", pid,
				 reason.text);
	image->until_ns = clock_now_ns() + WALK_NS;
	whole = census_all_walk(&all, image);
	image_free(image);
	/* A process that has allocated nothing has no heap yet. */
	if (whole || !*all.reason.text)
		return 0;
	return error_set(error, ERROR_NOTHING, -ENOTSUP,
			 "--light reads from the heap of process %d what is in use, and %s; "
			 "trace it without --light, or with --budget",
			 pid, all.reason.text);
}

int light_check_all(const struct light *light, struct error *error)
{
	int code = 0;
	size_t i;

	for (i = 0; light->on && i < light->processes->count && !code; i++)
		if (!light->processes->slots[i].process->target.exited)
			code = light_check(light->processes->slots[i].process->target.pid, error);
	return code;
}
