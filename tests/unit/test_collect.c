/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the maps to a snapshot, while the target goes on; and what ended programs leave in the maps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "unit/session_world.h"

/* All sites begin, and all blocks are born, long before they are read. */
#define BEGIN_NS 1000
#define NOW_NS (10 * SECOND_NS)

/* The age of a block that was born so long ago, as it is known. */
#define AGE_NS(age_ns) (NOW_NS - LIFE_BORN_NS(LIFE_OF(NOW_NS - (age_ns))))

static struct process *process;

/* A session with one process, of which events have been read up to now. */
static int set_up(void **state)
{
	world_set_up_events(state);
	process = world_trace(&world, NULL, true);
	events_catch_up(&world.core.events);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, world_tear_down)

static void put_site(uint64_t key, const struct site *site)
{
	const struct stack_record stack = { .count = 1, .end = UNWIND_END_ROOT, .pcs = { key } };
	struct site full = *site;

	full.target_id = process->target_id;
	full.first_ns = site->first_ns ? site->first_ns : BEGIN_NS;
	full.function = site->function ? site->function : 1;
	maps_set(&fake_maps_all, MAPS_SITES, &key, &full);
	if (full.stack)
		maps_set(&fake_maps_all, MAPS_STACKS, &full.stack, &stack);
	__atomic_fetch_add(full.stack ? &world.shares[full.target_id].stacks
				      : &world.shares[full.target_id].plain,
			   1, __ATOMIC_RELAXED);
	__atomic_fetch_add(full.stack ? &world.shares[0].stacks : &world.shares[0].plain, 1,
			   __ATOMIC_RELAXED);
}

static struct block_key block_key(uint64_t address)
{
	return (struct block_key){ .address = address, .target_id = process->target_id };
}

static void put_block(uint64_t address, uint64_t site, uint64_t size, uint64_t age_ns)
{
	const struct block block = { .site = site, .size = size, .life = LIFE_OF(NOW_NS - age_ns) };
	struct block_key key = block_key(address);

	maps_set(&fake_maps_all, MAPS_BLOCKS, &key, &block);
}

static void remove_block(uint64_t address)
{
	struct block_key key = block_key(address);

	assert_int_equal(maps_remove(&fake_maps_all, MAPS_BLOCKS, &key), 0);
}

static bool has_block(enum maps_id map, uint64_t address)
{
	struct block_key key = block_key(address);

	return fake_map_has(map, &key);
}

static bool has_site(uint64_t key)
{
	return fake_map_has(MAPS_SITES, &key);
}

static struct snapshot *read_snapshot(void)
{
	struct snapshot *snapshot = snapshot_new();

	snapshot->time_ns = NOW_NS;
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), 0);
	collect_fill(&world.core.collect, snapshot);
	return snapshot;
}

/* NULL if the snapshot does not have it. */
static const struct snapshot_site *find_row(const struct snapshot *snapshot, uint64_t key)
{
	const struct snapshot_site *found = NULL;
	size_t i;

	for (i = 0; i < snapshot->site_count; i++) {
		if (snapshot->sites[i].key != key)
			continue;
		assert_null(found);
		found = &snapshot->sites[i];
	}
	return found;
}

/* Counters are the sites' own; blocks only give their ages. */
static void test_read(void **state)
{
	struct snapshot *snapshot;
	const struct snapshot_site *row;

	(void)state;
	put_site(5, &(struct site){ .stack = 5,
				    .alloc_bytes = 700,
				    .alloc_objects = 7,
				    .free_bytes = 300,
				    .free_objects = 3 });
	put_site(6, &(struct site){ .stack = 6, .alloc_bytes = 10, .alloc_objects = 1 });
	put_block(0x1000, 5, 100, 5 * SECOND_NS);
	put_block(0x2000, 5, 200, 2 * SECOND_NS);
	put_block(0x3000, 6, 10, 1 * SECOND_NS);
	snapshot = read_snapshot();
	assert_int_equal(snapshot->site_count, 2);
	row = find_row(snapshot, 5);
	assert_int_equal(row->stats.alloc_bytes, 700);
	assert_int_equal(row->stats.free_objects, 3);
	assert_int_equal(row->stats.oldest_ns, AGE_NS(5 * SECOND_NS));
	assert_true(row->stats.age_sum_ns == AGE_NS(5 * SECOND_NS) + AGE_NS(2 * SECOND_NS));
	assert_int_equal(row->stats.young_objects, 0);
	assert_string_equal(row->function->function, "malloc");
	assert_int_equal(row->stack->count, 1);
	assert_int_equal(row->target->pid, process->target.pid);
	assert_int_equal(find_row(snapshot, 6)->stats.oldest_ns, AGE_NS(SECOND_NS));
	assert_int_equal(snapshot->target_count, 1);
	snapshot_free(snapshot);
	/* Young blocks are counted apart. A block that was born while the maps were read has no age yet. */
	world.core.collect.min_age_ns = 3 * SECOND_NS;
	put_block(0x4000, 5, 50, -1ull * SECOND_NS);
	snapshot = read_snapshot();
	row = find_row(snapshot, 5);
	assert_int_equal(row->stats.young_objects, 2);
	assert_int_equal(row->stats.young_bytes, 250);
	assert_true(row->stats.age_sum_ns == AGE_NS(5 * SECOND_NS));
	snapshot_free(snapshot);
}

/* Births are known to 65 us: what is a little younger than --min-age asks for is young. */
static void test_birth(void **state)
{
	struct snapshot *snapshot;

	(void)state;
	put_site(5, &(struct site){ .stack = 5, .alloc_bytes = 700, .alloc_objects = 7 });
	put_block(0x1000, 5, 100, 3 * SECOND_NS - 1);
	put_block(0x2000, 5, 200, 3 * SECOND_NS + 65536);
	world.core.collect.min_age_ns = 3 * SECOND_NS;
	snapshot = read_snapshot();
	assert_int_equal(find_row(snapshot, 5)->stats.young_bytes, 100);
	assert_in_range(find_row(snapshot, 5)->stats.oldest_ns, 3 * SECOND_NS,
			3 * SECOND_NS + 65536);
	snapshot_free(snapshot);
}

/* What realloc has done with a block is in its life. */
static void test_lives(void **state)
{
	const struct block blocks[] = {
		{ .site = 5, .size = 30, .life = LIFE_OF(NOW_NS) | LIFE_GROWN_MAX },
		{ .site = 5, .size = 4, .life = LIFE_OF(NOW_NS) | 2 | LIFE_UNKNOWN | LIFE_ADDED },
		{ .site = 5, .size = 500, .life = LIFE_OF(NOW_NS) | LIFE_UNKNOWN },
	};
	const struct site_stats *stats;
	struct snapshot *snapshot;
	struct block_key key;
	uint64_t i;

	(void)state;
	put_site(5, &(struct site){ .stack = 5, .alloc_bytes = 534, .alloc_objects = 3 });
	for (i = 0; i < 3; i++) {
		key = block_key(0x1000 * (i + 1));
		maps_set(&fake_maps_all, MAPS_BLOCKS, &key, &blocks[i]);
	}
	snapshot = read_snapshot();
	stats = &find_row(snapshot, 5)->stats;
	assert_int_equal(stats->grown_objects, 2);
	assert_int_equal(stats->grown_times, LIFE_GROWN_MAX);
	assert_int_equal(stats->added_objects, 1);
	assert_int_equal(stats->unknown_objects, 1);
	assert_int_equal(stats->unknown_bytes, 500);
	snapshot_free(snapshot);
}

/* Between two reads a block goes, and another one comes to its address: nothing of the first read is left. */
static void test_block_vanishes(void **state)
{
	struct snapshot *first, *second;

	(void)state;
	put_site(5, &(struct site){ .stack = 5, .alloc_bytes = 300, .alloc_objects = 2 });
	put_block(0x1000, 5, 100, 5 * SECOND_NS);
	put_block(0x2000, 5, 200, 4 * SECOND_NS);
	first = read_snapshot();
	remove_block(0x1000);
	remove_block(0x2000);
	put_block(0x1000, 5, 30, SECOND_NS);
	put_site(5, &(struct site){ .stack = 5,
				    .alloc_bytes = 330,
				    .alloc_objects = 3,
				    .free_bytes = 300,
				    .free_objects = 2 });
	second = read_snapshot();
	assert_int_equal(find_row(first, 5)->stats.oldest_ns, AGE_NS(5 * SECOND_NS));
	assert_int_equal(find_row(first, 5)->stats.alloc_objects, 2);
	assert_int_equal(find_row(second, 5)->stats.oldest_ns, AGE_NS(SECOND_NS));
	assert_true(find_row(second, 5)->stats.age_sum_ns == AGE_NS(SECOND_NS));
	assert_int_equal(site_stats_inuse_bytes(&find_row(second, 5)->stats), 30);
	/* A site without a block is still a row. */
	remove_block(0x1000);
	snapshot_free(first);
	first = read_snapshot();
	assert_int_equal(find_row(first, 5)->stats.oldest_ns, 0);
	snapshot_free(first);
	snapshot_free(second);
}

/* A site that began after events were last read waits for the next snapshot, with its blocks: mappings come first. */
static void test_site_of_later(void **state)
{
	struct snapshot *snapshot;

	(void)state;
	put_site(5, &(struct site){ .stack = 5,
				    .alloc_bytes = 10,
				    .alloc_objects = 1,
				    .first_ns = clock_now_ns() });
	put_block(0x1000, 5, 10, SECOND_NS);
	snapshot = read_snapshot();
	assert_int_equal(snapshot->site_count, 0);
	snapshot_free(snapshot);
	assert_true(has_site(5) && has_block(MAPS_BLOCKS, 0x1000));
	events_catch_up(&world.core.events);
	snapshot = read_snapshot();
	assert_int_equal(find_row(snapshot, 5)->stats.oldest_ns, AGE_NS(SECOND_NS));
	snapshot_free(snapshot);
}

/* A block whose site is missing, and a site of nobody, or of a function that is not planned, are in no row. */
static void test_strays(void **state)
{
	struct snapshot *snapshot;
	uint64_t key = 6;
	const struct site nobodys = { .target_id = 2, .first_ns = BEGIN_NS };

	(void)state;
	put_block(0x1000, 9, 10, SECOND_NS);
	maps_set(&fake_maps_all, MAPS_SITES, &key, &nobodys);
	put_site(7, &(struct site){ .stack = 7, .alloc_objects = 1, .function = 3 });
	put_site(8, &(struct site){ .stack = 8, .alloc_objects = 1, .function = 2 });
	snapshot = read_snapshot();
	assert_int_equal(snapshot->site_count, 1);
	assert_string_equal(find_row(snapshot, 8)->function->function, "free");
	snapshot_free(snapshot);
	/* They may be of a process that is about to be found. */
	assert_true(has_block(MAPS_BLOCKS, 0x1000) && has_site(6) && has_site(7));
}

/* Sites and blocks of a program that was replaced by exec leave the maps and the totals; those of the new one stay. */
static void test_reap_after_exec(void **state)
{
	struct snapshot *snapshot;
	uint64_t stack = 5, begin;

	(void)state;
	put_site(5, &(struct site){ .stack = 5, .alloc_bytes = 10, .alloc_objects = 1 });
	put_site(6, &(struct site){ .stack = 6, .alloc_objects = 1, .first_ns = BEGIN_NS + 50 });
	put_block(0x1000, 5, 10, SECOND_NS);
	put_block(0x2000, 6, 10, SECOND_NS);
	maps_set(&fake_maps_all, MAPS_INTERP_STACKS, &stack, &(struct interp_record){ 0 });
	assert_int_equal(world.shares[1].stacks, 2);
	process->target.exec_ns = BEGIN_NS + 50;
	world.core.ended.needs_reap = true;
	begin = clock_now_ns();
	assert_int_equal(collect_reap(&world.core.collect), 0);
	assert_false(world.core.ended.needs_reap);
	assert_true(world.core.collect.reap_ns > begin);
	assert_false(has_site(5) || has_block(MAPS_BLOCKS, 0x1000));
	assert_false(fake_map_has(MAPS_STACKS, &stack) || fake_map_has(MAPS_INTERP_STACKS, &stack));
	assert_null(sites_get(&world.core.sites, 5));
	assert_true(has_site(6) && has_block(MAPS_BLOCKS, 0x2000));
	assert_int_equal(world.shares[1].stacks, 1);
	assert_int_equal(world.shares[0].stacks, 1);
	snapshot = read_snapshot();
	assert_int_equal(snapshot->site_count, 1);
	assert_non_null(find_row(snapshot, 6));
	snapshot_free(snapshot);
}

/* With --keep-exited what it held stays as a row, with its stack and the mappings that it had made. */
static void test_keep(void **state)
{
	const struct event_mapping mapping = { .kind = EVENT_MAPPING,
					       .target_id = 1,
					       .op = CALL_MMAP,
					       .phase = MAPPING_RETURN,
					       .new_length = 4096,
					       .result = 0x10000000,
					       .site = 6,
					       .time_ns = BEGIN_NS };
	struct snapshot *snapshot;

	(void)state;
	world.core.ended.keeps = true;
	put_site(5, &(struct site){ .stack = 5, .alloc_bytes = 10, .alloc_objects = 1 });
	put_site(6, &(struct site){ .stack = 6, .source = SOURCE_MMAP });
	mapping_set_apply(world.mappings, &mapping);
	follow_end(&world.core.follow, &process, 1);
	/* As if there were another one: this is not the last. */
	ended_add_program(&world.core.ended, process, UINT64_MAX);
	process->to_reap = true;
	snapshot = read_snapshot();
	assert_int_equal(snapshot->site_count, 2);
	assert_true(find_row(snapshot, 5)->ended);
	assert_int_equal(find_row(snapshot, 5)->stack->count, 1);
	assert_string_equal(find_row(snapshot, 5)->function->function, "malloc");
	assert_int_equal(find_row(snapshot, 6)->stats.alloc_bytes, 4096);
	assert_int_equal(mapping_set_count(world.mappings), 0);
	assert_int_equal(fake_maps[MAPS_SITES].count, 0);
	/* The copy of it that was made at its end is listed, and the process itself no more. */
	assert_int_equal(snapshot->target_count, 1);
	assert_true(snapshot->targets[0]->exited);
	snapshot_free(snapshot);
	snapshot = read_snapshot();
	assert_int_equal(snapshot->site_count, 2);
	snapshot_free(snapshot);
}

/* Sites without a stack have a share of their own; a site that cannot be removed stays counted, and is removed later. */
static void test_shares(void **state)
{
	(void)state;
	put_site(5, &(struct site){ .stack = 5, .alloc_objects = 1 });
	put_site(6, &(struct site){ .alloc_objects = 1 });
	process->to_reap = true;
	fake_maps[MAPS_SITES].remove_error = -EBUSY;
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), 0);
	assert_int_equal(world.shares[1].stacks, 1);
	assert_int_equal(world.shares[1].plain, 1);
	assert_true(has_site(5) && has_site(6));
	assert_null(sites_get(&world.core.sites, 5));
	fake_maps[MAPS_SITES].remove_error = 0;
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), 0);
	assert_false(has_site(5) || has_site(6));
	assert_int_equal(world.shares[1].stacks, 0);
	assert_int_equal(world.shares[1].plain, 0);
	assert_int_equal(world.shares[0].stacks, 0);
	assert_int_equal(world.shares[0].plain, 0);
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), 0);
	assert_int_equal(world.shares[0].stacks, 0);
}

/* A sample's ages count for all that it represents. */
static void test_samples(void **state)
{
	const struct sampled_block sample = {
		.block = { .site = 5, .size = 1000, .life = LIFE_OF(NOW_NS - 2 * SECOND_NS) },
		.objects = 10
	};
	struct block_key key;
	struct snapshot *snapshot;

	(void)state;
	key = block_key(0x1000);
	put_site(5, &(struct site){
			    .stack = 5, .alloc_bytes = 1000, .alloc_objects = 10, .samples = 1 });
	maps_set(&fake_maps_all, MAPS_SAMPLES, &key, &sample);
	snapshot = read_snapshot();
	assert_int_equal(find_row(snapshot, 5)->stats.samples, 1);
	assert_true(find_row(snapshot, 5)->stats.age_sum_ns == 10 * AGE_NS(2 * SECOND_NS));
	snapshot_free(snapshot);
	process->to_reap = true;
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), 0);
	assert_false(has_block(MAPS_SAMPLES, 0x1000));
	/* Programs that were loaded without samples have no such map. */
	fake_maps[MAPS_SAMPLES].missing = true;
	fake_maps[MAPS_SAMPLES].reads = 0;
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), 0);
	assert_int_equal(fake_maps[MAPS_SAMPLES].reads, 0);
}

/* A map that cannot be read: the error is the caller's, and the next read makes up for it. */
static void test_errors(void **state)
{
	struct snapshot *snapshot;
	uint64_t begin = clock_now_ns();

	(void)state;
	put_site(5, &(struct site){ .stack = 5, .alloc_objects = 1 });
	put_block(0x1000, 5, 10, SECOND_NS);
	fake_maps[MAPS_SITES].read_error = -EINTR;
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), -EINTR);
	assert_int_equal(fake_maps[MAPS_BLOCKS].reads, 0);
	fake_maps[MAPS_SITES].read_error = 0;
	fake_maps[MAPS_BLOCKS].read_error = -ENOMEM;
	assert_int_equal(collect_reap(&world.core.collect), -ENOMEM);
	assert_true(world.core.collect.reap_ns > begin);
	fake_maps[MAPS_BLOCKS].read_error = 0;
	fake_maps[MAPS_SAMPLES].read_error = -EPERM;
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), -EPERM);
	fake_maps[MAPS_SAMPLES].read_error = 0;
	snapshot = read_snapshot();
	assert_int_equal(find_row(snapshot, 5)->stats.oldest_ns, AGE_NS(SECOND_NS));
	snapshot_free(snapshot);
}

/* A process that the user has named is listed after its end, too; others are not. */
static void test_targets(void **state)
{
	struct snapshot *snapshot;
	struct child *child;
	struct process *other;
	struct error error = { 0 };

	(void)state;
	child = world_start(&world);
	assert_int_equal(process_open(child->pid, &other, &error), 0);
	assert_true(follow_process(&world.core.follow, other, 5, false));
	snapshot = read_snapshot();
	assert_int_equal(snapshot->target_count, 2);
	snapshot_free(snapshot);
	process->to_reap = other->to_reap = true;
	snapshot = read_snapshot();
	assert_int_equal(snapshot->target_count, 1);
	assert_int_equal(snapshot->targets[0]->pid, process->target.pid);
	snapshot_free(snapshot);
}

static void name_frame(uint64_t key, struct name_pool *pool, const char *function)
{
	const struct frame_name name = { .function = function };
	struct known_site *site = sites_get(&world.core.sites, key);

	site->stack->frames[0].name = name_pool_keep(pool, &name);
}

/* A snapshot may be read when the session is over: names of interpreters' and of generated code are held with it. */
static void test_outlives(void **state)
{
	struct snapshot *snapshot;

	(void)state;
	put_site(5, &(struct site){ .stack = 5, .alloc_objects = 1 });
	put_site(6, &(struct site){ .stack = 6, .alloc_objects = 1 });
	assert_int_equal(collect_read(&world.core.collect, NOW_NS), 0);
	name_frame(5, fake_interp_names, "interpreted");
	name_frame(6, jit_names_pool(world.core.follow.jit_names), "generated");
	snapshot = read_snapshot();
	world_close(&world);
	assert_string_equal(find_row(snapshot, 5)->stack->frames[0].name->function, "interpreted");
	assert_string_equal(find_row(snapshot, 6)->stack->frames[0].name->function, "generated");
	snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read),
		TEST(test_birth),
		TEST(test_lives),
		TEST(test_block_vanishes),
		TEST(test_site_of_later),
		TEST(test_strays),
		TEST(test_reap_after_exec),
		TEST(test_keep),
		TEST(test_shares),
		TEST(test_samples),
		TEST(test_errors),
		TEST(test_targets),
		cmocka_unit_test_setup(test_outlives, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
