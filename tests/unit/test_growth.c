/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rows grow by between reports. Truth: differences done by hand, of sites made by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/growth.h"

static struct snapshot_site make_site(uint64_t key, uint64_t bytes)
{
	return (struct snapshot_site){ .key = key, .stats = { bytes + 7, 2, 7, 1 } };
}

static void keep(struct growth_base *base, struct snapshot_site *sites, size_t count)
{
	const struct snapshot snapshot = { .sites = sites, .site_count = count };

	growth_keep(base, &snapshot, 0);
}

static void check(const struct growth_base *base, const struct snapshot_site *row, int64_t bytes,
		  bool appeared)
{
	const struct growth growth = growth_of(base, row, 0);

	assert_true(growth.known);
	assert_int_equal(growth.bytes, bytes);
	assert_int_equal(growth.appeared, appeared);
}

/* Before there was a report, all that is in use has been added. */
static void test_first(void **state)
{
	struct snapshot_site site = make_site(1, 100);
	struct growth_base base = { 0 };
	struct growth growth;

	(void)state;
	growth = growth_of(&base, &site, 0);
	assert_int_equal(growth.bytes, 100);
	assert_false(growth.known);
	assert_false(growth.appeared);
}

static void test_sites(void **state)
{
	struct snapshot_site before[] = { make_site(30, 100), make_site(10, 200),
					  make_site(20, 300), make_site(40, 0) };
	struct snapshot_site now[] = { make_site(10, 200), make_site(20, 250), make_site(30, 1100),
				       make_site(40, 5), make_site(50, 6) };
	struct growth_base base = { 0 };

	(void)state;
	before[3].stats = (struct site_stats){ 50, 1, 50, 1 };
	keep(&base, before, 4);
	check(&base, &now[0], 0, false);
	check(&base, &now[1], -50, false);
	check(&base, &now[2], 1000, false);
	check(&base, &now[3], 5, true);
	check(&base, &now[4], 6, true);
	keep(&base, now, 5);
	check(&base, &now[4], 0, false);
	check(&base, &before[0], -1000, false);
	growth_free(&base);
}

/* A row is its sites, whichever are added up with it now, and in whatever order. */
static void test_rows(void **state)
{
	struct snapshot_site members[] = { make_site(5, 100), make_site(3, 200),
					   make_site(4, 300) };
	struct snapshot_site later[] = { make_site(4, 310), make_site(2, 50), make_site(3, 190) };
	struct snapshot_site before[] = { { .key = 3, .members = members, .member_count = 2 },
					  { .key = 4, .members = &members[2], .member_count = 1 } };
	struct snapshot_site now = { .key = 2, .members = later, .member_count = 3 };
	struct snapshot_site gone = { .key = 2, .members = &later[1], .member_count = 1 };
	struct growth_base base = { 0 };

	(void)state;
	keep(&base, before, 2);
	check(&base, &now, 10 + 50 - 10, false);
	check(&base, &gone, 50, true);
	growth_free(&base);
}

/* In use is what the report counts: blocks that become old enough are growth. */
static void test_young(void **state)
{
	struct snapshot_site site = { .key = 1,
				      .stats = { .alloc_bytes = 100, .alloc_objects = 2 } };
	const struct snapshot snapshot = { .sites = &site, .site_count = 1 };
	struct growth_base base = { 0 };
	struct growth growth;

	(void)state;
	site.stats.young_bytes = 100;
	site.stats.young_objects = 2;
	growth_keep(&base, &snapshot, 5);
	site.stats.young_bytes = 60;
	site.stats.young_objects = 1;
	growth = growth_of(&base, &site, 5);
	assert_int_equal(growth.bytes, 40);
	assert_true(growth.appeared);
	growth_keep(&base, &snapshot, 5);
	growth = growth_of(&base, &site, 5);
	assert_int_equal(growth.bytes, 0);
	assert_false(growth.appeared);
	growth_free(&base);
}

/* Figures of a damaged recording stay at the limits. */
static void test_limits(void **state)
{
	struct snapshot_site sites[] = { make_site(1, 0), make_site(2, 0) };
	struct snapshot_site row = { .members = sites, .member_count = 2 };
	struct growth_base base = { 0 };

	(void)state;
	sites[0].stats = sites[1].stats = (struct site_stats){ UINT64_MAX, 1, 0, 0 };
	keep(&base, NULL, 0);
	check(&base, &row, INT64_MAX, true);
	keep(&base, sites, 2);
	sites[0].stats = sites[1].stats = (struct site_stats){ 1, 1, 5, 0 };
	check(&base, &row, -INT64_MAX, false);
	growth_free(&base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),  cmocka_unit_test(test_sites),
		cmocka_unit_test(test_rows),   cmocka_unit_test(test_young),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
