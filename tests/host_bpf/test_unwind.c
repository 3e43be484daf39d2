/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker of unwind.bpf.h, one way of leaving a frame or ending a walk after the other. The stacks are laid out
 * by hand; where the plain walker of walk_reference.h knows the case too, it must agree.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind_world.h"

/* A signal handler on a stack of its own, above and below the interrupted one. */
static void test_signal(void **state)
{
	static const uint32_t rules[] = { SP(2), SIGNAL, BP(2, -2), ROOT };
	struct world *world = world_create(rules, 4);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(1, 1), world_pc(2, 0), world_pc(3, 9) };
	uint64_t context, sp;

	(void)state;
	for (context = 1000; context < 30000; context += 20000) {
		sp = 21000 - context / 2;
		world->stack[context - 1] = pcs[1];
		world->stack[context + 15] = world_address(sp + 4);
		world->stack[context + 20] = world_address(sp);
		world->stack[context + 21] = pcs[2];
		world->stack[sp + 4] = 0;
		world->stack[sp + 5] = pcs[3];
		assert_int_equal(
			walk_both(world, pcs[0], world_address(context - 2), 77, STACK_FRAMES_MAX),
			UNWIND_END_ROOT);
		assert_stack(world, UNWIND_END_ROOT, pcs, 4);
	}
	world_free(world);
}

/* A signal frame that leads to itself is left a few times only; so many that lead outwards are left, too. */
static void test_signal_that_returns_to_itself(void **state)
{
	static const uint32_t rules[] = { SP(2), SIGNAL, ROOT };
	struct world *world = world_create(rules, 3);
	uint64_t context, i, pcs[UNWIND_SIGNALS_MAX + 2];

	(void)state;
	pcs[0] = world_pc(0, 0);
	world->stack[999] = world_pc(1, 1);
	world->stack[1015] = 0;
	world->stack[1020] = world_address(1000);
	world->stack[1021] = world_pc(1, 1);
	walk(world, pcs[0], 998, 77, STACK_FRAMES_MAX);
	for (i = 1; i < UNWIND_SIGNALS_MAX + 2; i++)
		pcs[i] = world_pc(1, 1);
	assert_stack(world, UNWIND_END_BROKEN, pcs, UNWIND_SIGNALS_MAX + 2);

	for (i = 0, context = 1000; i < UNWIND_SIGNALS_MAX; i++, context += 1000) {
		world->stack[context + 20] = world_address(context + 1000);
		world->stack[context + 21] = world_pc(i + 1 < UNWIND_SIGNALS_MAX ? 1 : 2, 1);
	}
	pcs[UNWIND_SIGNALS_MAX + 1] = world_pc(2, 1);
	walk(world, pcs[0], 998, 77, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, UNWIND_SIGNALS_MAX + 2);
	world_free(world);
}

static void test_code_without_tables(void **state)
{
	static const uint32_t rules[] = { SP(2), ROOT };
	struct world *world = world_create(rules, 2);
	uint64_t pcs[] = { world_pc(0, 0), WORLD_JIT + 16 };

	(void)state;
	world->stack[11] = pcs[1];
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ANONYMOUS, pcs, 2);
	world->stack[11] = pcs[1] = 0x1234567;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 2);
	/* Beyond all user addresses, and with the low bits of a pc that the cache knows. */
	world->stack[11] = pcs[1] = world_pc(0, 0) + 1 + (1ULL << 50);
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 2);
	/* The first byte behind the mapping. */
	world->stack[11] = pcs[1] = world_pc(WORLD_FUNCTIONS_MAX, 1);
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 2);
	world->stack[11] = 0;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 1);
	world_free(world);
}

/* Functions 1 and 2 have no rows: their frames are left by bp, as long as it looks like a frame pointer. */
static void test_frame_pointer_guess(void **state)
{
	static const uint32_t rules[] = { SP(2), 0, 0, ROOT };
	struct world *world = world_create(rules, 4);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(1, 50), world_pc(2, 60), world_pc(3, 70) };

	(void)state;
	world->stack[11] = pcs[1];
	world->stack[20] = world_address(30);
	world->stack[21] = pcs[2];
	world->stack[30] = 0;
	world->stack[31] = pcs[3];
	walk_both(world, pcs[0], world_address(10), world_address(20), STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 4);
	assert_true(world->walk.flags & UNWIND_GUESSED);
	assert_true(world->walk.flags & UNWIND_GUESSED_ON);
	/* Where there are rows again, bp may be anything. */
	world->stack[30] = 5;
	walk_both(world, pcs[0], world_address(10), world_address(20), STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 4);
	/* bp 0 marks the outermost frame. */
	walk_both(world, pcs[0], world_address(10), 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	assert_false(world->walk.flags & UNWIND_GUESSED_ON);
	/* Below the stack pointer, not aligned, far away, in no memory. */
	walk_both(world, pcs[0], world_address(10), world_address(9), STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_ROWS, pcs, 2);
	walk_both(world, pcs[0], world_address(10), world_address(20) + 4, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_ROWS, pcs, 2);
	walk_both(world, pcs[0], world_address(10), world_address(200000), STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_ROWS, pcs, 2);
	/* Far away, but in memory that looks right. */
	shim_add_region(WORLD_STACK + (4 << 20), world->stack, sizeof(world->stack), false);
	world->stack[41] = pcs[2];
	walk_both(world, pcs[0], world_address(10), world_address(40) + (4 << 20),
		  STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_ROWS, pcs, 2);
	/* The next one is not further out, or the return address leads nowhere. */
	world->stack[20] = world_address(20);
	walk_both(world, pcs[0], world_address(10), world_address(20), STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_ROWS, pcs, 2);
	world->stack[20] = world_address(30);
	world->stack[21] = 0x1234567;
	walk_both(world, pcs[0], world_address(10), world_address(20), STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_ROWS, pcs, 2);
	world_free(world);
}

/* bp saved at an address that cannot be one, as rubbish may have it: it is lost, not in the register. */
static void test_saved_at_no_address(void **state)
{
	static const uint32_t rules[] = {
		UNWIND_RULE(UNWIND_CFA_SP, UNWIND_BP_AT_BP, 2, -1),
		BP(2, -2),
	};
	struct world *world = world_create(rules, 2);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(1, 9) }, bp;

	(void)state;
	world->stack[11] = pcs[1];
	for (bp = 8; bp <= 4096; bp += 8) {
		walk_both(world, pcs[0], world_address(10), bp, STACK_FRAMES_MAX);
		assert_stack(world, UNWIND_END_NO_BP, pcs, 2);
	}
	world_free(world);
}

static void walk_chain(struct world *world, uint64_t ip, uint32_t depth, uint32_t flags)
{
	struct unwind_from from = { .ip = ip,
				    .sp = world_address(10),
				    .bp = world_address(20),
				    .target_id = WORLD_TARGET,
				    .depth = depth,
				    .flags = flags };

	world->walk.hash = 0;
	unwind_stack(&world->walk, &from);
}

/* As asked for, and of a process without tables. */
static void test_frame_pointers_only(void **state)
{
	static const uint32_t rules[] = { ROOT };
	struct world *world = world_create(rules, 1);
	uint64_t pcs[] = { world_pc(0, 0), 0x401000, 0x402000 };

	(void)state;
	world->stack[20] = world_address(3000);
	world->stack[21] = pcs[1];
	world->stack[3000] = 1;
	world->stack[3001] = pcs[2];
	walk_chain(world, pcs[0], 64, UNWIND_BY_BP);
	assert_stack(world, UNWIND_END_ROOT, pcs, 3);
	walk_chain(world, pcs[0], 2, UNWIND_BY_BP);
	assert_stack(world, UNWIND_END_DEPTH, pcs, 2);
	walk_chain(world, pcs[0], 64, UNWIND_EXACT);
	assert_stack(world, UNWIND_END_ROOT, pcs, 1);
	assert_false(world->walk.flags & UNWIND_BY_BP);
	world->target_id = WORLD_TARGET + 1;
	walk_chain(world, pcs[0], 64, UNWIND_EXACT);
	assert_stack(world, UNWIND_END_ROOT, pcs, 3);
	assert_true(world->walk.flags & UNWIND_BY_BP);
	world->stack[20] = WORLD_STACK + sizeof(world->stack);
	walk_chain(world, pcs[0], 64, UNWIND_BY_BP);
	assert_stack(world, UNWIND_END_UNREADABLE, pcs, 2);
	world_free(world);
}

/* Where a call has returned to, the row is that of the call: the next instruction may be another function's. */
static void test_starts_behind_a_call(void **state)
{
	static const uint32_t rules[] = { SP(2), SP(3), ROOT };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(1, 0), world_pc(2, 9) };

	(void)state;
	world->stack[11] = pcs[1];
	world->stack[12] = world_pc(1, 8);
	walk_chain(world, pcs[0], 64, 0);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	pcs[1] = world->stack[12];
	walk_chain(world, pcs[0], 64, UNWIND_EXACT);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	world_free(world);
}

/* makecontext plants the address of a function as a return address: nothing called it. */
static struct world *world_with_planted_address(void)
{
	static const uint32_t rules[] = { SP(2), 0, SP(1) };
	struct world *world = world_create(rules, 3);

	world->stack[11] = world_pc(2, 0);
	world->stack[12] = 0x1234567;
	return world;
}

static void test_planted_return_address(void **state)
{
	struct world *world = world_with_planted_address();
	uint64_t pcs[] = { world_pc(0, 0), world_pc(2, 0) };

	(void)state;
	walk_both(world, pcs[0], world_address(10), 5, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	assert_false(world->walk.flags & UNWIND_GUESSED);
	world_free(world);
}

/* A return probe has put its own address over a return address. */
static void test_hijacked_return_address(void **state)
{
	static const uint32_t rules[] = { SP(2), ROOT };
	struct world *world = world_create(rules, 2);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(0, 9), world_pc(1, 9), 0x7fffffffe000 };

	(void)state;
	world->stack[11] = pcs[3];
	world->stack[13] = pcs[2];
	hijacked.slot = world_address(11);
	hijacked.original = pcs[1];
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 3);
	/* An original that is the probe's own address leads nowhere either. */
	hijacked.original = pcs[1] = pcs[3];
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 2);
	hijacked.slot = 0;
	world_free(world);
}

/*
 * A signal before and after each instruction of the code that return probes return to. What it has pushed there stands in
 * the kernel's source: rax, rcx and r11, then a system call, after which r11 and rcx are popped.
 */
static void test_signal_in_trampoline(void **state)
{
	static const uint32_t rules[] = { SIGNAL, SP(2), ROOT };
	static const struct {
		uint64_t at;
		int pushed; /* words below the place of the return address; -1 = it has been popped */
		bool is_pending;
	} cases[] = { { 0, -1, true }, { 1, 0, true },	 { 2, 1, true },   { 4, 2, true },
		      { 11, 2, true }, { 13, 2, false }, { 15, 1, false }, { 16, 0, false } };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(0, 1), world_pc(1, 5), world_pc(2, 9) };
	uint64_t context = 100, slot = 1000;
	size_t i;

	(void)state;
	hijacked.trampoline = 0x7fffffffe000;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world->stack[context + 15] = 0;
		world->stack[context + 20] = world_address(slot - (uint64_t)cases[i].pushed);
		world->stack[context + 21] = hijacked.trampoline + cases[i].at;
		world->stack[slot - 1] = world->stack[slot - 2] = 0x1111;
		world->stack[slot] = cases[i].is_pending ? hijacked.trampoline : pcs[1];
		hijacked.slot = cases[i].is_pending ? world_address(slot) : 0;
		hijacked.original = pcs[1];
		world->stack[slot + 2] = pcs[2];
		walk(world, pcs[0], context, 0, STACK_FRAMES_MAX);
		assert_stack(world, UNWIND_END_ROOT, pcs, 3);
	}
	hijacked.slot = hijacked.trampoline = 0;
	world_free(world);
}

/* A file that the lists of the process do not have yet, mapped from its second page on. */
static void test_new_mapping(void **state)
{
	static const uint32_t rules[] = { SP(2), ROOT };
	struct world *world = world_create(rules, 2);
	uint64_t bias = 0x7e0000000000ULL, start = bias + WORLD_TEXT;
	uint64_t pcs[] = { start + 8, start + WORLD_FUNCTION + 8 };

	(void)state;
	world->file_device = 8 << 20 | 1;
	world->file = (struct unwind_file_rows){ .offset = 0x1000,
						 .size = 0x1000,
						 .address = WORLD_TEXT,
						 .pages = world->place.pages,
						 .first_page = world->place.first_page,
						 .page_count = world->place.page_count };
	new_mapping.vma = (struct unwind_vma){
		.start = start,
		.end = start + 0x3000,
		.offset = 0x1000,
		.file = { .device = world->file_device, .inode = 5 },
	};
	world->stack[11] = pcs[1];
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	/* The kernel cannot answer now, but has before. */
	new_mapping.error = -EBUSY;
	world->generation += 2;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	/* It is gone. */
	new_mapping.error = -ENOENT;
	world->generation += 2;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 1);
	/* Not the part of the file that has the code; another file. */
	new_mapping.error = 0;
	new_mapping.vma.offset = 0x2000;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 1);
	new_mapping.vma.offset = 0x1000;
	world->file_device++;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 1);
	memset(&new_mapping, 0, sizeof(new_mapping));
	memset(&kept_mapping, 0, sizeof(kept_mapping));
	world_free(world);
}

static struct world *changing_world;

/* Once, in the middle of a walk: the file moves, as after dlclose and dlopen. */
static void change_generation(const void *map)
{
	if (map == &unwind_pages) {
		shim.on_lookup = NULL;
		world_map(changing_world, WORLD_BIAS);
		memset(&changing_world->tables[(changing_world->generation + 1) & 1], 0xff,
		       sizeof(changing_world->tables[0]));
	}
}

/* The loader overwrites the table of the old generation while the walk looks at it. */
static void test_mappings_change_meanwhile(void **state)
{
	static const uint32_t rules[] = { SP(2), ROOT };
	struct world *world = world_create(rules, 2);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(0, 9), world_pc(1, 9) };

	(void)state;
	world->stack[11] = pcs[1];
	world->stack[13] = pcs[2];
	changing_world = world;
	shim.on_lookup = change_generation;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 3);
	assert_null(shim.on_lookup);
	assert_int_equal(world->walk.generation, 2);
	world_free(world);
}

/* When the word before the code is looked up: the table has gone to the other place, and says the same. */
static void publish_again(const void *map)
{
	static uint32_t looks;

	looks += map == &unwind_pages;
	if (looks != 3)
		return;
	shim.on_lookup = NULL;
	world_map(changing_world, WORLD_BIAS);
}

/* Whether a return address was planted is asked again when the mappings change meanwhile: nothing is guessed. */
static void test_mappings_change_at_a_planted_address(void **state)
{
	struct world *world = world_with_planted_address();
	uint64_t pcs[] = { world_pc(0, 0), world_pc(2, 0) };

	(void)state;
	changing_world = world;
	shim.on_lookup = publish_again;
	walk(world, pcs[0], 10, 5, STACK_FRAMES_MAX);
	assert_null(shim.on_lookup);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	assert_false(world->walk.flags & UNWIND_GUESSED);
	world_free(world);
}

/* After the row was found and before it is read: its file has gone, and another one has come in its place. */
static void replace_rows(const void *map)
{
	static uint32_t looks;
	uint32_t i;

	looks += map == &unwind_rows;
	if (looks != 2)
		return;
	shim.on_lookup = NULL;
	for (i = 1; i < 4; i++)
		changing_world->store.rows[i] |= (uint64_t)SP(100) << 32;
	unwind_mappings_clear(&changing_world->tables[(changing_world->generation + 1) & 1]);
	changing_world->generation++;
}

/* A walk does not follow rows that were written over while it looked for one. */
static void test_rows_change_meanwhile(void **state)
{
	static const uint32_t rules[] = { SP(2), ROOT };
	struct world *world = world_create(rules, 2);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(0, 9) };

	(void)state;
	world->stack[11] = pcs[1];
	changing_world = world;
	shim.on_lookup = replace_rows;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_null(shim.on_lookup);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 1);
	world_free(world);
}

/* The same for a row whose position was remembered, because its rule is a long one. */
static void replace_long_row(const void *map)
{
	if (map != &unwind_rows)
		return;
	shim.on_lookup = NULL;
	changing_world->store.rows[1] = UNWIND_ROW(WORLD_TEXT, SP(3));
	unwind_mappings_clear(&changing_world->tables[(changing_world->generation + 1) & 1]);
	changing_world->generation++;
}

static void test_remembered_row_changes_meanwhile(void **state)
{
	static const uint32_t rules[] = { SP(2000), ROOT };
	struct world *world = world_create(rules, 2);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(1, 9) };

	(void)state;
	world->stack[2009] = pcs[1];
	walk_both(world, pcs[0], world_address(10), 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	changing_world = world;
	shim.on_lookup = replace_long_row;
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_null(shim.on_lookup);
	assert_stack(world, UNWIND_END_NO_MAPPING, pcs, 1);
	world_free(world);
}

/* The cache has no room for the position of a row that is far behind: a long rule is looked up each time. */
static void test_long_rules_far_behind(void **state)
{
	static const uint32_t rules[] = { SP(2000), ROOT };
	struct world *world = world_create(rules, 2);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(1, 9) };
	uint32_t i, used = 0;

	(void)state;
	/* They are found where they were: positions are taken modulo the number of rows. */
	for (i = 0; i <= world->place.page_count; i++)
		world->store.pages[world->place.pages + i] += UNWIND_SHORT_ROWS;
	world->stack[2009] = pcs[1];
	walk_both(world, pcs[0], world_address(10), 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	walk_both(world, pcs[0], world_address(10), 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	for (i = 0; i < UNWIND_CACHE_WORDS; i++) {
		used += world->cache.words[i] != 0;
		assert_int_not_equal(UNWIND_RULE_CFA(UNWIND_CACHE_RULE(world->cache.words[i])),
				     UNWIND_CFA_UNSUPPORTED);
	}
	assert_int_equal(used, 1);
	world_free(world);
}

/* What the cache remembers of one generation does not hold in the next. */
static void test_cache(void **state)
{
	static const uint32_t rules[] = { SP(2), ROOT, SP(3) };
	struct world *world = world_create(rules, 3);
	uint64_t pcs[] = { world_pc(0, 0), world_pc(1, 9), world_pc(1, 19) };
	struct unwind_mappings *table;

	(void)state;
	world->stack[11] = pcs[1];
	world->stack[12] = pcs[2];
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	/* The tables are gone, but every pc of the stack is known. */
	table = &world->tables[world->generation & 1];
	unwind_mappings_clear(table);
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	assert_stack(world, UNWIND_END_ROOT, pcs, 2);
	/* The file is mapped two functions lower, so that the same pc is in function 2. */
	world_map(world, WORLD_BIAS - 2 * WORLD_FUNCTION);
	walk(world, pcs[0], 10, 0, STACK_FRAMES_MAX);
	pcs[1] = pcs[2];
	assert_int_equal(world->walk.record.pcs[1], pcs[2]);
	world_free(world);
}

/* One copy of a window serves many frames; the first is as large as what the last walk needed. */
static void test_reads_are_few(void **state)
{
	static const uint32_t rules[] = { SP(8), ROOT };
	struct world *world = world_create(rules, 2);
	uint32_t i;

	(void)state;
	for (i = 0; i < 50; i++)
		world->stack[10 + i * 8 + 7] = world_pc(i == 49, 9);
	walk(world, world_pc(0, 0), 10, 0, STACK_FRAMES_MAX);
	assert_int_equal(world->walk.record.end, UNWIND_END_ROOT);
	assert_int_equal(world->walk.record.count, 51);
	assert_int_equal(shim.reads, 1);
	walk(world, world_pc(1, 0), 10, 0, STACK_FRAMES_MAX);
	walk(world, world_pc(0, 0), 10 + 48 * 8, 0, STACK_FRAMES_MAX);
	assert_int_equal(world->walk.record.count, 3);
	assert_int_equal(shim.reads, 3);
	walk(world, world_pc(0, 0), 10, 0, STACK_FRAMES_MAX);
	assert_int_equal(world->walk.record.count, 51);
	assert_int_equal(shim.reads, 5);
	world_free(world);
}

/* A bp saved below the window is read alone, and the window stays. */
static void test_reads_below_the_window(void **state)
{
	static const uint32_t rules[] = { SP(8), ROOT, SP_BP(800, -400), BP(2, -2) };
	struct world *world = world_create(rules, 4);
	uint32_t i;

	(void)state;
	world->stack[5400] = world_address(5970);
	world->stack[5799] = world_pc(0, 9);
	for (i = 0; i < 20; i++)
		world->stack[5807 + i * 8] = world_pc(i == 19 ? 3 : 0, 9);
	world->stack[5971] = world_pc(0, 9);
	for (i = 0; i < 5; i++)
		world->stack[5979 + i * 8] = world_pc(i == 4, 9);
	walk(world, world_pc(2, 0), 5000, 0, STACK_FRAMES_MAX);
	assert_int_equal(world->walk.record.end, UNWIND_END_ROOT);
	assert_int_equal(world->walk.record.count, 28);
	assert_int_equal(shim.reads, 3); /* two windows and a word */
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_signal_that_returns_to_itself),
		cmocka_unit_test(test_signal_in_trampoline),
		cmocka_unit_test(test_code_without_tables),
		cmocka_unit_test(test_frame_pointer_guess),
		cmocka_unit_test(test_frame_pointers_only),
		cmocka_unit_test(test_starts_behind_a_call),
		cmocka_unit_test(test_planted_return_address),
		cmocka_unit_test(test_hijacked_return_address),
		cmocka_unit_test(test_new_mapping),
		cmocka_unit_test(test_mappings_change_meanwhile),
		cmocka_unit_test(test_mappings_change_at_a_planted_address),
		cmocka_unit_test(test_rows_change_meanwhile),
		cmocka_unit_test(test_remembered_row_changes_meanwhile),
		cmocka_unit_test(test_long_rules_far_behind),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_reads_are_few),
		cmocka_unit_test(test_reads_below_the_window),
		cmocka_unit_test(test_saved_at_no_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
