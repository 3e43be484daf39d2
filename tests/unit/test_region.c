/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of regions. Truth: sites made by hand, whose sums a person has added up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/group.h"
#include "analyze/region_judge.h"
#include "unit/sample.h"

static const struct frame_name shop_15 = { "initialize", "shop.rb", 15 };
static const struct frame_name shop_71 = { "parse", "shop.rb", 71 };
static const struct frame_name shop_106 = { "start", "shop.rb", 106 };

struct world {
	struct sample *sample;
	uint32_t libc, ruby;
	uint64_t no_name, create, other;
};

static struct world world_new(size_t targets)
{
	struct world world = { .sample = sample_new_empty(targets) };

	world.libc = sample_module(world.sample, "/lib/libc.so.6", 1);
	world.ruby = sample_module(world.sample, "/lib/libruby-3.1.so.3.1", 2);
	world.no_name = sample_name(world.sample, NULL, NULL, 0);
	world.create = sample_name(world.sample, "pthread_create@@GLIBC_2.34", NULL, 0);
	world.other = sample_name(world.sample, "pthread_create_all", NULL, 0);
	return world;
}

static struct frame native(uint32_t module, uint64_t name)
{
	return (struct frame){ .module = module, .address = name, .offset = 0x1000 + name };
}

/* A site whose innermost frames are native, before a line of Ruby code. */
static struct snapshot_site *put(struct world *world, size_t target, struct frame inner,
				 struct frame outer, const struct frame_name *line, uint64_t bytes)
{
	struct frame frames[] = { inner,
				  outer,
				  { .kind = FRAME_RUBY, .module = MODULE_NONE, .name = line } };
	struct snapshot_site *site = sample_site(
		world->sample, target, &sample_mmap, sample_stack(world->sample, frames, 3),
		(struct site_stats){ .alloc_bytes = bytes + 1000,
				     .alloc_objects = 3,
				     .free_bytes = 1000,
				     .free_objects = 1,
				     .measured_bytes = bytes,
				     .resident_bytes = bytes / 2 });

	site->source = SOURCE_MMAP;
	return site;
}

static struct snapshot_site *put_page(struct world *world, size_t target,
				      const struct frame_name *line, uint64_t bytes)
{
	struct snapshot_site *site = put(world, target, native(world->ruby, world->no_name),
					 native(world->ruby, world->no_name), line, bytes);

	site->region = REGION_RUBY_HEAP;
	return site;
}

struct result {
	struct judge *judge;
	struct grouped *grouped;
	struct report *report;
};

static struct result result_of(struct world *world, enum group_by by)
{
	static struct report_names names;
	struct report_options options = { .top = 0 };
	struct result result;

	names = sample_names(world->sample);
	result.judge = judge_new(&world->sample->snapshot, NULL, &names);
	result.grouped = group_build(&world->sample->snapshot, by, false, result.judge);
	options.judge = result.judge;
	result.report = report_build(&result.grouped->snapshot, &options, &names);
	return result;
}

static void result_free(struct result *result)
{
	report_free(result->report);
	group_free(result->grouped);
	judge_free(result->judge);
}

static size_t count_region(const struct report *report, enum region region)
{
	size_t count = 0, i;

	for (i = 0; i < report->site_count; i++)
		count += report->sites[i].region == region;
	return count;
}

static const struct report_site *find_region(const struct report *report, enum region region)
{
	size_t i;

	for (i = 0; i < report->site_count; i++)
		if (report->sites[i].region == region)
			return &report->sites[i];
	fail_msg("no row of that region");
	return NULL;
}

/* However sites are added up: pages are one row, whichever lines have run, and those lines keep what is theirs. */
static void test_pages(void **state)
{
	static const enum group_by ways[] = { GROUP_BY_SHOWN,	 GROUP_BY_APP_LINE,
					      GROUP_BY_DEFAULT,	 GROUP_BY_RUBY_LINE,
					      GROUP_BY_FUNCTION, GROUP_BY_MODULE,
					      GROUP_BY_PROCESS };
	const struct report_site *row;
	struct report_site open;
	struct result result;
	struct world world;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		world = world_new(1);
		put_page(&world, 0, &shop_15, 16384);
		put_page(&world, 0, &shop_71, 32768);
		put(&world, 0, native(world.ruby, world.no_name), native(world.ruby, world.no_name),
		    &shop_71, 100);
		result = result_of(&world, ways[i]);
		assert_int_equal(count_region(result.report, REGION_RUBY_HEAP), 1);
		row = find_region(result.report, REGION_RUBY_HEAP);
		assert_int_equal(site_stats_inuse_bytes(&row->stats), 49152);
		assert_int_equal(row->stats.alloc_bytes, 51152);
		assert_int_equal(row->stack_count, 2);
		assert_true(row->resident_known);
		assert_int_equal(row->stats.resident_bytes, 24576);
		assert_string_equal(row->function, "mmap");
		open = report_open_site(result.report, row->rank - 1);
		assert_int_equal(open.frame_count, 0);
		report_close_site(&open);
		row = find_region(result.report, REGION_NONE);
		assert_int_equal(site_stats_inuse_bytes(&row->stats), 100);
		assert_int_equal(site_stats_inuse_bytes(&result.report->totals), 49252);
		result_free(&result);
		sample_free(world.sample);
	}
}

/* With -v, stacks are rows, and marked. */
static void test_stacks(void **state)
{
	struct world world = world_new(1);
	struct result result;
	struct report_site open;

	(void)state;
	put_page(&world, 0, &shop_15, 16384);
	put_page(&world, 0, &shop_71, 32768);
	result = result_of(&world, GROUP_BY_STACK);
	assert_int_equal(count_region(result.report, REGION_RUBY_HEAP), 2);
	open = report_open_site(result.report, 0);
	assert_int_equal(open.frame_count, 3);
	report_close_site(&open);
	result_free(&result);
	sample_free(world.sample);
}

/* Processes of one program are one row by line, and stay apart by stack. */
static void test_processes(void **state)
{
	struct world world = world_new(2);
	const struct report_site *row;
	struct result result;

	(void)state;
	world.sample->targets[1] = world.sample->targets[0];
	world.sample->targets[1].pid++;
	put_page(&world, 0, &shop_15, 16384);
	put_page(&world, 1, &shop_71, 32768);
	result = result_of(&world, GROUP_BY_DEFAULT);
	row = find_region(result.report, REGION_RUBY_HEAP);
	assert_int_equal(result.report->site_count, 1);
	assert_int_equal(row->process_count, 2);
	assert_int_equal(row->of_processes, 2);
	result_free(&result);
	result = result_of(&world, GROUP_BY_SHOWN);
	assert_int_equal(result.report->site_count, 2);
	result_free(&result);
	sample_free(world.sample);
}

/* A thread's stack is charged to the line that made the thread, apart from what else was mapped there. */
static void test_threads(void **state)
{
	struct world world = world_new(1);
	const struct report_site *row;
	struct report_site open;
	struct result result;

	(void)state;
	put(&world, 0, native(world.libc, world.no_name), native(world.libc, world.create),
	    &shop_106, 8192);
	put(&world, 0, native(world.libc, world.create), native(world.ruby, world.no_name),
	    &shop_106, 4096);
	put(&world, 0, native(world.libc, world.other), native(world.ruby, world.no_name),
	    &shop_106, 16);
	put(&world, 0, native(world.ruby, world.no_name), native(world.libc, world.create),
	    &shop_106, 32);
	result = result_of(&world, GROUP_BY_DEFAULT);
	assert_int_equal(result.report->site_count, 2);
	row = find_region(result.report, REGION_THREAD_STACK);
	assert_int_equal(site_stats_inuse_bytes(&row->stats), 12288);
	open = report_open_site(result.report, row->rank - 1);
	assert_string_equal(open.frames[0].file, "shop.rb");
	assert_int_equal(open.frames[0].line, 106);
	report_close_site(&open);
	row = find_region(result.report, REGION_NONE);
	assert_int_equal(site_stats_inuse_bytes(&row->stats), 48);
	result_free(&result);
	sample_free(world.sample);
}

/* What was not looked at is not known; neither is anything of the heap. */
static void test_resident(void **state)
{
	struct world world = world_new(1);
	struct result result;
	struct snapshot_site *site;

	(void)state;
	site = put_page(&world, 0, &shop_15, 16384);
	site->stats.measured_bytes -= 4096;
	result = result_of(&world, GROUP_BY_DEFAULT);
	assert_false(result.report->sites[0].resident_known);
	result_free(&result);
	site->stats.measured_bytes += 4096;
	site->source = SOURCE_HEAP;
	result = result_of(&world, GROUP_BY_DEFAULT);
	assert_false(result.report->sites[0].resident_known);
	result_free(&result);
	sample_free(world.sample);
}

/* The last name of a line is the region's. */
static void test_folded(void **state)
{
	struct world world = world_new(1);
	struct render_options options = { 0 };
	struct result result;
	char *text;

	(void)state;
	put_page(&world, 0, &shop_15, 16384);
	result = result_of(&world, GROUP_BY_SHOWN);
	text = sample_render(result.report, "folded", &options);
	assert_string_equal(text, "ruby;[Ruby heap pages] 16384\n");
	free(text);
	result_free(&result);
	sample_free(world.sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),	  cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_resident),  cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
