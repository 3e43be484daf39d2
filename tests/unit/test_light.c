/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in use where frees are not probed: the table of blocks against two walks of the heap. The walks are written down here, and what the
 * program does meanwhile is done between them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "heap/census_all.h"
#include "windows/light.h"
#include "unit/fake_image.h"
#include "unit/fake_maps.h"

#define TARGET 1
#define PID 4242
#define SIZE 100

static uint64_t walks[2][16]; /* addresses that each finds, ended by 0 */
static int walk_number;
static const char *walk_reason;
static bool walk_fails, walk_counts_only, no_image, aligns_inside;
static uint64_t unknown[2][2]; /* a range that each does not understand */
static void (*between)(void); /* the walks */
static struct fake_image *fake;

/* In place of user/heap/. */
bool census_all_walk(struct census_all *all, struct image *image)
{
	const uint64_t *address;
	int number = walk_number++;

	assert_ptr_equal(image, fake->image);
	if (number == 1 && between)
		between();
	all->allocator = "glibc";
	all->by_address = !walk_counts_only;
	for (address = walks[number]; *address; address++) {
		all->live_blocks++;
		all->live_bytes += SIZE;
		if (all->block)
			all->block(all->context, "glibc",
				   &(struct census_block){ .address = *address, .size = SIZE });
	}
	if (walk_reason)
		snprintf(all->reason.text, sizeof(all->reason.text), "%s", walk_reason);
	if (all->unknown && unknown[number][1])
		all->unknown(all->context, unknown[number][0], unknown[number][1]);
	return !walk_fails;
}

bool census_fits(const char *allocator, uint64_t size, const struct census_block *seen)
{
	assert_string_equal(allocator, "glibc");
	return size == seen->size;
}

bool census_aligns_inside(const char *allocator)
{
	assert_string_equal(allocator, "glibc");
	return aligns_inside;
}

/* All but the image, which its owner frees. */
static void free_fake(void)
{
	if (!fake)
		return;
	free(fake->mappings);
	free(fake->states);
	free(fake);
	fake = NULL;
}

int image_open(pid_t pid, uint64_t until_ns, struct image **ret_image, struct error *error)
{
	assert_int_equal(pid, PID);
	assert_int_equal(until_ns, 0);
	if (no_image)
		return error_set(error, ERROR_PERMISSION, -EPERM, "not permitted");
	free_fake();
	fake = fake_image_new();
	fake_image_map(fake, 0x1000, 0x8000, "[heap]", FAKE_WRITABLE);
	*ret_image = fake_image_open(fake);
	return 0;
}

static struct process process = { .target_id = TARGET, .target.pid = PID };
static struct process_slot slot = { .process = &process };
static struct process_table processes = { .slots = &slot, .count = 1 };
static struct light light;
static uint64_t visited[16];
static size_t visited_count, undecided_count;

static int set_up(void **state)
{
	(void)state;
	fake_maps_reset();
	memset(walks, 0, sizeof(walks));
	memset(unknown, 0, sizeof(unknown));
	between = NULL;
	walk_reason = NULL;
	walk_fails = walk_counts_only = no_image = aligns_inside = process.target.exited = false;
	light = (struct light){
		.on = true, .maps = &fake_maps_all, .processes = &processes, .most_blocks = 100
	};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	light_free(&light);
	free_fake();
	fake_maps_reset();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static struct block_key key_of(uint64_t address)
{
	return (struct block_key){ .address = address, .target_id = TARGET };
}

static void put_born(uint64_t address, uint64_t size, uint64_t life)
{
	const struct block block = { .site = 7, .size = size, .life = life };
	struct block_key key = key_of(address);

	maps_set(&fake_maps_all, MAPS_BLOCKS, &key, &block);
}

static void put(uint64_t address, uint64_t site, uint64_t size)
{
	const struct block block = { .site = site, .size = size };
	struct block_key key = key_of(address);

	maps_set(&fake_maps_all, MAPS_BLOCKS, &key, &block);
}

static bool has(uint64_t address)
{
	struct block_key key = key_of(address);

	return fake_map_has(MAPS_BLOCKS, &key);
}

static void visit(void *context, const struct block_key *key, const struct block *block,
		  bool undecided)
{
	(void)context;
	(void)block;
	visited[visited_count++] = key->address;
	undecided_count += undecided;
}

static void look(void)
{
	walk_number = 0;
	visited_count = undecided_count = 0;
	assert_int_equal(light_look(&light, visit, NULL), 0);
}

static void set_walk(int number, const uint64_t *addresses, size_t count)
{
	memset(walks[number], 0, sizeof(walks[number]));
	memcpy(walks[number], addresses, count * sizeof(*addresses));
}

#define WALKS(first, second)                                   \
	(set_walk(0, first, sizeof(first) / sizeof(*(first))), \
	 set_walk(1, second, sizeof(second) / sizeof(*(second))))

static void test_judge(void **state)
{
	const unsigned int first = LIGHT_SEEN_FIRST, second = LIGHT_SEEN_SECOND,
			   same = LIGHT_SEEN_SAME;

	(void)state;
	assert_int_equal(light_judge(first | second | same), LIGHT_IN_USE);
	assert_int_equal(light_judge(second | same), LIGHT_IN_USE);
	assert_int_equal(light_judge(first | same), LIGHT_UNDECIDED);
	assert_int_equal(light_judge(same), LIGHT_ENDED);
	assert_int_equal(light_judge(first | second), LIGHT_UNDECIDED);
	assert_int_equal(light_judge(second), LIGHT_UNDECIDED);
	/* Handed out again, and not there: it counts no more, but the next one stays in the table. */
	assert_int_equal(light_judge(0), LIGHT_REPLACED);
	assert_int_equal(light_judge(first), LIGHT_REPLACED);
	assert_int_equal(light_judge(LIGHT_UNCLEAR_SECOND), LIGHT_UNDECIDED);
	/* Where a walk may have missed it, the other one decides. */
	assert_int_equal(light_judge(same | LIGHT_UNCLEAR_FIRST), LIGHT_ENDED);
	assert_int_equal(light_judge(same | LIGHT_UNCLEAR_SECOND), LIGHT_ENDED);
	assert_int_equal(light_judge(same | LIGHT_UNCLEAR_FIRST | LIGHT_UNCLEAR_SECOND),
			 LIGHT_UNDECIDED);
	assert_int_equal(light_judge(same | second | LIGHT_UNCLEAR_FIRST | LIGHT_UNCLEAR_SECOND),
			 LIGHT_IN_USE);
}

/* A program that does nothing meanwhile: nothing is undecided. Walks are in no order of addresses. */
static void test_quiet(void **state)
{
	const uint64_t found[] = { 0x5000, 0x1000, 0x3000, 0x9000 };
	struct light_report *report;

	(void)state;
	put(0x1000, 7, SIZE);
	put(0x2000, 7, SIZE);
	put(0x3000, 7, SIZE + 1); /* the place of a freed one is another's */
	put(0x5000, 8, SIZE);
	WALKS(found, found);
	look();
	assert_int_equal(visited_count, 2);
	assert_int_equal(visited[0], 0x1000);
	assert_int_equal(visited[1], 0x5000);
	assert_true(has(0x1000) && has(0x5000));
	assert_false(has(0x2000) || has(0x3000));
	report = light_report_make(&light);
	assert_int_equal(report->count, 1);
	assert_int_equal(report->heaps[0].pid, PID);
	assert_null(report->heaps[0].reason);
	assert_int_equal(report->heaps[0].live_blocks, 4);
	assert_int_equal(report->heaps[0].other_blocks, 2);
	assert_int_equal(report->heaps[0].undecided_blocks, 0);
	assert_int_equal(report->ended_blocks, 2);
	light_report_free(report);
}

#define BORN(ticks) LIFE_OF((uint64_t)(ticks) << 16)

/* Aligned memory begins inside of a block. Of entries within one, the newest is in use, and one that realloc may have moved there. */
static void test_aligned_inside(void **state)
{
	const uint64_t found[] = { 0x1000, 0x2000, 0x3000, 0x4000 };

	(void)state;
	aligns_inside = true;
	put_born(0x1000, SIZE, BORN(1)); /* freed before the next one */
	put_born(0x1020, SIZE - 0x20, BORN(2));
	put_born(0x1040, SIZE, BORN(3)); /* does not fit there */
	put_born(0x2000, SIZE, BORN(2));
	put_born(0x2020, SIZE - 0x20, BORN(1));
	put_born(0x3000, SIZE, BORN(1) | 1);
	put_born(0x3020, SIZE - 0x20, BORN(2));
	put_born(0x4000 + SIZE, SIZE, BORN(1)); /* behind it */
	WALKS(found, found);
	look();
	assert_int_equal(visited_count, 4);
	assert_int_equal(undecided_count, 0);
	assert_true(has(0x1020) && has(0x2000) && has(0x3000) && has(0x3020));
	/* Elsewhere, what is not at the beginning of a block is none. */
	aligns_inside = false;
	look();
	assert_int_equal(visited_count, 2);
	assert_true(has(0x2000) && has(0x3000));
}

static void do_much(void)
{
	put(0x1000, 9, SIZE); /* freed, and handed out again */
	put(0x2000, 9, SIZE); /* a freed one's address is handed out */
	put(0x7000, 9, SIZE); /* new */
	put(0x8000, 9, SIZE);
}

/* What changes while it is looked at is counted as undecided, and nothing that is in use is taken out of the table. */
static void test_busy(void **state)
{
	const uint64_t first[] = { 0x1000, 0x3000 }, second[] = { 0x1000, 0x2000, 0x4000, 0x7000 };
	struct light_report *report;

	(void)state;
	put(0x1000, 7, SIZE);
	put(0x2000, 7, SIZE);
	put(0x3000, 7, SIZE); /* is freed between the walks */
	put(0x4000, 7, SIZE); /* the first walk misses it */
	put(0x6000, 7, SIZE); /* was freed before */
	put(0x8000, 7, SIZE); /* likewise, and is handed out when the second walk is past it */
	WALKS(first, second);
	between = do_much;
	look();
	assert_int_equal(visited_count, 4);
	assert_int_equal(undecided_count, 3);
	assert_false(has(0x6000));
	assert_true(has(0x1000) && has(0x2000) && has(0x3000) && has(0x4000) && has(0x7000) &&
		    has(0x8000));
	report = light_report_make(&light);
	assert_int_equal(report->heaps[0].undecided_blocks, 3);
	assert_int_equal(report->heaps[0].undecided_bytes, 3 * SIZE);
	light_report_free(report);
	/* The next look decides. */
	between = NULL;
	memcpy(walks[0], walks[1], sizeof(walks[0]));
	look();
	assert_int_equal(visited_count, 4);
	assert_false(has(0x3000));
	assert_int_equal(light.targets[0].heap.undecided_blocks, 0);
}

static void put_again(void)
{
	put(0x2000, 9, SIZE);
}

static int late_read(void *context, enum maps_id map,
		     void (*see)(void *visitor, const void *key, const void *value), void *visitor)
{
	int code = fake_map_operations.read(context, map, see, visitor);

	if (walk_number == 2)
		put_again();
	return code;
}

/* An address that is handed out just before its entry is taken out: the new entry goes back. */
static void test_taken_too_late(void **state)
{
	struct maps_operations operations = fake_map_operations;
	const struct maps maps = { &operations, NULL };
	const struct block *found;
	struct block_key key = key_of(0x2000);
	struct block block;

	(void)state;
	operations.read = late_read;
	light.maps = &maps;
	put(0x2000, 7, SIZE);
	look();
	assert_int_equal(visited_count, 0);
	assert_int_equal(maps_get(&fake_maps_all, MAPS_BLOCKS, &key, &block), 0);
	found = &block;
	assert_int_equal(found->site, 9);
}

static enum light_blocks blocks_of(const void *context, uint64_t site)
{
	(void)context;
	return site == 8   ? LIGHT_BLOCKS_ELSEWHERE
	       : site == 9 ? LIGHT_BLOCKS_LARGER
			   : LIGHT_BLOCKS_EXACT;
}

/* A function that asks for more than it was asked for. */
static void test_larger(void **state)
{
	const uint64_t found[] = { 0x1000, 0x2000 };

	(void)state;
	light.blocks_of = blocks_of;
	put(0x1000, 7, SIZE - 1);
	put(0x2000, 9, SIZE - 1);
	WALKS(found, found);
	look();
	assert_int_equal(visited_count, 1);
	assert_int_equal(visited[0], 0x2000);
}

/* What an allocator has that no census finds may be in use. */
static void test_other_allocator(void **state)
{
	(void)state;
	light.blocks_of = blocks_of;
	put(0x1000, 7, SIZE);
	put(0x2000, 8, SIZE);
	look();
	assert_int_equal(visited_count, 1);
	assert_int_equal(visited[0], 0x2000);
	assert_true(has(0x2000) && !has(0x1000));
	assert_int_equal(light.targets[0].heap.undecided_blocks, 1);
}

/* What neither walk has understood may be in use, and stays in the table. */
static void test_unknown(void **state)
{
	(void)state;
	put(0x1000, 7, SIZE);
	put(0x2000, 7, SIZE);
	put(0x3000, 7, SIZE);
	put(0xa000, 7, SIZE); /* no memory any more */
	unknown[0][0] = 0x1000;
	unknown[0][1] = 0x3000;
	look();
	assert_int_equal(visited_count, 0);
	put(0x1000, 7, SIZE);
	put(0x2000, 7, SIZE);
	put(0x3000, 7, SIZE);
	put(0xa000, 7, SIZE);
	unknown[1][0] = 0x1800;
	unknown[1][1] = UINT64_MAX;
	look();
	assert_int_equal(visited_count, 1);
	assert_int_equal(visited[0], 0x2000);
	assert_int_equal(undecided_count, 1);
	assert_true(has(0x2000) && !has(0x1000) && !has(0x3000) && !has(0xa000));
	assert_int_equal(light.targets[0].heap.undecided_bytes, SIZE);
}

/* Where the heap cannot be looked at, no block is taken for freed, and that is reported. */
static void test_refused(void **state)
{
	struct light_report *report;

	(void)state;
	put(0x1000, 7, SIZE);
	put(0x2000, 7, SIZE);
	walk_fails = true;
	look();
	assert_int_equal(visited_count, 2);
	report = light_report_make(&light);
	assert_non_null(report->heaps[0].reason);
	assert_int_equal(report->heaps[0].undecided_blocks, 2);
	light_report_free(report);
	walk_fails = false;
	walk_counts_only = true;
	look();
	assert_int_equal(visited_count, 2);
	assert_int_equal(undecided_count, 2);
	assert_null(light.targets[0].heap.reason);
	/* It recovers. */
	walk_counts_only = false;
	look();
	assert_int_equal(visited_count, 0);
	put(0x1000, 7, SIZE);
	process.target.exited = true;
	look();
	assert_int_equal(visited_count, 1);
	assert_string_equal(light.targets[0].heap.reason, "the process has ended");
}

static void test_check(void **state)
{
	struct error error = { 0 };

	(void)state;
	walk_number = 0;
	assert_int_equal(light_check(PID, &error), 0);
	/* It is at work, or has allocated nothing yet. */
	walk_number = 0;
	walk_counts_only = true;
	assert_int_equal(light_check(PID, &error), 0);
	walk_number = 0;
	walk_fails = true;
	assert_int_equal(light_check(PID, &error), 0);
	walk_number = 0;
	walk_reason = "its arenas make no sense";
	assert_int_equal(light_check(PID, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "its arenas make no sense; trace it without"));
	error = (struct error){ 0 };
	no_image = true;
	assert_int_equal(light_check(PID, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "not permitted"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_judge),	   TEST(test_quiet),   TEST(test_busy),
		TEST(test_taken_too_late), TEST(test_refused), TEST(test_other_allocator),
		TEST(test_larger),	   TEST(test_unknown), TEST(test_check),
		TEST(test_aligned_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
