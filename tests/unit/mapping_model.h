/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of mapped memory for the tests of mapping_set: for each page, and for what each open call has
 * set aside, the mapping that the page belongs to. It follows the contract in mapping_set.h page by
 * page and shares nothing with the code under test.
 */
#ifndef TESTS_MAPPING_MODEL_H
#define TESTS_MAPPING_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "model/mapping_set.h"

#define PAGE 4096ULL
#define PAGES 256
#define BASE 0x7f0000000000ULL
#define THREADS 5
#define SITES 7
#define FAILED UINT64_MAX
#define DONTUNMAP 4

/* What the models have of a mapping. */
struct truth {
	uint32_t site;
	uint32_t first;
	uint64_t length, bytes, born_ns;
};

struct open_call {
	bool open;
	uint32_t age; /* order of begin */
	struct event_mapping event;
	uint32_t pages[PAGES]; /* set aside; 0 = none, else index of the mapping */
};

struct model {
	uint32_t pages[PAGES];
	struct open_call calls[THREADS];
	struct site_stats sites[SITES];
	struct truth *mappings; /* the first is unused */
	uint32_t count, capacity, ages;
	struct mapping_losses losses;
};

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33) % limit;
}

static inline uint64_t site_key(uint32_t tgid, uint32_t site)
{
	return (uint64_t)tgid * 1000 + site + 1;
}

static inline void model_free_page(struct model *model, uint32_t *page, uint32_t number)
{
	struct truth *mapping = &model->mappings[*page];
	uint64_t offset = (number - mapping->first) * PAGE;
	uint64_t bytes = mapping->length - offset < PAGE ? mapping->length - offset : PAGE;

	if (!*page)
		return;
	*page = 0;
	mapping->bytes -= bytes;
	model->sites[mapping->site].free_bytes += bytes;
	if (!mapping->bytes)
		model->sites[mapping->site].free_objects++;
}

/* Page numbers of a call's range; false if it is none. */
static inline bool model_range(uint64_t address, uint64_t length, uint32_t *first, uint32_t *end)
{
	if (address % PAGE || !length)
		return false;
	*first = (uint32_t)((address - BASE) / PAGE);
	*end = *first + (uint32_t)((length + PAGE - 1) / PAGE);
	return true;
}

static inline bool model_unmaps(const struct event_mapping *event)
{
	return event->op == CALL_MUNMAP ||
	       (event->op == CALL_MREMAP && !(event->flags & DONTUNMAP));
}

static inline void model_finish(struct model *model, struct open_call *call)
{
	uint32_t i;

	for (i = 0; i < PAGES; i++)
		model_free_page(model, &call->pages[i], i);
	call->open = false;
}

static inline void model_lose(struct model *model, struct open_call *call)
{
	if (!call->open)
		return;
	model->losses.returns_unmatched++;
	model_finish(model, call);
}

static inline void model_enter(struct model *model, const struct event_mapping *event)
{
	struct open_call *call = &model->calls[event->thread];
	uint32_t i, end;

	model_lose(model, call);
	*call = (struct open_call){ .open = true, .age = model->ages++, .event = *event };
	if (event->op != CALL_MMAP && !model_unmaps(event))
		return;
	if (!model_range(event->old_address, event->old_length, &i, &end))
		return;
	for (; i < end; i++) {
		call->pages[i] = model->pages[i];
		model->pages[i] = 0;
	}
}

/* A page is gone from what calls have set aside that are older than `age`. */
static inline void model_free_aside(struct model *model, uint32_t page, uint32_t age)
{
	uint32_t thread;

	for (thread = 0; thread < THREADS; thread++)
		if (model->calls[thread].open && model->calls[thread].age < age)
			model_free_page(model, &model->calls[thread].pages[page], page);
}

static inline void model_map(struct model *model, const struct event_mapping *event)
{
	uint32_t i, first, end;
	bool reused = false;

	if (!model_range(event->result, event->new_length, &first, &end))
		return;
	for (i = first; i < end; i++) {
		reused |= model->pages[i] != 0;
		model_free_page(model, &model->pages[i], i);
		model_free_aside(model, i, UINT32_MAX);
		model->pages[i] = event->site ? model->count : 0;
	}
	model->losses.address_reused += reused &&
					!(event->op == CALL_MREMAP && event->flags & MREMAP_FIXED);
	if (!event->site)
		return;
	if (model->count + 1 == model->capacity) {
		model->capacity *= 2;
		model->mappings =
			reallocarray(model->mappings, model->capacity, sizeof(*model->mappings));
	}
	model->mappings[model->count++] = (struct truth){
		.site = (uint32_t)(event->site % 1000 - 1),
		.first = first,
		.length = event->new_length,
		.bytes = event->new_length,
		.born_ns = event->time_ns,
	};
	model->sites[event->site % 1000 - 1].alloc_bytes += event->new_length;
	model->sites[event->site % 1000 - 1].alloc_objects++;
}

static inline bool model_failed(const struct event_mapping *event)
{
	return event->op == CALL_MUNMAP ? (uint32_t)event->result != 0 : event->result == FAILED;
}

static inline void model_put_back(struct model *model, struct open_call *call)
{
	uint32_t i;

	for (i = 0; i < PAGES; i++)
		if (call->pages[i])
			model->pages[i] = call->pages[i];
	call->open = false;
}

static inline void model_return(struct model *model, const struct event_mapping *event)
{
	struct open_call *call = &model->calls[event->thread];
	uint32_t i, end, age = UINT32_MAX;

	if (call->open &&
	    (call->event.op != event->op || call->event.old_address != event->old_address ||
	     call->event.old_length != event->old_length))
		model_lose(model, call);
	if (model_failed(event)) {
		if (call->open)
			model_put_back(model, call);
		return;
	}
	if (call->open) {
		age = call->age;
		model_finish(model, call);
	}
	if (model_unmaps(event) && model_range(event->old_address, event->old_length, &i, &end))
		for (; i < end; i++) {
			model_free_aside(model, i, age);
			if (age == UINT32_MAX)
				model_free_page(model, &model->pages[i], i);
		}
	if (event->op != CALL_MUNMAP)
		model_map(model, event);
}

static inline struct model *model_new(void)
{
	struct model *model = calloc(1, sizeof(*model));

	model->count = 1;
	model->capacity = 1024;
	model->mappings = calloc(model->capacity, sizeof(*model->mappings));
	return model;
}

static inline void model_free(struct model *model)
{
	free(model->mappings);
	free(model);
}

static inline void assert_counters(const struct site_stats *stats,
				   const struct site_stats *expected)
{
	assert_int_equal(stats->alloc_bytes, expected->alloc_bytes);
	assert_int_equal(stats->alloc_objects, expected->alloc_objects);
	assert_int_equal(stats->free_bytes, expected->free_bytes);
	assert_int_equal(stats->free_objects, expected->free_objects);
}

/* Forget the mappings that are gone, so that comparing stays cheap. */
static inline void model_compact(struct model *model)
{
	uint32_t *moved = calloc(model->count, sizeof(*moved)), i, thread, kept = 1;

	for (i = 1; i < model->count; i++)
		if (model->mappings[i].bytes) {
			moved[i] = kept;
			model->mappings[kept++] = model->mappings[i];
		}
	for (i = 0; i < PAGES; i++) {
		model->pages[i] = moved[model->pages[i]];
		for (thread = 0; thread < THREADS; thread++)
			if (model->calls[thread].open)
				model->calls[thread].pages[i] =
					moved[model->calls[thread].pages[i]];
	}
	model->count = kept;
	free(moved);
}

static inline void random_range(uint64_t *random, __u64 *address, __u64 *length)
{
	uint32_t first = random_below(random, PAGES);
	uint32_t pages = 1 + random_below(random, PAGES - first < 24 ? PAGES - first : 24);

	*address = BASE + first * PAGE;
	*length = pages * PAGE;
	if (random_below(random, 2))
		*length -= random_below(random, PAGE);
	if (!random_below(random, 50))
		*length = 0;
}

#endif
