/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of free objects is a stack: a process at work takes from its top and adds there, and what is below stays. So if it changes while
 * it is followed, only its head, counter and first objects are read again, until these lead to what is known and agree.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "heap/tcmalloc.h"

/* Lists go from page to page and back: pages that were read are kept a while. */
#define PAGES 128
#define PAGE_BYTES 4096ull
#define TOP 64 /* objects that may have changed since */
#define SLACK 8 /* objects that were added while the counter was read */
/* How far an end and a counter of two moments are apart, and how often in a row. */
#define NEAR 2
#define DIFFERED 4
/* After so many tries we wait, but not for long in all. */
#define REST_TRIES 16
#define REST_NS 2000000
#define RESTS 32

struct tcmalloc_chain {
	uint64_t *items; /* owned */
	size_t count, capacity;
};

struct tcmalloc_follow {
	uint64_t address[PAGES]; /* of pages; 0 = none */
	unsigned char *bytes[PAGES]; /* NULL = none was read so far */
	unsigned int tries;
	uint64_t steps_left; /* lists are a target's choice, and may all be one */
	unsigned int rests_left;
	/* The list as it is followed now, and as it was when it was last followed to its end. */
	struct tcmalloc_chain now, known;
	bool joined; /* from some object on, `now` is as `known` */
	unsigned int differed; /* how often such a list did not agree */
};

struct tcmalloc_follow *tcmalloc_follow_open(unsigned int tries, uint64_t steps)
{
	struct tcmalloc_follow *follow = memory_alloc(1, sizeof(*follow));

	follow->tries = tries;
	follow->steps_left = steps;
	follow->rests_left = RESTS;
	return follow;
}

void tcmalloc_follow_close(struct tcmalloc_follow *follow)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		free(follow->bytes[i]);
	free(follow->now.items);
	free(follow->known.items);
	free(follow);
}

void tcmalloc_break(struct tcmalloc_lists *lists, unsigned int size_class)
{
	lists->free->broken++;
	lists->free->moving[size_class] = true;
	lists->free->is_odd |= !size_class;
}

static bool tcmalloc_may_be_object(uint64_t object)
{
	/* Nothing lies on the first page, and its address marks entries without bytes. */
	return object >= PAGE_BYTES && !(object & 7) && !(object >> 48);
}

/* The first word of an object. */
static bool tcmalloc_next(struct tcmalloc_lists *lists, uint64_t object, uint64_t *ret_next)
{
	struct tcmalloc_follow *follow = lists->follow;
	uint64_t page = object & ~(PAGE_BYTES - 1);
	size_t i = page / PAGE_BYTES % PAGES;

	if (!tcmalloc_may_be_object(object))
		return false;
	if (follow->address[i] != page) {
		follow->address[i] = 0;
		if (!follow->bytes[i])
			follow->bytes[i] = memory_alloc(1, PAGE_BYTES);
		if (!image_read(lists->image, page, follow->bytes[i], PAGE_BYTES))
			return false;
		follow->address[i] = page;
	}
	memcpy(ret_next, follow->bytes[i] + (object & (PAGE_BYTES - 1)), sizeof(*ret_next));
	return true;
}

/* The same as it is at this moment. */
static bool tcmalloc_next_now(struct tcmalloc_lists *lists, uint64_t object, uint64_t *ret_next)
{
	return tcmalloc_may_be_object(object) &&
	       image_read(lists->image, object, ret_next, sizeof(*ret_next));
}

static void chain_add(struct tcmalloc_chain *chain, uint64_t object)
{
	chain->items =
		memory_grow(chain->items, chain->count, &chain->capacity, sizeof(*chain->items));
	chain->items[chain->count++] = object;
}

/* From `object` on, is it known how the list goes on? Then it is added up to its end. */
static bool tcmalloc_join(struct tcmalloc_follow *follow, uint64_t object)
{
	const struct tcmalloc_chain *known = &follow->known;
	size_t i, top = known->count < TOP ? known->count : TOP;

	for (i = 0; i < top && known->items[i] != object; i++)
		;
	if (i == top)
		return false;
	follow->joined = true;
	for (; i < known->count && follow->steps_left; i++, follow->steps_left--)
		chain_add(&follow->now, known->items[i]);
	return true;
}

/* Follow it once. False if it does not come to an end. */
static bool tcmalloc_follow_once(struct tcmalloc_lists *lists, const struct tcmalloc_list *list,
				 bool again)
{
	struct tcmalloc_follow *follow = lists->follow;
	uint64_t most = list->length + (follow->tries > 1 ? SLACK : 0), object = list->object;
	struct tcmalloc_chain *now = &follow->now;
	bool read;

	now->count = 0;
	follow->joined = false;
	for (; object && now->count < most && follow->steps_left; follow->steps_left--) {
		if (again && now->count < TOP && tcmalloc_join(follow, object))
			return true;
		if (again && now->count == TOP)
			memset(follow->address, 0, sizeof(follow->address));
		chain_add(now, object);
		if (object == list->last)
			return true;
		read = again && now->count <= TOP ? tcmalloc_next_now(lists, object, &object)
						  : tcmalloc_next(lists, object, &object);
		if (!read)
			return false;
	}
	return !object;
}

/* Add what was followed, up to its counter. False if it agrees with that, but not with other lists. */
static bool tcmalloc_take(struct tcmalloc_lists *lists, const struct tcmalloc_list *list)
{
	const struct tcmalloc_chain *now = &lists->follow->now;
	bool is_new = true;
	size_t i;

	for (i = 0; i < now->count && i < list->length; i++)
		is_new &= address_set_add(&lists->free->objects, now->items[i]);
	return is_new;
}

/* It came to an end, but its counter has another number: is that since one of both is of another moment? */
static void tcmalloc_differs(struct tcmalloc_follow *follow, const struct tcmalloc_list *list)
{
	struct tcmalloc_chain known = follow->known;
	uint64_t count = follow->now.count;
	bool is_near = count <= list->length + NEAR && list->length <= count + NEAR;

	/* The first word of an object that was taken may be 0, and looks like an end. */
	if (follow->joined && (!is_near || ++follow->differed == DIFFERED)) {
		follow->known.count = 0;
	} else if (!follow->joined && !list->last) {
		/* Ends other than 0 are those of chains: these are short, and replaced as a whole. */
		follow->known = follow->now;
		follow->now = known;
		follow->differed = 0;
	}
}

/* A thread that waits for a CPU in the midst of a call leaves its list as it is until it goes on. */
static void tcmalloc_rest(struct tcmalloc_follow *follow, unsigned int tries)
{
	const struct timespec rest = { .tv_nsec = REST_NS };

	if (!tries || tries % REST_TRIES || !follow->rests_left)
		return;
	follow->rests_left--;
	nanosleep(&rest, NULL);
}

void tcmalloc_follow(struct tcmalloc_lists *lists, struct tcmalloc_list *list)
{
	struct tcmalloc_follow *follow = lists->follow;
	bool ended = false, agrees = false;
	unsigned int tries;

	if (!follow)
		return;
	follow->known.count = 0;
	for (tries = 0; tries < follow->tries && !agrees; tries++) {
		tcmalloc_rest(follow, tries);
		if (tries && !list->read(lists, list))
			break;
		ended = tcmalloc_follow_once(lists, list, tries > 0);
		agrees = ended && follow->now.count == list->length;
		if (ended && !agrees)
			tcmalloc_differs(follow, list);
	}
	if (tcmalloc_take(lists, list) && agrees) {
		lists->free->changed += tries > 1;
		return;
	}
	if (agrees && follow->tries > 1)
		lists->free->changed++;
	else
		tcmalloc_break(lists, list->size_class);
}
