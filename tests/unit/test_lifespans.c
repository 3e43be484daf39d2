/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of lifespans, and the survival curves of sites that are made of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "verdict/site_survival.h"
#include "model/mapping_set.h"
#include "model/site_stats.h"

#define UNIT ((uint64_t)1 << LIFE_UNIT_BITS)

static void test_classes(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(lifespans_class(0), 0);
	assert_int_equal(lifespans_class(UNIT - 1), 0);
	assert_int_equal(lifespans_class(UINT64_MAX), LIFE_CLASSES - 1);
	assert_int_equal(lifespans_class_start(0), 0);
	for (i = 1; i < LIFE_CLASSES; i++) {
		assert_int_equal(lifespans_class_start(i), lifespans_class_end(i - 1));
		assert_int_equal(lifespans_class(lifespans_class_start(i)), i);
		assert_int_equal(lifespans_class(lifespans_class_start(i) - 1), i - 1);
	}
	assert_int_equal(lifespans_class_end(LIFE_CLASSES - 1), UINT64_MAX);
}

/* The first class is what no other has. */
static void test_record(void **state)
{
	struct site record = { .free_objects = 10,
			       .untimed_objects = 2,
			       .temporary_objects = 1,
			       .life_units = 30,
			       .life_longest = 9,
			       .lives = { [0] = 3, [3] = 1 } };
	struct lifespans lives = lifespans_of(&record);

	(void)state;
	assert_int_equal(lives.classes[0], 4);
	assert_int_equal(lives.classes[1], 3);
	assert_int_equal(lives.classes[4], 1);
	assert_int_equal(lifespans_objects(&lives), 8);
	assert_int_equal(lifespans_mean_ns(&lives), 30 * UNIT / 8);
	assert_int_equal(lifespans_longest_ns(&lives), 9 * UNIT);
	/* Frees while it is read; the longest one was lost. */
	record.free_objects = 5;
	record.life_longest = 1;
	lives = lifespans_of(&record);
	assert_int_equal(lives.classes[0], 0);
	assert_int_equal(lifespans_longest_ns(&lives), 8 * UNIT);
}

static void test_count(void **state)
{
	struct lifespans lives = { 0 }, sum = { 0 };

	(void)state;
	assert_int_equal(lifespans_mean_ns(&lives), 0);
	lifespans_count(&lives, 10);
	lifespans_count(&lives, 5 * UNIT);
	assert_int_equal(lives.classes[0], 1);
	assert_int_equal(lives.classes[3], 1);
	assert_int_equal(lifespans_mean_ns(&lives), 5 * UNIT / 2);
	lives.untimed = 3;
	lives.temporary = 2;
	lifespans_add(&sum, &lives);
	lifespans_add(&sum, &lives);
	assert_int_equal(sum.classes[3], 2);
	assert_int_equal(sum.untimed, 6);
	assert_int_equal(sum.temporary, 4);
	assert_int_equal(sum.units, 10);
	assert_int_equal(sum.longest, 5);
	memset(&lives, 0xff, sizeof(lives));
	lifespans_add(&sum, &lives);
	assert_int_equal(sum.units, UINT64_MAX);
	assert_int_equal(lifespans_objects(&sum), UINT64_MAX);
	assert_true(lifespans_mean_ns(&sum) > 0);
	assert_int_equal(lifespans_longest_ns(&sum), UINT64_MAX);
}

static void apply(struct mapping_set *set, enum call_op op, enum mapping_phase phase,
		  uint64_t start, uint64_t length, uint64_t time_ns)
{
	const struct event_mapping event = {
		.target_id = 1,
		.op = op,
		.phase = phase,
		.old_address = op == CALL_MUNMAP ? start : 0,
		.old_length = op == CALL_MUNMAP ? length : 0,
		.new_length = op == CALL_MMAP ? length : 0,
		.result = op == CALL_MMAP ? start : 0,
		.site = op == CALL_MMAP ? 7 : 0,
		.time_ns = time_ns,
	};

	mapping_set_apply(set, &event);
}

/* A mapping lives until its last byte is unmapped, and the call has returned. */
static void test_mappings(void **state)
{
	struct mapping_set *set = mapping_set_new(4096, 0);
	struct site_stats stats = { 0 };

	(void)state;
	apply(set, CALL_MMAP, MAPPING_RETURN, 0x10000, 0x2000, 1000 * UNIT);
	apply(set, CALL_MMAP, MAPPING_RETURN, 0x20000, 0x1000, 1000 * UNIT);
	apply(set, CALL_MUNMAP, MAPPING_ENTER, 0x10000, 0x1000, 1001 * UNIT);
	apply(set, CALL_MUNMAP, MAPPING_RETURN, 0x10000, 0x1000, 1001 * UNIT);
	assert_true(mapping_set_site(set, 7, 1002 * UNIT, 0, &stats));
	assert_int_equal(lifespans_objects(&stats.lives), 0);
	apply(set, CALL_MUNMAP, MAPPING_ENTER, 0x11000, 0x1000, 1004 * UNIT);
	apply(set, CALL_MUNMAP, MAPPING_RETURN, 0x11000, 0x1000, 1005 * UNIT);
	assert_true(mapping_set_site(set, 7, 1009 * UNIT, 0, &stats));
	assert_int_equal(lifespans_objects(&stats.lives), 1);
	assert_int_equal(stats.lives.classes[3], 1);
	assert_int_equal(stats.lives.units, 5);
	assert_int_equal(stats.ages[4], 1); /* of the other one */
	mapping_set_free(set);
}

/* One block in eight is never freed; the others live for a unit or less. */
static void test_leak(void **state)
{
	struct site_stats stats = { 0 };
	struct survival survival = { 0 };
	struct survival_tail tail;
	uint64_t age = 0;
	unsigned int i;

	(void)state;
	assert_false(site_survival_is_known(&stats));
	stats.lives.classes[1] = 7000;
	stats.lives.units = 7000;
	stats.lives.longest = 1;
	/* Made at an even rate: half of them in the last class. */
	for (i = 19; i > 10; i--)
		stats.ages[i] = 1000 >> (20 - i);
	stats.oldest_ns = lifespans_class_end(19);
	assert_true(site_survival_is_known(&stats));
	site_survival_estimate(&stats, NULL, &survival);
	tail = survival_judge_tail(&survival);
	assert_int_equal(tail.shape, SURVIVAL_FLAT);
	assert_true(tail.share.low < 0.125 && tail.share.high > 0.125);
	assert_true(tail.share.high - tail.share.low < 0.02);
	assert_true(site_survival_age(&survival, 0.5, &age));
	assert_int_equal(age, 2 * UNIT);
	assert_false(site_survival_age(&survival, 0.1, &age));
	survival_free(&survival);
}

/* 10,000 blocks a second, for 17 s: of PER one is never freed, the others live between half a second and one. */
#define RATE 10000
#define SECONDS 17
#define PER 1000

static uint64_t life_of(unsigned int block)
{
	return block % PER == 7 ? UINT64_MAX : (7630 + block * 37 % 7630) * UNIT;
}

static void run_leak(struct site_stats *stats, double born[LIFE_CLASSES])
{
	const uint64_t now_ns = SECONDS * 1000000000ULL;
	unsigned int i;

	for (i = 0; i < RATE * SECONDS; i++) {
		const uint64_t age_ns = now_ns - now_ns / (RATE * SECONDS) * i;

		if (life_of(i) <= age_ns)
			lifespans_count(&stats->lives, life_of(i));
		else
			stats->ages[lifespans_class(age_ns)]++;
	}
	stats->oldest_ns = now_ns;
	for (i = 0; i < LIFE_CLASSES; i++)
		born[i] = lifespans_class_end(i) < now_ns
				  ? RATE * (SECONDS - (double)lifespans_class_end(i) / 1e9)
				  : 0;
}

/* By truth, of all blocks. */
static double share_older(uint64_t age_ns)
{
	unsigned int older = 0, i;

	for (i = 0; i < PER * 7630; i += 7)
		older += life_of(i) > age_ns;
	return older / (PER * 7630 / 7.0);
}

/* Where it is known when blocks were born the curve is right where classes end, also of few that stay; else it is too high. */
static void test_births(void **state)
{
	struct site_stats stats = { 0 };
	struct survival survival = { 0 };
	double born[LIFE_CLASSES];
	struct survival_tail tail;
	size_t i;

	(void)state;
	run_leak(&stats, born);
	site_survival_estimate(&stats, NULL, &survival);
	assert_true(survival_judge_tail(&survival).share.value > 2.0 / PER);
	site_survival_estimate(&stats, born, &survival);
	assert_true(survival.count > 15);
	for (i = 0; i < survival.count; i++) {
		const struct survival_point *point = &survival.points[i];
		const double truth = share_older(point->age_ns);

		assert_int_equal(point->age_ns, lifespans_class_end((unsigned int)i));
		assert_true(point->share.low <= truth && truth <= point->share.high);
		assert_true(point->share.value <= truth + 0.01 &&
			    point->share.value >= truth - 0.01);
	}
	tail = survival_judge_tail(&survival);
	assert_int_equal(tail.shape, SURVIVAL_FLAT);
	assert_true(tail.share.value > 0.9 / PER && tail.share.value < 1.1 / PER);
	/* Where realloc has moved blocks out, it is not known how many there were. */
	stats.lives.untimed = 1;
	site_survival_estimate(&stats, born, &survival);
	assert_true(survival_judge_tail(&survival).share.value > 2.0 / PER);
	/* Of what is never freed all stay, though births between two moments are not known exactly. */
	stats.lives = (struct lifespans){ 0 };
	for (i = 0; i < LIFE_CLASSES; i++)
		stats.ages[i] = i > 8 && i < 19 ? 1000 : 0;
	for (i = 0; i < LIFE_CLASSES; i++)
		born[i] = i < 18 ? 10100 - (i > 8 ? 1000.0 * (double)(i - 8) : 0) : 0;
	site_survival_estimate(&stats, born, &survival);
	assert_true(survival.count == 18 && survival.points[17].share.value >= 1);
	survival_free(&survival);
}

/* All are freed: what is in use is no older than what was. The last class has no end. */
static void test_freed(void **state)
{
	struct site_stats stats = { .oldest_ns = UINT64_MAX };
	struct survival survival = { 0 };
	uint64_t age;

	(void)state;
	stats.lives.classes[3] = 500;
	stats.lives.classes[LIFE_CLASSES - 1] = 500;
	stats.lives.longest = UINT64_MAX >> LIFE_UNIT_BITS;
	stats.ages[2] = 30;
	stats.ages[LIFE_CLASSES - 1] = 4;
	site_survival_estimate(&stats, NULL, &survival);
	assert_true(site_survival_age(&survival, 0.6, &age));
	assert_int_equal(age, lifespans_class_end(3));
	assert_true(survival.points[survival.count - 1].share.value < 0.02);
	survival_free(&survival);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),	 cmocka_unit_test(test_record),
		cmocka_unit_test(test_count),	 cmocka_unit_test(test_leak),
		cmocka_unit_test(test_births),	 cmocka_unit_test(test_freed),
		cmocka_unit_test(test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
