/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping_set against a model that follows its contract page by page, for any sequence of records, however
 * odd; and cases by hand. test_mapping_calls.c has the programs that make sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unit/mapping_model.h"

static void assert_site(const struct mapping_set *set, const struct model *model,
			uint32_t target_id, uint32_t site, uint64_t now_ns, uint64_t min_age_ns)
{
	struct site_stats totals = { 0 }, expected = model->sites[site];
	uint32_t i;

	for (i = 1; i < model->count; i++) {
		const struct truth *mapping = &model->mappings[i];
		uint64_t age = now_ns - mapping->born_ns;

		if (!mapping->bytes || mapping->site != site)
			continue;
		if (age < min_age_ns) {
			expected.young_bytes += mapping->bytes;
			expected.young_objects++;
			continue;
		}
		expected.age_sum_ns += age;
		if (age > expected.oldest_ns)
			expected.oldest_ns = age;
	}
	mapping_set_site(set, site_key(target_id, site), now_ns, min_age_ns, &totals);
	assert_counters(&totals, &expected);
	assert_int_equal(totals.oldest_ns, expected.oldest_ns);
	assert_int_equal(totals.age_sum_ns, expected.age_sum_ns);
	assert_int_equal(totals.young_bytes, expected.young_bytes);
	assert_int_equal(totals.young_objects, expected.young_objects);
}

/* Any record, of a call that was begun or not. */
static struct event_mapping random_event(const struct model *model, uint32_t target_id,
					 uint64_t *random)
{
	static const uint64_t flags[] = { 0, MREMAP_FIXED | MREMAP_MAYMOVE, DONTUNMAP };
	struct event_mapping event = { .kind = EVENT_MAPPING,
				       .target_id = target_id,
				       .exec_id = 9 };
	const struct open_call *call;

	event.thread = random_below(random, THREADS);
	call = &model->calls[event.thread];
	if (call->open && random_below(random, 10)) {
		event = call->event;
		event.phase = MAPPING_RETURN;
	} else {
		event.op = CALL_MMAP + random_below(random, 3);
		event.phase = random_below(random, 4) ? MAPPING_ENTER : MAPPING_RETURN;
		random_range(random, &event.old_address, &event.old_length);
		if (!random_below(random, 40))
			event.old_address += 8;
		event.flags = event.op == CALL_MREMAP ? flags[random_below(random, 3)] : MAP_FIXED;
	}
	if (event.phase == MAPPING_ENTER)
		return event;
	random_range(random, &event.result, &event.new_length);
	event.site = random_below(random, 8) ? site_key(target_id, random_below(random, SITES)) : 0;
	if (event.op == CALL_MUNMAP)
		event.result = random_below(random, 4) ? 0xabcd00000000ULL : FAILED >> 32;
	else if (!random_below(random, 4))
		event.result = FAILED;
	return event;
}

static void step(struct mapping_set *set, struct model *model, uint32_t target_id, uint64_t now_ns,
		 uint64_t *random)
{
	struct event_mapping event = random_event(model, target_id, random);

	event.time_ns = now_ns;
	mapping_set_apply(set, &event);
	if (event.phase == MAPPING_ENTER)
		model_enter(model, &event);
	else
		model_return(model, &event);
}

static void test_any_sequence(void **state)
{
	struct mapping_set *set = mapping_set_new(PAGE, 0);
	struct model *models[2] = { model_new(), model_new() };
	uint64_t random = 1, now;
	uint32_t target_id, site;

	(void)state;
	for (now = 1; now <= 120000; now++) {
		struct mapping_losses losses = mapping_set_losses(set);

		target_id = random_below(&random, 2);
		step(set, models[target_id], target_id, now, &random);
		for (site = 0; site < SITES; site++)
			assert_site(set, models[target_id], target_id, site, now,
				    random_below(&random, 200));
		assert_int_equal(losses.bytes_unattributed, 0);
		if (now % 64 == 0)
			model_compact(models[target_id]);
		if (random_below(&random, 20000))
			continue;
		mapping_set_drop(set, target_id, 9);
		models[!target_id]->losses.returns_unmatched +=
			models[target_id]->losses.returns_unmatched;
		models[!target_id]->losses.address_reused +=
			models[target_id]->losses.address_reused;
		model_free(models[target_id]);
		models[target_id] = model_new();
	}
	assert_int_equal(mapping_set_losses(set).returns_unmatched,
			 models[0]->losses.returns_unmatched + models[1]->losses.returns_unmatched);
	assert_int_equal(mapping_set_losses(set).address_reused,
			 models[0]->losses.address_reused + models[1]->losses.address_reused);
	model_free(models[0]);
	model_free(models[1]);
	mapping_set_free(set);
}

/* Cases by hand */

static void apply(struct mapping_set *set, uint32_t thread, uint32_t op, uint32_t phase,
		  uint64_t address, uint64_t length, uint64_t result, uint64_t site)
{
	struct event_mapping event = {
		.kind = EVENT_MAPPING,
		.target_id = 1,
		.exec_id = 2,
		.thread = thread,
		.op = op,
		.phase = phase,
		.old_address = address,
		.old_length = length,
		.new_length = op == CALL_MMAP ? length : 0,
		.result = result,
		.site = site,
		.time_ns = 100,
	};

	mapping_set_apply(set, &event);
}

static void assert_totals(const struct mapping_set *set, uint64_t site, uint64_t alloc_bytes,
			  uint64_t alloc_objects, uint64_t free_bytes, uint64_t free_objects)
{
	struct site_stats expected = { alloc_bytes, alloc_objects, free_bytes, free_objects };
	struct site_stats totals = { 0 };

	assert_true(mapping_set_site(set, site, 100, 0, &totals));
	assert_counters(&totals, &expected);
}

/* Half of each piece is in memory, but for that at 0x30000, of which nothing is known. */
static bool measure_half(void *context, const struct mapping_piece *piece, uint64_t *ret_resident)
{
	size_t *pieces = context;

	assert_int_equal(piece->target_id, 1);
	assert_int_equal(piece->exec_id, 2);
	assert_int_equal(piece->end % PAGE, 0);
	++*pieces;
	*ret_resident = (piece->end - piece->start) / 2;
	return piece->start != 0x30000;
}

static void test_measure(void **state)
{
	struct mapping_set *set = mapping_set_new(PAGE, 0);
	struct site_stats stats;
	size_t pieces = 0;

	(void)state;
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 4 * PAGE - 100, 0x10000, 5);
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 2 * PAGE, 0x20000, 6);
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 2 * PAGE, 0x30000, 6);
	apply(set, 1, CALL_MUNMAP, MAPPING_ENTER, 0x11000, PAGE, 0, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_RETURN, 0x11000, PAGE, 0, 0);
	assert_true(mapping_set_site(set, 5, 100, 0, &stats));
	assert_false(site_stats_is_measured(&stats));
	mapping_set_measure(set, measure_half, &pieces);
	assert_int_equal(pieces, 4);
	assert_true(mapping_set_site(set, 5, 100, 0, &stats));
	assert_true(site_stats_is_measured(&stats));
	assert_int_equal(stats.resident_bytes, 3 * PAGE / 2);
	assert_true(mapping_set_site(set, 6, 100, 0, &stats));
	assert_false(site_stats_is_measured(&stats));
	/* Young ones are left out, here as in all. */
	assert_true(mapping_set_site(set, 5, 200, 101, &stats));
	assert_int_equal(stats.resident_bytes, 0);
	site_stats_leave_out_young(&stats);
	assert_true(site_stats_is_measured(&stats));
	/* The answers are of the last time. */
	mapping_set_measure(set, measure_half, &pieces);
	assert_true(mapping_set_site(set, 5, 100, 0, &stats));
	assert_int_equal(stats.resident_bytes, 3 * PAGE / 2);
	mapping_set_free(set);
}

static void test_last_page_counts_what_was_asked_for(void **state)
{
	struct mapping_set *set = mapping_set_new(PAGE, 0);

	(void)state;
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 2 * PAGE + 1, BASE, 5);
	assert_totals(set, 5, 2 * PAGE + 1, 1, 0, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_ENTER, BASE + PAGE, PAGE, 0, 0);
	assert_totals(set, 5, 2 * PAGE + 1, 1, 0, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_RETURN, BASE + PAGE, PAGE, 0, 0);
	assert_totals(set, 5, 2 * PAGE + 1, 1, PAGE, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_ENTER, BASE + 2 * PAGE, 5 * PAGE, 0, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_RETURN, BASE + 2 * PAGE, 5 * PAGE, 0, 0);
	assert_totals(set, 5, 2 * PAGE + 1, 1, PAGE + 1, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_ENTER, BASE, 1, 0, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_RETURN, BASE, 1, 0, 0);
	assert_totals(set, 5, 2 * PAGE + 1, 1, 2 * PAGE + 1, 1);
	assert_int_equal(mapping_set_count(set), 0);
	mapping_set_free(set);
}

/* The sum of few ages passes 64 bits where the clock is far on. */
static void test_ages(void **state)
{
	struct mapping_set *set = mapping_set_new(PAGE, 0);
	struct site_stats totals;
	uint64_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, PAGE, BASE + i * PAGE, 5);
	assert_true(mapping_set_site(set, 5, UINT64_MAX, 0, &totals));
	assert_int_equal(site_stats_mean_age_ns(&totals), totals.oldest_ns);
	assert_true(totals.age_sum_ns > UINT64_MAX);
	mapping_set_free(set);
}

static void test_limit(void **state)
{
	struct mapping_set *set = mapping_set_new(PAGE, 2);
	uint64_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 100, BASE + i * PAGE, 5);
	assert_totals(set, 5, 200, 2, 0, 0);
	assert_int_equal(mapping_set_losses(set).blocks_full, 3);
	assert_int_equal(mapping_set_losses(set).bytes_unattributed, 300);
	/* What is not recorded ends what it is mapped over, and then there is room again. */
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 7, BASE, 5);
	assert_totals(set, 5, 207, 3, 100, 1);
	mapping_set_free(set);
	mapping_set_free(NULL);
}

/* Far more calls that never return than any program has threads in calls. */
static void test_lost_returns_are_bounded(void **state)
{
	struct mapping_set *set = mapping_set_new(PAGE, 0);
	uint32_t thread, lost;

	(void)state;
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 8000 * PAGE, BASE, 5);
	for (thread = 0; thread < 8000; thread++)
		apply(set, thread, CALL_MUNMAP, MAPPING_ENTER, BASE + thread * PAGE, PAGE, 0, 0);
	lost = (uint32_t)mapping_set_losses(set).returns_unmatched;
	assert_true(lost > 0);
	assert_totals(set, 5, 8000 * PAGE, 1, lost * PAGE, 0);
	mapping_set_free(set);
}

static void test_hostile_records(void **state)
{
	struct mapping_set *set = mapping_set_new(PAGE, 0);
	struct event_mapping event = { .target_id = 3, .op = CALL_MMAP, .phase = MAPPING_RETURN };
	struct site_stats totals;

	(void)state;
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, UINT64_MAX, BASE, 5);
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, UINT64_MAX - BASE, BASE, 5);
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 0, BASE, 5);
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, PAGE, BASE + 1, 5);
	apply(set, 1, CALL_MUNMAP, MAPPING_ENTER, BASE, UINT64_MAX, 0, 0);
	apply(set, 1, CALL_MUNMAP, MAPPING_RETURN, BASE, UINT64_MAX, 0, 0);
	apply(set, 1, CALL_FREE, MAPPING_RETURN, BASE, PAGE, 0, 5);
	apply(set, 1, 4000, MAPPING_RETURN, BASE, PAGE, 0, 5);
	assert_false(mapping_set_site(set, 5, 100, 0, &totals));
	/* Two programs whose site keys collide: the one that came first keeps it, and neither is freed twice. */
	apply(set, 1, CALL_MMAP, MAPPING_RETURN, 0, 100, BASE, 5);
	event.result = BASE;
	event.new_length = 77;
	event.site = 5;
	mapping_set_apply(set, &event);
	assert_totals(set, 5, 100, 1, 0, 0);
	assert_int_equal(mapping_set_losses(set).bytes_unattributed, 77);
	mapping_set_drop(set, 1, 2);
	assert_false(mapping_set_site(set, 5, 100, 0, &totals));
	assert_int_equal(mapping_set_count(set), 0);
	mapping_set_drop(set, 1, 2);
	mapping_set_drop(set, 3, 0);
	mapping_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_sequence),
		cmocka_unit_test(test_measure),
		cmocka_unit_test(test_last_page_counts_what_was_asked_for),
		cmocka_unit_test(test_ages),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_lost_returns_are_bounded),
		cmocka_unit_test(test_hostile_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
