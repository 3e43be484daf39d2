/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker as it is compiled for arm64. The stacks are laid out by hand, as Arm's procedure call standard and the kernel's
 * signal frames (arch/arm64/kernel/signal.c, uapi/asm/sigcontext.h) have them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#define __TARGET_ARCH_arm64
#include "unwind_world.h"

#define NONE(words) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_NONE, words, 0)
#define BOTH(words, at) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_BOTH, words, at)
#define BOTH_BP(words, at) UNWIND_RULE(UNWIND_CFA_BP, UNWIND_PAIR_BOTH, words, at)
#define LR(words, at) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_LR, words, at)
#define LR_ONLY(words, at) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_LR_ONLY, words, at)

/* Where return probes return to on processors with longer addresses, and what is left of it. */
#define TRAMPOLINE 0xffffffffff000ULL
#define TRAMPOLINE_LEFT (TRAMPOLINE & ((1ULL << 48) - 1))

/* A return address as a function signs it. */
static uint64_t signed_pc(uint64_t pc)
{
	return pc | 0x2a55ULL << 48;
}

/* Walk twice: the second time all rows are remembered. */
static void check_walk(struct world *world, const struct unwind_from *from, uint32_t end,
		       const uint64_t *pcs, uint32_t count)
{
	int i;

	for (i = 0; i < 2; i++) {
		memset(world->walk.window, 0xa5, sizeof(world->walk.window));
		world->walk.hash = 0;
		unwind_stack(&world->walk, from);
		assert_stack(world, end, pcs, count);
	}
}

static struct unwind_from from_here(uint64_t ip, uint64_t word, uint64_t bp, uint64_t lr)
{
	return (struct unwind_from){ .ip = ip,
				     .sp = world_address(word),
				     .bp = bp,
				     .lr = lr,
				     .target_id = WORLD_TARGET,
				     .depth = STACK_FRAMES_MAX,
				     .flags = UNWIND_EXACT };
}

static void put_pair(struct world *world, uint64_t word, uint64_t bp, uint64_t ip)
{
	world->stack[word] = bp;
	world->stack[word + 1] = signed_pc(ip);
}

/*
 * Out of a function that has saved nothing, by ones that save at the lower end, without the frame pointer, by their frame
 * pointer, at the upper end of a large frame, and apart from the frame pointer, which nobody further out needs.
 */
static void test_frames(void **state)
{
	static const uint32_t rules[] = { NONE(0),	  BOTH(6, 0),	 LR(2, 0), BOTH_BP(4, 0),
					  BOTH(1026, -2), LR_ONLY(4, 1), ROOT };
	struct world *world = world_create(rules, 7);
	uint64_t pcs[] = { world_pc(0, 4), world_pc(1, 8),  world_pc(2, 12), world_pc(3, 16),
			   world_pc(4, 8), world_pc(5, 20), world_pc(6, 24) };
	struct unwind_from from = from_here(pcs[0], 100, 77, signed_pc(pcs[1]));

	(void)state;
	put_pair(world, 100, world_address(120), pcs[2]);
	world->stack[106] = signed_pc(pcs[3]);
	put_pair(world, 120, 88, pcs[4]);
	put_pair(world, 124 + 1024, 99, pcs[5]);
	world->stack[124 + 1026 + 1] = signed_pc(pcs[6]);
	check_walk(world, &from, UNWIND_END_ROOT, pcs, 7);
	assert_false(world->walk.flags & UNWIND_GUESSED);
	world_free(world);
}

/* Only the innermost function can have its return address in the register. */
static void test_nothing_saved_further_out(void **state)
{
	static const uint32_t rules[] = { BOTH(2, 0), NONE(2), ROOT };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(0, 4), world_pc(1, 8) };
	struct unwind_from from = from_here(pcs[0], 100, 0, world_pc(2, 8));

	(void)state;
	put_pair(world, 100, 0, pcs[1]);
	check_walk(world, &from, UNWIND_END_BROKEN, pcs, 2);
	world_free(world);
}

/* A frame pointer that was saved where no rule can say, and one that is needed then. */
static void test_lost_frame_pointer(void **state)
{
	static const uint32_t rules[] = { LR_ONLY(2, 0), BOTH_BP(2, 0), ROOT };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(0, 4), world_pc(1, 8) };
	struct unwind_from from = from_here(pcs[0], 100, world_address(110), 0);

	(void)state;
	world->stack[100] = pcs[1];
	check_walk(world, &from, UNWIND_END_NO_BP, pcs, 2);
	world_free(world);
}

/* Function 1 is the kernel's code that a handler returns to, which has no rows but is recognized by its instructions. */
static void test_signal(void **state)
{
	static const uint32_t rules[] = { BOTH(2, 0), 0, NONE(4), BOTH(2, 0), ROOT };
	static const uint32_t code[] = { 0xd2801168, 0xd4000001 };
	struct world *world = world_create(rules, 5);
	uint64_t pcs[] = { world_pc(0, 8), world_pc(1, 16), world_pc(2, 4), world_pc(3, 8),
			   world_pc(4, 8) };
	struct unwind_from from = from_here(pcs[0], 100, 0, 0);
	uint64_t signal = 102, context = signal + 16, sp = 2000;

	(void)state;
	shim_add_region(pcs[1], code, sizeof(code), false);
	put_pair(world, 100, world_address(900), pcs[1]);
	/* siginfo, then 5 words, 128 bytes of mask, to a multiple of 16 bytes, the fault's address, x0 to x30, sp, pc. */
	world->stack[context + 22 + 1 + 29] = world_address(sp + 4);
	world->stack[context + 22 + 1 + 30] = pcs[3];
	world->stack[context + 22 + 1 + 31] = world_address(sp);
	world->stack[context + 22 + 1 + 32] = pcs[2];
	put_pair(world, sp + 4, 0, pcs[4]);
	check_walk(world, &from, UNWIND_END_ROOT, pcs, 5);
	world_free(world);
}

/*
 * Function 1 has no rows: its frame pointer leads to its caller, but not where the caller's frame begins. The caller's own
 * frame pointer does.
 */
static void test_frame_pointer_guess(void **state)
{
	static const uint32_t rules[] = { BOTH(2, 0), 0, BOTH(8, 0), BOTH(8, 6), ROOT };
	struct world *world = world_create(rules, 5);
	uint64_t pcs[] = { world_pc(0, 8),  world_pc(1, 8),  world_pc(2, 8), world_pc(3, 8),
			   world_pc(1, 16), world_pc(3, 16), world_pc(4, 8) };
	struct unwind_from from = from_here(pcs[0], 100, 0, 0);

	(void)state;
	put_pair(world, 100, world_address(102), pcs[1]);
	put_pair(world, 102, world_address(200), pcs[2]);
	put_pair(world, 200, world_address(500), pcs[3]);
	/* Function 3's frame begins where function 2's ends: at 208, so its pair is at 214. */
	put_pair(world, 214, world_address(300), pcs[4]);
	put_pair(world, 300, world_address(400), pcs[5]);
	put_pair(world, 400, 0, pcs[6]);
	check_walk(world, &from, UNWIND_END_ROOT, pcs, 7);
	assert_true(world->walk.flags & UNWIND_GUESSED_ON);
	world_free(world);
}

/* The caller has saved no frame pointer: where its frame begins is unknown. */
static void test_guess_leads_nowhere(void **state)
{
	static const uint32_t rules[] = { 0, LR(4, 0), ROOT };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(0, 8), world_pc(1, 8) };
	struct unwind_from from = from_here(pcs[0], 100, world_address(100), world_pc(0, 12));

	(void)state;
	put_pair(world, 100, world_address(200), pcs[1]);
	check_walk(world, &from, UNWIND_END_NO_ROWS, pcs, 2);
	world_free(world);
}

/* In a stub of the linker's, which has no rows and saves nothing. */
static void test_stub(void **state)
{
	static const uint32_t rules[] = { 0, BOTH(2, 0), ROOT };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(0, 8), world_pc(1, 8), world_pc(2, 8) };
	struct unwind_from from = from_here(pcs[0], 100, world_address(300), pcs[1]);

	(void)state;
	put_pair(world, 100, 0, pcs[2]);
	check_walk(world, &from, UNWIND_END_ROOT, pcs, 3);
	world_free(world);
}

/* A return probe replaces the address in the register; it is saved and signed in its place. */
static void test_hijacked_return_address(void **state)
{
	static const uint32_t rules[] = { NONE(0), BOTH(4, 0), ROOT };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(0, 8), world_pc(1, 8), world_pc(2, 8), TRAMPOLINE_LEFT };
	struct unwind_from from = from_here(pcs[0], 100, 0, pcs[1]);

	(void)state;
	put_pair(world, 100, 0, TRAMPOLINE);
	hijacked.slot = world_address(104);
	hijacked.original = pcs[2];
	check_walk(world, &from, UNWIND_END_ROOT, pcs, 3);
	/* At the probed function's first instruction it still is in the register. */
	from = from_here(pcs[1], 104, 0, TRAMPOLINE);
	from.ip = pcs[0];
	pcs[1] = pcs[2];
	check_walk(world, &from, UNWIND_END_ROOT, pcs, 2);
	hijacked.slot = 0;
	pcs[1] = pcs[3];
	check_walk(world, &from, UNWIND_END_NO_MAPPING, pcs, 2);
	world_free(world);
}

/* A walk that looks for a call's frame stands there with what the call returns to: the probe's address. */
static void test_stands_at_a_frame(void **state)
{
	static const uint32_t rules[] = { NONE(0), BOTH(4, 0), ROOT };
	struct world *world = world_create(rules, 3);
	struct unwind_from from = from_here(world_pc(0, 8), 100, 0, world_pc(1, 8));

	(void)state;
	put_pair(world, 100, 0, TRAMPOLINE);
	unwind_start(&world->walk, &from);
	assert_int_equal(unwind_steps(&world->walk, world_address(104)), 1);
	assert_int_equal(world->walk.ip, TRAMPOLINE_LEFT);
	unwind_start(&world->walk, &from);
	assert_int_equal(unwind_steps(&world->walk, world_address(105)), 0);
	world_free(world);
}

/* A signal came while the thread was where a return probe returns to. */
static void test_signal_in_trampoline(void **state)
{
	static const uint32_t rules[] = { ROOT };
	struct world *world = world_create(rules, 1);
	uint64_t pc = world_pc(0, 8);
	struct unwind_from from = from_here(TRAMPOLINE, 100, 0, TRAMPOLINE);

	(void)state;
	hijacked.trampoline = TRAMPOLINE_LEFT;
	hijacked.slot = world_address(100);
	hijacked.original = pc;
	check_walk(world, &from, UNWIND_END_ROOT, &pc, 1);
	hijacked.slot = hijacked.trampoline = 0;
	world_free(world);
}

/* Any words for a stack, rules and registers: the walk ends, and reads nothing but what the shim lets it. */
static void test_rubbish(void **state)
{
	uint32_t rules[WORLD_FUNCTIONS_MAX];
	uint64_t seed = 1, i, round;
	struct world *world;

	(void)state;
	for (i = 0; i < WORLD_FUNCTIONS_MAX; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		rules[i] = (uint32_t)(seed >> 32) & ~0x003fff00u;
	}
	world = world_create(rules, WORLD_FUNCTIONS_MAX);
	for (round = 0; round < 2000; round++) {
		struct unwind_from from;

		for (i = 0; i < 512; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			world->stack[i] = seed >> 63 ? world_address(seed >> 40 & 511)
						     : world_pc(seed >> 40 & 255, seed >> 50 & 252);
		}
		from = from_here(world_pc(seed >> 33 & 255, 4), round & 63, world->stack[1],
				 world->stack[2]);
		world->walk.hash = 0;
		unwind_stack(&world->walk, &from);
		assert_true(world->walk.record.count <= STACK_FRAMES_MAX);
		assert_true(world->walk.record.end < UNWIND_END_COUNT);
	}
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_nothing_saved_further_out),
		cmocka_unit_test(test_lost_frame_pointer),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_frame_pointer_guess),
		cmocka_unit_test(test_guess_leads_nowhere),
		cmocka_unit_test(test_stub),
		cmocka_unit_test(test_hijacked_return_address),
		cmocka_unit_test(test_stands_at_a_frame),
		cmocka_unit_test(test_signal_in_trampoline),
		cmocka_unit_test(test_rubbish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
