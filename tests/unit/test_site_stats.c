/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of a site: sums that reach their limits, ages of very many blocks, and figures that contradict themselves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/site_stats.h"

static void test_add(void **state)
{
	struct site_stats sum = { 1, 2, 3, 4, 5, 60, 7, 11, 3, 12, 13, 14, 8, 9, 15, 16 };
	const struct site_stats more = { 10, 20,  30,  40,  50, 6,  70,	 110,
					 9,  120, 130, 140, 80, 90, 150, 160 };

	(void)state;
	site_stats_add(&sum, &more);
	assert_int_equal(sum.alloc_bytes, 11);
	assert_int_equal(sum.alloc_objects, 22);
	assert_int_equal(sum.free_bytes, 33);
	assert_int_equal(sum.free_objects, 44);
	assert_int_equal(sum.samples, 55);
	assert_int_equal(sum.oldest_ns, 60);
	assert_int_equal((uint64_t)sum.age_sum_ns, 77);
	assert_int_equal(sum.grown_objects, 121);
	assert_int_equal(sum.grown_times, 9);
	assert_int_equal(sum.added_objects, 132);
	assert_int_equal(sum.unknown_bytes, 143);
	assert_int_equal(sum.unknown_objects, 154);
	assert_int_equal(sum.young_bytes, 88);
	assert_int_equal(sum.young_objects, 99);
	assert_int_equal(sum.undecided_bytes, 165);
	assert_int_equal(sum.undecided_objects, 176);
}

/* A sum stays at its maximum. */
static void test_add_limits(void **state)
{
	struct site_stats sum = { 0 }, more;

	(void)state;
	memset(&more, 0x55, sizeof(more));
	more.gcs_known = true;
	site_stats_add(&sum, &more);
	assert_int_equal(sum.alloc_bytes, more.alloc_bytes);
	assert_int_equal(sum.young_objects, more.young_objects);
	assert_true(sum.age_sum_ns == more.age_sum_ns);
	site_stats_add(&sum, &more);
	site_stats_add(&sum, &more);
	site_stats_add(&sum, &more);
	assert_int_equal(sum.alloc_bytes, UINT64_MAX);
	assert_int_equal(sum.free_objects, UINT64_MAX);
	assert_int_equal(sum.young_bytes, UINT64_MAX);
	assert_true(sum.age_sum_ns == ~(unsigned __int128)0);
}

/* Blocks of which nothing but their age is special. */
static void add(struct site_stats *stats, uint64_t age_ns, uint64_t bytes, uint64_t objects,
		uint64_t min_age_ns)
{
	const struct site_blocks blocks = { .age_ns = age_ns, .bytes = bytes, .objects = objects };

	site_stats_add_blocks(stats, &blocks, min_age_ns);
}

/* The ages of a few old blocks, or of very many, pass 64 bits. */
static void test_ages(void **state)
{
	struct site_stats stats = { .alloc_objects = (uint64_t)1 << 40 };

	(void)state;
	add(&stats, UINT64_MAX, 1, (uint64_t)1 << 39, 0);
	add(&stats, UINT64_MAX, 1, (uint64_t)1 << 39, 0);
	assert_int_equal(stats.oldest_ns, UINT64_MAX);
	assert_int_equal(site_stats_mean_age_ns(&stats), UINT64_MAX);
	stats.free_objects = stats.alloc_objects;
	assert_int_equal(site_stats_mean_age_ns(&stats), 0);
}

static void test_young(void **state)
{
	struct site_stats stats = { .alloc_bytes = 100, .alloc_objects = 3 };

	(void)state;
	add(&stats, 49, 30, 1, 50);
	add(&stats, 50, 60, 1, 50);
	add(&stats, 90, 10, 1, 50);
	assert_int_equal(stats.young_bytes, 30);
	assert_int_equal(stats.young_objects, 1);
	assert_int_equal(stats.oldest_ns, 90);
	site_stats_leave_out_young(&stats);
	assert_int_equal(site_stats_inuse_bytes(&stats), 70);
	assert_int_equal(site_stats_inuse_objects(&stats), 2);
	assert_int_equal(site_stats_mean_age_ns(&stats), 70);
}

/* What realloc has done counts of the blocks that are old enough. */
static void test_lives(void **state)
{
	struct site_blocks blocks = { .age_ns = 60, .bytes = 30, .objects = 1, .grown = 3 };
	struct site_stats stats = { .alloc_bytes = 100, .alloc_objects = 4 };

	(void)state;
	site_stats_add_blocks(&stats, &blocks, 50);
	blocks.grown = 2;
	blocks.added = true;
	site_stats_add_blocks(&stats, &blocks, 50);
	blocks.grown = 9;
	blocks.age_ns = 40;
	site_stats_add_blocks(&stats, &blocks, 50);
	site_stats_add_blocks(&stats, &(struct site_blocks){ 70, 5, 1, 0, false, true }, 50);
	assert_int_equal(stats.grown_objects, 2);
	assert_int_equal(stats.grown_times, 3);
	assert_int_equal(stats.added_objects, 1);
	assert_int_equal(stats.unknown_objects, 1);
	assert_int_equal(stats.unknown_bytes, 5);
	assert_int_equal(stats.young_objects, 1);
}

/* More freed than allocated, more young than in use. */
static void test_contradictions(void **state)
{
	struct site_stats stats = { .alloc_bytes = 5,
				    .alloc_objects = 7,
				    .free_bytes = 6,
				    .free_objects = 3,
				    .young_bytes = 9,
				    .young_objects = 9 };

	(void)state;
	site_stats_limit_freed(&stats);
	assert_int_equal(stats.free_bytes, 5);
	assert_int_equal(stats.free_objects, 3);
	assert_true(site_stats_hold(&stats));
	site_stats_leave_out_young(&stats);
	assert_int_equal(stats.alloc_bytes, 5);
	assert_int_equal(stats.alloc_objects, 3);
	assert_false(site_stats_hold(&stats));
}

/* What is too much is that of the shortest lives and of the youngest blocks. */
static void test_settle(void **state)
{
	struct site_stats stats = {
		.alloc_bytes = 100,
		.alloc_objects = 10,
		.free_bytes = 70,
		.free_objects = 7,
		.lives = { .untimed = 8, .temporary = 9, .classes = { 4, 3, 2 } },
		.ages = { 2, 1, 1 }
	};
	const struct site_stats sound = { .alloc_objects = 2,
					  .free_objects = 1,
					  .lives = { .classes = { 1 } },
					  .ages = { 0, 1 } };
	struct site_stats same = sound;

	(void)state;
	site_stats_settle(&stats);
	assert_int_equal(stats.lives.untimed, 7);
	assert_int_equal(stats.lives.temporary, 7);
	assert_int_equal(stats.lives.classes[0], 2);
	assert_int_equal(stats.lives.classes[1], 3);
	assert_int_equal(stats.lives.classes[2], 2);
	assert_int_equal(stats.ages[0], 1);
	assert_int_equal(stats.ages[1], 1);
	assert_int_equal(stats.ages[2], 1);
	stats.free_objects = 11;
	stats.free_bytes = 110;
	site_stats_settle(&stats);
	assert_int_equal(stats.free_objects, 10);
	assert_int_equal(stats.free_bytes, 100);
	assert_int_equal(stats.ages[2], 0);
	site_stats_settle(&same);
	assert_memory_equal(&same, &sound, sizeof(sound));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settle),	       cmocka_unit_test(test_add),
		cmocka_unit_test(test_add_limits),     cmocka_unit_test(test_ages),
		cmocka_unit_test(test_young),	       cmocka_unit_test(test_lives),
		cmocka_unit_test(test_contradictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
