/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cause is named for which memory, in which order, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "verdict/memory_verdict.h"
#include "base/memory.h"

#define MB (1ull << 20)

static struct memory_report begin(uint64_t rss)
{
	struct memory_report report = {
		.process = { .pid = 4242, .comm = "puma", .rss_bytes = rss, .threads = 21 }
	};

	return report;
}

static void check_first(struct memory_report *report, const char *cause, uint64_t bytes,
			const char *text, const char *remedy)
{
	memory_verdict_find(report);
	assert_true(report->verdict_count > 0);
	assert_string_equal(report->verdicts[0].cause, cause);
	assert_int_equal(report->verdicts[0].bytes, bytes);
	if (!strstr(report->verdicts[0].text, text))
		fail_msg("'%s' is not in '%s'", text, report->verdicts[0].text);
	if (remedy && !strstr(report->verdicts[0].remedy, remedy))
		fail_msg("'%s' is not in '%s'", remedy, report->verdicts[0].remedy);
	memory_report_free(report);
}

static void test_fragmentation(void **state)
{
	struct memory_report report = begin(130 * MB);
	struct heap_totals *heap = memory_report_add_heap(&report);

	(void)state;
	report.parts[PURPOSE_MALLOC_ARENA].rss = 107 * MB;
	*heap = (struct heap_totals){ .allocator = "glibc",
				      .arenas = 16,
				      .bins_resident = 84 * MB,
				      .top_resident = 14 * MB,
				      .thread_caches_resident = MB,
				      .live_resident = 8 * MB,
				      .trim_bytes = 77 * MB,
				      .stuck_bytes = 14 * MB };
	check_first(&report, "fragmentation", 99 * MB,
		    "99.0 MiB of 130.0 MiB RSS is free memory inside malloc (glibc), in 16 arenas "
		    "for 21 threads. malloc_trim(0) would return 77.0 MiB now, and never 14.0 MiB.",
		    "MALLOC_ARENA_MAX=2");

	/* What is beside live blocks is free, and neither returned nor stuck. */
	report = begin(130 * MB);
	heap = memory_report_add_heap(&report);
	*heap = (struct heap_totals){ .allocator = "glibc",
				      .bins_resident = 60 * MB,
				      .trim_bytes = 10 * MB,
				      .stuck_bytes = MB,
				      .shared_pages_bytes = 49 * MB };
	check_first(&report, "fragmentation", 60 * MB,
		    "would return 10.0 MiB now, and never 1.0 MiB. 49.0 MiB is beside live blocks, "
		    "in their pages, and stays until these are freed.",
		    "Live blocks keep the pages around them");

	report = begin(130 * MB);
	heap = memory_report_add_heap(&report);
	*heap = (struct heap_totals){
		.allocator = "glibc", .arenas = 1, .bins_resident = 84 * MB, .trim_bytes = 80 * MB
	};
	check_first(&report, "fragmentation", 84 * MB, "(glibc). malloc_trim(0)",
		    "Call that after a peak");

	/* Figures that an allocator has not are no figures. */
	report = begin(130 * MB);
	heap = memory_report_add_heap(&report);
	*heap = (struct heap_totals){ .allocator = "musl",
				      .arenas = HEAP_UNKNOWN,
				      .bins_resident = 84 * MB,
				      .fast_resident = HEAP_UNKNOWN,
				      .trim_bytes = HEAP_UNKNOWN,
				      .stuck_bytes = HEAP_UNKNOWN };
	check_first(&report, "fragmentation", 84 * MB, "inside malloc (musl).", NULL);
}

static void test_sparse_pages_of_a_runtime(void **state)
{
	struct memory_report report = begin(100 * MB);
	struct memory_runtime *runtime = memory_report_add_runtime(&report);

	(void)state;
	*runtime = (struct memory_runtime){
		.name = "ruby", .pages = 800, .page_bytes = 50 * MB, .sparse_pages = 480
	};
	check_first(&report, "fragmentation", 30 * MB,
		    "30.0 MiB of 100.0 MiB RSS is pages of ruby that are held by 2 % of their "
		    "slots or less (480 of them).",
		    "GC.compact");

	/* Arenas that are mostly free, of which the sparse ones are a part. */
	report = begin(70 * MB);
	runtime = memory_report_add_runtime(&report);
	*runtime = (struct memory_runtime){ .name = "python",
					    .pages = 56,
					    .page_bytes = 56 * MB,
					    .free_bytes = 43 * MB,
					    .sparse_pages = 30 };
	report.parts[PURPOSE_PYTHON_ARENA].rss = 56 * MB;
	check_first(&report, "fragmentation", 43 * MB,
		    "43.0 MiB of the 56.0 MiB in arenas of python is free, and each arena is held",
		    "before a peak");

	/* Few, and more than there are. */
	report = begin(100 * MB);
	runtime = memory_report_add_runtime(&report);
	*runtime = (struct memory_runtime){
		.name = "ruby", .pages = 800, .page_bytes = 50 * MB, .sparse_pages = 60
	};
	runtime = memory_report_add_runtime(&report);
	*runtime = (struct memory_runtime){
		.name = "ruby", .pages = 1, .page_bytes = 50 * MB, .sparse_pages = 2
	};
	report.parts[PURPOSE_CODE].rss = MB;
	check_first(&report, "none", MB, "", NULL);
}

static void test_live(void **state)
{
	struct memory_report report = begin(500 * MB);
	struct heap_totals *heap = memory_report_add_heap(&report);

	(void)state;
	*heap = (struct heap_totals){ .allocator = "jemalloc",
				      .live_blocks = 1234567,
				      .live_resident = 400 * MB,
				      .bins_resident = 20 * MB };
	check_first(&report, "heap", 400 * MB, "1,234,567 live blocks", "tracer -p 4242");
}

static void test_parts(void **state)
{
	static const struct {
		enum purpose purpose;
		const char *cause, *text;
	} cases[] = {
		{ PURPOSE_RUBY_HEAP, "objects", "Ruby" },
		{ PURPOSE_PYTHON_ARENA, "objects", "Python" },
		{ PURPOSE_JAVA_HEAP, "runtime", "Java" },
		{ PURPOSE_THREAD_STACK, "stacks", "stacks of threads" },
		{ PURPOSE_TMPFS, "shared", "tmpfs" },
		{ PURPOSE_FILE, "files", "page cache" },
		{ PURPOSE_UNKNOWN, "mapped", "anonymous" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct memory_report report = begin(100 * MB);

		report.parts[cases[i].purpose].rss = 60 * MB;
		check_first(&report, cases[i].cause, 60 * MB, cases[i].text, NULL);
	}
}

/* Threads that nobody joins are a leak long before their stacks are much memory. */
static void test_ended(void **state)
{
	struct memory_report report = begin(100 * MB);

	(void)state;
	report.parts[PURPOSE_ENDED_STACK] =
		(struct purpose_sum){ .rss = 2 * MB, .mapped = 1600 * MB, .count = 200 };
	check_first(&report, "stacks", 2 * MB, "200 threads have ended", "pthread_join");
}

static struct memory_report grown(uint64_t rss, uint64_t before, uint64_t pss, uint64_t pss_before)
{
	struct memory_report report = begin(rss);

	report.since_ns = 10000000000;
	report.parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report.parts_before));
	report.parts[PURPOSE_MALLOC_ARENA].rss = rss;
	report.parts[PURPOSE_MALLOC_ARENA].pss = pss;
	report.parts_before[PURPOSE_MALLOC_ARENA].rss = before;
	report.parts_before[PURPOSE_MALLOC_ARENA].pss = pss_before;
	return report;
}

/* Pages of live blocks that are used for the first time are not free. */
static void test_growth_of_used_pages(void **state)
{
	struct memory_report report = grown(60 * MB, 40 * MB, 60 * MB, 40 * MB);

	(void)state;
	*memory_report_add_heap(&report) =
		(struct heap_totals){ .allocator = "glibc",
				      .growth_live_resident = 20 * (int64_t)MB };
	check_first(&report, "growth", 20 * MB,
		    "20.0 MiB more in memory than 10.0 s ago, of it 20.0 MiB in live blocks: the "
		    "program has used more of their pages.",
		    NULL);
}

/* Processes stop sharing pages; a group is charged with what is in none of them; a small program grows by a fifth. */
static void test_growth_beyond_rss(void **state)
{
	struct memory_report report = grown(100 * MB, 100 * MB, 60 * MB, 30 * MB);

	(void)state;
	check_first(&report, "growth", 30 * MB, "PSS has grown by 30.0 MiB in 10.0 s", NULL);
	report = grown(100 * MB, 100 * MB, 100 * MB, 100 * MB);
	report.group = (struct memory_group){ .known = true,
					      .asked = true,
					      .growth_bytes = 20 * (int64_t)MB,
					      .file_bytes = HEAP_UNKNOWN,
					      .shmem_bytes = HEAP_UNKNOWN };
	check_first(&report, "growth", 20 * MB, "no memory of this process", NULL);
	report = grown(MB, MB - MB / 5, MB, MB - MB / 5);
	check_first(&report, "growth", MB / 5, "more in 10.0 s: malloc: arenas", NULL);
}

/* Where it is not known what is in memory, nothing is judged by what was seen. */
static void test_pages_unknown(void **state)
{
	struct memory_report report = begin(900 * MB);

	(void)state;
	report.parts[PURPOSE_UNKNOWN].rss = 200 * MB;
	report.pages_unknown = true;
	memory_verdict_find(&report);
	assert_int_equal(report.verdict_count, 0);
	memory_report_free(&report);
}

/* Shared memory that no process maps is in no RSS, and is not taken back. */
static void test_shared_memory(void **state)
{
	struct memory_report report = begin(2 * MB);
	size_t i;

	(void)state;
	report.group = (struct memory_group){ .known = true,
					      .asked = true,
					      .usage_bytes = 84 * MB,
					      .limit_bytes = HEAP_UNKNOWN,
					      .anon_bytes = MB,
					      .file_bytes = 81 * MB,
					      .shmem_bytes = 80 * MB };
	memory_verdict_find(&report);
	for (i = 0; i < report.verdict_count; i++) {
		assert_string_not_equal(report.verdicts[i].cause, "page-cache");
		assert_string_not_equal(report.verdicts[i].cause, "none");
	}
	memory_report_free(&report);
	report = begin(2 * MB);
	report.group = (struct memory_group){ .known = true,
					      .asked = true,
					      .usage_bytes = 84 * MB,
					      .file_bytes = 81 * MB,
					      .shmem_bytes = 80 * MB };
	check_first(&report, "shared-memory", 80 * MB,
		    "80.0 MiB of the 84.0 MiB that its control group is charged with is shared "
		    "memory: /dev/shm, memfd, tmpfs. The process maps 0 B of it in memory.",
		    "cannot take it back without swap");
}

static void test_besides(void **state)
{
	struct memory_report report = begin(0);

	(void)state;
	report.group = (struct memory_group){ .known = true,
					      .usage_bytes = 1000 * MB,
					      .limit_bytes = 1100 * MB,
					      .anon_bytes = 200 * MB,
					      .file_bytes = 800 * MB,
					      .shmem_bytes = HEAP_UNKNOWN };
	check_first(&report, "page-cache", 800 * MB, "page cache", "limit");
	report = begin(0);
	report.children = 4;
	report.children_rss_bytes = 400 * MB;
	check_first(&report, "children", 400 * MB, "descendants (4)", "--tree 4242");
	report = begin(100 * MB);
	report.kernel.table_bytes = 64 * MB;
	check_first(&report, "page-tables", 64 * MB, "page tables", NULL);
	report = begin(100 * MB);
	report.kernel = (struct memory_kernel){ .table_bytes = HEAP_UNKNOWN,
						.sockets = 3,
						.queued_bytes = 90 * MB };
	check_first(&report, "sockets", 90 * MB, "3 sockets", NULL);
}

/* Where the sentence about page cache stands; -1 = nowhere. The process has so much of the 200 MB of its group that are anonymous. */
static int find_cache(bool asked, uint64_t rss, uint64_t limit, const char *growth)
{
	struct memory_report report = begin(rss);
	int found = -1;
	size_t i;

	report.parts[PURPOSE_MALLOC_MAIN].rss = rss;
	report.group = (struct memory_group){ .known = true,
					      .asked = asked,
					      .usage_bytes = 1000 * MB,
					      .limit_bytes = limit,
					      .anon_bytes = 200 * MB,
					      .file_bytes = 800 * MB,
					      .shmem_bytes = HEAP_UNKNOWN };
	if (growth) {
		report.parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report.parts_before));
		report.since_ns = 1000000000;
		report.parts[PURPOSE_RUBY_HEAP].rss = 50 * MB;
	}
	memory_verdict_find(&report);
	for (i = 0; i < report.verdict_count; i++)
		if (!strcmp(report.verdicts[i].cause, "page-cache"))
			found = (int)i;
	if (growth)
		assert_string_equal(report.verdicts[0].cause, growth);
	memory_report_free(&report);
	return found;
}

/* It leads where the look is at a group, but for growth; else it is last, and there only if the account says something about the process. */
static void test_cache(void **state)
{
	(void)state;
	assert_int_equal(find_cache(true, 150 * MB, HEAP_UNKNOWN, NULL), 0);
	assert_int_equal(find_cache(true, 20 * MB, HEAP_UNKNOWN, NULL), 0);
	assert_true(find_cache(true, 150 * MB, HEAP_UNKNOWN, "growth") > 0);
	assert_true(find_cache(false, 190 * MB, HEAP_UNKNOWN, NULL) > 0);
	assert_true(find_cache(false, 120 * MB, 1500 * MB, NULL) > 0);
	assert_int_equal(find_cache(false, 120 * MB, HEAP_UNKNOWN, NULL), -1);
	assert_int_equal(find_cache(false, 20 * MB, 1500 * MB, NULL), -1);
	assert_true(find_cache(false, 20 * MB, 1100 * MB, NULL) > 0);
}

/* Growth ranks first, however large the rest is. */
static void test_growth(void **state)
{
	struct memory_report report = begin(1000 * MB);

	(void)state;
	report.parts[PURPOSE_RUBY_HEAP].rss = 800 * MB;
	report.parts[PURPOSE_MALLOC_MAIN].rss = 100 * MB;
	report.parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report.parts_before));
	report.parts_before[PURPOSE_RUBY_HEAP].rss = 800 * MB;
	report.parts_before[PURPOSE_MALLOC_MAIN].rss = 80 * MB;
	report.since_ns = 10000000000;
	check_first(&report, "growth", 20 * MB, "20.0 MiB more in 10.0 s: malloc: main heap.",
		    NULL);

	/* Of several processes: none has the number 0. */
	report = begin(1000 * MB);
	report.process.pid = 0;
	*memory_report_add_heap(&report) =
		(struct heap_totals){ .allocator = "glibc", .growth_bytes = 30 * (int64_t)MB };
	report.since_ns = 10000000000;
	check_first(&report, "growth", 30 * MB, "have grown by 30.0 MiB",
		    "'tracer' with the same processes");
}

/* A report with an empty runtime, since a look 10 s before. */
static struct memory_report begin_runtime(const char *name, struct memory_runtime **ret_runtime)
{
	struct memory_report report = begin(100 * MB);

	report.since_ns = 10000000000;
	*ret_runtime = memory_report_add_runtime(&report);
	(*ret_runtime)->name = name;
	return report;
}

static void test_growth_of_classes(void **state)
{
	struct memory_runtime *runtime;
	struct memory_report report = begin_runtime("python", &runtime);
	struct memory_class *class;

	(void)state;
	/* The class that has grown most need not be the largest one. */
	*memory_runtime_add_class(runtime) = (struct memory_class){ .name = "str", .live = 100 };
	class = memory_runtime_add_class(runtime);
	*class = (struct memory_class){ .name = "app.Session",
					.growth_objects = 20000,
					.growth_bytes = 4 * (int64_t)MB,
					.live = 39000,
					.newborn = 11000,
					.holders = memory_alloc(1, sizeof(char *)),
					.holder_count = 1,
					.holder_percent = 100 };
	class->holders[0] = memory_copy_string("global ['cache'] of module app");
	check_first(&report, "growth", 4 * MB,
		    "20,000 more objects of app.Session (python) hold 4.0 MiB more. 11,000 are "
		    "newer than the last collection, and may be garbage",
		    NULL);

	/* Most of a class is new: what holds it holds what is new. */
	report = begin_runtime("python", &runtime);
	class = memory_runtime_add_class(runtime);
	*class = (struct memory_class){ .name = "app.Session",
					.growth_objects = 20000,
					.growth_bytes = 4 * (int64_t)MB,
					.live = 25000,
					.holders = memory_alloc(1, sizeof(char *)),
					.holder_count = 1,
					.holder_percent = 100 };
	class->holders[0] = memory_copy_string("global ['cache'] of module app");
	check_first(&report, "growth", 4 * MB,
		    "20,000 more objects of app.Session (python) hold 4.0 MiB more.",
		    "Held by global ['cache'] of module app.");
}

/* What may be garbage does not hide what is in use. */
static void test_growth_of_newborn(void **state)
{
	struct memory_runtime *runtime;
	struct memory_report report = begin_runtime("ruby", &runtime);

	(void)state;
	*memory_runtime_add_class(runtime) = (struct memory_class){ .name = "Temp",
								    .growth_objects = 90000,
								    .growth_bytes = 8 * (int64_t)MB,
								    .newborn = 140000 };
	*memory_runtime_add_class(runtime) = (struct memory_class){ .name = "Session",
								    .growth_objects = 20000,
								    .growth_bytes = 4 * (int64_t)MB,
								    .live = 39000,
								    .newborn = 400 };
	*memory_runtime_add_class(runtime) = (struct memory_class){ .name = "Array",
								    .growth_objects = 20000,
								    .growth_bytes = 3 * (int64_t)MB,
								    .live = 39000 };
	memory_verdict_find(&report);
	assert_int_equal(report.verdict_count, 2);
	assert_non_null(strstr(report.verdicts[0].text, "90,000 more objects of Temp (ruby)"));
	assert_string_equal(report.verdicts[1].text,
			    "20,000 more objects of Session (ruby) hold 4.0 MiB more.");
	memory_report_free(&report);

	/* One that is large, and of which it is not known whether it is new, as in CPython. */
	report = begin_runtime("python", &runtime);
	*memory_runtime_add_class(runtime) = (struct memory_class){
		.name = "bytes", .growth_objects = 1, .growth_bytes = 4 * (int64_t)MB, .live = 39000
	};
	memory_verdict_find(&report);
	assert_string_equal(report.verdicts[0].text,
			    "1 more object of bytes (python) holds 4.0 MiB more.");
	memory_report_free(&report);
}

/* What others have stands behind what the process has. */
static void test_others(void **state)
{
	struct memory_report report = begin(100 * MB);

	(void)state;
	report.parts[PURPOSE_CODE].rss = 2 * MB;
	report.children = 4;
	report.children_rss_bytes = 400 * MB;
	check_first(&report, "none", 2 * MB, "the largest part is code", NULL);
}

/* Of several processes, what they share counts once in PSS: each figure says what it is. */
static void test_several(void **state)
{
	struct memory_report report = begin(245 * MB);
	bool unknown;

	(void)state;
	for (unknown = false;; unknown = true) {
		report = begin(245 * MB);
		report.process.pid = 0;
		report.process.pss_bytes = 126 * MB;
		report.pss_unknown = unknown;
		memory_report_add_member(&report);
		memory_report_add_member(&report);
		*memory_report_add_heap(&report) = (struct heap_totals){
			.allocator = "glibc", .live_blocks = 12, .live_resident = 144 * MB
		};
		report.parts[PURPOSE_RUBY_HEAP] =
			(struct purpose_sum){ .rss = 60 * MB, .pss = 31 * MB };
		memory_verdict_find(&report);
		assert_int_equal(report.verdict_count, 2);
		assert_string_equal(report.verdicts[0].text,
				    unknown ? "144.0 MiB of 245.0 MiB RSS is in use on the heap: "
					      "12 live blocks of malloc (glibc)."
					    : "144.0 MiB of 245.0 MiB RSS (126.0 MiB PSS) is in "
					      "use on the heap: 12 live blocks of malloc (glibc).");
		assert_string_equal(report.verdicts[1].text,
				    unknown ? "60.0 MiB of 245.0 MiB RSS is Ruby's own heap of "
					      "objects."
					    : "60.0 MiB (31.0 MiB PSS) of 245.0 MiB RSS (126.0 "
					      "MiB PSS) is Ruby's own heap of objects.");
		memory_report_free(&report);
		if (unknown)
			break;
	}
}

static void test_nothing(void **state)
{
	struct memory_report report = begin(3 * MB);

	(void)state;
	report.parts[PURPOSE_CODE].rss = 2 * MB;
	check_first(&report, "none", 2 * MB, "the largest part is code", NULL);
	report = begin(0);
	memory_verdict_find(&report);
	assert_int_equal(report.verdict_count, 0);
	memory_report_free(&report);
}

/* The kind that most of the heap is, and the class that most of a runtime is. */
static void test_rows(void **state)
{
	struct memory_report report = begin(100 * MB);
	struct heap_totals *heap = memory_report_add_heap(&report);
	struct memory_runtime *runtime;
	struct memory_class *class;

	(void)state;
	*heap = (struct heap_totals){ .allocator = "glibc",
				      .live_blocks = 1000,
				      .live_bytes = 60 * MB,
				      .live_resident = 60 * MB };
	*memory_report_add_kind(&report) =
		(struct memory_kind){ .kind = "text", .blocks = 5, .bytes = 5 * MB };
	*memory_report_add_kind(&report) = (struct memory_kind){
		.kind = "class", .name = "app::Req", .holder = "< static M", .bytes = 40 * MB
	};
	check_first(&report, "heap", 60 * MB,
		    "Most of it, 40.0 MiB, is class app::Req, held by static M.", NULL);

	/* More than is in memory cannot be most of what is: the whole comes before the part. */
	report = begin(100 * MB);
	*memory_report_add_heap(&report) = (struct heap_totals){ .allocator = "glibc",
								 .live_blocks = 1,
								 .live_bytes = 600 * MB,
								 .live_resident = 60 * MB };
	*memory_report_add_kind(&report) =
		(struct memory_kind){ .kind = "zeroes", .blocks = 1, .bytes = 560 * MB };
	check_first(&report, "heap", 60 * MB,
		    "1 live block of malloc (glibc), 600.0 MiB with what is not in memory. Most of "
		    "it, 560.0 MiB, is",
		    NULL);

	report = begin(100 * MB);
	runtime = memory_report_add_runtime(&report);
	runtime->name = "ruby";
	memory_runtime_add_class(runtime)->name = "String";
	class = memory_runtime_add_class(runtime);
	*class = (struct memory_class){ .name = "Session",
					.live = 30000,
					.newborn = 9400,
					.slot_bytes = 30 * MB,
					.other_bytes = 10 * MB };
	class->holders = memory_alloc(1, sizeof(char *));
	class->holders[0] = memory_copy_string("constant App");
	class->holder_count = 1;
	class->holder_percent = 50;
	check_first(&report, "objects", 40 * MB,
		    "39,400 objects of Session (ruby) hold 40.0 MiB of 100.0 MiB RSS.",
		    "Held by constant App.");
}

/* A class comes before the blocks that it has, and other causes stay first. */
static void test_rows_of_classes(void **state)
{
	struct memory_report report = begin(100 * MB);
	struct heap_totals *heap = memory_report_add_heap(&report);
	struct memory_runtime *runtime;
	struct memory_class *class;

	(void)state;
	*heap = (struct heap_totals){ .allocator = "glibc",
				      .live_blocks = 1000,
				      .live_bytes = 45 * MB,
				      .live_resident = 45 * MB,
				      .bins_resident = 50 * MB };
	report.parts[PURPOSE_RUBY_HEAP].rss = 40 * MB;
	runtime = memory_report_add_runtime(&report);
	runtime->name = "ruby";
	*memory_runtime_add_class(runtime) =
		(struct memory_class){ .name = "Session", .live = 300, .slot_bytes = 16 * MB };
	memory_verdict_find(&report);
	assert_int_equal(report.verdict_count, 3);
	assert_string_equal(report.verdicts[0].cause, "fragmentation");
	assert_string_equal(report.verdicts[1].cause, "objects");
	assert_string_equal(report.verdicts[2].cause, "heap");
	memory_report_free(&report);

	/* Who holds some of many is not who holds them. */
	report = begin(100 * MB);
	report.parts[PURPOSE_PYTHON_ARENA].rss = 40 * MB;
	runtime = memory_report_add_runtime(&report);
	runtime->name = "python";
	class = memory_runtime_add_class(runtime);
	*class = (struct memory_class){ .name = "str", .live = 300, .slot_bytes = 30 * MB };
	class->holders = memory_alloc(1, sizeof(char *));
	class->holders[0] = memory_copy_string("global ['x'] of module y");
	class->holder_count = 1;
	class->holder_percent = 33;
	memory_verdict_find(&report);
	assert_int_equal(report.verdict_count, 1); /* instead of what its heap is */
	assert_null(report.verdicts[0].remedy);
	check_first(&report, "objects", 30 * MB, "300 objects of str (python) hold", NULL);

	report = begin(100 * MB);
	report.parts[PURPOSE_RUBY_HEAP].rss = 30 * MB;
	check_first(&report, "objects", 30 * MB, "Ruby's own heap", "--objects");
}

/* What malloc has more of, and is free, is no leak; and what objects have more of is no block's. */
static void test_growth_of_malloc(void **state)
{
	struct memory_report report = begin(100 * MB);
	struct memory_runtime *runtime;

	(void)state;
	report.since_ns = 10000000000;
	report.parts[PURPOSE_MALLOC_ARENA].rss = 60 * MB;
	report.parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report.parts_before));
	report.parts_before[PURPOSE_MALLOC_ARENA].rss = 20 * MB;
	*memory_report_add_heap(&report) =
		(struct heap_totals){ .allocator = "glibc", .growth_bytes = -(int64_t)MB };
	memory_verdict_find(&report);
	assert_int_equal(report.verdict_count, 1);
	check_first(&report, "growth", 40 * MB,
		    "malloc has 40.0 MiB more in memory than 10.0 s ago, of it 0 B in live "
		    "blocks: most is free, as a burst leaves it.",
		    NULL);

	report = begin(100 * MB);
	report.since_ns = 10000000000;
	*memory_report_add_heap(&report) =
		(struct heap_totals){ .allocator = "glibc", .growth_bytes = 5 * (int64_t)MB };
	runtime = memory_report_add_runtime(&report);
	runtime->name = "python";
	*memory_runtime_add_class(runtime) = (struct memory_class){
		.name = "str", .growth_objects = 200, .growth_bytes = 5 * (int64_t)MB
	};
	memory_verdict_find(&report);
	assert_int_equal(report.verdict_count, 1);
	check_first(&report, "growth", 5 * MB, "200 more objects of str (python)", NULL);
}

static void test_threads(void **state)
{
	struct memory_report report = begin(100 * MB);

	(void)state;
	report.parts[PURPOSE_THREAD_STACK] =
		(struct purpose_sum){ .rss = 2 * MB, .mapped = 1600 * MB, .count = 200 };
	check_first(&report, "threads", 2 * MB, "200 threads are running besides the main one",
		    "'tracer memory -p 4242 10 6'");
}

static void test_growth_of_rows(void **state)
{
	struct memory_report report = begin(100 * MB);

	(void)state;
	report.since_ns = 1000000000;
	report.parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report.parts_before));
	report.parts_before[PURPOSE_ENDED_STACK] = (struct purpose_sum){ .count = 2 };
	report.parts[PURPOSE_ENDED_STACK] =
		(struct purpose_sum){ .rss = 8192, .mapped = 160 * MB, .count = 22 };
	check_first(&report, "growth", 8192,
		    "20 more threads have ended, and nobody has joined them: their stacks take "
		    "160.0 MiB",
		    NULL);

	report = begin(100 * MB);
	report.since_ns = 1000000000;
	*memory_report_add_heap(&report) =
		(struct heap_totals){ .allocator = "glibc", .growth_bytes = 20 * MB };
	*memory_report_add_kind(&report) = (struct memory_kind){ .kind = "class",
								 .name = "app::Req",
								 .growth_bytes = 15 * MB };
	check_first(&report, "growth", 20 * MB,
		    "have grown by 20.0 MiB in 1.0 s, 15.0 MiB of it class app::Req.",
		    "tracer -p 4242");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fragmentation),
		cmocka_unit_test(test_sparse_pages_of_a_runtime),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_besides),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_growth_of_classes),
		cmocka_unit_test(test_growth_of_newborn),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rows_of_classes),
		cmocka_unit_test(test_growth_of_malloc),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_growth_of_rows),
		cmocka_unit_test(test_growth_of_used_pages),
		cmocka_unit_test(test_growth_beyond_rss),
		cmocka_unit_test(test_shared_memory),
		cmocka_unit_test(test_pages_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
