/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Censuses of heaps of real processes, recorded: whole, and with one word of the allocator's changed in each of some hundred copies. Truth: the program's own
 * count. A change is refused, remarked, or of no more effect than what one word leads to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "unit/random_numbers.h"
#include "unit/recorded_heap.h"

#define CHANGES 300
/* Blocks of others: of the C library, the loader and the allocator. */
#define OTHERS 8
/* What a word can lead to: the blocks of an extent, span, group or page, or the rest of one list. */
#define EXPLAINED 32
/* Times what is read of a heap that is whole. */
#define READS 8

static void census_whole(struct recorded_heap *heap, struct recorded_found *found)
{
	recorded_heap_census(heap, found);
	assert_int_equal(found->code, 0);
	assert_int_equal(found->totals.remarks.length, 0);
	assert_int_equal(found->totals.unknown_bytes, 0);
	assert_int_equal(found->blocks, RECORDED_BLOCKS);
	assert_int_equal(found->bytes, RECORDED_BYTES);
	assert_int_equal(found->given, found->totals.live_blocks);
	assert_int_equal(found->given_bytes, found->totals.live_bytes);
	assert_in_range(found->given, RECORDED_BLOCKS, RECORDED_BLOCKS + OTHERS);
	assert_int_equal(found->outside, 0);
}

static uint64_t changed(struct recorded_heap *heap, uint64_t word, struct random_numbers *random)
{
	uint64_t other = heap->words[random_word(random) % heap->word_count];

	switch (random_word(random) % 7) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return UINT64_MAX;
	case 3:
		return word + 1;
	case 4:
		return word - 1;
	case 5:
		return other;
	default:
		return recorded_heap_get(heap, other);
	}
}

static bool is_noticed(const struct recorded_found *found)
{
	return found->code || found->totals.remarks.length || found->totals.unknown_bytes ||
	       found->totals.counts_only;
}

static void check_changed(struct recorded_heap *heap, uint64_t address, uint64_t word,
			  uint64_t blocks, size_t reads)
{
	struct recorded_found found = { 0 };
	uint64_t live;

	recorded_heap_census(heap, &found);
	live = found.totals.live_blocks;
	if (!is_noticed(&found) && (live + EXPLAINED < blocks || live > blocks + EXPLAINED))
		fail_msg("%s: %#llx = %#llx: %llu blocks, not %llu, and no remark",
			 heap->allocator->name, (unsigned long long)address,
			 (unsigned long long)word, (unsigned long long)live,
			 (unsigned long long)blocks);
	assert_int_equal(found.outside, 0);
	if (!found.code && !found.totals.counts_only)
		assert_int_equal(found.given, live);
	assert_true(heap->reads < READS * reads);
	heap_totals_free(&found.totals);
}

/* A census that has no time any more ends. */
static void check_deadline(struct recorded_heap *heap)
{
	struct recorded_found found = { 0 };

	heap->image->until_ns = clock_now_ns() - 1;
	recorded_heap_census(heap, &found);
	assert_int_equal(heap->reads, 0);
	heap_totals_free(&found.totals);
	heap->image->until_ns = 0;
}

static void check_heap(const char *name)
{
	struct random_numbers random = { 88172645463325252ull };
	struct recorded_heap *heap = recorded_heap_open(name);
	struct recorded_found found = { 0 };
	size_t i, reads;

	assert_non_null(heap);
	census_whole(heap, &found);
	heap_totals_free(&found.totals);
	reads = heap->reads;
	for (i = 0; i < CHANGES; i++) {
		uint64_t address = heap->words[random_word(&random) % heap->word_count];
		uint64_t before = recorded_heap_get(heap, address);
		uint64_t word = changed(heap, before, &random);

		recorded_heap_put(heap, address, word);
		check_changed(heap, address, word, found.given, reads);
		recorded_heap_put(heap, address, before);
	}
	census_whole(heap, &found);
	heap_totals_free(&found.totals);
	check_deadline(heap);
	recorded_heap_free(heap);
}

static void test_glibc(void **state)
{
	(void)state;
	check_heap("glibc");
}

static void test_jemalloc(void **state)
{
	(void)state;
	check_heap("jemalloc");
}

static void test_tcmalloc(void **state)
{
	(void)state;
	check_heap("tcmalloc");
}

static void test_mimalloc(void **state)
{
	(void)state;
	check_heap("mimalloc");
}

static void test_musl(void **state)
{
	(void)state;
	check_heap("musl");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glibc),	 cmocka_unit_test(test_jemalloc),
		cmocka_unit_test(test_tcmalloc), cmocka_unit_test(test_mimalloc),
		cmocka_unit_test(test_musl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
