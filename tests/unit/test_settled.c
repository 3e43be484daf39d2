/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that stay: sequences of verdicts, whose right words follow from the rules of docs/verdicts.md by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/settled.h"

#define SECOND 1000000000ULL
#define START (1000 * SECOND)

/* A look each second, `count` of them, in which one row has this word. Returns what it has settled on then. */
static struct verdict look_at(struct settled *settled, enum verdict_word word, uint64_t bytes,
			      int count)
{
	struct verdict verdict = { .word = word, .inuse_bytes = bytes }, result = { 0 };

	while (count--) {
		settled_begin(settled, START,
			      (settled->time_ns ? settled->time_ns : START) + SECOND);
		result = settled_see(settled, 7, &verdict, bytes);
	}
	return result;
}

static struct verdict look(struct settled *settled, enum verdict_word word, int count)
{
	return look_at(settled, word, 1000, count);
}

static void test_settles(void **state)
{
	struct settled settled = { 0 };

	(void)state;
	assert_int_equal(look(&settled, VERDICT_UNKNOWN, 4).word, VERDICT_UNKNOWN);
	/* One look is not enough, and neither are three that have another one between. */
	assert_int_equal(look(&settled, VERDICT_LEAK, 1).word, VERDICT_UNKNOWN);
	look(&settled, VERDICT_GROWING, 1);
	assert_int_equal(look(&settled, VERDICT_LEAK, 2).word, VERDICT_UNKNOWN);
	assert_int_equal(look(&settled, VERDICT_LEAK, 3).word, VERDICT_LEAK);
	assert_false(settled_is_sure(&settled));
	settled_free(&settled);
}

static void test_leak_stays(void **state)
{
	struct settled settled = { 0 };
	struct verdict verdict;

	(void)state;
	look(&settled, VERDICT_LEAK, 20);
	/* That it grows, and that nothing is known, is no evidence against it. */
	assert_int_equal(look(&settled, VERDICT_GROWING, 60).word, VERDICT_LEAK);
	verdict = look(&settled, VERDICT_UNKNOWN, 60);
	assert_int_equal(verdict.word, VERDICT_LEAK);
	assert_true(verdict.is_sure);
	assert_true(settled_is_sure(&settled));
	/* That old blocks are replaced is; but not for a moment. */
	assert_int_equal(look(&settled, VERDICT_CACHE, 10).word, VERDICT_LEAK);
	assert_int_equal(look(&settled, VERDICT_CACHE, 40).word, VERDICT_CACHE);
	assert_int_equal(settled.words[VERDICT_CACHE].rows, 1);
	assert_int_equal(settled.words[VERDICT_LEAK].rows, 0);
	settled_free(&settled);
}

/* Verdicts that go to and fro by turns change no word at all. */
static void test_no_flapping(void **state)
{
	struct settled settled = { 0 };
	uint64_t changes;
	int i;

	(void)state;
	look(&settled, VERDICT_CACHE, 30);
	changes = settled.changes;
	for (i = 0; i < 100; i++) {
		assert_int_equal(look(&settled, VERDICT_STEADY, 2).word, VERDICT_CACHE);
		assert_int_equal(look(&settled, VERDICT_LEAK, 2).word, VERDICT_CACHE);
		assert_int_equal(look(&settled, VERDICT_CACHE, 1).word, VERDICT_CACHE);
	}
	assert_int_equal(settled.changes, changes);
	settled_free(&settled);
}

static void test_sure(void **state)
{
	struct settled settled = { 0 };
	struct verdict verdict;

	(void)state;
	/* Steady from the beginning: half a minute at least. */
	verdict = look(&settled, VERDICT_STEADY, 25);
	assert_int_equal(verdict.word, VERDICT_STEADY);
	assert_false(verdict.is_sure);
	assert_int_equal(verdict.wait_ns, 5 * SECOND);
	assert_int_equal(settled.wait_ns, 5 * SECOND);
	assert_true(look(&settled, VERDICT_STEADY, 5).is_sure);
	assert_true(settled_is_sure(&settled));
	/* It begins to grow: no more. That it grows is sure in the end, not what becomes of it. */
	assert_false(look(&settled, VERDICT_GROWING, 1).is_sure);
	assert_int_equal(look(&settled, VERDICT_GROWING, 100).word, VERDICT_GROWING);
	assert_false(settled_is_sure(&settled));
	assert_true(look(&settled, VERDICT_GROWING, 250).is_sure);
	settled_free(&settled);
	/* Windows take twice as long. */
	settled.windows = true;
	assert_false(look(&settled, VERDICT_STEADY, 55).is_sure);
	assert_true(look(&settled, VERDICT_STEADY, 5).is_sure);
	settled_free(&settled);
	assert_false(settled_is_sure(&settled));
}

/* A row of less than a hundredth of what is in use keeps nobody waiting. */
static void test_matters(void **state)
{
	struct verdict steady = { .word = VERDICT_STEADY }, growing = { .word = VERDICT_GROWING };
	struct settled settled = { 0 };
	int i;

	(void)state;
	for (i = 1; i <= 40; i++) {
		settled_begin(&settled, START, START + (uint64_t)i * SECOND);
		settled_see(&settled, 1, &steady, 1000000);
		settled_see(&settled, 2, &growing, 9000);
		settled_see(&settled, 3, &steady, 0);
	}
	assert_true(settled_is_sure(&settled));
	assert_int_equal(settled.matter, 1);
	assert_int_equal(settled.words[VERDICT_GROWING].bytes, 9000);
	/* What holds nothing is in no sum. */
	assert_int_equal(settled.words[VERDICT_STEADY].rows, 1);
	settled_begin(&settled, START, START + 41 * SECOND);
	settled_see(&settled, 1, &steady, 1000000);
	settled_see(&settled, 2, &growing, 11000);
	assert_int_equal(settled.open, 1);
	assert_false(settled_is_sure(&settled));
	settled_free(&settled);
}

static void look_at_nothing(struct settled *settled, int count, bool heaps_may_grow)
{
	while (count--) {
		settled_begin(settled, START,
			      (settled->time_ns ? settled->time_ns : START) + SECOND);
		settled->heaps_may_grow = heaps_may_grow;
	}
}

/* That nothing is in use is sure as soon as that something does not grow; in windows only if heaps do not. */
static void test_nothing(void **state)
{
	struct settled settled = { 0 };

	(void)state;
	assert_false(settled_is_sure(&settled));
	look_at_nothing(&settled, 25, false);
	assert_false(settled_is_sure(&settled));
	assert_int_equal(settled_wait_ns(&settled), 5 * SECOND);
	look_at_nothing(&settled, 5, false);
	assert_true(settled_is_sure(&settled));
	/* Half of the time from when something was. */
	look(&settled, VERDICT_UNKNOWN, 1);
	assert_false(settled_is_sure(&settled));
	look_at_nothing(&settled, 30, false);
	assert_false(settled_is_sure(&settled));
	look_at_nothing(&settled, 3, false);
	assert_true(settled_is_sure(&settled));
	settled_free(&settled);
	settled.windows = true;
	look_at_nothing(&settled, 70, true);
	assert_false(settled_is_sure(&settled));
	assert_int_equal(settled_wait_ns(&settled), 0);
	look_at_nothing(&settled, 1, false);
	assert_true(settled_is_sure(&settled));
	settled_free(&settled);
}

/* In windows, a cache that begins to grow is not one any more, though it is not known yet what it is. */
/* What grows in steps is UNCLEAR, but it is seen that it has grown. */
static void test_steps(void **state)
{
	struct settled settled = { 0 };

	(void)state;
	assert_int_equal(look(&settled, VERDICT_WARM_UP, 40).word, VERDICT_WARM_UP);
	/* No more than what comes and goes. */
	assert_int_equal(look_at(&settled, VERDICT_UNKNOWN, 1250, 60).word, VERDICT_WARM_UP);
	assert_int_equal(look(&settled, VERDICT_WARM_UP, 1).word, VERDICT_WARM_UP);
	assert_int_equal(look_at(&settled, VERDICT_UNKNOWN, 2000, 10).word, VERDICT_WARM_UP);
	assert_int_equal(look_at(&settled, VERDICT_UNKNOWN, 2000, 30).word, VERDICT_UNKNOWN);
	assert_int_equal(look_at(&settled, VERDICT_WARM_UP, 2000, 40).word, VERDICT_WARM_UP);
	assert_int_equal(look_at(&settled, VERDICT_UNKNOWN, 2000, 60).word, VERDICT_WARM_UP);
	settled_free(&settled);
}

static void test_windows_doubt(void **state)
{
	struct verdict verdict = { .word = VERDICT_UNKNOWN, .growth = { 10, 1, 19 } };
	struct settled settled = { .windows = true };
	enum verdict_word word = VERDICT_NONE;
	int i;

	(void)state;
	look(&settled, VERDICT_CACHE, 30);
	for (i = 0; i < 60; i++) {
		settled_begin(&settled, START, settled.time_ns + SECOND);
		word = settled_see(&settled, 7, &verdict, 1000).word;
	}
	assert_int_equal(word, VERDICT_CACHE);
	verdict.estimated = true;
	for (i = 0; i < 60; i++) {
		settled_begin(&settled, START, settled.time_ns + SECOND);
		word = settled_see(&settled, 7, &verdict, 1000).word;
	}
	assert_int_equal(word, VERDICT_UNKNOWN);
	settled_free(&settled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settles),	    cmocka_unit_test(test_leak_stays),
		cmocka_unit_test(test_no_flapping), cmocka_unit_test(test_sure),
		cmocka_unit_test(test_matters),	    cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_steps),	    cmocka_unit_test(test_windows_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
