/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one process may hold of the tables while several are traced. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "record_checks.h"

/* A target allocates from `count` places of its own, the first of them number `from`. */
static void allocate_from(uint32_t target, uint32_t from, uint32_t count)
{
	uint64_t shape =
		SHAPE_WITH_TARGET(SHAPE(CALL_ALLOC, 1, 0, 0, RESULT_POINTER, SOURCE_HEAP), target);
	uint32_t i;

	for (i = from; i < from + count; i++) {
		record->stack[PLACE] = world_pc(CALLER, 16 + i);
		assert_true(record_call(PLACE, shape, 100, 0));
		record_return(PLACE, 0x1000 + 16 * (target * 1000 + i));
	}
}

/* How many sites of a target are in the table, with a stack or without. */
static uint32_t count_sites(uint32_t target, bool with_stack)
{
	const struct shim_hash *hash = shim_hash_of(&sites);
	uint32_t i, count = 0;
	struct site site;

	for (i = 0; i < hash->count; i++) {
		memcpy(&site, hash->values + i * sizeof(site), sizeof(site));
		count += site.target_id == target && !site.stack != with_stack;
	}
	return count;
}

/* What is counted for a target and for all is what the tables hold. */
static void check_shares(uint32_t targets)
{
	struct share sum = { 0 };
	uint32_t i;

	for (i = 1; i <= targets; i++) {
		assert_int_equal(record_shares[i].stacks, count_sites(i, true));
		assert_int_equal(record_shares[i].plain, count_sites(i, false));
		sum.stacks += record_shares[i].stacks;
		sum.plain += record_shares[i].plain;
	}
	assert_memory_equal(&record_shares[SHARE_OF_ALL], &sum, sizeof(sum));
}

/* Of what was refused, all was for shares. */
static void check_refused(uint64_t stacks, uint64_t sites)
{
	assert_int_equal(record_losses[LOSS_STACKS_OVER_SHARE], stacks);
	assert_int_equal(record_losses[LOSS_SITES_OVER_SHARE], sites);
	assert_int_equal(record_losses[LOSS_STACKS_FULL], 0);
	assert_int_equal(record_losses[LOSS_SITES_FULL], 0);
}

/* One process has all of the table while it is the only one; what it holds counts when others come. */
static void test_share_of_one(void **state)
{
	(void)state;
	setting_max_stacks = 16;
	allocate_from(1, 0, 12);
	check_refused(0, 0);
	shared = 1;
	allocate_from(1, 0, 12); /* known sites */
	assert_int_equal(count_sites(1, true), 12);
	allocate_from(1, 12, 1);
	allocate_from(2, 0, 3);
	assert_int_equal(count_sites(1, true), 12);
	assert_int_equal(count_sites(2, true), 2);
	check_shares(2);
}

/* Each may hold as much as is free: a half, a half of the rest, and so on. The rest goes to a site without frames. */
static void test_share_of_several(void **state)
{
	(void)state;
	shared = 1;
	setting_max_stacks = 32;
	allocate_from(1, 0, 20);
	assert_int_equal(count_sites(1, true), 16);
	check_refused(4, 0);
	allocate_from(2, 0, 8);
	allocate_from(3, 0, 4);
	check_refused(4, 0);
	allocate_from(2, 8, 3);
	assert_int_equal(count_sites(2, true), 8);
	assert_int_equal(count_sites(3, true), 4);
	check_totals(3500, 35, 0, 0);
	check_refused(7, 0);
	check_shares(3);
}

/* Sites without frames have shares of their own: beyond them blocks are not recorded. */
static void test_share_of_plain_sites(void **state)
{
	(void)state;
	shared = 1;
	setting_max_stacks = 2;
	allocate_from(1, 0, 1);
	record_shares[1].plain = SITES_RESERVE / 2;
	record_shares[SHARE_OF_ALL].plain = SITES_RESERVE / 2;
	allocate_from(1, 1, 2);
	check_refused(0, 2);
	assert_int_equal(record_losses[LOSS_BYTES_UNATTRIBUTED], 200);
	allocate_from(2, 0, 2);
	assert_int_equal(count_sites(2, false), 1);
	check_totals(300, 3, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_share_of_one),
		TEST(test_share_of_several),
		TEST(test_share_of_plain_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
