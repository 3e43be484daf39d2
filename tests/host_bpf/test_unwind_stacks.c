/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker of unwind.bpf.h over whole stacks. Truth: stacks that are laid out here frame by frame, so that
 * every pc is known; and for stacks of rubbish, the plain walker of walk_reference.h, which must end at the same
 * frame for the same reason.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind_world.h"

#define CHAIN_MAX 120

/* The functions of the generated stacks: what a frame of each looks like is in push_frame. */
enum generated {
	GEN_ROOT,
	GEN_SMALL, /* 3 words, bp untouched */
	GEN_SAVES, /* 7 words, bp saved at CFA - 24 and used for other things */
	GEN_LARGE, /* 40 KB, bp untouched */
	GEN_BP, /* bp-based, of any size */
	GEN_DRAP, /* realigned, of any size */
	GEN_PLT, /* one word or two, by the pc */
	GEN_COUNT,
};

static const uint32_t generated_rules[GEN_COUNT] = {
	[GEN_ROOT] = ROOT,
	[GEN_SMALL] = SP(3),
	[GEN_SAVES] = SP_BP(7, -3),
	[GEN_LARGE] = SP(5120),
	[GEN_BP] = BP(2, -2),
	[GEN_DRAP] = DRAP,
	[GEN_PLT] = UNWIND_RULE(UNWIND_CFA_PLT, UNWIND_BP_SAME, 11, 0),
};

/* A stack that is built from the root inwards, downwards in memory. */
struct chain {
	struct world *world;
	uint64_t top; /* first word in use */
	uint64_t bp; /* as the innermost function sees it */
	uint64_t ip; /* of the innermost function, if it makes a call next */
	uint64_t pcs[CHAIN_MAX]; /* root first */
	uint32_t count;
};

static void chain_push(struct chain *chain, uint64_t word)
{
	chain->world->stack[--chain->top] = word;
}

/* Call a function of this kind: return address, then what its prologue does. */
static void chain_call(struct chain *chain, enum generated kind)
{
	uint64_t cfa = chain->top, before = chain->bp;
	uint32_t offset = 16 + (uint32_t)rand() % 200;

	chain_push(chain, chain->ip);
	switch (kind) {
	case GEN_SMALL:
		chain->top -= 2;
		break;
	case GEN_SAVES:
		chain->top -= 6;
		chain->world->stack[cfa - 3] = before;
		chain->bp = (uint64_t)rand();
		break;
	case GEN_LARGE:
		chain->top -= 5119;
		break;
	case GEN_BP:
		chain_push(chain, before);
		chain->bp = world_address(chain->top);
		chain->top -= (uint64_t)rand() % 700;
		break;
	case GEN_DRAP:
		chain->top -= (uint64_t)rand() % 8;
		chain_push(chain, before);
		chain->bp = world_address(chain->top);
		chain_push(chain, world_address(cfa));
		chain->top -= (uint64_t)rand() % 64;
		break;
	case GEN_PLT:
		offset = offset / 16 * 16 + (uint32_t)rand() % 16;
		/* The pc that counts is one below the return address. */
		if ((offset - 1) % 16 >= 11)
			chain_push(chain, (uint64_t)rand());
		break;
	default:
		break;
	}
	chain->ip = world_pc(kind, offset);
	chain->pcs[chain->count++] = chain->ip;
}

static void chain_start(struct chain *chain, struct world *world)
{
	size_t i;

	*chain = (struct chain){ .world = world, .top = WORLD_STACK_WORDS };
	for (i = 0; i < WORLD_STACK_WORDS; i += 7)
		world->stack[i] = (uint64_t)rand() << 20;
	chain->ip = world_pc(GEN_ROOT, 20);
	chain->pcs[chain->count++] = chain->ip;
}

/* A few large frames at most: the stack has room for twelve. */
static void chain_grow(struct chain *chain, uint32_t frames)
{
	uint32_t kind, large = 0;

	while (chain->count < frames) {
		kind = 1 + (uint32_t)rand() % (GEN_COUNT - 1);
		if (kind == GEN_LARGE && ++large > 8)
			kind = GEN_SMALL;
		chain_call(chain, (enum generated)kind);
	}
	/* The walk begins at the first instruction of a function that was called last. */
	chain_push(chain, chain->ip);
	chain->pcs[chain->count++] = world_pc(GEN_COUNT, 0);
}

static struct world *generated_world(void)
{
	uint32_t rules[GEN_COUNT + 1];

	memcpy(rules, generated_rules, sizeof(generated_rules));
	rules[GEN_COUNT] = SP(1);
	return world_create(rules, GEN_COUNT + 1);
}

static void test_generated_stacks(void **state)
{
	struct world *world = generated_world();
	struct chain chain;
	uint32_t i, turn;

	(void)state;
	srand(1);
	for (turn = 0; turn < 1000; turn++) {
		chain_start(&chain, world);
		chain_grow(&chain, 1 + turn % (CHAIN_MAX - 2));
		assert_int_equal(walk_both(world, chain.pcs[chain.count - 1],
					   world_address(chain.top), chain.bp, STACK_FRAMES_MAX),
				 UNWIND_END_ROOT);
		assert_int_equal(world->walk.record.count, chain.count);
		for (i = 0; i < chain.count; i++)
			assert_true(world->walk.record.pcs[i] == chain.pcs[chain.count - 1 - i]);
	}
	world_free(world);
}

/* The hash is that of the frames: the same for the same stack elsewhere, another one for another stack. */
static void test_hash(void **state)
{
	struct world *world = generated_world();
	uint64_t hash;
	struct chain chain;

	(void)state;
	srand(2);
	chain_start(&chain, world);
	chain_grow(&chain, 20);
	walk(world, chain.pcs[20], chain.top, chain.bp, STACK_FRAMES_MAX);
	hash = world->walk.hash;
	walk(world, chain.pcs[20], chain.top, chain.bp, STACK_FRAMES_MAX);
	assert_true(hash == world->walk.hash);
	walk(world, chain.pcs[20], chain.top, chain.bp, 20);
	assert_true(hash != world->walk.hash);
	walk(world, chain.pcs[20] + 1, chain.top, chain.bp, STACK_FRAMES_MAX);
	assert_true(hash != world->walk.hash);
	world_free(world);
}

static void test_depth(void **state)
{
	struct world *world = generated_world();
	struct chain chain;

	(void)state;
	srand(3);
	chain_start(&chain, world);
	chain_grow(&chain, 30);
	assert_int_equal(chain.count, 31);
	walk(world, chain.pcs[30], chain.top, chain.bp, 31);
	assert_int_equal(world->walk.record.end, UNWIND_END_ROOT);
	walk(world, chain.pcs[30], chain.top, chain.bp, 30);
	assert_int_equal(world->walk.record.end, UNWIND_END_DEPTH);
	assert_int_equal(world->walk.record.count, 30);
	assert_true(world->walk.record.pcs[29] == chain.pcs[1]);
	world_free(world);
}

/* More frames than a record holds, asked for without a limit. */
static void test_endless_stack(void **state)
{
	static const uint32_t rules[] = { SP(1) };
	struct world *world = world_create(rules, 1);
	uint32_t i;

	(void)state;
	for (i = 0; i < WORLD_STACK_WORDS; i++)
		world->stack[i] = world_pc(0, 8);
	walk(world, world_pc(0, 0), 0, 0, UINT32_MAX);
	assert_int_equal(world->walk.record.end, UNWIND_END_DEPTH);
	assert_int_equal(world->walk.record.count, STACK_FRAMES_MAX);
	world_free(world);
}

/* Mostly rules by which a walk goes on. */
static uint32_t rubbish_rule(void)
{
	uint32_t kind = rand() % 5 ? UNWIND_CFA_SP + rand() % 4 : rand() % 8;

	if (kind == UNWIND_CFA_END)
		return 0;
	return UNWIND_RULE(kind, rand() % 4, rand() % 16, rand() % 16 - 12);
}

/* Return addresses, addresses of the stack, numbers, and now and then the end. */
static void fill_with_rubbish(struct world *world, uint32_t words)
{
	uint32_t i;

	for (i = 0; i < words; i++) {
		uint64_t *word = &world->stack[i];

		if (rand() % 4)
			*word = world_pc((uint32_t)rand() % 64, (uint32_t)rand() % 256);
		else
			*word = rand() % 3 ? world_address((uint64_t)(i + rand() % 64))
					   : (uint64_t)rand();
		if (rand() % 100 == 0)
			*word = rand() % 2 ? 0 : WORLD_JIT + 5;
	}
}

/* Rules and memory of every kind: whatever the fast walker makes of it, the plain one must make too. */
static void test_rubbish(void **state)
{
	uint32_t rules[64], turn, i, end, ends[UNWIND_END_COUNT] = { 0 };

	(void)state;
	srand(4);
	for (turn = 0; turn < 400; turn++) {
		struct world *world;

		for (i = 0; i < 64; i++)
			rules[i] = rubbish_rule();
		world = world_create(rules, 64);
		fill_with_rubbish(world, 4096);
		for (i = 0; i < 50; i++) {
			end = walk_both(world, world_pc((uint32_t)rand() % 64, 3),
					world_address((uint64_t)rand() % 1000),
					world_address((uint64_t)rand() % 2000),
					1 + (uint32_t)rand() % 30);
			ends[end]++;
		}
		world_free(world);
	}
	/* The comparison is worth something only if the walks end in many ways. */
	for (i = 0; i < UNWIND_END_COUNT; i++)
		if (i != UNWIND_END_NO_TABLE && !ends[i])
			fail_msg("no walk ended with %u", i);
}

/* The stack ends in the middle of a page, and nothing follows it. */
static void test_end_of_the_stack(void **state)
{
	struct world *world = generated_world();
	uint32_t frames, missing;
	struct chain chain;

	(void)state;
	srand(5);
	for (missing = 0; missing < 600; missing += 40) {
		for (frames = 1; frames < 100; frames += 9) {
			chain_start(&chain, world);
			chain.top -= missing;
			chain_grow(&chain, frames);
			assert_int_equal(walk_both(world, chain.pcs[chain.count - 1],
						   world_address(chain.top), chain.bp,
						   STACK_FRAMES_MAX),
					 UNWIND_END_ROOT);
		}
	}
	world_free(world);
}

/* A hole in the stack ends a walk; when its memory is there again, nothing of that is left. */
static void test_absent_memory(void **state)
{
	struct world *world = generated_world();
	struct chain chain;

	(void)state;
	srand(6);
	chain_start(&chain, world);
	chain_grow(&chain, 60);
	shim.regions[0].absent = true;
	walk(world, chain.pcs[60], chain.top, chain.bp, STACK_FRAMES_MAX);
	assert_int_equal(world->walk.record.end, UNWIND_END_UNREADABLE);
	assert_int_equal(world->walk.record.count, 1);
	shim.regions[0].absent = false;
	walk(world, chain.pcs[60], chain.top, chain.bp, STACK_FRAMES_MAX);
	assert_int_equal(world->walk.record.end, UNWIND_END_ROOT);
	assert_int_equal(world->walk.record.count, 61);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generated_stacks),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_endless_stack),
		cmocka_unit_test(test_rubbish),
		cmocka_unit_test(test_end_of_the_stack),
		cmocka_unit_test(test_absent_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
