/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers to the insides of blocks that count as pointers to their starts: each shape at its borders, marking against a naive reference on random
 * graphs, and memory that is there to mislead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reach/reach_graph.h"
#include "reach/reach_heuristics.h"
#include "unit/fake_image.h"
#include "unit/random_numbers.h"

#define HEAP 0x555555560000ull
#define CODE 0x7f0000000000ull
#define TABLES 0x7f0000010000ull
#define ANONYMOUS 0x7f0000020000ull
#define NONE LEAK_HEURISTIC_NONE

struct world {
	struct fake_image *fake;
	struct reach_heuristics heuristics;
};

static int open_world(void **state)
{
	struct world *world = memory_alloc(1, sizeof(*world));

	world->fake = fake_image_new();
	fake_image_map(world->fake, HEAP, 0x4000, "[heap]", FAKE_WRITABLE);
	fake_image_map(world->fake, CODE, 0x1000, "/app", FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(world->fake, TABLES, 0x1000, "/app", FAKE_FILE);
	fake_image_map(world->fake, ANONYMOUS, 0x1000, "", FAKE_WRITABLE | FAKE_EXECUTABLE);
	reach_heuristics_open(&world->heuristics, fake_image_open(world->fake),
			      REACH_HEURISTICS_ALL);
	*state = world;
	return 0;
}

static int close_world(void **state)
{
	struct world *world = *state;

	reach_heuristics_close(&world->heuristics);
	fake_image_free(world->fake);
	free(world);
	return 0;
}

static void put(struct world *world, uint64_t offset, uint64_t word)
{
	fake_image_put_word(world->fake, HEAP + offset, word);
	window_drop(&world->heuristics.window);
}

static enum leak_heuristic judge(struct world *world, uint64_t bytes, uint64_t offset)
{
	const struct reach_block block = { .address = HEAP, .bytes = bytes };

	return reach_heuristics_judge(&world->heuristics, &block, offset);
}

/* 100 bytes are asked for: malloc has 104, or as many as other sizes from 32 fewer on. */
static void test_string(void **state)
{
	struct world *world = *state;

	put(world, 0, 10);
	put(world, 8, 100 - 24 - 1);
	assert_int_equal(judge(world, 104, 24), LEAK_HEURISTIC_STDSTRING);
	assert_int_equal(judge(world, 131, 24), LEAK_HEURISTIC_STDSTRING);
	assert_int_equal(judge(world, 132, 24), NONE);
	assert_int_equal(judge(world, 99, 24), NONE);
	assert_int_equal(judge(world, 104, 16), NONE);
	assert_int_equal(judge(world, 104, 32), NONE);
	put(world, 0, 76);
	assert_int_equal(judge(world, 104, 24), NONE);
	put(world, 0, 75);
	assert_int_equal(judge(world, 104, 24), LEAK_HEURISTIC_STDSTRING);
	world->heuristics.wanted &= ~(1u << LEAK_HEURISTIC_STDSTRING);
	assert_int_equal(judge(world, 104, 24), NONE);
}

static void test_length(void **state)
{
	struct world *world = *state;

	put(world, 0, 92);
	assert_int_equal(judge(world, 104, 8), LEAK_HEURISTIC_LENGTH64);
	assert_int_equal(judge(world, 100, 8), LEAK_HEURISTIC_LENGTH64);
	world->heuristics.wanted &= ~(1u << LEAK_HEURISTIC_NEWARRAY);
	assert_int_equal(judge(world, 99, 8), NONE);
	assert_int_equal(judge(world, 104, 16), NONE);
	put(world, 0, 0);
	assert_int_equal(judge(world, 16, 8), NONE);
}

/* What is left behind the elements is less than a step of malloc. */
static void test_array(void **state)
{
	struct world *world = *state;

	world->heuristics.wanted = 1u << LEAK_HEURISTIC_NEWARRAY;
	put(world, 0, 100);
	assert_int_equal(judge(world, 8 + 100 * 12, 8), LEAK_HEURISTIC_NEWARRAY);
	assert_int_equal(judge(world, 8 + 100 * 1 + 31, 8), LEAK_HEURISTIC_NEWARRAY);
	assert_int_equal(judge(world, 8 + 100 * 1 + 32, 8), NONE);
	assert_int_equal(judge(world, 8 + 99, 8), NONE);
	assert_int_equal(judge(world, 8 + 100 * 12, 0), NONE);
	assert_int_equal(judge(world, 8 + 100 * 12, 12), NONE);
	assert_int_equal(judge(world, 8 + 100 * 12, 20), NONE);
	put(world, 0, 0);
	assert_int_equal(judge(world, 1208, 8), NONE);
}

static void put_table(struct world *world, uint64_t at, uint64_t first, uint64_t second)
{
	fake_image_put_word(world->fake, at, first);
	fake_image_put_word(world->fake, at + 8, second);
}

static void test_bases(void **state)
{
	struct world *world = *state;

	put_table(world, TABLES + 16, CODE + 16, CODE + 32);
	put_table(world, TABLES + 64, 0, CODE + 48);
	put_table(world, TABLES + 80, 0, CODE + 64);
	put_table(world, TABLES + 256, CODE + 16, HEAP);
	put_table(world, ANONYMOUS, CODE + 16, CODE + 32);
	put_table(world, TABLES + 512, ANONYMOUS, ANONYMOUS);
	put(world, 0, TABLES + 16);
	put(world, 24, TABLES + 64);
	assert_int_equal(judge(world, 104, 24), LEAK_HEURISTIC_MULTIPLEINHERITANCE);
	assert_int_equal(judge(world, 32, 24), LEAK_HEURISTIC_MULTIPLEINHERITANCE);
	assert_int_equal(judge(world, 31, 24), NONE);
	assert_int_equal(judge(world, 104, 16), NONE);
	/* A table with something else in it, one of no file, functions of no file, one at an odd address. */
	put(world, 24, TABLES + 256);
	assert_int_equal(judge(world, 104, 24), NONE);
	put(world, 24, ANONYMOUS);
	assert_int_equal(judge(world, 104, 24), NONE);
	put(world, 24, TABLES + 512);
	assert_int_equal(judge(world, 104, 24), NONE);
	put(world, 24, TABLES + 17);
	assert_int_equal(judge(world, 104, 24), NONE);
	/* The first word counts as much. */
	put(world, 24, TABLES + 16);
	put(world, 0, TABLES + 256);
	assert_int_equal(judge(world, 104, 24), NONE);
}

/* A table that the end of its file cuts, or of empty words alone, is none. */
static void test_cut_tables(void **state)
{
	struct world *world = *state;

	put_table(world, TABLES + 0xff0, CODE + 16, CODE + 32);
	put(world, 0, TABLES + 0xff0);
	put(world, 24, TABLES + 0xff0);
	assert_int_equal(judge(world, 104, 24), LEAK_HEURISTIC_MULTIPLEINHERITANCE);
	put(world, 24, TABLES + 0xff8);
	assert_int_equal(judge(world, 104, 24), NONE);
	put(world, 24, TABLES + 0x800);
	assert_int_equal(judge(world, 104, 24), NONE);
	put(world, 24, TABLES + 0x1000 - 4);
	assert_int_equal(judge(world, 104, 24), NONE);
}

/* Any words at any place, and blocks of which nothing can be read: an answer, within the block. */
static void test_hostile(void **state)
{
	struct world *world = *state;
	struct random_numbers random = { .state = 5 };
	const uint64_t words[] = { 0,
				   1,
				   8,
				   24,
				   104,
				   UINT64_MAX,
				   UINT64_MAX - 7,
				   1ull << 63,
				   HEAP,
				   CODE,
				   TABLES,
				   TABLES + 0xff8,
				   ANONYMOUS };
	const size_t count = sizeof(words) / sizeof(words[0]);
	const struct reach_block gone = { .address = 0x10000, .bytes = 64 };
	const struct reach_block top = { .address = UINT64_MAX - 63, .bytes = 64 };
	const struct reach_block border = { .address = HEAP + 0x4000 - 16, .bytes = 4096 };
	uint64_t bytes, offset;
	size_t i;

	for (i = 0; i < 20000; i++) {
		put(world, 8 * (random_word(&random) % 4), words[random_word(&random) % count]);
		bytes = words[random_word(&random) % count];
		offset = i % 2 ? words[random_word(&random) % count] : 8 * (i % 8);
		if (judge(world, bytes, offset) != NONE) {
			assert_true(offset && offset + 8 <= bytes);
			assert_true(offset % 8 == 0);
		}
	}
	for (offset = 0; offset <= 72; offset += 8) {
		assert_int_equal(reach_heuristics_judge(&world->heuristics, &gone, offset), NONE);
		assert_int_equal(reach_heuristics_judge(&world->heuristics, &top, offset), NONE);
		assert_int_equal(reach_heuristics_judge(&world->heuristics, &border, offset), NONE);
	}
}

/* Marking */

struct random_graph {
	struct reach_graph graph;
	size_t count;
	struct reach_edge *edges;
	size_t edge_count;
	uint8_t *roots; /* of each block: 1 = to its start, 2 = inside, by what counts */
	uint64_t seed;
};

static bool counts(uint64_t seed, uint32_t target, uint64_t offset)
{
	return (target * 31 + offset + seed) % 3 == 0;
}

static enum leak_heuristic judge_guess(void *context, uint32_t target, uint64_t offset)
{
	const struct random_graph *random = context;

	return counts(random->seed, target, offset) ? LEAK_HEURISTIC_NEWARRAY : NONE;
}

/* All that is reachable, by whole sweeps over all edges; `by_starts`: of what that leads to by a pointer to its start. */
static void naive_reach(const struct random_graph *random, uint8_t *reached, uint8_t *by_starts)
{
	bool changes = true;
	size_t i;

	for (i = 0; i < random->count; i++) {
		reached[i] = random->roots[i] != 0;
		by_starts[i] = random->roots[i] & 1;
	}
	while (changes) {
		changes = false;
		for (i = 0; i < random->edge_count; i++) {
			const struct reach_edge *edge = &random->edges[i];
			const uint32_t target = edge->target >> 1;

			if (!reached[edge->source] || edge->source == target ||
			    (edge->target & 1 && !counts(random->seed, target, 8 * (i % 4) + 8)))
				continue;
			changes |= !reached[target] || (!(edge->target & 1) && !by_starts[target]);
			reached[target] = 1;
			by_starts[target] |= !(edge->target & 1);
		}
	}
}

static void check_random(struct random_numbers *numbers, size_t count, size_t edge_count,
			 bool ascends)
{
	struct random_graph random = { .count = count, .edge_count = edge_count };
	const struct reach_judge by = { judge_guess, &random };
	uint8_t *reached = memory_alloc(count, 1), *by_starts = memory_alloc(count, 1);
	uint32_t target;
	size_t i;

	random.seed = random_word(numbers) % 100;
	random.edges = memory_alloc(edge_count, sizeof(*random.edges));
	random.roots = memory_alloc(count, 1);
	reach_graph_open(&random.graph, count);
	random.graph.judge = &by;
	for (i = 0; i < count / 12; i++) {
		target = (uint32_t)(random_word(numbers) % count);
		reach_graph_add_root(&random.graph, target, i % 2, LEAK_ROOT_STATIC, 8);
		if (i % 2)
			reach_graph_add_guess(&random.graph, REACH_NOBODY, target, 8 * (i % 5));
		if (i % 2 == 0)
			random.roots[target] |= 1;
		else if (i % 5 && counts(random.seed, target, 8 * (i % 5)))
			random.roots[target] |= 2;
	}
	for (i = 0; i < edge_count; i++) {
		struct reach_edge *edge = &random.edges[i];

		edge->source =
			(uint32_t)(ascends ? i * count / edge_count : random_word(numbers) % count);
		edge->target = (uint32_t)(random_word(numbers) % (2 * count));
		reach_graph_add_edge(&random.graph, edge->source, edge->target >> 1,
				     edge->target & 1);
		if (edge->target & 1)
			reach_graph_add_guess(&random.graph, edge->source, edge->target >> 1,
					      8 * (i % 4) + 8);
	}
	reach_graph_mark(&random.graph);
	naive_reach(&random, reached, by_starts);
	for (i = 0; i < count; i++) {
		const struct reach_node *node = &random.graph.nodes[i];

		assert_int_equal(node->verdict == LEAK_REACHABLE, reached[i]);
		assert_int_equal(node->heuristic,
				 reached[i] && !by_starts[i] ? LEAK_HEURISTIC_NEWARRAY : NONE);
	}
	reach_graph_free(&random.graph);
	free(random.edges);
	free(random.roots);
	free(reached);
	free(by_starts);
}

static void test_marking_is_the_reference(void **state)
{
	struct random_numbers numbers = { .state = 11 };
	size_t i;

	(void)state;
	for (i = 0; i < 200; i++)
		check_random(&numbers, 60, 20 + i, i % 2);
	check_random(&numbers, 5000, 6000, false);
	check_random(&numbers, 5000, 6000, true);
}

/* Without a judge nothing is asked, and verdicts are as before. */
static void test_without_heuristics(void **state)
{
	struct reach_graph graph;

	(void)state;
	reach_graph_open(&graph, 1);
	reach_graph_add_root(&graph, 0, true, LEAK_ROOT_STATIC, 8);
	reach_graph_add_guess(&graph, REACH_NOBODY, 0, 8);
	assert_int_equal(graph.root_guesses.count, 0);
	reach_graph_mark(&graph);
	assert_int_equal(graph.nodes[0].verdict, LEAK_POSSIBLE);
	assert_int_equal(graph.nodes[0].heuristic, NONE);
	reach_graph_free(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_string, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_length, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_array, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_bases, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_cut_tables, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_hostile, open_world, close_world),
		cmocka_unit_test(test_marking_is_the_reference),
		cmocka_unit_test(test_without_heuristics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
