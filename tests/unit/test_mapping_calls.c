/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping_set against a small kernel: the threads of a correct program call it, the calls overlap in time and
 * may fail, addresses are handed out again before the call that has given them up returns. What the
 * kernel has mapped and unmapped for whom is the truth that the accounting must reach.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unit/mapping_model.h"

/* A thread is in a call from its begin to its end; in between, the call takes effect. */

struct kernel_thread {
	bool busy, done, failed;
	struct event_mapping event;
};

struct kernel {
	struct model *truth; /* only pages, mappings and counters are used */
	struct kernel_thread threads[THREADS];
	/* 1 + the thread whose call acts on the page: no other thread of a correct program touches it. */
	uint8_t reserved[PAGES];
	struct mapping_set *set;
	uint64_t now;
};

static bool kernel_reserve(struct kernel *kernel, const struct event_mapping *event)
{
	uint32_t first, end, i;

	if (!model_range(event->old_address, event->old_length, &first, &end))
		return false;
	for (i = first; i < end; i++)
		if (kernel->reserved[i])
			return false;
	memset(&kernel->reserved[first], (int)event->thread + 1, end - first);
	return true;
}

static void kernel_release(struct kernel *kernel, uint32_t thread)
{
	uint32_t i;

	for (i = 0; i < PAGES; i++)
		if (kernel->reserved[i] == thread + 1)
			kernel->reserved[i] = 0;
}

/* May the kernel hand out this page? It may well be one that a call has unmapped but not returned from. */
static bool kernel_may_use(const struct kernel *kernel, uint32_t page)
{
	uint32_t user = kernel->reserved[page];

	if (kernel->truth->pages[page])
		return false;
	return !user || (kernel->threads[user - 1].done && !kernel->threads[user - 1].failed);
}

static uint64_t kernel_find(const struct kernel *kernel, uint64_t length, uint64_t *random)
{
	uint32_t pages = (uint32_t)((length + PAGE - 1) / PAGE), tries, first, i;

	for (tries = 0; tries < 40; tries++) {
		first = random_below(random, PAGES - pages);
		for (i = first; i < first + pages && kernel_may_use(kernel, i); i++)
			;
		if (i == first + pages)
			return BASE + first * PAGE;
	}
	return FAILED;
}

static void kernel_unmap(struct kernel *kernel, uint64_t address, uint64_t length)
{
	uint32_t i, end;

	if (model_range(address, length, &i, &end))
		for (; i < end; i++)
			model_free_page(kernel->truth, &kernel->truth->pages[i], i);
}

/* The new mapping is its caller's alone until the call has returned. */
static void kernel_protect_result(struct kernel *kernel, const struct event_mapping *event)
{
	uint32_t first, end;

	if (model_range(event->result, event->new_length, &first, &end))
		memset(&kernel->reserved[first], (int)event->thread + 1, end - first);
}

static void kernel_act(struct kernel *kernel, struct kernel_thread *thread, uint64_t *random)
{
	struct event_mapping *event = &thread->event;

	thread->done = true;
	thread->failed = !random_below(random, 5);
	event->result = event->op == CALL_MUNMAP ? (uint32_t)-1 : FAILED;
	if (thread->failed)
		return;
	event->result = 0;
	if (event->op == CALL_MREMAP && random_below(random, 2))
		event->result = kernel_find(kernel, event->new_length, random);
	else if (event->op == CALL_MMAP && !(event->flags & MAP_FIXED))
		event->result = kernel_find(kernel, event->new_length, random);
	else if (event->op != CALL_MUNMAP)
		event->result = event->old_address;
	thread->failed = event->result == FAILED;
	if (thread->failed)
		return;
	if (event->op == CALL_MREMAP && event->result == event->old_address &&
	    event->new_length > event->old_length)
		event->new_length = event->old_length;
	if (event->op != CALL_MMAP || event->flags & MAP_FIXED)
		kernel_unmap(kernel, event->old_address, event->old_length);
	if (event->op != CALL_MUNMAP) {
		model_map(kernel->truth, event);
		kernel_protect_result(kernel, event);
	}
}

static void kernel_begin(struct kernel *kernel, struct kernel_thread *thread, uint64_t *random)
{
	struct event_mapping *event = &thread->event;
	__u64 place;

	*thread = (struct kernel_thread){
		.event = { .kind = EVENT_MAPPING, .target_id = 0, .exec_id = 9 }
	};
	event->thread = (uint32_t)(thread - kernel->threads);
	event->op = CALL_MMAP + random_below(random, 3);
	event->flags = event->op == CALL_MMAP && random_below(random, 3) ? MAP_FIXED : 0;
	random_range(random, &event->old_address, &event->old_length);
	random_range(random, &place, &event->new_length);
	if (!event->old_length || !event->new_length)
		return;
	if (event->op == CALL_MMAP)
		event->new_length = event->old_length;
	event->site = site_key(0, random_below(random, SITES));
	if (event->op == CALL_MMAP && !event->flags) {
		event->old_address = 0;
	} else {
		if (!kernel_reserve(kernel, event))
			return;
		event->phase = MAPPING_ENTER;
		event->time_ns = kernel->now;
		mapping_set_apply(kernel->set, event);
	}
	thread->busy = true;
}

static void kernel_end(struct kernel *kernel, struct kernel_thread *thread)
{
	struct event_mapping *event = &thread->event;

	event->phase = MAPPING_RETURN;
	event->time_ns = kernel->now;
	mapping_set_apply(kernel->set, event);
	kernel_release(kernel, event->thread);
	thread->busy = false;
}

static void kernel_step(struct kernel *kernel, bool may_begin, uint64_t *random)
{
	struct kernel_thread *thread = &kernel->threads[random_below(random, THREADS)];

	kernel->now++;
	if (!thread->busy && may_begin)
		kernel_begin(kernel, thread, random);
	else if (thread->busy && !thread->done) {
		kernel_act(kernel, thread, random);
	} else if (thread->busy) {
		kernel_end(kernel, thread);
	}
}

static bool kernel_idle(const struct kernel *kernel)
{
	uint32_t i;

	for (i = 0; i < THREADS; i++)
		if (kernel->threads[i].busy)
			return false;
	return true;
}

static void test_overlapping_calls_of_a_correct_program(void **state)
{
	struct kernel kernel = { .truth = model_new(), .set = mapping_set_new(PAGE, 0) };
	uint64_t random = 7, round, i, compared = 0;
	uint32_t site;

	(void)state;
	for (round = 0; round < 3000; round++) {
		for (i = 0; i < 60; i++)
			kernel_step(&kernel, true, &random);
		while (!kernel_idle(&kernel))
			kernel_step(&kernel, false, &random);
		for (site = 0; site < SITES; site++) {
			struct site_stats totals = { 0 };

			mapping_set_site(kernel.set, site_key(0, site), kernel.now, 0, &totals);
			assert_counters(&totals, &kernel.truth->sites[site]);
			compared += totals.free_objects;
		}
		model_compact(kernel.truth);
	}
	assert_true(compared > 0);
	assert_int_equal(mapping_set_losses(kernel.set).returns_unmatched, 0);
	assert_int_equal(mapping_set_losses(kernel.set).address_reused, 0);
	mapping_set_free(kernel.set);
	model_free(kernel.truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlapping_calls_of_a_correct_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
