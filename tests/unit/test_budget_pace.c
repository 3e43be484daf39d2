/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows in simulated processes: what tracing takes of their CPU time, and when. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>

#include "windows/budget_pace.h"

#define MS 1000000ull
#define SECOND 1000000000ull

/* A process, and what its windows come to. */
struct world {
	uint64_t cpus; /* that it uses, in thousandths */
	uint64_t call_rate; /* hits a second, if nothing slowed it down */
	uint64_t trap_ns;
	uint64_t late_hits; /* after the window's end, while it is taken out */
	uint64_t cpu_ns; /* used until the last window */
	uint64_t windows, cost_ns, longest_cost_ns, traced_ns;
	uint64_t shortest_rest_ns, longest_rest_ns;
};

static struct budget_pace pace_of(uint64_t budget)
{
	return (struct budget_pace){
		.budget = budget, .max_window_ns = 20 * MS, .random = 12345, .hit_ns = 4000
	};
}

/* A window: as many hits as fit into its length, each of which holds the process up. */
static struct budget_spent world_trace(const struct world *world, const struct budget_share *share)
{
	uint64_t hit_ns = SECOND / world->call_rate + world->trap_ns;
	uint64_t hits = share->length_ns / hit_ns;

	if (hits > share->hits)
		hits = share->hits;
	return (struct budget_spent){ .length_ns = hits < share->hits ? share->length_ns
								      : hits * hit_ns,
				      .hits = hits + world->late_hits,
				      .edge_hits = world->late_hits,
				      .cost_ns = (hits + world->late_hits) * world->trap_ns };
}

static void world_run(struct world *world, struct budget_pace *pace, uint64_t duration_ns)
{
	uint64_t now = 5 * SECOND, end = now + duration_ns, next, last = 0;
	struct budget_share share;
	struct budget_spent spent;

	world->shortest_rest_ns = UINT64_MAX;
	budget_pace_see_cpu(pace, now, 0);
	while (now < end) {
		next = budget_pace_next_ns(pace, now);
		assert_true(next > now);
		now = next;
		world->cpu_ns = (now - 5 * SECOND) / 1000 * world->cpus;
		budget_pace_see_cpu(pace, now, world->cpu_ns);
		if (!budget_pace_allows(pace, &share))
			continue;
		assert_true(share.hits > 0 && share.length_ns > 0);
		spent = world_trace(world, &share);
		budget_pace_spend(pace, &spent);
		world->windows++;
		world->cost_ns += spent.cost_ns;
		world->traced_ns += spent.length_ns;
		if (spent.cost_ns > world->longest_cost_ns)
			world->longest_cost_ns = spent.cost_ns;
		if (last && now - last < world->shortest_rest_ns)
			world->shortest_rest_ns = now - last;
		if (last && now - last > world->longest_rest_ns)
			world->longest_rest_ns = now - last;
		last = now;
		now += spent.length_ns;
	}
}

/* One busy thread, a million calls a second: 1 %, and as good as all of it is used. */
static void test_busy(void **state)
{
	struct world world = {
		.cpus = 1000, .call_rate = 1000000, .trap_ns = 2000, .late_hits = 50
	};
	struct budget_pace pace = pace_of(1000);

	(void)state;
	world_run(&world, &pace, 100 * SECOND);
	assert_true(world.cost_ns <= world.cpu_ns / 100);
	assert_true(world.cost_ns >= SECOND * 3 / 4);
	assert_true(world.windows >= 30);
	assert_true(world.longest_cost_ns <= 20 * MS);
	/* At no fixed phase. */
	assert_true(world.longest_rest_ns > world.shortest_rest_ns * 5 / 4);
}

/* Traps that cost more than was assumed: no more is spent, in fewer calls. */
static void test_dear_traps(void **state)
{
	struct world world = {
		.cpus = 1000, .call_rate = 1000000, .trap_ns = 40000, .late_hits = 5
	};
	struct budget_pace pace = pace_of(1000);

	(void)state;
	world_run(&world, &pace, 100 * SECOND);
	assert_true(world.cost_ns <= SECOND * 11 / 10);
	assert_true(world.windows >= 20);
}

/* Few calls: windows are longer than what they cost, so that there is something to see. */
static void test_quiet(void **state)
{
	struct world world = { .cpus = 100, .call_rate = 1000, .trap_ns = 3000 };
	struct budget_pace pace = pace_of(1000);

	(void)state;
	world_run(&world, &pace, 60 * SECOND);
	assert_true(world.cost_ns <= 60 * MS);
	assert_true(world.traced_ns >= 6 * SECOND);
}

/* A process that uses no CPU time has nothing to spend; when it does, windows begin. */
static void test_idle(void **state)
{
	struct world idle = { .cpus = 0, .call_rate = 1, .trap_ns = 3000 };
	struct world busy = { .cpus = 1000, .call_rate = 100000, .trap_ns = 3000 };
	struct budget_pace pace = pace_of(1000);

	(void)state;
	world_run(&idle, &pace, 20 * SECOND);
	assert_int_equal(idle.windows, 0);
	world_run(&busy, &pace, 20 * SECOND);
	assert_true(busy.windows >= 5);
	assert_true(busy.cost_ns <= busy.cpu_ns / 100);
}

/* Sixteen busy threads earn as many times as much, and a window still takes no more of anybody's time. */
static void test_many_threads(void **state)
{
	struct world world = { .cpus = 16000, .call_rate = 5000000, .trap_ns = 2000 };
	struct budget_pace pace = pace_of(1000);

	(void)state;
	world_run(&world, &pace, 30 * SECOND);
	assert_true(world.longest_cost_ns <= 20 * MS);
	assert_true(world.windows >= 20);
}

/* What attaching costs is dear: windows are fewer and longer, so that most of the budget is for what they record. */
static void test_dear_edges(void **state)
{
	struct world world = {
		.cpus = 200, .call_rate = 1000000, .trap_ns = 500, .late_hits = 4000
	};
	struct budget_pace pace = pace_of(1000);

	(void)state;
	world_run(&world, &pace, 60 * SECOND);
	assert_true(world.cost_ns <= world.cpu_ns / 100);
	assert_true(world.windows >= 10);
	assert_true(world.windows * world.late_hits * world.trap_ns <= world.cost_ns / 2);
}

/*
 * Whatever was taken while probes went in, and as much as of late while they go out, a window takes no more than it may; and at least
 * three quarters of that are left for what is taken before they go out.
 */
static void test_edges_count(void **state)
{
	const uint64_t late[] = { 0, 1000, 100000 };
	struct budget_share share;
	size_t i, j;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct budget_spent spent = { .length_ns = 10 * MS,
						    .hits = 1000 + late[i],
						    .edge_hits = late[i],
						    .late_hits = late[i],
						    .cost_ns = (1000 + late[i]) * 1000 };
		struct budget_pace pace = pace_of(1000);

		pace.hit_ns = 1000;
		for (j = 0; j < 20; j++)
			budget_pace_spend(&pace, &spent);
		budget_pace_see_cpu(&pace, SECOND, 0);
		budget_pace_see_cpu(&pace, 1000 * SECOND, 10000 * SECOND);
		assert_true(budget_pace_allows(&pace, &share));
		assert_true(share.hits <= share.most_hits);
		assert_true(share.most_hits >= 20 * MS / 1000 * 3 / 4);
		if (late[i] <= 5000)
			assert_true(share.most_hits + late[i] * 9 / 10 <= 20 * MS / 1000);
		else
			assert_int_equal(share.most_hits, 20 * MS / 1000 * 3 / 4);
	}
}

/* Times near the end of what numbers hold. */
static void test_extremes(void **state)
{
	struct budget_pace pace = pace_of(100000);
	struct budget_share share;

	(void)state;
	budget_pace_see_cpu(&pace, 1, UINT64_MAX);
	assert_true(budget_pace_allows(&pace, &share));
	budget_pace_spend(&pace, &(struct budget_spent){ .length_ns = 0, .hits = 0, .cost_ns = 0 });
	assert_true(budget_pace_allows(&pace, &share));
	assert_true(share.length_ns <= SECOND);
	assert_true(budget_pace_next_ns(&pace, 1000) > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),	     cmocka_unit_test(test_dear_traps),
		cmocka_unit_test(test_quiet),	     cmocka_unit_test(test_idle),
		cmocka_unit_test(test_many_threads), cmocka_unit_test(test_dear_edges),
		cmocka_unit_test(test_edges_count),  cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
