/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See mapping_set.h. A program that a process runs owns its ranges, its sites and the calls that
 * have begun and not returned; a site owns its mappings; a range, in the program's list or set aside for
 * a call, refers to its mapping.
 */
#include "model/mapping_set.h"

#include <linux/mman.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "base/table.h"
#include "model/range_list.h"

/* Calls of one program that are open at a time; if there are more, the oldest has lost its return. */
#define CALLS_MAX 1024

#define MREMAP_DONTUNMAP_FLAG 4 /* older C libraries do not define MREMAP_DONTUNMAP */

struct mapping_site {
	uint64_t key;
	const struct target_program *program;
	struct site_stats stats; /* without ages */
	struct mapping *mappings; /* in use */
	struct mapping_site *next; /* of the same program */
};

struct mapping {
	struct mapping_site *site;
	struct mapping *previous, *next; /* of the same site */
	uint64_t end; /* of the bytes asked for */
	uint64_t bytes; /* in use */
	uint64_t born_ns;
	bool anonymous;
	uint64_t measured_bytes, resident_bytes; /* when it was looked at last */
};

/* An unmapping call that has begun. */
struct call {
	struct call *next; /* of the same program, a younger one */
	uint32_t thread, op;
	uint64_t address, length;
	struct range_list ranges; /* set aside */
};

struct target_program {
	struct range_list ranges;
	struct call *calls; /* the oldest first */
	size_t call_count;
	struct mapping_site *sites;
};

struct mapping_set {
	uint64_t page_size;
	size_t limit;
	size_t count; /* mappings in use */
	uint64_t now_ns; /* of the record that is applied */
	struct table programs; /* by program_key */
	struct table sites; /* by their keys */
	struct mapping_losses losses;
};

static uint64_t program_key(uint32_t target_id, uint32_t exec_id)
{
	return (uint64_t)target_id << 32 | exec_id;
}

struct mapping_set *mapping_set_new(uint64_t page_size, size_t limit)
{
	struct mapping_set *set = memory_alloc(1, sizeof(*set));

	set->page_size = page_size;
	set->limit = limit ? limit : SIZE_MAX;
	return set;
}

static struct target_program *set_program(struct mapping_set *set, uint32_t target_id,
					  uint32_t exec_id)
{
	uint64_t key = program_key(target_id, exec_id);
	struct target_program *program = table_get(&set->programs, key);

	if (program)
		return program;
	program = memory_alloc(1, sizeof(*program));
	range_list_init(&program->ranges, (uintptr_t)program);
	table_put(&set->programs, key, program);
	return program;
}

/* NULL if the key is that of a site of another program: keys are hashes, and a target may forge one. */
static struct mapping_site *set_site(struct mapping_set *set, struct target_program *program,
				     uint64_t key)
{
	struct mapping_site *site = table_get(&set->sites, key);

	if (site)
		return site->program == program ? site : NULL;
	site = memory_alloc(1, sizeof(*site));
	site->key = key;
	site->program = program;
	site->next = program->sites;
	program->sites = site;
	table_put(&set->sites, key, site);
	return site;
}

/* The pages that a call acts on: false if the kernel refuses such a call, or it is no range at all. */
static bool set_range(const struct mapping_set *set, uint64_t address, uint64_t length,
		      uint64_t *ret_end)
{
	uint64_t mask = set->page_size - 1;
	uint64_t size = (length + mask) & ~mask;

	if (address & mask || !length || size < length || address + size < address)
		return false;
	*ret_end = address + size;
	return true;
}

/* The bytes of a mapping, as they were asked for, that lie in a range of its pages. */
static uint64_t range_bytes(const struct range *range)
{
	const struct mapping *mapping = range->owner;

	return (range->end < mapping->end ? range->end : mapping->end) - range->start;
}

static void mapping_unlink(struct mapping *mapping)
{
	if (mapping->previous)
		mapping->previous->next = mapping->next;
	else
		mapping->site->mappings = mapping->next;
	if (mapping->next)
		mapping->next->previous = mapping->previous;
}

/* Free the bytes of a chain of ranges at their sites, and the chain. True if there were any. */
static bool set_release(struct mapping_set *set, struct range *chain)
{
	struct range *next;
	bool any = chain;

	for (; chain; chain = next) {
		struct mapping *mapping = chain->owner;
		uint64_t bytes = range_bytes(chain);

		next = chain->next[0];
		free(chain);
		mapping->site->stats.free_bytes += bytes;
		mapping->bytes -= bytes;
		if (mapping->bytes)
			continue;
		mapping->site->stats.free_objects++;
		lifespans_count(&mapping->site->stats.lives,
				set->now_ns > mapping->born_ns ? set->now_ns - mapping->born_ns
							       : 0);
		mapping_unlink(mapping);
		free(mapping);
		set->count--;
	}
	return any;
}

static void site_add_mapping(struct mapping_site *site, struct mapping *mapping)
{
	mapping->site = site;
	mapping->next = site->mappings;
	if (site->mappings)
		site->mappings->previous = mapping;
	site->mappings = mapping;
	site->stats.alloc_bytes += mapping->bytes;
	site->stats.alloc_objects++;
}

static void set_add_mapping(struct mapping_set *set, struct target_program *program,
			    const struct event_mapping *event, uint64_t end)
{
	struct mapping_site *site = NULL;
	struct mapping *mapping;

	if (set->count >= set->limit)
		set->losses.blocks_full++;
	else
		site = set_site(set, program, event->site);
	if (!site) {
		set->losses.bytes_unattributed += event->new_length;
		return;
	}
	mapping = memory_alloc(1, sizeof(*mapping));
	mapping->end = event->result + event->new_length;
	mapping->bytes = event->new_length;
	mapping->born_ns = event->time_ns;
	/* The flags of mremap do not show it. */
	mapping->anonymous = event->op == CALL_MMAP && event->flags & MAP_ANONYMOUS;
	site_add_mapping(site, mapping);
	range_list_add(&program->ranges, event->result, end, mapping);
	set->count++;
}

/* The old range is unmapped by the call itself, rather than by what it maps there. */
static bool event_unmaps(const struct event_mapping *event)
{
	return event->op == CALL_MUNMAP ||
	       (event->op == CALL_MREMAP && !(event->flags & MREMAP_DONTUNMAP_FLAG));
}

static void call_begin(struct mapping_set *set, struct target_program *program,
		       const struct event_mapping *event)
{
	struct call *call = memory_alloc(1, sizeof(*call)), **link = &program->calls;
	struct range *range, *next;
	uint64_t end;

	call->thread = event->thread;
	call->op = event->op;
	call->address = event->old_address;
	call->length = event->old_length;
	range_list_init(&call->ranges, (uintptr_t)call);
	while (*link)
		link = &(*link)->next;
	*link = call;
	program->call_count++;
	if (event->op != CALL_MMAP && !event_unmaps(event))
		return;
	if (!set_range(set, event->old_address, event->old_length, &end))
		return;
	for (range = range_list_take(&program->ranges, event->old_address, end); range;
	     range = next) {
		next = range->next[0];
		range_list_add(&call->ranges, range->start, range->end, range->owner);
		free(range);
	}
}

/* Take the call of a thread out of its program's list; NULL if the thread is in none. */
static struct call *call_take(struct target_program *program, uint32_t thread)
{
	struct call **link = &program->calls, *call;

	while (*link && (*link)->thread != thread)
		link = &(*link)->next;
	call = *link;
	if (!call)
		return NULL;
	*link = call->next;
	program->call_count--;
	return call;
}

/* The call has unmapped its ranges. */
static void call_finish(struct mapping_set *set, struct call *call)
{
	set_release(set, range_list_take(&call->ranges, 0, UINT64_MAX));
	free(call);
}

/* The call has failed: what it set aside is still mapped. */
static void call_undo(struct target_program *program, struct call *call)
{
	struct range *range = range_list_take(&call->ranges, 0, UINT64_MAX), *next;

	for (; range; range = next) {
		next = range->next[0];
		range_list_add(&program->ranges, range->start, range->end, range->owner);
		free(range);
	}
	free(call);
}

static void call_lose_return(struct mapping_set *set, struct call *call)
{
	set->losses.returns_unmatched++;
	call_finish(set, call);
}

/* The call that the event is the return of, taken out of the list; NULL if its begin was not seen. */
static struct call *call_of_return(struct mapping_set *set, struct target_program *program,
				   const struct event_mapping *event)
{
	struct call *call = call_take(program, event->thread);

	if (!call || (call->op == event->op && call->address == event->old_address &&
		      call->length == event->old_length))
		return call;
	call_lose_return(set, call);
	return NULL;
}

/* [start, end) is gone: also what the calls that are older than `younger` have set aside of it. */
static void set_release_older(struct mapping_set *set, struct target_program *program,
			      const struct call *younger, uint64_t start, uint64_t end)
{
	struct call *call;

	for (call = program->calls; call != younger; call = call->next)
		set_release(set, range_list_take(&call->ranges, start, end));
}

static void set_enter(struct mapping_set *set, struct target_program *program,
		      const struct event_mapping *event)
{
	struct call *lost = call_take(program, event->thread);

	if (lost)
		call_lose_return(set, lost);
	if (program->call_count >= CALLS_MAX)
		call_lose_return(set, call_take(program, program->calls->thread));
	call_begin(set, program, event);
}

/* A call has succeeded; NULL if its begin was not seen. */
static void set_unmapped(struct mapping_set *set, struct target_program *program,
			 const struct event_mapping *event, struct call *call)
{
	const struct call *younger = call ? call->next : NULL;
	uint64_t start = event->old_address, end;
	bool announced = call;

	if (call)
		call_finish(set, call);
	if (!event_unmaps(event) || !set_range(set, start, event->old_length, &end))
		return;
	/* What younger calls have set aside was still mapped, or again, after this one had begun. */
	set_release_older(set, program, younger, start, end);
	if (!announced)
		set_release(set, range_list_take(&program->ranges, start, end));
}

static void set_mapped(struct mapping_set *set, struct target_program *program,
		       const struct event_mapping *event)
{
	uint64_t end;

	if (!set_range(set, event->result, event->new_length, &end))
		return;
	set_release_older(set, program, NULL, event->result, end);
	if (set_release(set, range_list_take(&program->ranges, event->result, end)) &&
	    !(event->op == CALL_MREMAP && event->flags & MREMAP_FIXED))
		set->losses.address_reused++;
	if (event->site)
		set_add_mapping(set, program, event, end);
}

static bool event_failed(const struct event_mapping *event)
{
	/* munmap returns an int: the upper half of the register means nothing. */
	if (event->op == CALL_MUNMAP)
		return (uint32_t)event->result;
	return event->result == (uint64_t)(uintptr_t)MAP_FAILED;
}

static void set_return(struct mapping_set *set, struct target_program *program,
		       const struct event_mapping *event)
{
	struct call *call = call_of_return(set, program, event);

	if (event_failed(event)) {
		if (call)
			call_undo(program, call);
		return;
	}
	set_unmapped(set, program, event, call);
	if (event->op != CALL_MUNMAP)
		set_mapped(set, program, event);
}

void mapping_set_apply(struct mapping_set *set, const struct event_mapping *event)
{
	struct target_program *program;

	if (event->op < CALL_MMAP || event->op > CALL_MREMAP)
		return;
	program = set_program(set, event->target_id, event->exec_id);
	set->now_ns = event->time_ns;
	if (event->phase == MAPPING_ENTER)
		set_enter(set, program, event);
	else
		set_return(set, program, event);
}

static void set_free_site(struct mapping_set *set, struct mapping_site *site)
{
	struct mapping *mapping = site->mappings, *next;

	for (; mapping; mapping = next) {
		next = mapping->next;
		free(mapping);
		set->count--;
	}
	table_remove(&set->sites, site->key);
	free(site);
}

static void set_free_program(struct mapping_set *set, struct target_program *program)
{
	struct mapping_site *site = program->sites, *next_site;
	struct call *call = program->calls, *next_call;

	for (; call; call = next_call) {
		next_call = call->next;
		range_list_free(&call->ranges);
		free(call);
	}
	range_list_free(&program->ranges);
	for (; site; site = next_site) {
		next_site = site->next;
		set_free_site(set, site);
	}
	free(program);
}

void mapping_set_drop(struct mapping_set *set, uint32_t target_id, uint32_t exec_id)
{
	struct target_program *owner =
		table_remove(&set->programs, program_key(target_id, exec_id));

	if (owner)
		set_free_program(set, owner);
}

void mapping_set_free(struct mapping_set *set)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	if (!set)
		return;
	while ((slot = table_next(&set->programs, &cursor)))
		set_free_program(set, slot->value);
	table_free(&set->programs);
	table_free(&set->sites);
	free(set);
}

bool mapping_set_site(const struct mapping_set *set, uint64_t site, uint64_t now_ns,
		      uint64_t min_age_ns, struct site_stats *ret_stats)
{
	const struct mapping_site *found = table_get(&set->sites, site);
	const struct mapping *mapping;
	struct site_blocks blocks = { .objects = 1 };

	if (!found)
		return false;
	*ret_stats = found->stats;
	for (mapping = found->mappings; mapping; mapping = mapping->next) {
		blocks.age_ns = now_ns > mapping->born_ns ? now_ns - mapping->born_ns : 0;
		blocks.bytes = mapping->bytes;
		site_stats_add_blocks(ret_stats, &blocks, min_age_ns);
		if (blocks.age_ns < min_age_ns)
			continue;
		ret_stats->measured_bytes += mapping->measured_bytes;
		ret_stats->resident_bytes += mapping->resident_bytes;
	}
	return true;
}

void mapping_set_count_births(const struct mapping_set *set, uint64_t site, uint64_t now_ns,
			      uint64_t min_age_ns, const struct marks *marks,
			      struct generations *births)
{
	const struct mapping_site *found = table_get(&set->sites, site);
	const struct mapping *mapping;

	for (mapping = found ? found->mappings : NULL; mapping; mapping = mapping->next) {
		const struct generation born = { .since_ns = marks_before(marks, mapping->born_ns),
						 .bytes = mapping->bytes,
						 .objects = 1 };
		uint64_t age_ns = now_ns > mapping->born_ns ? now_ns - mapping->born_ns : 0;

		if (age_ns >= min_age_ns)
			generations_add(births, &born);
	}
}

static void set_forget_measures(struct mapping_set *set)
{
	const struct table_slot *slot;
	struct mapping *mapping;
	size_t cursor = 0;

	while ((slot = table_next(&set->sites, &cursor))) {
		const struct mapping_site *site = slot->value;

		for (mapping = site->mappings; mapping; mapping = mapping->next)
			mapping->measured_bytes = mapping->resident_bytes = 0;
	}
}

void mapping_set_measure(struct mapping_set *set,
			 bool (*measure)(void *context, const struct mapping_piece *piece,
					 uint64_t *ret_resident),
			 void *context)
{
	const struct table_slot *slot;
	const struct range *range;
	size_t cursor = 0;

	set_forget_measures(set);
	while ((slot = table_next(&set->programs, &cursor))) {
		const struct target_program *program = slot->value;

		for (range = program->ranges.first[0]; range; range = range->next[0]) {
			struct mapping *mapping = range->owner;
			const struct mapping_piece piece = { .target_id =
								     (uint32_t)(slot->key >> 32),
							     .exec_id = (uint32_t)slot->key,
							     .site = mapping->site->key,
							     .start = range->start,
							     .end = range->end,
							     .anonymous = mapping->anonymous };
			uint64_t resident;

			if (!measure(context, &piece, &resident))
				continue;
			mapping->measured_bytes += range_bytes(range);
			mapping->resident_bytes += resident;
		}
	}
}

struct mapping_losses mapping_set_losses(const struct mapping_set *set)
{
	return set->losses;
}

size_t mapping_set_count(const struct mapping_set *set)
{
	return set->count;
}
