/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_memory.h. */
#include "session/kernel_memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/seed.h"
#include "base/strings.h"
#include "model/lifespans.h"
#include "model/name_pool.h"
#include "follow/kernel_stack.h"

/* Reading sites between reports takes no more than one such part of the time. */
#define KEEPING_REST 50

#define ALLOCATOR "kernel"

struct kernel_site {
	uint64_t key;
	const struct target *target;
	const struct function_name *function;
	enum memory_source source;
	struct stack *stack; /* owned */
	bool for_blocks; /* pages in which blocks are, which are counted */
	struct site_stats stats;
	struct generations births;
};

struct kernel_memory {
	struct kernel_memory_options options;
	uint64_t start_ns, id_seed;
	struct name_pool *names;
	struct strings texts;
	struct table functions; /* struct function_name by the address of its text */
	struct table sites; /* struct kernel_site by key */
	struct module_list modules; /* none */
};

/* State of one pass over a map. */
struct kernel_pass {
	struct kernel_memory *memory;
	uint64_t time_ns;
	struct history *history;
};

struct kernel_memory *kernel_memory_new(const struct kernel_memory_options *options)
{
	struct kernel_memory *memory = memory_alloc(1, sizeof(*memory));

	memory->options = *options;
	memory->start_ns = clock_now_ns();
	memory->id_seed = seed_new();
	memory->names = name_pool_new();
	return memory;
}

static void kernel_memory_free_site(struct kernel_site *site)
{
	stack_free(site->stack);
	generations_free(&site->births);
	free(site);
}

void kernel_memory_free(struct kernel_memory *memory)
{
	const struct table_slot *slot;
	size_t cursor;

	if (!memory)
		return;
	for (cursor = 0; (slot = table_next(&memory->sites, &cursor));)
		kernel_memory_free_site(slot->value);
	for (cursor = 0; (slot = table_next(&memory->functions, &cursor));)
		free(slot->value);
	table_free(&memory->sites);
	table_free(&memory->functions);
	strings_free(&memory->texts);
	name_pool_free(memory->names);
	free(memory);
}

/* Sites */

/* Who allocates: of a slab cache its name, where the kernel passes it. */
static const struct function_name *kernel_memory_function(struct kernel_memory *memory,
							  uint64_t key, enum memory_source source)
{
	static const char *const names[SOURCE_COUNT] = {
		[SOURCE_KMALLOC] = "kmalloc",
		[SOURCE_KMEM_CACHE] = "kmem_cache_alloc",
		[SOURCE_PAGES] = "alloc_pages",
		[SOURCE_PERCPU] = "alloc_percpu",
	};
	const struct maps *maps = memory->options.maps;
	struct kernel_cache cache = { 0 };
	struct function_name *function;
	const char *text;

	if (source == SOURCE_KMEM_CACHE && maps_get(maps, MAPS_KERNEL_CACHES, &key, &cache))
		cache.name[0] = '\0';
	cache.name[sizeof(cache.name) - 1] = '\0';
	text = strings_keep(&memory->texts, *cache.name ? cache.name : names[source]);
	function = table_get(&memory->functions, (uintptr_t)text);
	if (function)
		return function;
	function = memory_alloc(1, sizeof(*function));
	*function = (struct function_name){ .allocator = ALLOCATOR, .function = text };
	table_put(&memory->functions, (uintptr_t)text, function);
	return function;
}

/* NULL if the record is none of ours: the target is unknown. */
static struct kernel_site *kernel_memory_add_site(struct kernel_memory *memory, uint64_t key,
						  const struct site *record)
{
	size_t target = record->target_id ? record->target_id - 1 : 0;
	struct stack_record stack;
	struct kernel_site *site;

	if (target >= memory->options.target_count || record->source < SOURCE_KMALLOC ||
	    record->source >= SOURCE_COUNT)
		return NULL;
	site = memory_alloc(1, sizeof(*site));
	site->key = key;
	site->target = &memory->options.targets[target];
	site->source = (enum memory_source)record->source;
	site->function = kernel_memory_function(memory, key, site->source);
	if (record->stack && !maps_get(memory->options.maps, MAPS_STACKS, &record->stack, &stack))
		site->stack = kernel_stack_make(&stack, memory->options.symbols, memory->names);
	else
		site->stack = kernel_stack_missing();
	site->for_blocks = site->source == SOURCE_PAGES && kernel_stack_is_for_blocks(site->stack);
	table_put(&memory->sites, key, site);
	return site;
}

/* The site of a record, with its counters alone. */
static struct kernel_site *kernel_pass_site(const struct kernel_pass *pass, const void *key,
					    const struct site *record)
{
	struct kernel_site *site;
	uint64_t number;

	memcpy(&number, key, sizeof(number));
	site = table_get(&pass->memory->sites, number);
	if (!site)
		site = kernel_memory_add_site(pass->memory, number, record);
	if (!site)
		return NULL;
	site->stats = (struct site_stats){ .alloc_bytes = record->alloc_bytes,
					   .alloc_objects = record->alloc_objects,
					   .free_bytes = record->free_bytes,
					   .free_objects = record->free_objects,
					   .lives = lifespans_of(record) };
	return site;
}

static void kernel_pass_see_site(void *context, const void *key, const void *value)
{
	struct kernel_site *site = kernel_pass_site(context, key, value);

	if (site)
		generations_clear(&site->births);
}

/* Blocks */

static void kernel_pass_add_birth(const struct kernel_pass *pass, struct kernel_site *site,
				  uint64_t born_ns, const struct site_blocks *blocks)
{
	const struct marks *marks = pass->memory->options.marks;
	struct generation born = { .bytes = blocks->bytes, .objects = blocks->objects };

	if (!marks || !marks->count || blocks->age_ns < pass->memory->options.min_age_ns)
		return;
	born.since_ns = marks_before(marks, born_ns);
	generations_add(&site->births, &born);
}

static void kernel_pass_see_block(void *context, const void *key, const void *value)
{
	const struct kernel_pass *pass = context;
	const struct kernel_block *block = value;
	struct kernel_site *site = table_get(&pass->memory->sites, block->block.site);
	uint64_t born_ns = LIFE_BORN_NS(block->block.life);
	const struct site_blocks blocks = {
		.age_ns = pass->time_ns > born_ns ? pass->time_ns - born_ns : 0,
		.bytes = block->block.size,
		.objects = 1,
	};

	(void)key;
	if (!site || site->for_blocks)
		return;
	site_stats_add_blocks(&site->stats, &blocks, pass->memory->options.min_age_ns);
	kernel_pass_add_birth(pass, site, born_ns, &blocks);
}

/* Snapshots */

static void kernel_memory_fill(struct kernel_memory *memory, struct snapshot *snapshot)
{
	const struct table_slot *slot;
	size_t cursor = 0, i;

	snapshot_set_modules(snapshot, &memory->modules);
	snapshot_hold_names(snapshot, memory->names);
	for (i = 0; i < memory->options.target_count; i++)
		snapshot_add_target(snapshot, &memory->options.targets[i]);
	if (memory->options.marks)
		snapshot_set_marks(snapshot, memory->options.marks);
	while ((slot = table_next(&memory->sites, &cursor))) {
		const struct kernel_site *site = slot->value;
		const struct snapshot_site row = {
			.key = site->key,
			.target = site->target,
			.function = site->function,
			.source = site->source,
			.stack = site->stack,
			.stats = site->stats,
			.births = site->births,
		};

		if (!site->for_blocks)
			snapshot_add_site(snapshot, &row);
	}
}

int kernel_memory_snapshot(struct kernel_memory *memory, uint64_t time_ns,
			   struct snapshot **ret_snapshot)
{
	struct kernel_pass pass = { .memory = memory, .time_ns = time_ns };
	struct snapshot *snapshot;
	int code = maps_read(memory->options.maps, MAPS_SITES, kernel_pass_see_site, &pass);

	if (!code)
		code = maps_read(memory->options.maps, MAPS_KERNEL_BLOCKS, kernel_pass_see_block,
				 &pass);
	if (code)
		return code;
	snapshot = snapshot_new();
	snapshot->time_ns = time_ns;
	snapshot->start_ns = memory->start_ns;
	snapshot->wall_time = time(NULL);
	snapshot->id_seed = memory->id_seed;
	kernel_memory_fill(memory, snapshot);
	*ret_snapshot = snapshot;
	return 0;
}

static void kernel_pass_keep_site(void *context, const void *key, const void *value)
{
	const struct kernel_pass *pass = context;
	const struct kernel_site *site = kernel_pass_site(pass, key, value);

	if (site && !site->for_blocks)
		history_set(pass->history, site->key, &site->stats);
}

void kernel_memory_keep_history(struct kernel_memory *memory, uint64_t time_ns,
				struct history *history)
{
	struct kernel_pass pass = { .memory = memory, .time_ns = time_ns, .history = history };

	if (!history_begin(history, time_ns))
		return;
	/* The next moment may be read again. */
	if (maps_read(memory->options.maps, MAPS_SITES, kernel_pass_keep_site, &pass)) {
		history_take_back(history);
		return;
	}
	history_end(history);
	if ((clock_now_ns() - time_ns) * KEEPING_REST > history->spacing_ns)
		history_slow_down(history);
}
