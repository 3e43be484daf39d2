/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When triggers fire: once when a condition becomes true, and again only after it was false. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/trigger.h"

#define MIB (1ull << 20)
#define SECOND 1000000000ull

/* What fires after a reading: a bit for each kind. */
static unsigned int fired(struct trigger *trigger)
{
	enum trigger_kind kind;
	unsigned int bits = 0;

	while (trigger_take(trigger, &kind))
		bits |= 1u << kind;
	return bits;
}

static unsigned int read_at(struct trigger *trigger, uint64_t seconds, uint64_t mib)
{
	trigger_read(trigger, seconds * SECOND, mib * MIB);
	return fired(trigger);
}

#define RSS (1u << TRIGGER_RSS)
#define GROWTH (1u << TRIGGER_GROWTH)
#define OOM (1u << TRIGGER_OOM)

static void test_size(void **state)
{
	/* Three quarters of 100 MiB are 75 MiB. */
	static const struct {
		uint64_t mib;
		unsigned int fires;
	} readings[] = {
		{ 99, 0 },    { 100, RSS }, { 100, 0 },	  { 300, 0 }, { 80, 0 },
		{ 120, 0 },   { 75, 0 },    { 100, 0 },	  { 74, 0 },  { 99, 0 },
		{ 100, RSS }, { 0, 0 },	    { 100, RSS },
	};
	struct trigger trigger = { .limits.rss_bytes = 100 * MIB };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(readings) / sizeof(readings[0]); i++)
		assert_int_equal(read_at(&trigger, i, readings[i].mib), readings[i].fires);
	assert_int_equal(trigger.fired[TRIGGER_RSS], 3);
	assert_int_equal(trigger.rss_bytes, 100 * MIB);
}

static void test_at_the_first_reading(void **state)
{
	struct trigger trigger = { .limits.rss_bytes = MIB };

	(void)state;
	assert_int_equal(read_at(&trigger, 0, 2), RSS);
	assert_int_equal(read_at(&trigger, 1, 2), 0);
}

/* What is not taken while it is true, since a command runs, is no news any more. */
static void test_not_taken(void **state)
{
	struct trigger trigger = { .limits.rss_bytes = 100 * MIB };

	(void)state;
	trigger_read(&trigger, 1, 100 * MIB);
	trigger_read(&trigger, 2, 90 * MIB);
	assert_int_equal(fired(&trigger), RSS);
	trigger_read(&trigger, 3, 10 * MIB);
	trigger_read(&trigger, 4, 100 * MIB);
	trigger_read(&trigger, 5, 10 * MIB);
	assert_int_equal(fired(&trigger), 0);
}

/* 10 MiB in a minute, by a reading each second. */
static void test_growth(void **state)
{
	struct trigger trigger = { .limits = { .growth_bytes = 10 * MIB,
					       .growth_ns = 60 * SECOND } };
	uint64_t at, mib = 1000;

	(void)state;
	/* What is there at first is no growth. 9 MiB in a minute are too little. */
	for (at = 0; at < 300; at++)
		assert_int_equal(read_at(&trigger, at, mib + at * 9 / 60), 0);
	mib += 300 * 9 / 60;
	/* The last minute has at least 8 of these 9: two more are enough. It fires once, however long that goes on. */
	assert_int_equal(read_at(&trigger, 300, mib + 4), GROWTH);
	for (at = 301; at < 600; at++)
		assert_int_equal(read_at(&trigger, at, mib + 4 + (at - 300)), 0);
	mib += 4 + 299;
	/* It does not grow: after a minute that is known. Then it grows at once. */
	for (; at < 670; at++)
		assert_int_equal(read_at(&trigger, at, mib), 0);
	assert_int_equal(read_at(&trigger, at, mib + 9), 0);
	assert_int_equal(read_at(&trigger, at + 1, mib + 10), GROWTH);
	assert_int_equal(trigger.grown_bytes, 10 * MIB);
	/* Less is no growth. */
	assert_int_equal(read_at(&trigger, at + 2, 1), 0);
	assert_int_equal(trigger.grown_bytes, 0);
}

/* However dense or rare readings are, growth is over the time that was asked for, and at most a step more. */
static void test_growth_is_over_its_time(void **state)
{
	static const uint64_t steps_ns[] = { 1000, 100000000, 999999999, SECOND, 61 * SECOND };
	const uint64_t span = 60 * SECOND;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(steps_ns) / sizeof(steps_ns[0]); i++) {
		struct trigger trigger = { .limits = { .growth_bytes = UINT64_MAX,
						       .growth_ns = span } };
		uint64_t now, older, step = steps_ns[i];

		/* A byte for each nanosecond: growth is the age of what it is counted from. */
		for (now = 1; now < 4000 * step; now += step) {
			trigger_read(&trigger, now, now);
			assert_true(trigger.count <= TRIGGER_STEPS + 2);
			older = now - 1 < span ? now - 1 : span;
			assert_true(trigger.grown_bytes >= older);
			assert_true(trigger.grown_bytes <= older + span / TRIGGER_STEPS + 2 * step);
		}
	}
}

static void test_kills(void **state)
{
	struct trigger trigger = { 0 };

	(void)state;
	trigger_see_kills(&trigger, 0);
	assert_int_equal(fired(&trigger), 0);
	trigger_see_kills(&trigger, 2);
	assert_int_equal(fired(&trigger), OOM);
	/* They go on: it is the same event. */
	trigger_see_kills(&trigger, 1);
	assert_int_equal(fired(&trigger), 0);
	trigger_see_kills(&trigger, 0);
	trigger_see_kills(&trigger, 1);
	trigger_see_kills(&trigger, 0);
	/* Not taken, and still to be reported. */
	assert_int_equal(fired(&trigger), OOM);
	assert_int_equal(fired(&trigger), 0);
}

static void test_signal(void **state)
{
	struct trigger trigger = { 0 };

	(void)state;
	trigger_ask(&trigger);
	trigger_ask(&trigger);
	assert_int_equal(fired(&trigger), 1u << TRIGGER_SIGNAL);
	assert_int_equal(fired(&trigger), 0);
	assert_int_equal(trigger.fired[TRIGGER_SIGNAL], 1);
}

static void test_none(void **state)
{
	struct trigger trigger = { 0 };

	(void)state;
	assert_int_equal(read_at(&trigger, 0, 0), 0);
	assert_int_equal(read_at(&trigger, 1, 1000000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_at_the_first_reading),
		cmocka_unit_test(test_not_taken),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_growth_is_over_its_time),
		cmocka_unit_test(test_kills),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
