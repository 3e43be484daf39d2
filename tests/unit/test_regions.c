/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What regions_look finds in a child, whose memory the test has laid out before the fork. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "unit/session_world.h"

#define ARENA (1u << 20)
#define PAGE 4096

enum { SITE_ARENA = 5, SITE_PLAIN, SITE_CODE, SITE_BLOCK };

static struct process *process;
static unsigned char *arena, *plain, *code, *block;

static unsigned char *map(size_t size, int protection)
{
	unsigned char *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

/* A pool of blocks of 64 bytes. */
static void fill_arena(unsigned char *memory)
{
	uintptr_t pool = ((uintptr_t)memory + 0x3fff) & ~(uintptr_t)0x3fff;
	uint32_t *words = (uint32_t *)pool;

	words[0] = 3;
	words[9] = 3;
	words[10] = 48 + 3 * 64;
	words[11] = 0x4000 - 64;
}

/* A page of Ruby's heap, as malloc's; its struct is in `plain`. */
static void fill_block(unsigned char *memory, unsigned char *description)
{
	*(uint64_t *)memory = (uintptr_t)description;
	((uint16_t *)description)[0] = 408;
	((uint64_t *)description)[3] = (uintptr_t)memory + 40;
}

static int set_up(void **state)
{
	arena = map(ARENA, PROT_READ | PROT_WRITE);
	plain = map(8 * PAGE, PROT_READ | PROT_WRITE);
	code = map(2 * PAGE, PROT_READ | PROT_EXEC);
	block = aligned_alloc(0x4000, 0x4000);
	memset(block, 0, 0x4000);
	fill_arena(arena);
	memset(plain + 2 * PAGE, 1, 2 * PAGE);
	fill_block(block, plain + 3 * PAGE);
	world_set_up_events(state);
	process = world_trace(&world, NULL, true);
	events_catch_up(&world.core.events);
	return 0;
}

static int tear_down(void **state)
{
	munmap(arena, ARENA);
	munmap(plain, 8 * PAGE);
	munmap(code, 2 * PAGE);
	free(block);
	return world_tear_down(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void put_site(uint64_t key, enum memory_source source)
{
	const struct stack_record stack = { .count = 1, .end = UNWIND_END_ROOT, .pcs = { key } };
	const struct site site = { .stack = key,
				   .source = source,
				   .target_id = process->target_id,
				   .first_ns = 1000,
				   .function = 1 };

	maps_set(&fake_maps_all, MAPS_SITES, &key, &site);
	maps_set(&fake_maps_all, MAPS_STACKS, &key, &stack);
}

static void put_mapping_of(uint64_t key, const void *memory, uint64_t size, uint64_t flags)
{
	const struct event_mapping mapping = { .kind = EVENT_MAPPING,
					       .target_id = process->target_id,
					       .op = CALL_MMAP,
					       .phase = MAPPING_RETURN,
					       .new_length = size,
					       .flags = flags,
					       .result = (uintptr_t)memory,
					       .site = key,
					       .time_ns = 1000 };

	put_site(key, SOURCE_MMAP);
	mapping_set_apply(world.mappings, &mapping);
}

static void put_mapping(uint64_t key, const void *memory, uint64_t size)
{
	put_mapping_of(key, memory, size, MAP_PRIVATE | MAP_ANONYMOUS);
}

static struct snapshot *look(void)
{
	struct snapshot *snapshot = snapshot_new();

	snapshot->time_ns = 10 * SECOND_NS;
	assert_int_equal(collect_read(&world.core.collect, snapshot->time_ns), 0);
	regions_look(&world.core.regions);
	collect_fill(&world.core.collect, snapshot);
	return snapshot;
}

static const struct snapshot_site *row_of(const struct snapshot *snapshot, uint64_t key)
{
	size_t i;

	for (i = 0; i < snapshot->site_count; i++)
		if (snapshot->sites[i].key == key)
			return &snapshot->sites[i];
	fail_msg("no row of site %d", (int)key);
	return NULL;
}

static void test_look(void **state)
{
	const struct block held = { .site = SITE_BLOCK, .size = 0x4000 - 24 };
	struct block_key key = { .address = (uintptr_t)block, .target_id = process->target_id };
	const struct snapshot_site *row;
	struct snapshot *snapshot;

	(void)state;
	put_mapping(SITE_ARENA, arena, ARENA);
	put_mapping(SITE_PLAIN, plain, 8 * PAGE - 100);
	put_mapping(SITE_CODE, code, 2 * PAGE);
	put_site(SITE_BLOCK, SOURCE_HEAP);
	maps_set(&fake_maps_all, MAPS_BLOCKS, &key, &held);
	snapshot = look();
	row = row_of(snapshot, SITE_ARENA);
	assert_int_equal(row->region, REGION_PYTHON_ARENA);
	assert_true(site_stats_is_measured(&row->stats));
	assert_int_equal(row->stats.resident_bytes, PAGE);
	row = row_of(snapshot, SITE_PLAIN);
	assert_int_equal(row->region, REGION_NONE);
	assert_true(site_stats_is_measured(&row->stats));
	assert_int_equal(row->stats.resident_bytes, 2 * PAGE);
	assert_int_equal(row_of(snapshot, SITE_CODE)->region, REGION_JIT);
	assert_int_equal(row_of(snapshot, SITE_BLOCK)->region, REGION_RUBY_HEAP);
	snapshot_free(snapshot);
}

/* What is found stays, also where the memory is another one now; what is in memory is as of each report. */
static void test_again(void **state)
{
	struct snapshot *snapshot;

	(void)state;
	put_mapping(SITE_ARENA, arena, ARENA);
	snapshot_free(look());
	put_mapping(SITE_PLAIN, arena, ARENA);
	put_mapping(SITE_ARENA, plain, 8 * PAGE);
	snapshot = look();
	assert_int_equal(row_of(snapshot, SITE_ARENA)->region, REGION_PYTHON_ARENA);
	assert_int_equal(row_of(snapshot, SITE_ARENA)->stats.resident_bytes, 2 * PAGE);
	assert_int_equal(row_of(snapshot, SITE_ARENA)->stats.measured_bytes, 8 * PAGE);
	snapshot_free(snapshot);
}

/* What is mapped of a file may be a device's: its content is not looked at, but that it is code is seen. */
static void test_file(void **state)
{
	struct snapshot *snapshot;

	(void)state;
	put_mapping_of(SITE_ARENA, arena, ARENA, MAP_SHARED);
	put_mapping_of(SITE_CODE, code, 2 * PAGE, MAP_SHARED);
	snapshot = look();
	assert_int_equal(row_of(snapshot, SITE_ARENA)->region, REGION_NONE);
	assert_int_equal(row_of(snapshot, SITE_ARENA)->stats.resident_bytes, PAGE);
	assert_int_equal(row_of(snapshot, SITE_CODE)->region, REGION_JIT);
	snapshot_free(snapshot);
}

/* Of a process that has ended nothing is known. */
static void test_ended(void **state)
{
	struct snapshot *snapshot;

	(void)state;
	put_mapping(SITE_PLAIN, plain, 8 * PAGE);
	snapshot_free(look());
	process->target.exited = true;
	snapshot = look();
	assert_false(site_stats_is_measured(&row_of(snapshot, SITE_PLAIN)->stats));
	assert_int_equal(row_of(snapshot, SITE_PLAIN)->stats.resident_bytes, 0);
	snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_look), TEST(test_again), TEST(test_file),
					    TEST(test_ended) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
