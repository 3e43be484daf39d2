/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks are lost: the index against a linear search, the marking against a naive reference on random graphs, and cases with
 * known verdicts, in memory that is made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kinds/kind_blocks.h"
#include "reach/reach_code.h"
#include "reach/reach_follow.h"
#include "reach/reach_holders.h"
#include "reach/reach_newer.h"
#include "reach/reach_scan.h"
#include "unit/fake_image.h"
#include "unit/random_numbers.h"

static uint64_t random_below(struct random_numbers *random, uint64_t most)
{
	return random_word(random) % most;
}

/* The index */

static uint32_t find_slowly(const struct reach_blocks *blocks, uint64_t address)
{
	size_t i;

	for (i = 0; i < blocks->count; i++)
		if (address == blocks->items[i].address ||
		    address - blocks->items[i].address < blocks->items[i].bytes)
			return (uint32_t)i;
	return REACH_NO_BLOCK;
}

static void check_near(const struct reach_index *index, uint64_t address)
{
	uint64_t at;

	for (at = address - 17; at != address + 17; at++)
		assert_int_equal(reach_index_find(index, at), find_slowly(index->blocks, at));
}

static void test_index_is_a_search(void **state)
{
	struct random_numbers random = { .state = 16 };
	struct reach_blocks blocks = { 0 };
	struct reach_index index;
	uint64_t address = 0x555555550000, size;
	size_t i;

	(void)state;
	for (i = 0; i < 900; i++) {
		/* Neighbours without a gap, pages that none begins in, holes, and blocks that have no entries of their own. */
		size = random_below(&random, i % 7 ? 300 : i % 5 ? 20000 : 3 << 20) & ~7ull;
		reach_blocks_add(&blocks, address, size);
		address += size + 8 + (random_below(&random, 4) ? 0 : 64);
		if (i % 100 == 99)
			address = (address + (1ull << 33)) & ~4095ull;
	}
	assert_int_equal(reach_blocks_settle(&blocks), 0);
	reach_index_fill(&index, &blocks);
	for (i = 0; i < blocks.count; i++) {
		check_near(&index, blocks.items[i].address);
		check_near(&index, blocks.items[i].address + blocks.items[i].bytes);
		check_near(&index, blocks.items[i].address + blocks.items[i].bytes / 2);
	}
	for (i = 0; i < 2000; i++) {
		address = blocks.items[0].address + random_below(&random, 1ull << 37);
		assert_int_equal(reach_index_find(&index, address), find_slowly(&blocks, address));
	}
	assert_int_equal(reach_index_find(&index, 0), REACH_NO_BLOCK);
	assert_int_equal(reach_index_find(&index, UINT64_MAX), REACH_NO_BLOCK);
	reach_index_free(&index);
	reach_blocks_free(&blocks);
}

/* Addresses that are looked up together have the blocks that each alone has. */
static void test_index_of_many(void **state)
{
	struct random_numbers random = { .state = 7 };
	struct reach_blocks blocks = { 0 };
	struct reach_look looks[1000];
	struct reach_index index;
	uint64_t address = 0x555555550000;
	size_t i;

	(void)state;
	for (i = 0; i < 400; i++) {
		reach_blocks_add(&blocks, address, 8 + 8 * (i % 9) + (i % 50 ? 0 : 3 << 20));
		address += 8 + blocks.items[i].bytes + 8 * (i % 3);
	}
	reach_blocks_settle(&blocks);
	reach_index_fill(&index, &blocks);
	for (i = 0; i < 1000; i++)
		looks[i].address = i % 4 ? blocks.items[random_below(&random, 400)].address +
						   random_below(&random, i % 2 ? 1 : 40)
					 : index.low + random_below(&random, index.span + 1);
	reach_index_look(&index, looks, 1000);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(looks[i].block, find_slowly(&blocks, looks[i].address));
		if (looks[i].block != REACH_NO_BLOCK)
			assert_int_equal(looks[i].inner,
					 looks[i].address != blocks.items[looks[i].block].address);
	}
	reach_index_free(&index);
	reach_blocks_free(&blocks);
}

/* Runs that ascend, of any length, some of one block: each block is there once, in order. */
static void test_blocks_are_sorted(void **state)
{
	struct random_numbers random = { .state = 3 };
	struct kind_blocks blocks = { 0 };
	uint64_t address = 0, sum = 0;
	size_t i, most;

	(void)state;
	for (most = 1; most < 5000; most *= 4) {
		for (i = 0, sum = 0; i < 3000; i++) {
			address = random_below(&random, most) ? address + 16
							      : 16 * random_below(&random, 1 << 20);
			kind_blocks_add(&blocks, address, i, NULL, 0, 0, 0);
			sum += address ^ i << 32;
		}
		kind_blocks_sort(&blocks);
		assert_int_equal(blocks.count, 3000);
		for (i = 0; i < blocks.count; i++) {
			assert_true(!i || blocks.items[i - 1].address <= blocks.items[i].address);
			sum -= blocks.items[i].address ^ (uint64_t)blocks.items[i].bytes << 32;
		}
		assert_int_equal(sum, 0);
		kind_blocks_free(&blocks);
	}
}

/* Blocks of a torn walk: what overlaps is left out, so that each address has one block. */
static void test_index_leaves_out_what_overlaps(void **state)
{
	static const uint64_t odd[][2] = { { 0x10000, 64 },	  { 0x10000, 32 },
					   { 0x10020, 64 },	  { 0x10043, 8 },
					   { 0x10048, 0 },	  { 0x10048, 16 },
					   { UINT64_MAX - 7, 8 }, { 0x20000, UINT64_MAX },
					   { 1ull << 63, 4096 },  { 0x30000, 24 } };
	struct reach_blocks blocks = { 0 };
	struct reach_index index;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		reach_blocks_add(&blocks, odd[i][0], odd[i][1]);
	reach_blocks_settle(&blocks);
	for (i = 1; i < blocks.count; i++)
		assert_true(blocks.items[i].address >=
			    blocks.items[i - 1].address + blocks.items[i - 1].bytes);
	reach_index_fill(&index, &blocks);
	assert_int_equal(reach_index_find(&index, 0x10020), 0);
	reach_index_free(&index);
	reach_blocks_free(&blocks);
	reach_index_fill(&index, &blocks);
	assert_int_equal(reach_index_find(&index, 0x10000), REACH_NO_BLOCK);
	assert_int_equal(reach_index_find(&index, UINT64_MAX), REACH_NO_BLOCK);
	reach_index_free(&index);
}

/* The marking */

struct naive {
	size_t count;
	uint16_t *starts, *inners;
	struct reach_edge *edges;
	size_t edge_count;
	uint8_t *verdicts;
	uint8_t *reached; /* scratch */
};

/* From what `reached` has, by all edges of `from`'s blocks until nothing changes: as slow as it is simple. */
static void naive_spread(const struct naive *naive, uint8_t *reached, bool sure)
{
	bool changes = true;
	size_t i;

	while (changes) {
		changes = false;
		for (i = 0; i < naive->edge_count; i++) {
			const struct reach_edge *edge = &naive->edges[i];
			uint32_t target = edge->target >> 1;

			if (reached[edge->source] && !reached[target] &&
			    !(sure && edge->target & 1)) {
				reached[target] = 1;
				changes = true;
			}
		}
	}
}

/* The same definitions, one after the other, over whole sets. */
static void naive_mark(struct naive *naive)
{
	const unsigned int live = (1u << LEAK_ROOTS_LIVE) - 1;
	uint8_t *sure = memory_alloc(naive->count, 1), *may = memory_alloc(naive->count, 1);
	uint8_t *stale = memory_alloc(naive->count, 1);
	size_t i;

	for (i = 0; i < naive->count; i++)
		sure[i] = (naive->starts[i] & live) != 0;
	naive_spread(naive, sure, true);
	for (i = 0; i < naive->count; i++)
		may[i] = sure[i] || ((naive->starts[i] | naive->inners[i]) & live);
	naive_spread(naive, may, false);
	for (i = 0; i < naive->count; i++)
		stale[i] = may[i] || naive->starts[i] || naive->inners[i];
	naive_spread(naive, stale, false);
	for (i = 0; i < naive->count; i++)
		naive->verdicts[i] = sure[i]	? LEAK_REACHABLE
				     : may[i]	? LEAK_POSSIBLE
				     : stale[i] ? LEAK_STALE
						: LEAK_UNJUDGED;
	free(sure);
	free(may);
	free(stale);
}

/* Which blocks `from` leads to among the lost ones, itself included. */
static void naive_from(const struct naive *naive, uint32_t from, uint8_t *reached)
{
	memset(reached, 0, naive->count);
	reached[from] = 1;
	naive_spread(naive, reached, false);
}

/*
 * What must hold for leaders: whoever leads leads to all that is indirectly lost through it; no other lost block leads to a leader,
 * unless both are in a cycle, of which it is the lowest; all that is lost has a leader.
 */
static void check_leaders(const struct naive *naive, const struct reach_graph *graph)
{
	uint8_t *from = memory_alloc(naive->count, 1), *back = memory_alloc(naive->count, 1);
	size_t i, n;

	for (i = 0; i < naive->count; i++) {
		const struct reach_node *node = &graph->nodes[i];
		uint32_t leader;

		if (naive->verdicts[i] != LEAK_UNJUDGED) {
			assert_int_equal(node->verdict, naive->verdicts[i]);
			continue;
		}
		leader = reach_graph_leader(graph, (uint32_t)i);
		assert_int_equal(node->verdict, leader == i ? LEAK_DEFINITE : LEAK_INDIRECT);
		assert_int_equal(graph->nodes[leader].verdict, LEAK_DEFINITE);
		naive_from(naive, (uint32_t)i, from);
		for (n = 0; n < naive->count; n++) {
			if (n == i || !from[n] || naive->verdicts[n] != LEAK_UNJUDGED ||
			    reach_graph_leader(graph, (uint32_t)n) != n)
				continue;
			/* It leads to a leader: then that leads back to it, and is lower. */
			naive_from(naive, (uint32_t)n, back);
			assert_true(back[i] && n < i);
		}
		naive_from(naive, leader, from);
		assert_true(from[i]);
	}
	free(from);
	free(back);
}

/* `ascends`: edges come in the order of their sources, as of a pass upward. */
static void mark_random(struct random_numbers *random, size_t count, size_t edges, bool leaders,
			bool ascends)
{
	struct naive naive = { .count = count, .edge_count = edges };
	struct reach_graph graph;
	size_t i;

	naive.starts = memory_alloc(count, sizeof(*naive.starts));
	naive.inners = memory_alloc(count, sizeof(*naive.inners));
	naive.edges = memory_alloc(edges, sizeof(*naive.edges));
	naive.verdicts = memory_alloc(count, 1);
	reach_graph_open(&graph, count);
	for (i = 0; i < count / 16; i++) {
		uint32_t target = (uint32_t)random_below(random, count);
		enum leak_root root = (enum leak_root)random_below(random, LEAK_ROOTS);
		bool inner = random_below(random, 2);

		reach_graph_add_root(&graph, target, inner, root, 8 * i + 8);
		*(inner ? &naive.inners[target] : &naive.starts[target]) |= (uint16_t)(1u << root);
	}
	for (i = 0; i < edges; i++) {
		struct reach_edge edge = { (uint32_t)random_below(random, count),
					   (uint32_t)random_below(random, 2 * count) };

		if (ascends)
			edge.source = (uint32_t)(i * (count / 2) / edges * 2);
		/* Mostly near: long ways, and many cycles. */
		if (random_below(random, 4))
			edge.target =
				(uint32_t)(2 * ((edge.source + random_below(random, 9)) % count) +
					   random_below(random, 2));
		naive.edges[i] = edge;
		reach_graph_add_edge(&graph, edge.source, edge.target >> 1, edge.target & 1);
	}
	reach_graph_mark(&graph);
	naive_mark(&naive);
	if (leaders)
		check_leaders(&naive, &graph);
	for (i = 0; i < count; i++)
		if (naive.verdicts[i] == LEAK_UNJUDGED)
			assert_true(graph.nodes[i].verdict == LEAK_DEFINITE ||
				    graph.nodes[i].verdict == LEAK_INDIRECT);
		else
			assert_int_equal(graph.nodes[i].verdict, naive.verdicts[i]);
	reach_graph_free(&graph);
	free(naive.starts);
	free(naive.inners);
	free(naive.edges);
	free(naive.verdicts);
}

static void test_marking_is_the_reference(void **state)
{
	struct random_numbers random = { .state = 1 };
	size_t i;

	(void)state;
	for (i = 0; i < 40; i++) {
		mark_random(&random, 60, 20 + 2 * i, true, false);
		mark_random(&random, 60, 20 + 2 * i, true, true);
	}
	mark_random(&random, 10000, 9000, false, false);
	mark_random(&random, 10000, 20000, false, false);
	mark_random(&random, 10000, 20000, false, true);
}

static void test_long_list(void **state)
{
	enum { LENGTH = 1000000 };
	struct reach_graph graph;
	uint32_t i;

	(void)state;
	reach_graph_open(&graph, LENGTH);
	/* Downward, so that the leader is the last number. */
	for (i = 1; i < LENGTH; i++)
		reach_graph_add_edge(&graph, i, i - 1, false);
	reach_graph_mark(&graph);
	assert_int_equal(graph.nodes[LENGTH - 1].verdict, LEAK_DEFINITE);
	for (i = 0; i < LENGTH - 1; i++) {
		assert_int_equal(graph.nodes[i].verdict, LEAK_INDIRECT);
		assert_int_equal(reach_graph_leader(&graph, i), LENGTH - 1);
	}
	reach_graph_free(&graph);
}

/* The nine chains of memcheck's manual, section 4.2.8: a pointer to a start, or to the inside, or none. */
static void test_nine_chains(void **state)
{
	static const struct {
		int root, edge; /* -1 = none, 0 = to the start, 1 = to the inside */
		enum leak_verdict first, second;
	} chains[] = {
		{ 0, -1, LEAK_REACHABLE, LEAK_DEFINITE }, { 0, 0, LEAK_REACHABLE, LEAK_REACHABLE },
		{ -1, -1, LEAK_DEFINITE, LEAK_DEFINITE }, { -1, 0, LEAK_DEFINITE, LEAK_INDIRECT },
		{ 1, -1, LEAK_POSSIBLE, LEAK_DEFINITE },  { 0, 1, LEAK_REACHABLE, LEAK_POSSIBLE },
		{ -1, 1, LEAK_DEFINITE, LEAK_INDIRECT },  { 1, 0, LEAK_POSSIBLE, LEAK_POSSIBLE },
		{ 1, 1, LEAK_POSSIBLE, LEAK_POSSIBLE },
	};
	struct reach_graph graph;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
		reach_graph_open(&graph, 2);
		if (chains[i].root >= 0)
			reach_graph_add_root(&graph, 0, chains[i].root, LEAK_ROOT_STATIC, 8);
		if (chains[i].edge >= 0)
			reach_graph_add_edge(&graph, 0, 1, chains[i].edge);
		reach_graph_mark(&graph);
		assert_int_equal(graph.nodes[0].verdict, chains[i].first);
		assert_int_equal(graph.nodes[1].verdict, chains[i].second);
		reach_graph_free(&graph);
	}
}

/* Two lost blocks lead to one: it is lost once, and its leader is the same whatever the order of the edges is. */
static void test_shared_child(void **state)
{
	struct reach_graph graph;
	uint32_t first;

	(void)state;
	reach_graph_open(&graph, 3);
	reach_graph_add_edge(&graph, 0, 2, false);
	reach_graph_add_edge(&graph, 1, 2, false);
	reach_graph_mark(&graph);
	assert_int_equal(graph.nodes[0].verdict, LEAK_DEFINITE);
	assert_int_equal(graph.nodes[1].verdict, LEAK_DEFINITE);
	assert_int_equal(graph.nodes[2].verdict, LEAK_INDIRECT);
	first = reach_graph_leader(&graph, 2);
	reach_graph_free(&graph);
	reach_graph_open(&graph, 3);
	reach_graph_add_edge(&graph, 1, 2, true);
	reach_graph_add_edge(&graph, 0, 2, false);
	reach_graph_mark(&graph);
	assert_int_equal(reach_graph_leader(&graph, 2), first);
	reach_graph_free(&graph);
}

/* A ring of three, in any rotation, and one that leads to another: one leader each, or one for both. */
static void test_cycles(void **state)
{
	struct reach_graph graph;
	uint32_t i;

	(void)state;
	reach_graph_open(&graph, 6);
	for (i = 0; i < 3; i++) {
		reach_graph_add_edge(&graph, i, (i + 2) % 3, false);
		reach_graph_add_edge(&graph, 3 + i, 3 + (i + 1) % 3, false);
	}
	reach_graph_add_edge(&graph, 4, 1, false);
	reach_graph_mark(&graph);
	for (i = 0; i < 6; i++) {
		assert_int_equal(reach_graph_leader(&graph, i), 3);
		assert_int_equal(graph.nodes[i].verdict, i == 3 ? LEAK_DEFINITE : LEAK_INDIRECT);
	}
	reach_graph_free(&graph);
}

/* The strongest kind of root wins, and the way is kept. */
static void test_roots_and_ways(void **state)
{
	struct reach_graph graph;

	(void)state;
	reach_graph_open(&graph, 3);
	reach_graph_add_root(&graph, 0, false, LEAK_ROOT_DEAD_STACK, 0x100);
	reach_graph_add_root(&graph, 0, false, LEAK_ROOT_STATIC, 0x200);
	reach_graph_add_root(&graph, 0, true, LEAK_ROOT_REGISTER, 0x300);
	reach_graph_add_edge(&graph, 0, 1, false);
	reach_graph_add_root(&graph, 2, true, LEAK_ROOT_FREE, 0x400);
	reach_graph_mark(&graph);
	assert_int_equal(graph.nodes[0].root, LEAK_ROOT_STATIC);
	assert_int_equal(reach_graph_rooted(&graph, 0)->holder, 0x200);
	assert_int_equal(graph.nodes[1].root, LEAK_ROOT_STATIC);
	assert_int_equal(graph.nodes[1].parent, 0);
	assert_int_equal(graph.nodes[2].verdict, LEAK_STALE);
	assert_int_equal(graph.nodes[2].root, LEAK_ROOT_FREE);
	reach_graph_free(&graph);
}

/* A page of objects: what another word leads to, too, is no garbage's alone, nor what such a block leads to. */
static void test_held_by_objects(void **state)
{
	struct reach_roots roots = { .claims = claims_new() };
	struct reach_graph graph;

	(void)state;
	reach_roots_add_objects(&roots, 0x10000, 0x20000, LEAK_ROOT_RUBY);
	reach_roots_add_objects(&roots, 0x20000, 0x30000, LEAK_ROOT_PYTHON);
	claims_add(roots.claims, PURPOSE_MALLOC_MAIN, 0, 0x40000, 0);
	assert_int_equal(reach_roots_of(&roots, 0x10000), LEAK_ROOT_RUBY);
	assert_int_equal(reach_roots_of(&roots, 0x1fff8), LEAK_ROOT_RUBY);
	assert_int_equal(reach_roots_of(&roots, 0x20000), LEAK_ROOT_PYTHON);
	assert_int_equal(reach_roots_of(&roots, 0x30000), LEAK_ROOT_FREE);
	reach_roots_free(&roots);
	reach_graph_open(&graph, 4);
	reach_graph_add_root(&graph, 0, false, LEAK_ROOT_RUBY, 0x10000);
	reach_graph_add_edge(&graph, 0, 1, false);
	reach_graph_add_root(&graph, 2, false, LEAK_ROOT_RUBY, 0x10008);
	reach_graph_add_root(&graph, 2, false, LEAK_ROOT_UNKNOWN, 0x50000);
	reach_graph_add_edge(&graph, 2, 3, false);
	reach_graph_add_edge(&graph, 0, 3, false);
	reach_graph_mark(&graph);
	assert_int_equal(graph.nodes[1].verdict, LEAK_REACHABLE);
	assert_int_equal(graph.nodes[1].root, LEAK_ROOT_RUBY);
	assert_int_equal(graph.nodes[2].root, LEAK_ROOT_UNKNOWN);
	assert_int_equal(graph.nodes[3].root, LEAK_ROOT_UNKNOWN);
	reach_graph_free(&graph);
}

/* Where nobody reads stale words any more, what only they lead to is lost, with its leader. */
static void test_forgotten_words(void **state)
{
	struct reach_graph graph;

	(void)state;
	reach_graph_open(&graph, 4);
	graph.forgets_stale = true;
	reach_graph_add_root(&graph, 0, false, LEAK_ROOT_DEAD_STACK, 0x100);
	reach_graph_add_edge(&graph, 0, 1, false);
	reach_graph_add_root(&graph, 2, false, LEAK_ROOT_STACK, 0x200);
	reach_graph_add_root(&graph, 3, false, LEAK_ROOT_FREE, 0x300);
	reach_graph_add_root(&graph, 3, true, LEAK_ROOT_STATIC, 0x400);
	reach_graph_mark(&graph);
	assert_int_equal(graph.nodes[0].verdict, LEAK_DEFINITE);
	assert_int_equal(graph.nodes[1].verdict, LEAK_INDIRECT);
	assert_int_equal(reach_graph_leader(&graph, 1), 0);
	assert_int_equal(graph.nodes[2].verdict, LEAK_REACHABLE);
	assert_int_equal(graph.nodes[3].verdict, LEAK_POSSIBLE);
	reach_graph_free(&graph);
}

/* Passes */

static void take(struct reach_candidates *candidates, uint64_t address, uint64_t leader,
		 uint32_t hash)
{
	const struct reach_candidate item = { .address = address,
					      .size = 32,
					      .leader = leader,
					      .hash = hash,
					      .verdict = !leader	     ? LEAK_POSSIBLE
							 : leader == address ? LEAK_DEFINITE
									     : LEAK_INDIRECT };

	candidates->items = memory_grow(candidates->items, candidates->count, &candidates->capacity,
					sizeof(item));
	candidates->items[candidates->count++] = item;
}

/* What has another leader, other contents, or is missing in a pass is not lost; nor is what is lost through such a one. */
static void test_passes_meet(void **state)
{
	struct reach_candidates kept = { 0 }, pass = { 0 };

	(void)state;
	take(&kept, 0x100, 0x100, 1); /* the same */
	take(&kept, 0x200, 0x100, 0);
	take(&kept, 0x300, 0x300, 1); /* its contents change */
	take(&kept, 0x400, 0x300, 0);
	take(&kept, 0x500, 0x500, 1); /* is reached */
	take(&kept, 0x600, 0x600, 1); /* has another leader */
	take(&kept, 0x700, 0, 0); /* is possible, then lost */
	take(&kept, 0x800, 0x800, 1); /* is lost, then possible */
	take(&pass, 0x100, 0x100, 1);
	take(&pass, 0x200, 0x100, 0);
	take(&pass, 0x300, 0x300, 2);
	take(&pass, 0x400, 0x300, 0);
	take(&pass, 0x600, 0x100, 0);
	take(&pass, 0x700, 0x700, 1);
	take(&pass, 0x800, 0, 0);
	take(&pass, 0x900, 0x900, 1); /* is new */
	reach_candidates_meet(&kept, &pass);
	assert_int_equal(kept.count, 4);
	assert_int_equal(kept.items[0].address, 0x100);
	assert_int_equal(kept.items[1].address, 0x200);
	assert_int_equal(kept.items[2].address, 0x700);
	assert_int_equal(kept.items[2].verdict, LEAK_POSSIBLE);
	assert_int_equal(kept.items[3].verdict, LEAK_POSSIBLE);
	reach_candidates_free(&kept);
	reach_candidates_free(&pass);
}

/* What is freed, or has another size, is no leak; what was lost through it is not judged. */
static void test_freed_blocks_are_dropped(void **state)
{
	struct reach_candidates kept = { 0 };
	struct reach_blocks blocks = { 0 };

	(void)state;
	take(&kept, 0x100, 0x100, 1);
	take(&kept, 0x200, 0x200, 1);
	take(&kept, 0x300, 0x200, 0);
	take(&kept, 0x400, 0x400, 1);
	reach_blocks_add(&blocks, 0x100, 32);
	reach_blocks_add(&blocks, 0x300, 32);
	reach_blocks_add(&blocks, 0x400, 48);
	reach_candidates_check(&kept, &blocks);
	assert_int_equal(kept.count, 1);
	assert_int_equal(kept.items[0].address, 0x100);
	reach_candidates_free(&kept);
	reach_blocks_free(&blocks);
}

/* While blocks move, what is lost is a block each time, unless that is not known, and at least once. */
static void test_moving_blocks(void **state)
{
	struct fake_image *fake = fake_image_new();
	struct reach_candidates kept = { 0 };
	struct reach_blocks blocks = { 0 }, unknown = { 0 }, none = { 0 };
	struct image *image;

	(void)state;
	fake_image_map(fake, 0x10000, 0x4000, "[heap]", FAKE_WRITABLE);
	image = fake_image_open(fake);
	take(&kept, 0x10100, 0, 0); /* a block, then unknown */
	take(&kept, 0x10200, 0, 0); /* unknown, then a block */
	take(&kept, 0x10300, 0, 0); /* unknown each time */
	take(&kept, 0x10400, 0, 0); /* free */
	take(&kept, 0x10500, 0, 0); /* another size */
	take(&kept, 0x10600, 0x10600, 1); /* other contents */
	take(&kept, 0x10700, 0x10600, 1);
	reach_blocks_add(&blocks, 0x10100, 32);
	reach_blocks_add(&blocks, 0x10500, 48);
	reach_blocks_add(&blocks, 0x10600, 32);
	reach_blocks_add(&unknown, 0x10200, 0x200);
	reach_blocks_add(&unknown, 0x10700, 0x100);
	assert_int_equal(reach_candidates_check_moving(&kept, &blocks, &unknown, image), 3);
	assert_int_equal(kept.count, 3);
	reach_blocks_free(&blocks);
	reach_blocks_add(&blocks, 0x10200, 32);
	unknown.items[0] = (struct reach_block){ 0x10000, 0x200 };
	unknown.items[1] = (struct reach_block){ 0x10300, 0x100 };
	assert_int_equal(reach_candidates_check_moving(&kept, &blocks, &unknown, image), 1);
	assert_int_equal(kept.count, 3);
	reach_candidates_drop_unseen(&kept);
	assert_int_equal(kept.count, 2);
	assert_int_equal(kept.items[0].address, 0x10100);
	assert_int_equal(kept.items[1].address, 0x10200);
	assert_int_equal(reach_candidates_check_moving(&kept, &none, &none, image), 0);
	assert_int_equal(kept.count, 0);
	reach_candidates_free(&kept);
	reach_blocks_free(&blocks);
	reach_blocks_free(&unknown);
	fake_image_free(fake);
}

/* Memory */

#define HEAP 0x555555560000ull
#define DATA 0x555555550000ull
#define STACK 0x7ffff0000000ull
#define SHARED 0x7fff00000000ull

struct world {
	struct fake_image *fake;
	struct image *image;
	struct module_ranges modules;
	struct thread_list threads;
	struct thread_registers_list registers;
	struct reach_roots roots;
	struct reach_blocks blocks;
	struct reach_index index;
	struct reach_graph graph;
	struct reach_walk_left left;
	enum reach_direction direction;
};

/* Blocks of 64 bytes in 128 each; the first page of the heap has `count` of them. */
static uint64_t block_at(size_t i)
{
	return HEAP + 128 * i;
}

static void world_open(struct world *world, size_t count)
{
	size_t i;

	*world = (struct world){ .fake = fake_image_new() };
	fake_image_map(world->fake, DATA, 0x1000, "/app", FAKE_WRITABLE);
	fake_image_map(world->fake, HEAP, 0x10000, "[heap]", FAKE_WRITABLE);
	fake_image_map(world->fake, SHARED, 0x2000, "/dev/shm/x", FAKE_WRITABLE | FAKE_SHARED);
	fake_image_map(world->fake, STACK, 0x4000, "[stack]", FAKE_WRITABLE);
	for (i = 0; i < count; i++)
		reach_blocks_add(&world->blocks, block_at(i), 64);
}

/* All before the memory is read. */
static void world_look(struct world *world)
{
	world->image = fake_image_open(world->fake);
	reach_roots_open(&world->roots, world->image, &world->modules, &world->threads,
			 &world->registers);
	claims_add(world->roots.claims, PURPOSE_MALLOC_MAIN, HEAP, HEAP + 0x10000, 0);
	reach_blocks_settle(&world->blocks);
	reach_index_fill(&world->index, &world->blocks);
	reach_graph_open(&world->graph, world->blocks.count);
}

static void world_scan(struct world *world)
{
	struct reach_scan scan = { .index = &world->index,
				   .roots = &world->roots,
				   .graph = &world->graph };

	assert_true(reach_scan_memory(&scan, world->image, world->direction, &world->left));
	reach_graph_mark(&world->graph);
}

static void world_run(struct world *world)
{
	world_look(world);
	world_scan(world);
}

static void world_close(struct world *world)
{
	reach_graph_free(&world->graph);
	reach_index_free(&world->index);
	reach_roots_free(&world->roots);
	reach_blocks_free(&world->blocks);
	fake_image_free(world->fake);
}

static enum leak_verdict verdict_of(const struct world *world, size_t i)
{
	return world->graph.nodes[i].verdict;
}

/* Below the stack pointer and in free memory words mean nothing; in blocks, data, shared memory and above it they do. */
static void check_words_by_place(enum reach_direction direction)
{
	struct thread_registers thread = { .tid = 1, .stack_pointer = STACK + 0x2000 };
	struct world world;

	world_open(&world, 9);
	world.direction = direction;
	world.registers = (struct thread_registers_list){ &thread, 1, 1, true };
	fake_image_put_word(world.fake, STACK + 0x3000, block_at(0));
	fake_image_put_word(world.fake, STACK + 0x1000, block_at(1));
	fake_image_put_word(world.fake, STACK + 0x2000 - 64, block_at(2)); /* the red zone */
	fake_image_put_word(world.fake, SHARED + 8, block_at(3));
	fake_image_put_word(world.fake, DATA + 8, block_at(4) + 8);
	fake_image_put_word(world.fake, HEAP + 64 + 8, block_at(5)); /* behind block 0 */
	fake_image_put_word(world.fake, block_at(0) + 56, block_at(6));
	fake_image_put_word(world.fake, block_at(7), block_at(8) + 1);
	world_run(&world);
	assert_int_equal(verdict_of(&world, 0), LEAK_REACHABLE);
	assert_int_equal(world.graph.nodes[0].root, LEAK_ROOT_STACK);
	assert_int_equal(verdict_of(&world, 1), LEAK_STALE);
	assert_int_equal(verdict_of(&world, 2), LEAK_REACHABLE);
	assert_int_equal(world.graph.nodes[3].root, LEAK_ROOT_SHARED);
	assert_int_equal(verdict_of(&world, 4), LEAK_POSSIBLE);
	assert_int_equal(verdict_of(&world, 5), LEAK_STALE);
	assert_int_equal(world.graph.nodes[5].root, LEAK_ROOT_FREE);
	assert_int_equal(verdict_of(&world, 6), LEAK_REACHABLE);
	assert_int_equal(world.graph.nodes[6].parent, 0);
	assert_int_equal(verdict_of(&world, 7), LEAK_DEFINITE);
	assert_int_equal(verdict_of(&world, 8), LEAK_INDIRECT);
	assert_int_equal(world.left.swapped_bytes + world.left.unread_bytes, 0);
	world_close(&world);
}

static void test_words_by_place(void **state)
{
	(void)state;
	check_words_by_place(REACH_UPWARD);
	check_words_by_place(REACH_DOWNWARD);
}

/* A table that has moved to new memory meanwhile holds what the one before held; pages that came in, too. Nothing is read twice. */
/* Words where an allocator keeps free blocks lead nowhere, in a block and elsewhere; beside it they do. */
static void test_free_lists(void **state)
{
	struct world world;

	(void)state;
	world_open(&world, 7);
	fake_image_put_word(world.fake, DATA + 8, block_at(0));
	fake_image_put_word(world.fake, block_at(0) + 8, block_at(1));
	fake_image_put_word(world.fake, block_at(0) + 16, block_at(2));
	fake_image_put_word(world.fake, block_at(0) + 40, block_at(3));
	fake_image_put_word(world.fake, block_at(0) + 48, block_at(4));
	fake_image_put_word(world.fake, SHARED + 0x100, block_at(5));
	fake_image_put_word(world.fake, SHARED + 0x108, block_at(6));
	world_look(&world);
	/* In any order; some touch, some overlap. */
	reach_roots_add_free_list(&world.roots, SHARED + 0x100, SHARED + 0x108);
	reach_roots_add_free_list(&world.roots, block_at(0) + 32, block_at(0) + 48);
	reach_roots_add_free_list(&world.roots, block_at(0) + 16, block_at(0) + 32);
	reach_roots_add_free_list(&world.roots, block_at(0) + 24, block_at(0) + 40);
	reach_roots_settle(&world.roots);
	assert_int_equal(world.roots.free_list_count, 2);
	world_scan(&world);
	assert_int_equal(verdict_of(&world, 0), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 1), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 2), LEAK_DEFINITE);
	assert_int_equal(verdict_of(&world, 3), LEAK_DEFINITE);
	assert_int_equal(verdict_of(&world, 4), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 5), LEAK_DEFINITE);
	assert_int_equal(verdict_of(&world, 6), LEAK_REACHABLE);
	world_close(&world);
}

static void test_memory_that_comes(void **state)
{
	struct world world;

	(void)state;
	world_open(&world, 3);
	fake_image_absent(world.fake, HEAP + 0x8000, 0x1000);
	world_look(&world);
	fake_image_map(world.fake, DATA - 0x10000, 0x1000, "", FAKE_WRITABLE);
	fake_image_put_word(world.fake, DATA - 0x10000, block_at(0));
	fake_image_map(world.fake, SHARED + 0x100000, 0x1000, "", FAKE_WRITABLE);
	fake_image_put_word(world.fake, SHARED + 0x100000, block_at(1));
	fake_image_pages(world.fake, HEAP + 0x8000, 0x1000, IMAGE_PRESENT);
	fake_image_put_word(world.fake, HEAP + 0x8000, block_at(2));
	world_scan(&world);
	assert_int_equal(verdict_of(&world, 0), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 1), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 2), LEAK_STALE);
	assert_int_equal(world.left.read_bytes, 0x1000 + 0x10000 + 0x2000 + 0x4000 + 2 * 0x1000);
	world_close(&world);
}

/*
 * Static data leads to a block that is newer than the list: what that leads to is reachable, with all behind it, also what was lost; what it leads
 * into is not judged. Nothing else changes.
 */
static void test_newer_blocks(void **state)
{
	const uint64_t newer = HEAP + 0x8000, grown = block_at(9);
	struct reach_candidates kept = { 0 };
	struct reach_blocks now = { 0 };
	struct world world;
	size_t i;

	(void)state;
	world_open(&world, 10);
	fake_image_put_word(world.fake, DATA + 8, newer);
	fake_image_put_word(world.fake, newer + 8, block_at(0));
	fake_image_put_word(world.fake, newer + 16, block_at(4) + 8);
	fake_image_put_word(world.fake, block_at(0), block_at(1));
	fake_image_put_word(world.fake, block_at(1), block_at(2));
	fake_image_put_word(world.fake, block_at(1) + 8, block_at(3) + 8);
	fake_image_put_word(world.fake, HEAP + 0x9000, block_at(5));
	fake_image_put_word(world.fake, block_at(6), block_at(7));
	fake_image_put_word(world.fake, DATA + 16, grown);
	world_run(&world);
	for (i = 0; i < 6; i++)
		assert_int_equal(verdict_of(&world, i), LEAK_STALE);
	assert_int_equal(verdict_of(&world, 6), LEAK_DEFINITE);
	assert_int_equal(verdict_of(&world, 7), LEAK_INDIRECT);
	assert_int_equal(verdict_of(&world, 8), LEAK_DEFINITE);
	reach_candidates_take(&kept, &world.blocks, &world.graph, world.image);
	assert_int_equal(kept.count, 3);
	/* A pointer has moved to a block that has grown. */
	fake_image_put_word(world.fake, grown + 64, block_at(6));
	for (i = 0; i < 10; i++)
		reach_blocks_add(&now, block_at(i), i == 9 ? 128 : 64);
	reach_blocks_add(&now, newer, 48);
	reach_blocks_settle(&now);
	assert_true(reach_newer_hold(&world.graph, &world.index, &now, world.image));
	for (i = 0; i < 3; i++)
		assert_int_equal(verdict_of(&world, i), LEAK_REACHABLE);
	assert_int_equal(reach_graph_rooted(&world.graph, 0)->holder, newer + 8);
	assert_int_equal(reach_graph_rooted(&world.graph, 0)->holder_root, LEAK_ROOT_UNKNOWN);
	assert_int_equal(world.graph.nodes[2].parent, 1);
	assert_int_equal(verdict_of(&world, 3), LEAK_UNJUDGED);
	assert_int_equal(verdict_of(&world, 4), LEAK_UNJUDGED);
	assert_int_equal(verdict_of(&world, 5), LEAK_STALE);
	assert_int_equal(verdict_of(&world, 6), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 7), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 8), LEAK_DEFINITE);
	reach_candidates_drop_held(&kept, &world.blocks, &world.graph);
	assert_int_equal(kept.count, 1);
	assert_int_equal(kept.items[0].address, block_at(8));
	reach_candidates_free(&kept);
	reach_blocks_free(&now);
	world_close(&world);
}

/* All words into a block but its own, with what they are in. */
static void test_holders(void **state)
{
	struct reach_holders holders = { 0 };
	struct world world;

	(void)state;
	world_open(&world, 3);
	fake_image_put_word(world.fake, DATA + 8, block_at(1));
	fake_image_put_word(world.fake, DATA + 0x10, block_at(1) + 63);
	fake_image_put_word(world.fake, DATA + 0x18, block_at(1) + 64);
	fake_image_put_word(world.fake, block_at(2) + 56, block_at(1) + 8);
	fake_image_put_word(world.fake, block_at(1), block_at(1)); /* its own */
	fake_image_put_word(world.fake, block_at(0) + 64, block_at(1)); /* behind block 0 */
	world_run(&world);
	assert_true(reach_holders_find(&holders, &world.roots, &world.blocks, 1));
	assert_int_equal(holders.count, 4);
	assert_int_equal(holders.all, 4);
	assert_int_equal(holders.items[0].place, DATA + 8);
	assert_int_equal(holders.items[0].source, SIZE_MAX);
	assert_int_equal(holders.items[1].word, block_at(1) + 63);
	assert_int_equal(holders.items[2].root, LEAK_ROOT_FREE);
	assert_int_equal(holders.items[3].place, block_at(2) + 56);
	assert_int_equal(holders.items[3].source, 2);
	assert_int_equal(reach_holders_block(&world.blocks, block_at(0) - 1), SIZE_MAX);
	assert_int_equal(reach_holders_block(&world.blocks, block_at(2) + 64), SIZE_MAX);
	reach_holders_free(&holders);
	world_close(&world);
}

/* What was not seen is counted: swapped pages, and shared memory that is not in the page table. */
static void test_what_is_not_seen_is_counted(void **state)
{
	struct world world;

	(void)state;
	world_open(&world, 1);
	fake_image_swapped(world.fake, HEAP + 0x4000, 0x3000);
	fake_image_absent(world.fake, SHARED, 0x1000);
	world_run(&world);
	assert_int_equal(world.left.swapped_bytes, 0x3000);
	assert_int_equal(world.left.unread_bytes, 0x1000);
	world_close(&world);
}

/*
 * A private mapping of what may be a device: the process's own pages hold pointers, and are read; those of the file were not
 * written. Shared ones are counted, and so is what is not in the page table of files that have changed.
 */
static void test_devices(void **state)
{
	const unsigned int shared = FAKE_SHARED | FAKE_FILE;
	struct world world;

	(void)state;
	world_open(&world, 3);
	fake_image_map(world.fake, SHARED + 0x100000, 0x3000, "/dev/x", FAKE_DEVICE | FAKE_FILE);
	fake_image_pages(world.fake, SHARED + 0x100000, 0x1000, IMAGE_PRESENT);
	fake_image_put_word(world.fake, SHARED + 0x100008, block_at(0));
	fake_image_put_word(world.fake, SHARED + 0x101008, block_at(1));
	fake_image_absent(world.fake, SHARED + 0x102000, 0x1000);
	world_run(&world);
	assert_int_equal(verdict_of(&world, 0), LEAK_REACHABLE);
	assert_int_equal(verdict_of(&world, 1), LEAK_DEFINITE);
	assert_int_equal(world.left.unread_bytes, 0);
	world_close(&world);

	world_open(&world, 1);
	fake_image_map(world.fake, SHARED + 0x100000, 0x4000, "/dev/y", FAKE_DEVICE | shared);
	fake_image_put_word(world.fake, SHARED + 0x100008, block_at(0));
	fake_image_map(world.fake, SHARED + 0x200000, 0x2000, "/cache", FAKE_UNCHANGED | shared);
	fake_image_absent(world.fake, SHARED + 0x201000, 0x1000);
	fake_image_map(world.fake, SHARED + 0x300000, 0x2000, "/table", shared);
	fake_image_absent(world.fake, SHARED + 0x300000, 0x1000);
	fake_image_map(world.fake, SHARED + 0x400000, 0x1000, "[vvar]", FAKE_DEVICE);
	world_run(&world);
	assert_int_equal(verdict_of(&world, 0), LEAK_DEFINITE);
	assert_int_equal(world.left.unread_bytes, 0x4000 + 0x1000);
	assert_int_equal(world.left.largest_bytes, 0x4000);
	assert_string_equal(world.left.largest_name, "/dev/y");
	world_close(&world);
}

/* Links of glibc's free chunks lead to the last word of the block before them; records of jemalloc to where extents begin. */
static void test_records_are_no_pointers(void **state)
{
	struct world world;

	(void)state;
	world_open(&world, 4);
	world.image = fake_image_open(world.fake);
	reach_roots_open(&world.roots, world.image, &world.modules, &world.threads,
			 &world.registers);
	world.roots.has_glibc = true;
	assert_true(reach_roots_is_record(&world.roots, LEAK_ROOT_FREE,
					  &(struct reach_word){ .word = block_at(0) + 56,
								.block = block_at(0),
								.size = 64 }));
	/* A program's own pointer behind its last element looks the same: not in static data of its own. */
	assert_false(reach_roots_is_record(&world.roots, LEAK_ROOT_STATIC,
					   &(struct reach_word){ .word = block_at(0) + 56,
								 .block = block_at(0),
								 .size = 64 }));
	assert_false(reach_roots_is_record(
		&world.roots, LEAK_ROOT_FREE,
		&(struct reach_word){ .word = block_at(0), .block = block_at(0), .size = 64 }));
	world.roots.has_jemalloc = true;
	assert_true(reach_roots_is_record(&world.roots, LEAK_ROOT_UNKNOWN,
					  &(struct reach_word){ .place = 0x7f0000001088,
								.word = 0x7f1000000000,
								.next = 0x5003,
								.block = 0x7f1000000000,
								.size = 0x4000 }));
	/* The census has claimed the memory of the allocator's own structures. */
	assert_true(reach_roots_is_record(&world.roots, LEAK_ROOT_FREE,
					  &(struct reach_word){ .place = 0x7f0000001088,
								.word = 0x7f1000000000,
								.next = 0x5003,
								.block = 0x7f1000000000,
								.size = 0x4000 }));
	assert_false(reach_roots_is_record(&world.roots, LEAK_ROOT_UNKNOWN,
					   &(struct reach_word){ .place = 0x7f0000001090,
								 .word = 0x7f1000000000,
								 .next = 0x5003,
								 .block = 0x7f1000000000,
								 .size = 0x4000 }));
	assert_false(reach_roots_is_record(&world.roots, LEAK_ROOT_UNKNOWN,
					   &(struct reach_word){ .place = 0x7f0000001088,
								 .word = 0x7f1000000000,
								 .next = 0x3003,
								 .block = 0x7f1000000000,
								 .size = 0x4000 }));
	world_close(&world);
}

/* Each code is found, and what was lost through a leader that is found is not lost either. */
static void test_encoded_words(void **state)
{
	static const enum reach_code expected[] = { REACH_CODE_FIXNUM, REACH_CODE_DIGITS,
						    REACH_CODE_HIGH, REACH_CODE_NOT,
						    REACH_CODE_UNALIGNED };
	struct reach_candidates candidates = { 0 };
	struct world world;
	uint64_t word, address = 0;
	size_t i;

	(void)state;
	world_open(&world, 8);
	fake_image_put_word(world.fake, DATA + 0x00, 2 * block_at(0) + 1);
	fake_image_put_word(world.fake, DATA + 0x10,
			    (block_at(1) & ((1u << 30) - 1)) | block_at(1) >> 30 << 32);
	fake_image_put_word(world.fake, DATA + 0x20, block_at(2) | 0xfffcull << 48);
	fake_image_put_word(world.fake, DATA + 0x30, ~block_at(3));
	word = block_at(4);
	fake_image_put(world.fake, DATA + 0x43, &word, sizeof(word));
	/* Only what is lost itself has it. */
	fake_image_put_word(world.fake, block_at(6), 2 * block_at(5) + 1);
	fake_image_put_word(world.fake, block_at(0), block_at(7));
	world_run(&world);
	reach_candidates_take(&candidates, &world.blocks, &world.graph, world.image);
	assert_int_equal(candidates.count, 8);
	assert_true(reach_code_find(&candidates, &world.roots, world.image));
	for (i = 0; i < 5; i++) {
		address = block_at(i);
		assert_int_equal(reach_candidates_find(&candidates, address)->encoded, expected[i]);
		assert_int_equal(reach_candidates_find(&candidates, address)->verdict,
				 LEAK_POSSIBLE);
	}
	assert_int_equal(reach_candidates_find(&candidates, block_at(5))->verdict, LEAK_DEFINITE);
	assert_int_equal(reach_candidates_find(&candidates, block_at(6))->verdict, LEAK_DEFINITE);
	assert_int_equal(reach_candidates_find(&candidates, block_at(7))->verdict, LEAK_POSSIBLE);
	reach_candidates_free(&candidates);
	world_close(&world);
}

/* A Python int of one digit: its size is before it, or a tag, and anything behind it. */
static void test_one_digit(void **state)
{
	static struct reach_candidate items[] = {
		{ .address = 0x2b8f0b30, .size = 64, .leader = 0x2b8f0b30 },
		{ .address = 0x2b8f1000, .size = 64, .leader = 0x2b8f1000 },
		{ .address = 0x2b8f2000, .size = 64, .leader = 0x2b8f2000 },
	};
	struct reach_candidates candidates = { .items = items, .count = 3 };
	struct world world;
	size_t i;

	(void)state;
	for (i = 0; i < candidates.count; i++)
		items[i].verdict = LEAK_DEFINITE;
	world_open(&world, 1);
	fake_image_put_word(world.fake, DATA + 0x10, 1);
	fake_image_put_word(world.fake, DATA + 0x18, 0x2b8f0b30 | 0xdeadbeefull << 32);
	fake_image_put_word(world.fake, DATA + 0x20, 8);
	fake_image_put_word(world.fake, DATA + 0x28, 0x2b8f1000 | 0x12345ull << 32);
	/* Behind any other word it is half of a word. */
	fake_image_put_word(world.fake, DATA + 0x30, 3);
	fake_image_put_word(world.fake, DATA + 0x38, 0x2b8f2000 | 0xdeadbeefull << 32);
	world_run(&world);
	assert_true(reach_code_find(&candidates, &world.roots, world.image));
	for (i = 0; i < 2; i++) {
		assert_int_equal(items[i].encoded, REACH_CODE_DIGITS);
		assert_int_equal(items[i].verdict, LEAK_POSSIBLE);
	}
	assert_int_equal(items[2].encoded, REACH_CODE_NONE);
	assert_int_equal(items[2].verdict, LEAK_DEFINITE);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_digit),
		cmocka_unit_test(test_index_is_a_search),
		cmocka_unit_test(test_index_of_many),
		cmocka_unit_test(test_blocks_are_sorted),
		cmocka_unit_test(test_index_leaves_out_what_overlaps),
		cmocka_unit_test(test_marking_is_the_reference),
		cmocka_unit_test(test_long_list),
		cmocka_unit_test(test_nine_chains),
		cmocka_unit_test(test_shared_child),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_roots_and_ways),
		cmocka_unit_test(test_held_by_objects),
		cmocka_unit_test(test_forgotten_words),
		cmocka_unit_test(test_passes_meet),
		cmocka_unit_test(test_freed_blocks_are_dropped),
		cmocka_unit_test(test_moving_blocks),
		cmocka_unit_test(test_words_by_place),
		cmocka_unit_test(test_free_lists),
		cmocka_unit_test(test_memory_that_comes),
		cmocka_unit_test(test_holders),
		cmocka_unit_test(test_newer_blocks),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_what_is_not_seen_is_counted),
		cmocka_unit_test(test_records_are_no_pointers),
		cmocka_unit_test(test_encoded_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
