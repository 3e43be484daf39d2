/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows by lines of the application. Truth: stacks made by hand, of which a person says which line is to blame. Where a row's
 * bytes are looked for, each site has a power of two of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/group.h"
#include "unit/expected.h"
#include "unit/sample.h"

#define FRAMES_MAX 16

/* A stack of Ruby or Python code that is being written, the innermost frame first. */
struct draft {
	struct sample *sample;
	struct frame frames[FRAMES_MAX];
	size_t count;
};

/* Names have one address as long as the program runs, as in a pool. */
static const struct frame_name shop_71 = { "block in <class:Shop>", "shop.rb", 71 };
static const struct frame_name shop_71_call = { "parse", "shop.rb", 71 };
static const struct frame_name shop_80 = { "run", "shop.rb", 80 };
static const struct frame_name full_shop_71 = { "parse", "/srv/app/shop.rb", 71 };
static const struct frame_name other_shop_71 = { "parse", "/srv/app/lib/shop.rb", 71 };
static const struct frame_name parent_71 = { "helper", "../common/helper.rb", 71 };
static const struct frame_name gem_5 = {
	"parse", "/var/lib/gems/3.1.0/gems/quickparse-1.0/lib/quickparse.rb", 5
};
static const struct frame_name vendored_9 = {
	"call", "/srv/app/vendor/bundle/ruby/3.1.0/gems/rack-2.2/lib/r.rb", 9
};
static const struct frame_name kernel_loop = { "loop", "<internal:kernel>", 187 };
static const struct frame_name evaluated = { "get", "(eval)", 3 };
static const struct frame_name evaluated_at = { "get", "(eval at /srv/app/shop.rb:12)", 3 };
static const struct frame_name launcher = { "<main>", "/usr/local/bin/puma", 25 };
static const struct frame_name c_function = { .function = "malloc" };

static struct draft draft_new(struct sample *sample)
{
	return (struct draft){ .sample = sample };
}

static void draft_native(struct draft *draft, uint32_t module, uint64_t name, bool internal)
{
	draft->frames[draft->count++] = (struct frame){
		.module = module, .address = name, .offset = 0x1000 + name, .internal = internal
	};
}

static void draft_ruby(struct draft *draft, const struct frame_name *name)
{
	draft->frames[draft->count++] =
		(struct frame){ .kind = FRAME_RUBY, .module = MODULE_NONE, .name = name };
}

static struct snapshot_site *draft_site(struct draft *draft, size_t target, uint64_t bytes)
{
	return sample_site(draft->sample, target, &sample_malloc,
			   sample_stack(draft->sample, draft->frames, draft->count),
			   (struct site_stats){ .alloc_bytes = bytes, .alloc_objects = 1 });
}

/* A site whose stack is of Ruby code only: `inner`, and what has called it. */
static struct snapshot_site *put_ruby(struct sample *sample, uint64_t bytes,
				      const struct frame_name *inner,
				      const struct frame_name *outer)
{
	struct draft draft = draft_new(sample);

	draft_ruby(&draft, inner);
	if (outer)
		draft_ruby(&draft, outer);
	return draft_site(&draft, 0, bytes);
}

struct result {
	struct judge *judge;
	struct grouped *grouped;
	struct report *report;
	struct report_site *sites;
};

static struct result result_of(struct sample *sample, enum group_by by,
			       const struct frame_rules *rules, bool all)
{
	static struct report_names names;
	struct report_options options = { .lines = true, .internal = all };
	struct result result;

	names = sample_names(sample);
	result.judge = judge_new(&sample->snapshot, rules, &names);
	result.grouped = group_build(&sample->snapshot, by, all, result.judge);
	options.judge = result.judge;
	result.report = report_build(&result.grouped->snapshot, &options, &names);
	result.sites = sample_open_sites(result.report);
	return result;
}

static void result_free(struct result *result)
{
	sample_close_sites(result->sites, result->report->site_count);
	report_free(result->report);
	group_free(result->grouped);
	judge_free(result->judge);
}

static const struct report_site *row_of(const struct result *result, uint64_t bytes)
{
	size_t i;

	for (i = 0; i < result->report->site_count; i++)
		if (result->sites[i].stats.alloc_bytes == bytes)
			return &result->sites[i];
	fail_msg("no row of %d bytes", (int)bytes);
	return NULL;
}

static void assert_line(const struct report_site *row, const char *file, uint32_t line)
{
	assert_true(row->by_line);
	assert_int_equal(row->frame_count, 1);
	assert_string_equal(row->frames[0].file, file);
	assert_int_equal(row->frames[0].line, line);
}

/* Several functions, stacks and ways to name a file are one row; other lines and other files of the same name are not. */
static void test_rows(void **state)
{
	struct sample *sample = sample_new_empty(1);
	struct result result;

	(void)state;
	put_ruby(sample, 1, &shop_71, NULL);
	put_ruby(sample, 2, &gem_5, &shop_71)->function = &sample_new;
	put_ruby(sample, 4, &full_shop_71, &shop_80);
	put_ruby(sample, 8, &kernel_loop, &shop_71_call);
	put_ruby(sample, 16, &other_shop_71, &shop_71);
	put_ruby(sample, 32, &vendored_9, &shop_80);
	put_ruby(sample, 64, &gem_5, NULL);
	put_ruby(sample, 128, &gem_5, NULL);
	put_ruby(sample, 256, &gem_5, &vendored_9);
	put_ruby(sample, 512, &c_function, &shop_80);
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(result.report->site_count, 4);
	assert_line(row_of(&result, 1 + 2 + 4 + 8), "shop.rb", 71);
	assert_null(row_of(&result, 1 + 2 + 4 + 8)->function);
	assert_int_equal(row_of(&result, 1 + 2 + 4 + 8)->stack_count, 4);
	assert_line(row_of(&result, 16), "/srv/app/lib/shop.rb", 71);
	assert_line(row_of(&result, 32 + 512), "shop.rb", 80);
	/* Without a line of the application, the innermost line of a package, whoever calls it. */
	assert_line(row_of(&result, 64 + 128 + 256), gem_5.file, 5);
	assert_int_equal(site_stats_inuse_bytes(&result.report->totals), 1023);
	result_free(&result);
	sample_free(sample);
}

/* What is known of an owner decides, and the innermost one of the best. */
static void test_owners(void **state)
{
	struct sample *sample = sample_new_empty(1);
	struct result result;

	(void)state;
	put_ruby(sample, 1, &parent_71, &shop_80);
	put_ruby(sample, 2, &parent_71, &gem_5);
	put_ruby(sample, 4, &evaluated, &shop_80);
	put_ruby(sample, 8, &evaluated, &gem_5);
	put_ruby(sample, 16, &evaluated_at, &shop_80);
	put_ruby(sample, 32, &gem_5, &launcher);
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_line(row_of(&result, 1 + 4), "shop.rb", 80);
	assert_line(row_of(&result, 2), "../common/helper.rb", 71);
	assert_line(row_of(&result, 8), "(eval)", 3);
	assert_line(row_of(&result, 16), "(eval at /srv/app/shop.rb:12)", 3);
	assert_line(row_of(&result, 32), gem_5.file, 5);
	result_free(&result);
	/* At the root, and without a directory, all that is in no package is the application. */
	sample->targets[0].directory = (char *)"/";
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_line(row_of(&result, 1 + 2), "../common/helper.rb", 71);
	result_free(&result);
	sample->targets[0].directory = NULL;
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_line(row_of(&result, 4 + 16), "shop.rb", 80);
	result_free(&result);
	sample_free(sample);
}

/* --app: a directory, a gem by its name, and a directory from the working directory on. */
static void test_app(void **state)
{
	static const char *const apps[] = { "/var/lib/gems/3.1.0/gems/quickparse-1.0", "quickparse",
					    "../../var/lib/gems/3.1.0/gems/quickparse-1.0/lib" };
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct sample *sample = sample_new_empty(1);
		struct frame_rules rules = { 0 };
		struct result result;

		frame_rules_add_app(&rules, i < 3 ? apps[i] : "quick");
		put_ruby(sample, 1, &gem_5, &shop_71);
		put_ruby(sample, 2, &vendored_9, &shop_71);
		result = result_of(sample, GROUP_BY_APP_LINE, &rules, false);
		if (i < 3) {
			assert_line(row_of(&result, 1), gem_5.file, 5);
			assert_line(row_of(&result, 2), "shop.rb", 71);
		} else {
			assert_line(row_of(&result, 3), "shop.rb", 71);
		}
		result_free(&result);
		frame_rules_free(&rules);
		sample_free(sample);
	}
}

/* Seven stacks of one line: an extension, the C library and the interpreter allocate for it, and it by itself. */
static struct sample *sample_with_leaves(void)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t ext = sample_module(
		sample, "/var/lib/gems/3.1.0/extensions/x86_64-linux/3.1.0/quickparse.so", 0);
	uint32_t ruby = sample_module(sample, "/usr/lib/libruby-3.1.so.3.1", 0);
	uint32_t libc = sample_module(sample, "/usr/lib/libc.so.6", 0);
	uint64_t names[] = {
		sample_name(sample, "strdup", NULL, 0),
		sample_name(sample, "keep", "/build/quickparse/quickparse.c", 22),
		sample_name(sample, "keep_more", "/build/quickparse/quickparse.c", 18),
		sample_name(sample, "rb_str_new", "string.c", 900),
		sample_name(sample, "inflate", NULL, 0),
		sample_name(sample, "keep", "/build/quickparse/quickparse.c", 22),
	};
	struct {
		uint32_t module;
		size_t name;
		uint64_t bytes;
	} sites[] = { { ext, 1, 4096 }, { ext, 2, 1024 }, { ext, 5, 4096 },
		      { libc, 4, 512 }, { ext, 1, 2048 }, { ruby, 3, 256 } };
	size_t i;

	for (i = 0; i < 6; i++) {
		struct draft draft = draft_new(sample);

		if (i == 2)
			draft_native(&draft, libc, names[0], false);
		draft_native(&draft, sites[i].module, names[sites[i].name],
			     sites[i].module == ruby);
		draft_native(&draft, ruby, names[3], true);
		draft_ruby(&draft, &gem_5);
		draft_ruby(&draft, &shop_71);
		draft_site(&draft, 0, sites[i].bytes);
	}
	put_ruby(sample, 128, &shop_71, NULL);
	return sample;
}

/* In both schemas the same. */
static void check_schemas(const struct report *report)
{
	const struct render_options compact = { .schema = 2 };
	struct buffer both = { 0 };

	render_format_find("json")->render(report, &(struct render_options){ .schema = 1 }, &both);
	render_format_find("json")->render(report, &compact, &both);
	assert_int_equal(check_reports(both.data, both.length, ""), 2);
	buffer_free(&both);
}

static void check_rendered(const struct report *report, const char *format, const char *expected)
{
	static const struct render_options style;
	char *text = sample_render(report, format, &style);

	assert_expected(expected, text);
	if (!strcmp(format, "json"))
		check_schemas(report);
	free(text);
}

/* What allocated stays in the row: lines of one file together, the greatest first. */
static void test_leaves(void **state)
{
	struct sample *sample = sample_with_leaves();
	struct result result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	const struct report_site *row = &result.sites[0];

	(void)state;
	assert_int_equal(result.report->site_count, 1);
	assert_line(row, "shop.rb", 71);
	assert_int_equal(row->leaf_count, 4);
	assert_string_equal(row->leaves[0].frame.function, "keep");
	assert_int_equal(row->leaves[0].inuse_bytes, 2 * 4096 + 2048);
	assert_int_equal(row->leaves[0].inuse_objects, 3);
	assert_int_equal(row->leaves[1].frame.line, 18);
	assert_string_equal(row->leaves[2].frame.function, "inflate");
	assert_string_equal(row->leaves[3].frame.file, gem_5.file);
	check_rendered(result.report, "text", "app-line.txt");
	check_rendered(result.report, "json", "app-line.json");
	result_free(&result);
	sample_free(sample);
}

/* A row is of a container if all of its stacks are: an extension's own block beside two of Strings is of none. */
static void test_container(void **state)
{
	static const char *const functions[] = { "rb_str_buf_append", "rb_str_resize", "keep" };
	struct sample *sample = sample_new_empty(1);
	uint32_t ruby = sample_module(sample, "/usr/lib/libruby-3.1.so.3.1", 0);
	uint32_t ext = sample_module(sample, "/var/lib/gems/3.1.0/extensions/x/3.1.0/ext.so", 0);
	struct result result;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct draft draft = draft_new(sample);

		draft_native(&draft, i == 2 ? ext : ruby,
			     sample_name(sample, functions[i], NULL, 0), i != 2);
		draft_ruby(&draft, &shop_71);
		draft_site(&draft, 0, 1u << i)->stats.grown_objects = !i;
		result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
		assert_int_equal(result.report->site_count, 1);
		if (i == 2)
			assert_null(result.sites[0].container);
		else
			assert_string_equal(result.sites[0].container, "a Ruby String");
		result_free(&result);
	}
	sample_free(sample);
}

/* With -v, the stack of the site that holds most. */
static void test_leaves_verbose(void **state)
{
	struct sample *sample = sample_with_leaves();
	struct result result = result_of(sample, GROUP_BY_APP_LINE, NULL, true);
	char *text =
		sample_render(result.report, "text", &(struct render_options){ .verbose = true });

	(void)state;
	assert_non_null(strstr(text, "malloc (glibc, heap), the greatest of 7 stacks\n"
				     "     via quickparse.c:22, :18, inflate, quickparse.rb:5\n"
				     "     keep"));
	free(text);
	result_free(&result);
	sample_free(sample);
}

/* Workers of a program are one row with what each of them has; another program in the same directory is not. */
static void test_workers(void **state)
{
	struct sample *sample = sample_new_empty(2);
	struct result result;
	struct draft draft = draft_new(sample);
	const struct report_site *row;

	(void)state;
	draft_ruby(&draft, &shop_71);
	draft_site(&draft, 0, 1);
	draft_site(&draft, 1, 2);
	draft_site(&draft, 1, 4);
	draft_site(&draft, 1, 8)->source = SOURCE_MMAP;
	draft_site(&draft, 1, 16)->ended = true;
	sample->targets[1] = sample->targets[0];
	sample->targets[1].pid++;
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(result.report->site_count, 3);
	row = row_of(&result, 1 + 2 + 4);
	assert_line(row, "shop.rb", 71);
	assert_int_equal(row->process_count, 2);
	assert_int_equal(row->of_processes, 2);
	assert_int_equal(row->pid, 4242);
	row = row_of(&result, 8);
	assert_int_equal(row->process_count, 1);
	assert_int_equal(row->of_processes, 2);
	assert_int_equal(result.report->target_totals[0].alloc_bytes, 1);
	assert_int_equal(result.report->target_totals[1].alloc_bytes, 2 + 4 + 8 + 16);
	assert_int_equal(result.report->totals.alloc_bytes, 15);
	result_free(&result);

	sample->targets[1].mount_namespace = 7;
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(row_of(&result, 2 + 4)->process_count, 1);
	result_free(&result);
	sample->targets[1].mount_namespace = 0;
	sample->targets[1].directory = (char *)"/srv/blog";
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(row_of(&result, 1)->process_count, 1);
	result_free(&result);
	sample->targets[1].directory = sample->targets[0].directory;
	sample->targets[1].exe = (char *)"/usr/bin/ruby3.3";
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(row_of(&result, 2 + 4)->pid, 4243);
	result_free(&result);
	sample_free(sample);
}

/* A master has nothing to do with a row of its workers: these are counted, and all processes in JSON. */
static void test_workers_of_a_master(void **state)
{
	struct sample *sample = sample_new_empty(4);
	struct result result;
	struct draft draft = draft_new(sample);
	const struct report_site *row;
	size_t i;

	(void)state;
	draft_ruby(&draft, &shop_71);
	draft_site(&draft, 1, 1);
	draft_site(&draft, 3, 2);
	for (i = 1; i < 4; i++) {
		sample->targets[i] = sample->targets[0];
		sample->targets[i].pid += (int)i;
		sample->targets[i].parent = sample->targets[0].pid;
	}
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	row = row_of(&result, 1 + 2);
	assert_int_equal(row->process_count, 2);
	assert_int_equal(row->of_processes, 4);
	assert_int_equal(row->of_workers, 3);
	result_free(&result);
	/* One of another program is no worker. */
	sample->targets[2].exe = (char *)"/usr/bin/ruby3.3";
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(row_of(&result, 1 + 2)->of_processes, 3);
	assert_int_equal(row_of(&result, 1 + 2)->of_workers, 2);
	result_free(&result);
	/* A master that has ended is none, and its last worker alone is a process as any. */
	sample->targets[2].exe = sample->targets[0].exe;
	sample->targets[0].exited = true;
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(row_of(&result, 1 + 2)->of_workers, 0);
	result_free(&result);
	sample->targets[0].exited = false;
	/* In the row itself, it is one of the processes. */
	draft_site(&draft, 0, 4);
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(row_of(&result, 1 + 2 + 4)->of_processes, 4);
	assert_int_equal(row_of(&result, 1 + 2 + 4)->of_workers, 0);
	result_free(&result);
	sample_free(sample);
}

/* What has no line at all is one row of a program, too, if its stacks are alike; programs stay apart. */
static void test_processes_without_lines(void **state)
{
	struct sample *sample = sample_new_empty(2);
	uint32_t libc = sample_module(sample, "/usr/lib/libc.so.6", 0);
	uint64_t inner = sample_name(sample, "inflate", NULL, 0);
	struct draft draft = draft_new(sample);
	const struct report_site *row;
	struct result result;

	(void)state;
	draft_native(&draft, libc, inner, false);
	draft_site(&draft, 0, 1);
	draft_site(&draft, 1, 2);
	draft_site(&draft, 1, 4);
	draft_site(&draft, 1, 8)->function = &sample_new;
	sample->targets[1] = sample->targets[0];
	sample->targets[1].pid++;
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(result.report->site_count, 2);
	row = row_of(&result, 1 + 2 + 4);
	assert_false(row->by_line);
	assert_int_equal(row->process_count, 2);
	assert_int_equal(row->of_processes, 2);
	assert_int_equal(row_of(&result, 8)->process_count, 1);
	assert_int_equal(result.report->target_totals[1].alloc_bytes, 2 + 4 + 8);
	result_free(&result);
	sample->targets[1].exe = (char *)"/usr/bin/ruby3.3";
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(row_of(&result, 1)->process_count, 1);
	assert_int_equal(row_of(&result, 2 + 4)->pid, 4243);
	result_free(&result);
	sample_free(sample);
}

/* C++: what a container of the library does belongs to the line that uses it, inlined or not, with source or without. */
static void test_native(void **state)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t server = sample_module(sample, "/srv/app/server", 0);
	uint32_t plain = sample_module(sample, "/srv/app/plain", 0);
	uint32_t library = sample_module(sample, "/usr/lib/libstdc++.so.6", 0);
	uint64_t vector = sample_name(sample, "std::vector<int>::push_back(int const&)",
				      "/usr/include/c++/12/bits/stl_vector.h", 1280);
	uint64_t inlined = sample_inlined(sample, "std::map<int, int>::operator[](int const&)",
					  "shop::fill(int)", "/build/shop/shop.cc", 30);
	uint64_t string = sample_name(sample, "std::string::_M_create(unsigned long&)", NULL, 0);
	uint64_t add = sample_name(sample, "shop::add(int)", "/build/shop/shop.cc", 20);
	uint64_t wrapper = sample_name(sample, "xmalloc(unsigned long)", "/build/shop/util.cc", 3);
	uint64_t unknown = sample_name(sample, "shop::sum(int)", NULL, 0);
	uint64_t start = sample_name(sample, "main", "/build/shop/shop.cc", 99);
	const uint64_t inner[][2] = { { vector, add },
				      { string, add },
				      { wrapper, add },
				      { inlined, start },
				      { vector, unknown } };
	struct result result;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct draft draft = draft_new(sample);

		draft_native(&draft,
			     i == 1   ? library
			     : i == 4 ? plain
				      : server,
			     inner[i][0], false);
		draft_native(&draft, i == 4 ? plain : server, inner[i][1], false);
		draft_native(&draft, server, start, false);
		draft_site(&draft, 0, 1u << i);
	}
	sample->names[inlined].items[0].file = "/usr/include/c++/12/bits/stl_map.h";
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(result.report->site_count, 3);
	assert_line(row_of(&result, 1 + 2 + 4), "/build/shop/shop.cc", 20);
	assert_string_equal(row_of(&result, 7)->frames[0].function, "shop::add(int)");
	assert_int_equal(row_of(&result, 7)->leaf_count, 0);
	assert_line(row_of(&result, 8), "/build/shop/shop.cc", 30);
	assert_string_equal(row_of(&result, 16)->frames[0].function, "shop::sum(int)");
	assert_true(row_of(&result, 16)->by_line);
	result_free(&result);
	/* In a process without an interpreter, stacks are the default. */
	result = result_of(sample, GROUP_BY_DEFAULT, NULL, false);
	assert_int_equal(result.report->site_count, 5);
	assert_false(row_of(&result, 1)->by_line);
	put_ruby(sample, 32, &shop_71, NULL);
	result_free(&result);
	result = result_of(sample, GROUP_BY_DEFAULT, NULL, false);
	assert_int_equal(result.report->site_count, 4);
	result_free(&result);
	sample_free(sample);
}

static const char *const caller_names[] = { "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8",
					    "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8" };

/*
 * Stacks of a program's own allocator: f0 and so on call it, and g0 and so on call a constructor of strings that calls it. Each
 * site has a byte more than the one before.
 */
static void put_wrapped(struct sample *sample, uint32_t module, size_t callers, bool strings)
{
	uint64_t own = sample_name(sample, "pool_take", "/build/shop/pool.c", 3);
	uint64_t string = sample_name(sample, "text_new", "/build/shop/text.c", 9);
	uint64_t start = sample_name(sample, "main", "/build/shop/shop.c", 99);
	size_t i, n;

	for (n = 0; n <= strings; n++)
		for (i = 0; i < callers; i++) {
			struct draft draft = draft_new(sample);
			const char *name = caller_names[9 * n + i];

			draft_native(&draft, module, own, false);
			if (n)
				draft_native(&draft, module, string, false);
			draft_native(&draft, module,
				     sample_name(sample, name, "/build/shop/shop.c",
						 (uint32_t)(100 * n + 10 + i)),
				     false);
			draft_native(&draft, module, start, false);
			draft_site(&draft, 0, 1000 * n + i + 1);
		}
}

/* What many functions call to allocate is passed over, whatever its name, and stays behind "via"; what few call is a row. */
static void test_wrappers(void **state)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t module = sample_module(sample, "/srv/app/server", 0);
	struct result result;
	size_t i;

	(void)state;
	put_wrapped(sample, module, 9, true);
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(result.report->site_count, 18);
	for (i = 0; i < 9; i++) {
		const struct report_site *row = row_of(&result, i + 1);

		assert_line(row, "/build/shop/shop.c", (uint32_t)(10 + i));
		assert_int_equal(row->leaf_count, 1);
		assert_string_equal(row->leaves[0].frame.function, "pool_take");
		assert_line(row_of(&result, 1000 + i + 1), "/build/shop/shop.c",
			    (uint32_t)(110 + i));
	}
	result_free(&result);
	/* In code of a package, too: rows are named by the callers, but stacks stay apart. */
	sample->targets[0].directory = NULL;
	free(sample->modules.items[module]->path);
	sample->modules.items[module]->path = memory_copy_string("/usr/bin/server");
	result = result_of(sample, GROUP_BY_DEFAULT, NULL, false);
	assert_int_equal(result.report->site_count, 18);
	assert_int_equal(row_of(&result, 1)->line, 1);
	assert_int_equal(row_of(&result, 1001)->line, 2);
	result_free(&result);
	sample_free(sample);
	sample = sample_new_empty(1);
	put_wrapped(sample, sample_module(sample, "/srv/app/server", 0), 7, false);
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_int_equal(result.report->site_count, 1);
	assert_line(&result.sites[0], "/build/shop/pool.c", 3);
	assert_int_equal(result.sites[0].stack_count, 7);
	result_free(&result);
	sample_free(sample);
}

/* The id of a row does not depend on what its blocks have become, nor on later sites. */
static void test_wrappers_ids(void **state)
{
	struct sample *sample = sample_new_empty(1);
	struct result before, after;
	size_t i;

	(void)state;
	put_wrapped(sample, sample_module(sample, "/srv/app/server", 0), 9, false);
	before = result_of(sample, GROUP_BY_PLACE, NULL, false);
	for (i = 1; i < 9; i++)
		sample->sites[i].stats.free_bytes = sample->sites[i].stats.alloc_bytes;
	put_ruby(sample, 1 << 20, &shop_71, NULL);
	after = result_of(sample, GROUP_BY_PLACE, NULL, false);
	for (i = 1; i <= 9; i++) {
		const struct snapshot_site *row = row_of(&after, i)->origin;

		assert_true(row->id == row_of(&before, i)->origin->id);
	}
	result_free(&before);
	result_free(&after);
	sample_free(sample);
}

/* Rows of a watch: stacks of one line are one row in a process without an interpreter, and in a package's code those of a caller. */
static void test_places(void **state)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t app = sample_module(sample, "/srv/app/lister", 0);
	uint32_t library = sample_module(sample, "/usr/lib/libgio-2.0.so.0", 0);
	uint64_t scan = sample_name(sample, "folder_scan", "/build/lister.c", 21);
	uint64_t loop = sample_name(sample, "worker_loop", NULL, 0);
	uint64_t dup = sample_name(sample, "g_strdup", NULL, 0);
	struct result result;
	size_t i;

	(void)state;
	for (i = 0; i < 8; i++) {
		struct draft draft = draft_new(sample);

		if (i >= 4)
			draft_native(&draft, library, dup, false);
		if (i != 4)
			draft_native(&draft, library,
				     i < 4 ? sample_name(sample, caller_names[i], NULL, 0) : loop,
				     false);
		if (i < 4)
			draft_native(&draft, app, scan, false);
		draft_native(&draft, library, sample_name(sample, caller_names[9 + i], NULL, 0),
			     false);
		draft_site(&draft, 0, 1u << i);
	}
	result = result_of(sample, GROUP_BY_DEFAULT, NULL, false);
	assert_int_equal(result.report->site_count, 8);
	result_free(&result);
	result = result_of(sample, GROUP_BY_PLACE, NULL, false);
	assert_int_equal(result.report->site_count, 3);
	assert_line(row_of(&result, 1 + 2 + 4 + 8), "/build/lister.c", 21);
	assert_int_equal(row_of(&result, 1 + 2 + 4 + 8)->leaf_count, 4);
	assert_string_equal(row_of(&result, 16)->frames[0].function, "g4");
	assert_string_equal(row_of(&result, 32 + 64 + 128)->frames[0].function, "worker_loop");
	result_free(&result);
	sample_free(sample);
}

/* Paths of mappings begin with the root directory of a process that has another one. */
static void test_root(void **state)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t system = sample_module(sample, "/srv/jail/usr/lib/libx.so", 0);
	uint32_t own = sample_module(sample, "/srv/jail/app/liby.so", 0);
	uint64_t name = sample_name(sample, "inner", NULL, 0),
		 other = sample_name(sample, "outer", NULL, 0);
	struct draft draft = draft_new(sample);
	struct result result;

	(void)state;
	sample->targets[0].root = (char *)"/srv/jail";
	sample->targets[0].directory = (char *)"/app";
	draft_native(&draft, system, name, false);
	draft_native(&draft, own, other, false);
	draft_site(&draft, 0, 1);
	result = result_of(sample, GROUP_BY_APP_LINE, NULL, false);
	assert_string_equal(row_of(&result, 1)->frames[0].function, "outer");
	assert_int_equal(row_of(&result, 1)->leaf_count, 1);
	result_free(&result);
	sample_free(sample);
}

/* Hidden frames are not shown, and make no difference; of an inlined call, the part that is not hidden stays. */
static void test_hide(void **state)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t server = sample_module(sample, "/srv/app/server", 0);
	uint64_t one = sample_inlined(sample, "std::vector<int>::push_back(int)", "shop::add(int)",
				      "shop.cc", 20);
	uint64_t two = sample_inlined(sample, "std::vector<int>::resize(int)", "shop::add(int)",
				      "shop.cc", 20);
	uint64_t own = sample_name(sample, "shop::add(int)", "shop.cc", 20);
	uint64_t start = sample_name(sample, "main", "shop.cc", 99);
	const uint64_t inner[] = { one, two, own, start };
	struct frame_rules rules = { 0 };
	const struct report_site *row;
	struct result result;
	size_t i;

	(void)state;
	/* The same texts, as a symbolizer has them of a module. */
	sample->names[two].items[1] = sample->names[one].items[1];
	sample->names[own].items[0] = sample->names[one].items[1];
	for (i = 0; i < 4; i++) {
		struct draft draft = draft_new(sample);

		draft_native(&draft, server, inner[i], false);
		draft_native(&draft, server, start, false);
		draft_site(&draft, 0, 1u << i);
	}
	assert_int_equal(frame_rules_add(&rules.hide, "@std", NULL), 0);
	result = result_of(sample, GROUP_BY_SHOWN, &rules, false);
	assert_int_equal(result.report->site_count, 2);
	row = row_of(&result, 1 + 2 + 4);
	assert_int_equal(row->frame_count, 2);
	assert_string_equal(row->frames[0].function, "shop::add(int)");
	assert_string_equal(row->frames[1].function, "main");
	result_free(&result);
	result = result_of(sample, GROUP_BY_FUNCTION, &rules, false);
	assert_string_equal(row_of(&result, 1 + 2 + 4)->frames[0].function, "shop::add(int)");
	result_free(&result);
	assert_int_equal(frame_rules_add(&rules.hide, "^(shop::|main$)", NULL), 0);
	result = result_of(sample, GROUP_BY_SHOWN, &rules, false);
	assert_int_equal(result.report->site_count, 1);
	assert_int_equal(result.sites[0].frame_count, 0);
	assert_int_equal(result.sites[0].frames_hidden, 2);
	result_free(&result);
	frame_rules_free(&rules);
	sample_free(sample);
}

/* --only: other sites stay in the totals, and are counted. */
static void test_only(void **state)
{
	struct sample *sample = sample_new_empty(1);
	struct frame_rules rules = { 0 };
	struct render_options style = { 0 };
	struct result result;
	char *text;

	(void)state;
	put_ruby(sample, 1, &gem_5, &shop_71);
	put_ruby(sample, 2, &vendored_9, &shop_80);
	put_ruby(sample, 4, &shop_71, NULL);
	assert_int_equal(frame_rules_add(&rules.only, "/gems/quickparse-", NULL), 0);
	result = result_of(sample, GROUP_BY_APP_LINE, &rules, false);
	assert_int_equal(result.report->site_count, 1);
	assert_line(row_of(&result, 1), "shop.rb", 71);
	assert_int_equal(result.report->totals.alloc_bytes, 7);
	assert_int_equal(result.report->target_totals[0].alloc_bytes, 7);
	assert_int_equal(result.report->sites_in_use, 1);
	assert_int_equal(result.report->sites_left_out, 2);
	assert_int_equal(result.report->left_out.alloc_bytes, 6);
	text = sample_render(result.report, "text", &style);
	assert_non_null(strstr(
		text, "   6 B                                 2 sites left out by --only\n"));
	assert_null(strstr(text, "more site"));
	free(text);
	text = sample_render(result.report, "json", &style);
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	assert_non_null(strstr(text, "\"left_out\":{\"inuse_bytes\":6,"));
	free(text);
	result_free(&result);
	frame_rules_free(&rules);
	sample_free(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_app),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_leaves_verbose),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_workers_of_a_master),
		cmocka_unit_test(test_processes_without_lines),
		cmocka_unit_test(test_native),
		cmocka_unit_test(test_wrappers),
		cmocka_unit_test(test_wrappers_ids),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_hide),
		cmocka_unit_test(test_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
