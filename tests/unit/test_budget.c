/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows in which the kernel refuses probes, between others. What the BPF programs do is made up here: while both probes are in and
 * all is recorded, a block is allocated that lives on; while only malloc is probed, so is one whose end nobody sees.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "windows/budget.h"
#include "windows/budget_window.h"
#include "unit/fake_image.h"
#include "unit/session_world.h"

#define SITE 7
#define TRAP_NS 1000
#define HITS 100 /* of a window, while probes go in */
#define MAX_WINDOW_NS 2000000

struct bpf_programs {
	enum recording recording;
	uint64_t hits, most;
	bool is_idle; /* nothing is allocated while all is recorded */
};

static struct bpf_programs programs;
static uint64_t blocks[64]; /* the target has a copy of its own, at the same address */
static size_t next_block;
static uint64_t hits_at_attach;

static void allocate(void)
{
	struct process *process = world.core.processes.slots[0].process;
	const struct block_key key = { (uintptr_t)&blocks[next_block], process->target_id, 0 };
	const struct block block = { SITE, 16, LIFE_OF(clock_now_ns()) };
	const uint64_t site = SITE;
	struct site record = { .target_id = process->target_id };

	fake_map_get(NULL, MAPS_SITES, &site, &record);
	record.alloc_objects++;
	record.alloc_bytes += block.size;
	fake_map_set(NULL, MAPS_SITES, &site, &record);
	fake_map_set(NULL, MAPS_BLOCKS, &key, &block);
	next_block += 2;
}

void bpf_programs_record(struct bpf_programs *running, enum recording what)
{
	running->recording = what;
	if (what == RECORD_ALL && !running->is_idle && fake_probes_at(FAKE_MALLOC))
		allocate();
}

/* Calls that the targets make while probes go in are counted. */
void bpf_programs_measure(struct bpf_programs *running, bool on)
{
	const struct hit_key key = { .thread = 1, .kind = HIT_FREE };
	const struct hits hits = { .count = hits_at_attach };

	if (!on)
		return;
	running->hits = hits_at_attach;
	fake_map_set(NULL, MAPS_HITS, &key, &hits);
}

void bpf_programs_limit_hits(struct bpf_programs *running, uint64_t most)
{
	running->most = most;
}

uint64_t bpf_programs_hits(const struct bpf_programs *running)
{
	return running->hits;
}

int trap_meter_read(struct trap_meter *meter, int timeout_ms, struct trap_costs *ret_costs)
{
	(void)meter;
	(void)timeout_ms;
	*ret_costs = (struct trap_costs){ TRAP_NS, TRAP_NS, TRAP_NS, TRAP_NS };
	return 0;
}

static struct meter meter;
static struct budget budget;

/* Of all CPU time a part that lets a window begin whenever it is asked. */
static int set_up(void **state)
{
	world_set_up(state);
	world.core.probes.divided = true;
	programs = (struct bpf_programs){ 0 };
	next_block = 0;
	hits_at_attach = HITS;
	memset(blocks, 1, sizeof(blocks));
	world_trace(&world, NULL, true);
	probe_set_detach(&world.core.probes, PROBES_ALL);
	meter = (struct meter){ .maps = &fake_maps_all, .plan = &world.core.files.plan };
	budget = (struct budget){ .programs = &programs,
				  .maps = &fake_maps_all,
				  .probes = &world.core.probes,
				  .meter = &meter,
				  .targets.processes = &world.core.processes,
				  .sites = &world.core.sites,
				  .log = &world.log,
				  .percent = 100000,
				  .most_blocks = 1000,
				  .pace.max_window_ns = MAX_WINDOW_NS,
				  .pace.cpu_ns = 10 * SECOND_NS };
	budget_start(&budget);
	return 0;
}

static int tear_down(void **state)
{
	budget_free(&budget);
	return world_tear_down(state);
}

/* One window, whenever it were due. */
static void run_window(void)
{
	uint64_t before = budget.window_count;

	budget.next_ns = 1;
	assert_true(budget_poll(&budget) > 1);
	assert_int_equal(budget.window_count, before + 1);
	assert_int_equal(fake_probes(), 0);
	assert_int_equal(programs.recording, RECORD_NOTHING);
	assert_int_equal(programs.most, 0);
}

static void refuse(uint64_t offset)
{
	fake_attach_error = -ENOMEM;
	fake_error_offset = offset;
	run_window();
	fake_attach_error = 0;
}

/* The last window is lost: it shows nothing, and is paid for. */
static void check_lost(uint64_t recorded, uint64_t cost_ns)
{
	const struct budget_window *window =
		&budget.windows[(budget.window_count - 1) % BUDGET_WINDOWS];

	assert_true(window->lost);
	assert_int_equal(window->length_ns, 0);
	assert_int_equal(window->recorded, 0);
	assert_int_equal(window->entered, 0);
	assert_int_equal(window->hits, HITS);
	assert_int_equal(window->attach_hits + window->detach_hits, HITS);
	assert_int_equal(window->cost_ns, HITS * TRAP_NS);
	assert_int_equal(budget.pace.cost_ns, cost_ns + HITS * TRAP_NS);
	assert_int_equal(budget.recorded, recorded);
	assert_int_equal(fake_maps[MAPS_BLOCKS].count, 0);
}

/* Without the probe of free, a block would be taken for one that lives; without that of malloc, no growth for none. */
static void lose_between(uint64_t offset)
{
	uint64_t traced_ns, cost_ns;

	run_window();
	assert_int_equal(budget.lost_count, 0);
	assert_int_equal(budget.recorded, 1);
	assert_int_equal(budget.cohort.blocks.count, 1);
	traced_ns = budget.traced_ns;
	cost_ns = budget.pace.cost_ns;
	refuse(offset);
	assert_int_equal(budget.lost_count, 1);
	check_lost(1, cost_ns);
	assert_int_equal(budget.cohort.blocks.count, 1);
	assert_int_equal(budget.traced_ns, traced_ns);
	assert_int_equal(budget.marks.count, 1);
	assert_true(world_logged(&world, "a window is lost: refused"));
	run_window();
	assert_int_equal(budget.lost_count, 1);
	assert_int_equal(budget.recorded, 2);
	assert_int_equal(budget.cohort.blocks.count, 2);
	assert_int_equal(budget.marks.count, 2);
	assert_true(budget.traced_ns > traced_ns);
}

static void test_frees_are_refused(void **state)
{
	(void)state;
	lose_between(FAKE_FREE);
}

static void test_allocations_are_refused(void **state)
{
	(void)state;
	lose_between(FAKE_MALLOC);
}

/* What the end of a block of before has left in the map goes with a lost window, too. */
static void test_first_is_lost(void **state)
{
	(void)state;
	allocate();
	refuse(0);
	assert_int_equal(budget.lost_count, 1);
	check_lost(0, 0);
	assert_int_equal(budget.cohort.blocks.count, 0);
	assert_int_equal(budget.marks.count, 0);
	run_window();
	assert_int_equal(budget.recorded, 1);
	assert_int_equal(budget.cohort.blocks.count, 1);
}

/* Hits while probes go in have used up what the window may cost: it does not go on, and what it took too much is said. */
static void test_used_up(void **state)
{
	struct snapshot snapshot = { .time_ns = clock_now_ns() };

	(void)state;
	run_window();
	assert_int_equal(budget.over_count, 0);
	hits_at_attach = 2 * MAX_WINDOW_NS / TRAP_NS;
	run_window();
	assert_int_equal(budget.lost_count, 1);
	assert_int_equal(budget.recorded, 1);
	assert_true(world_logged(&world, "a window is lost: calls that were made while"));
	hits_at_attach = HITS;
	run_window();
	assert_int_equal(budget.lost_count, 1);
	assert_int_equal(budget.recorded, 2);
	budget_fill(&budget, &snapshot);
	assert_int_equal(snapshot.budget->over_count, 1);
	assert_int_equal(snapshot.budget->longest_ns, 2 * MAX_WINDOW_NS);
	budget_report_free(snapshot.budget);
}

/* A report counts it, and has what the others have shown. */
static void test_report(void **state)
{
	struct snapshot snapshot = { .time_ns = clock_now_ns() };

	(void)state;
	refuse(FAKE_FREE);
	run_window();
	budget_fill(&budget, &snapshot);
	assert_int_equal(snapshot.budget->window_count, 2);
	assert_int_equal(snapshot.budget->lost_count, 1);
	assert_int_equal(snapshot.budget->window_rows, 2);
	assert_true(snapshot.budget->windows[0].lost);
	assert_false(snapshot.budget->windows[1].lost);
	assert_int_equal(snapshot.budget->mark_count, 1);
	assert_int_equal(snapshot.budget->recorded, 1);
	budget_report_free(snapshot.budget);
}

/*
 * A window over several targets. Their blocks have the same addresses, and some lie in pages that
 * are not in memory. Truth: the blocks put into the map, and how often each image lists mappings.
 */
#define MANY 8
#define MANY_BLOCKS 64 /* of each */
#define MANY_BASE 0x7f0000000000ull
#define MANY_ABSENT 3 /* the page of each third block is not there */

static struct fake_image *images[MANY];

static struct image *image_of(void *context, uint32_t target_id)
{
	(void)context;
	return images[target_id - 1]->image;
}

static uint64_t usable_of(void *context, uint32_t target_id, uint64_t size)
{
	(void)context;
	(void)target_id;
	return size;
}

static bool is_never_over(void *context)
{
	(void)context;
	return false;
}

/* The n-th block has a page of its own; low and high bytes of addresses differ. */
static uint64_t many_address(size_t n)
{
	return MANY_BASE + n * FAKE_PAGE + (n * 16) % 256;
}

static void open_many(void)
{
	struct block block = { SITE, 16, LIFE_OF(clock_now_ns()) };
	struct block_key key;
	size_t i, n;

	for (i = 0; i < MANY; i++) {
		images[i] = fake_image_new();
		fake_image_map(images[i], MANY_BASE, MANY_BLOCKS * FAKE_PAGE, "", FAKE_WRITABLE);
		for (n = 0; n < MANY_BLOCKS; n += MANY_ABSENT)
			fake_image_absent(images[i], MANY_BASE + n * FAKE_PAGE, FAKE_PAGE);
		fake_image_open(images[i]);
	}
	for (n = 0; n < MANY_BLOCKS; n++)
		for (i = 0; i < MANY; i++) {
			key = (struct block_key){ many_address(n), (uint32_t)(MANY - i), 0 };
			fake_map_set(NULL, MAPS_BLOCKS, &key, &block);
		}
}

static void check_many_block(const struct budget_window_run *run, size_t i)
{
	const struct window_block *block = &run->blocks[i];
	const size_t n = i % MANY_BLOCKS;

	assert_int_equal(block->key.target_id, i / MANY_BLOCKS + 1);
	assert_int_equal(block->key.address, many_address(n));
	assert_int_equal(block->look.address, many_address(n));
	assert_int_equal(block->look.state, n % MANY_ABSENT ? LOOK_READ : LOOK_GONE);
	assert_true(block->stayed);
}

static void test_several_targets(void **state)
{
	struct budget_window_run run = { .programs = &programs,
					 .maps = &fake_maps_all,
					 .probes = &world.core.probes,
					 .meter = &meter,
					 .costs = &budget.costs,
					 .image = image_of,
					 .usable = usable_of,
					 .is_over = is_never_over };
	const struct budget_share share = { .hits = 1, .length_ns = 1, .most_hits = 1000 };
	struct error error = { 0 };
	size_t i;

	(void)state;
	open_many();
	programs.is_idle = true;
	assert_int_equal(budget_window_trace(&run, &share, &error), 0);
	assert_int_equal(run.count, MANY * MANY_BLOCKS);
	for (i = 0; i < run.count; i++)
		check_many_block(&run, i);
	/* Once by open_many, and once for what the first look has not found. */
	for (i = 0; i < MANY; i++)
		assert_int_equal(images[i]->image->refreshes, 2);
	budget_window_free(&run);
	for (i = 0; i < MANY; i++)
		fake_image_free(images[i]);
}

#define BUDGET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BUDGET_TEST(test_frees_are_refused),
		BUDGET_TEST(test_allocations_are_refused),
		BUDGET_TEST(test_first_is_lost),
		BUDGET_TEST(test_used_up),
		BUDGET_TEST(test_report),
		BUDGET_TEST(test_several_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
