/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See collect.h. */
#include "session/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "interp/heap_region.h"

/* All blocks are read to find those of ended programs: after that, this many times as long is for other things. */
#define REAP_REST 20
#define REAP_MIN_NS 50000000

/* Reading sites between reports takes no more than one such part of the time. */
#define KEEPING_REST 50

/* Keys of a map that are of no use any more: they are removed when it has been read. */
struct key_list {
	unsigned char *keys;
	size_t key_size, count, capacity;
};

/* State of one pass over a map. */
struct pass {
	struct collect *collect;
	uint64_t time_ns;
	const struct process *process; /* of the last block; NULL = none */
	uint64_t min_age_ns; /* there */
	bool undecided; /* the block may have been freed */
	struct key_list dead;
};

static void key_list_add(struct key_list *list, const void *key)
{
	list->keys = memory_grow(list->keys, list->count, &list->capacity, list->key_size);
	memcpy(list->keys + list->count++ * list->key_size, key, list->key_size);
}

static void key_list_free(struct key_list *list)
{
	free(list->keys);
	*list = (struct key_list){ 0 };
}

static void key_list_remove(struct key_list *list, const struct maps *maps, enum maps_id map)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		maps_remove(maps, map, list->keys + i * list->key_size);
	key_list_free(list);
}

/* The programs that a process no longer runs leave the totals; so does what they held. */
static void pass_see_site(void *context, const void *key, const void *value)
{
	struct pass *pass = context;
	const struct collect *collect = pass->collect;
	const struct site *record = value;
	struct known_site *site;
	uint64_t number;

	memcpy(&number, key, sizeof(number));
	/* A site that is newer than this report. */
	if (!sites_get(collect->reader->sites, number) &&
	    !events_cover(collect->events, record->first_ns))
		return;
	site = site_reader_read(collect->reader, number, value);
	if (!site)
		return;
	if (!ended_is_current(site))
		key_list_add(&pass->dead, key);
	sites_reset_ages(site);
	site->block = 0;
}

/* The least age of what counts as in use in a process. Where nothing is known of a garbage collector, nothing has outlived it. */
static uint64_t collect_min_age(const struct collect *collect, const struct process *process,
				uint64_t time_ns)
{
	const struct gc_clock *clock;
	uint64_t age_ns;

	if (!collect->survived)
		return collect->min_age_ns;
	clock = interp_table_gc_clock(collect->reader->scan->interps, process);
	age_ns = clock ? gc_clock_age(clock, time_ns, collect->survived) : UINT64_MAX;
	return age_ns > collect->min_age_ns ? age_ns : collect->min_age_ns;
}

/* Without a mark, all are of one generation. Young blocks do not count as in use. */
static void pass_add_birth(const struct pass *pass, struct known_site *site, uint64_t born_ns,
			   const struct site_blocks *blocks)
{
	const struct marks *marks = pass->collect->marks;
	struct generation born = { .bytes = blocks->bytes, .objects = blocks->objects };

	if (!marks || !marks->count || blocks->age_ns < pass->min_age_ns)
		return;
	born.since_ns = marks_before(marks, born_ns);
	generations_add(&site->births, &born);
}

/* A block, or a sample that represents `objects` blocks of together its size. */
static void pass_add_block(struct pass *pass, const void *key, const struct block *block,
			   uint64_t objects)
{
	struct known_site *site = sites_get(pass->collect->reader->sites, block->site);
	uint64_t born_ns = LIFE_BORN_NS(block->life);
	const struct site_blocks blocks = {
		.age_ns = pass->time_ns > born_ns ? pass->time_ns - born_ns : 0,
		.bytes = block->size,
		.objects = objects,
		.grown = LIFE_GROWN(block->life),
		.added = block->life & LIFE_ADDED,
		.unknown = (block->life & (LIFE_UNKNOWN | LIFE_ADDED)) == LIFE_UNKNOWN,
		.undecided = pass->undecided,
	};

	if (!site)
		return;
	if (!ended_is_current(site))
		key_list_add(&pass->dead, key);
	site->held_bytes += block->size;
	site->held_objects += objects;
	if (pass->process != site->process) {
		pass->process = site->process;
		pass->min_age_ns = collect_min_age(pass->collect, site->process, pass->time_ns);
	}
	site_stats_add_blocks(&site->stats, &blocks, pass->min_age_ns);
	pass_add_birth(pass, site, born_ns, &blocks);
}

/* Interpreters get pages of their heaps from malloc, too. */
static void pass_offer_block(struct pass *pass, const struct block_key *key,
			     const struct block *block)
{
	struct known_site *site;

	if (!heap_region_may_be(key->address, block->size))
		return;
	site = sites_get(pass->collect->reader->sites, block->site);
	if (!site)
		return;
	site->block = key->address;
	site->block_end = key->address + block->size;
}

static void pass_see_block(void *context, const void *key, const void *value)
{
	pass_offer_block(context, key, value);
	pass_add_block(context, key, value, 1);
}

static void pass_see_light_block(void *context, const struct block_key *key,
				 const struct block *block, bool undecided)
{
	struct pass *pass = context;

	pass->undecided = undecided;
	pass_see_block(pass, key, block);
	pass->undecided = false;
}

static void pass_see_sample(void *context, const void *key, const void *value)
{
	const struct sampled_block *sample = value;

	pass_add_block(context, key, &sample->block, sample->objects);
}

static const struct plan *collect_plan(const struct collect *collect)
{
	return &collect->reader->scan->probes->files->plan;
}

/* What has outlived most collections is what is oldest. */
static void collect_count_gcs(const struct collect *collect, const struct process *process,
			      uint64_t time_ns, struct site_stats *stats)
{
	const struct gc_clock *clock =
		interp_table_gc_clock(collect->reader->scan->interps, process);

	stats->gcs_known = clock;
	stats->gcs = clock && stats->oldest_ns
			     ? gc_clock_outlived(clock, time_ns - stats->oldest_ns)
			     : 0;
}

/* Where frees are not probed: what is not in use has been freed. */
static void collect_derive_frees(const struct known_site *site, struct site_stats *stats)
{
	uint64_t bytes, objects;

	stats->free_bytes = stats->free_objects = 0;
	if (site->held_objects < stats->alloc_objects)
		stats->free_objects = stats->alloc_objects - site->held_objects;
	if (site->held_bytes < stats->alloc_bytes)
		stats->free_bytes = stats->alloc_bytes - site->held_bytes;
	/* The figures of the site are older than those of its blocks. */
	bytes = site_stats_inuse_bytes(stats);
	objects = site_stats_inuse_objects(stats);
	if (stats->undecided_bytes > bytes)
		stats->undecided_bytes = bytes;
	if (stats->undecided_objects > objects)
		stats->undecided_objects = objects;
}

/* The row of a site, as of `time_ns`. False if it has none. */
static bool collect_make_row(const struct collect *collect, const struct known_site *site,
			     uint64_t time_ns, struct snapshot_site *ret_row)
{
	const struct plan *plan = collect_plan(collect);
	const struct site *record = &site->record;

	if (record->function >= plan->function_count)
		return false;
	*ret_row = (struct snapshot_site){
		.key = site->key,
		.target = &site->process->target,
		.function = &plan->functions[record->function],
		.source = (enum memory_source)record->source,
		.stack = site->stack,
		.stats = site->stats,
		.region = site->region,
		.sampled = plan->functions[record->function].sampled,
	};
	if (record->source == SOURCE_MMAP)
		mapping_set_site(collect->mappings, site->key, time_ns,
				 collect_min_age(collect, site->process, time_ns), &ret_row->stats);
	else if (collect->light && !ret_row->sampled)
		collect_derive_frees(site, &ret_row->stats);
	collect_count_gcs(collect, site->process, time_ns, &ret_row->stats);
	return true;
}

/* The site of a list's key. NULL if it is not known. */
static struct known_site *collect_listed(const struct collect *collect, const struct key_list *list,
					 size_t index)
{
	uint64_t key;

	memcpy(&key, list->keys + index * list->key_size, sizeof(key));
	return sites_get(collect->reader->sites, key);
}

static void collect_subtract(struct share *share, const struct site *site)
{
	__atomic_fetch_sub(site->stack ? &share->stacks : &share->plain, 1, __ATOMIC_RELAXED);
}

/* A site that cannot be removed stays counted, and is read again. */
static void collect_remove_site(const struct collect *collect, const struct known_site *site)
{
	if (maps_remove(collect->maps, MAPS_SITES, &site->key))
		return;
	if (maps_exist(collect->maps, MAPS_SITE_THREADS))
		maps_remove(collect->maps, MAPS_SITE_THREADS, &site->key);
	collect_subtract(&collect->shares[site->record.target_id], &site->record);
	collect_subtract(&collect->shares[SHARE_OF_ALL], &site->record);
}

/* Sites and their stacks are removed, here and from the maps. */
static void collect_forget_sites(struct collect *collect, struct key_list *dead, uint64_t time_ns)
{
	struct known_site *site;
	struct snapshot_site row;
	size_t i;

	for (i = 0; i < dead->count; i++) {
		site = collect_listed(collect, dead, i);
		if (!site)
			continue;
		maps_remove(collect->maps, MAPS_STACKS, &site->record.stack);
		maps_remove(collect->maps, MAPS_INTERP_STACKS, &site->record.stack);
		if (collect_make_row(collect, site, time_ns, &row))
			ended_keep_site(collect->reader->ended, site, &row);
	}
	for (i = 0; i < dead->count; i++) {
		site = collect_listed(collect, dead, i);
		if (!site)
			continue;
		mapping_set_drop(collect->mappings, site->record.target_id, site->record.exec_id);
		collect_remove_site(collect, site);
		sites_remove(collect->reader->sites, site->key);
	}
	key_list_free(dead);
}

/* Blocks of the heap, of which only those count that may be in use, with `look`. */
static int collect_read_blocks(const struct collect *collect, struct pass *pass, bool look)
{
	return look && collect->light ? light_look(collect->light, pass_see_light_block, pass)
				      : maps_read(collect->maps, MAPS_BLOCKS, pass_see_block, pass);
}

/* `look`: figures are wanted; otherwise only what ended programs have left. */
static int collect_read_maps(struct collect *collect, uint64_t time_ns, bool look)
{
	struct pass pass = { .collect = collect, .time_ns = time_ns };
	const struct maps *maps = collect->maps;
	struct key_list dead_sites;
	int code;

	pass.dead = (struct key_list){ .key_size = sizeof(uint64_t) };
	collect->reader->ended->needs_reap = false;
	code = maps_read(maps, MAPS_SITES, pass_see_site, &pass);
	dead_sites = pass.dead;
	pass.dead = (struct key_list){ .key_size = sizeof(struct block_key) };
	if (!code)
		code = collect_read_blocks(collect, &pass, look);
	key_list_remove(&pass.dead, maps, MAPS_BLOCKS);
	if (!code && maps_exist(maps, MAPS_SAMPLES)) {
		pass.dead = (struct key_list){ .key_size = sizeof(struct block_key) };
		code = maps_read(maps, MAPS_SAMPLES, pass_see_sample, &pass);
		key_list_remove(&pass.dead, maps, MAPS_SAMPLES);
	}
	collect_forget_sites(collect, &dead_sites, time_ns);
	return code;
}

int collect_read(struct collect *collect, uint64_t time_ns)
{
	return collect_read_maps(collect, time_ns, true);
}

int collect_reap(struct collect *collect)
{
	uint64_t begin = clock_now_ns(), end;
	int code = collect_read_maps(collect, begin, false);

	end = clock_now_ns();
	collect->reap_ns = end + REAP_MIN_NS + REAP_REST * (end - begin);
	return code;
}

uint64_t collect_find_site(const struct collect *collect, pid_t pid, uint64_t address,
			   uint64_t size)
{
	const struct process *process =
		process_table_find(collect->reader->processes, (uint32_t)pid);
	struct block_key key = { .address = address };
	struct block block;

	if (!process)
		return 0;
	key.target_id = process->target_id;
	key.exec_id = process->exec_id;
	if (maps_get(collect->maps, MAPS_BLOCKS, &key, &block))
		return 0;
	return block.life & LIFE_ADDED || block.size <= size ? block.site : 0;
}

/* What is kept of sites. */
struct keeping {
	const struct collect *collect;
	struct history *history;
	uint64_t time_ns;
};

static void keeping_see_site(void *context, const void *key, const void *value)
{
	const struct keeping *keeping = context;
	const struct site *record = value;
	struct site_stats stats = { .alloc_bytes = record->alloc_bytes,
				    .alloc_objects = record->alloc_objects,
				    .free_bytes = record->free_bytes,
				    .free_objects = record->free_objects,
				    .lives = lifespans_of(record) };
	uint64_t number;

	memcpy(&number, key, sizeof(number));
	if (record->source == SOURCE_MMAP)
		mapping_set_site(keeping->collect->mappings, number, keeping->time_ns, 0, &stats);
	if (sites_get(keeping->collect->reader->sites, number))
		history_set(keeping->history, number, &stats);
}

void collect_keep(const struct collect *collect, uint64_t time_ns, struct history *history)
{
	struct keeping keeping = { collect, history, time_ns };

	if (!history_begin(history, time_ns))
		return;
	/* The next moment may be read again. */
	if (maps_read(collect->maps, MAPS_SITES, keeping_see_site, &keeping)) {
		history_take_back(history);
		return;
	}
	history_end(history);
	if ((clock_now_ns() - time_ns) * KEEPING_REST > history->spacing_ns)
		history_slow_down(history);
}

/* A named process is listed after its end, too. */
static bool collect_lists(const struct collect *collect, const struct process_slot *slot)
{
	return !slot->process->to_reap || (slot->root && !collect->reader->ended->keeps);
}

static void collect_list_targets(const struct collect *collect, struct snapshot *snapshot)
{
	const struct process_table *processes = collect->reader->processes;
	const struct ended *ended = collect->reader->ended;
	size_t i;

	for (i = 0; i < processes->count; i++)
		if (collect_lists(collect, &processes->slots[i]))
			snapshot_add_target(snapshot, &processes->slots[i].process->target);
	for (i = 0; i < ended->program_count; i++)
		if (ended_lists(&ended->programs[i]))
			snapshot_add_target(snapshot, ended->programs[i].target);
}

static void collect_add_site(const struct collect *collect, struct snapshot *snapshot,
			     const struct known_site *site)
{
	const uint64_t time_ns = snapshot->time_ns;
	struct generations mapped = { 0 };
	struct snapshot_site row;

	if (!collect_make_row(collect, site, time_ns, &row))
		return;
	row.births = site->births;
	if (site->record.source == SOURCE_MMAP && collect->marks && collect->marks->count) {
		mapping_set_count_births(collect->mappings, site->key, time_ns,
					 collect_min_age(collect, site->process, time_ns),
					 collect->marks, &mapped);
		row.births = mapped;
	}
	snapshot_add_site(snapshot, &row);
	generations_free(&mapped);
}

void collect_fill(const struct collect *collect, struct snapshot *snapshot)
{
	const struct sites *sites = collect->reader->sites;
	const struct ended *ended = collect->reader->ended;
	const struct table_slot *slot;
	struct snapshot_site row;
	size_t cursor = 0, i;

	snapshot_set_modules(snapshot, collect->reader->scan->modules);
	snapshot_hold_names(snapshot, jit_names_pool(collect->reader->jit_names));
	snapshot_hold_names(snapshot, interp_table_pool(collect->reader->scan->interps));
	collect_list_targets(collect, snapshot);
	if (collect->marks)
		snapshot_set_marks(snapshot, collect->marks);
	while ((slot = table_next(&sites->by_key, &cursor)))
		collect_add_site(collect, snapshot, slot->value);
	for (i = 0; i < ended->site_count; i++) {
		row = ended_row(ended, collect_plan(collect), i);
		snapshot_add_site(snapshot, &row);
	}
}
