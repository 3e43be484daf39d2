/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of `tracer memory`: expected outputs; no line is wider than 80 columns, whatever names there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "verdict/memory_verdict.h"
#include "base/memory.h"
#include "base/text.h"
#include "render/memory.h"
#include "unit/expected.h"

#define KB 1024ull
#define MB (1ull << 20)
#define NASTY "e\033[31mvil\n\xff\xe2\x80\xae"

static void fill_parts(struct memory_report *report)
{
	report->parts[PURPOSE_MALLOC_ARENA] =
		(struct purpose_sum){ 94 * MB, 94 * MB, 0, 96 * MB, 15 };
	report->parts[PURPOSE_MALLOC_MAIN] =
		(struct purpose_sum){ 13 * MB, 13 * MB, 0, 14 * MB, 1 };
	report->parts[PURPOSE_RUBY_HEAP] = (struct purpose_sum){ 7 * MB, 7 * MB, 0, 7 * MB, 418 };
	report->parts[PURPOSE_CODE] = (struct purpose_sum){ 6 * MB, 3 * MB, 0, 8 * MB, 12 };
	report->parts[PURPOSE_THREAD_STACK] =
		(struct purpose_sum){ 384 * KB, 384 * KB, 0, 40 * MB, 20 };
	report->parts[PURPOSE_BSS] = (struct purpose_sum){ 0, 0, 0, 48 * KB, 3 };
}

static void fill_heap(struct memory_report *report)
{
	struct heap_totals *heap = memory_report_add_heap(report);

	*heap = (struct heap_totals){ .allocator = "glibc",
				      .version = "2.36",
				      .arenas = 16,
				      .live_blocks = 60933,
				      .live_bytes = 8 * MB,
				      .mapped_blocks = 2,
				      .mapped_bytes = 392 * KB,
				      .overhead_bytes = 476 * KB,
				      .free_bytes = 99 * MB,
				      .bins_resident = 84 * MB,
				      .fast_resident = 39 * KB,
				      .thread_caches_resident = 527 * KB,
				      .top_resident = 14 * MB,
				      .live_resident = 8 * MB + 476 * KB,
				      .trim_bytes = 77 * MB,
				      .stuck_bytes = 14 * MB,
				      .shared_pages_bytes = 7 * MB };
	buffer_append_string(&heap->remarks, "Arena 3 changed while it was walked.\n");
}

static void fill_objects(struct memory_report *report)
{
	struct memory_runtime *runtime = memory_report_add_runtime(report);
	struct memory_kind *kind = memory_report_add_kind(report);

	*runtime = (struct memory_runtime){ .name = "ruby",
					    .version = "3.1.2",
					    .pages = 418,
					    .page_bytes = 7 * MB,
					    .slots = 170805,
					    .free_slots = 131661,
					    .minor_gcs = 40,
					    .major_gcs = 6,
					    .gc_ns = 212000000 };
	*memory_runtime_add_class(runtime) =
		(struct memory_class){ .name = "Nokogiri::XML::Document {xmlDoc}",
				       .live = 120,
				       .slot_bytes = 4800,
				       .other_bytes = 2 * MB,
				       .native_bytes = 2 * MB };
	*memory_runtime_add_class(runtime) = (struct memory_class){ .name = "String",
								    .live = 18105,
								    .newborn = 1200,
								    .garbage = 310,
								    .old = 17000,
								    .slot_bytes = 772200,
								    .other_bytes = 1024 };
	*kind = (struct memory_kind){ .kind = "class",
				      .name = "app::Req",
				      .holder = "< static M",
				      .size = 64,
				      .blocks = 20000,
				      .bytes = 1280000 };
	/* Too small to explain anything. */
	kind = memory_report_add_kind(report);
	*kind = (struct memory_kind){ .kind = "text", .blocks = 5, .bytes = 500 * KB };
	*memory_report_add_copies(report) = (struct memory_copies){ .kind = "text",
								    .name = "",
								    .holder = "",
								    .sample = "",
								    .size = 512,
								    .same_bytes = 256,
								    .blocks = 1000,
								    .bytes = 512000,
								    .address = 0x7f0010 };
}

static struct memory_report sample(void)
{
	struct memory_report report = { .process = { .pid = 21036,
						     .comm = "puma",
						     .rss_bytes = 120 * MB + 392 * KB,
						     .pss_bytes = 117 * MB + 384 * KB,
						     .mapped_bytes = 165 * MB + 48 * KB,
						     .threads = 21,
						     .mappings = 393 } };

	fill_parts(&report);
	fill_heap(&report);
	fill_objects(&report);
	report.kernel = (struct memory_kernel){ .table_bytes = 528 * KB,
						.stack_bytes = 336 * KB,
						.sockets = 1,
						.pipes = 5,
						.files = 4,
						.other_files = 3 };
	report.group = (struct memory_group){ .known = true,
					      .usage_bytes = 140 * MB,
					      .limit_bytes = HEAP_UNKNOWN,
					      .anon_bytes = 115 * MB,
					      .file_bytes = 20 * MB,
					      .shmem_bytes = 0,
					      .kernel_bytes = HEAP_UNKNOWN,
					      .slab_bytes = MB,
					      .socket_bytes = 0 };
	report.duration_ns = 274000000;
	report.read_bytes = 120 * MB;
	report.reads = 19907;
	report.wall_time = 1767225600;
	return report;
}

static char *render(struct memory_report *report, bool json)
{
	const struct render_memory_options options = { .top = 10 };
	struct buffer text = { 0 };

	memory_verdict_find(report);
	(json ? render_memory_json : render_memory_text)(report, &options, &text);
	memory_report_free(report);
	return text.data;
}

static void assert_width(const char *text)
{
	struct buffer line = { 0 };
	size_t length;

	for (; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		buffer_clear(&line);
		buffer_append(&line, text, length);
		if (length && text_width(line.data) > 80)
			fail_msg("wider than 80 columns: %s", line.data);
		assert_null(strchr(length ? line.data : "", '\033'));
	}
	buffer_free(&line);
}

static void test_text(void **state)
{
	struct memory_report report = sample();
	char *text = render(&report, false);

	(void)state;
	setenv("TZ", "UTC", 1);
	assert_width(text);
	assert_expected("memory.txt", text);
	free(text);
}

static void test_json(void **state)
{
	struct memory_report report = sample();
	char *text = render(&report, true);

	(void)state;
	assert_expected("memory.json", text);
	free(text);
}

/* The members of a report, by a checker that shares no code with the writer; and the manual page has them all. */
static void test_schema(void **state)
{
	(void)state;
	assert_int_equal(
		system("python3 tests/data/render/check_memory.py < tests/data/render/memory.json"),
		0);
}

static void test_growth(void **state)
{
	struct memory_report report = sample();
	char *text;

	(void)state;
	report.parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report.parts_before));
	memcpy(report.parts_before, report.parts, sizeof(report.parts));
	report.parts_before[PURPOSE_MALLOC_MAIN].rss -= 5 * MB;
	report.parts_before[PURPOSE_CODE].rss += MB;
	report.since_ns = 10000000000;
	report.kinds[0].born = 2900;
	report.kinds[0].written = 12;
	report.kinds[0].unchanged = 20510;
	report.kinds[0].retained = 1400;
	text = render(&report, false);
	assert_width(text);
	assert_expected("memory-growth.txt", text);
	free(text);
}

/* With -v there are all columns, also where nothing is swapped out, and with growth. */
static void test_verbose(void **state)
{
	const struct render_memory_options options = { .base.verbose = true, .top = 10 };
	struct memory_report report = sample();
	struct buffer text = { 0 };

	(void)state;
	report.parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report.parts_before));
	report.since_ns = 10000000000;
	render_memory_text(&report, &options, &text);
	assert_width(text.data);
	assert_non_null(strstr(text.data, "     GROWTH        RSS      %        PSS       SWAP     "
					  "MAPPED  PURPOSE\n"));
	buffer_free(&text);
	memory_report_free(&report);
}

/* A class in which much is new, or garbage, says so. */
static void test_states(void **state)
{
	struct memory_report report = sample();
	char *text;

	(void)state;
	report.runtimes[0].classes[0].newborn = 30;
	report.runtimes[0].classes[1].newborn = 18105;
	report.runtimes[0].classes[1].garbage = 12000;
	text = render(&report, false);
	assert_width(text);
	assert_null(strstr(text, "30 newborn"));
	assert_non_null(strstr(text, "  String\n                        18,105 newborn, which no "
				     "GC has seen yet; 12,000 garbage\n"));
	free(text);
	report = sample();
	report.runtimes[0].classes[1].garbage = 12000;
	text = render(&report, false);
	assert_non_null(strstr(text, "                        besides 12,000 garbage\n"));
	free(text);
}

/* Names of processes, classes and kinds, and remarks, are untrusted. */
static void test_nasty(void **state)
{
	struct memory_report report = sample();
	char *text;
	int i;

	(void)state;
	memcpy(report.process.comm, "e\033[31mvil\n", 11);
	report.runtimes[0].classes[0].name = NASTY NASTY NASTY NASTY NASTY NASTY NASTY NASTY NASTY;
	report.kinds[0].name = NASTY NASTY NASTY NASTY NASTY NASTY NASTY NASTY NASTY NASTY NASTY;
	report.kinds[0].holder = NASTY;
	report.kinds[0].sample = NASTY;
	report.copies[0].name = report.copies[0].holder = report.copies[0].sample = NASTY;
	memory_report_remark(&report, "%s", NASTY);
	for (i = 0; i < PURPOSE_COUNT; i++)
		report.parts[i] = (struct purpose_sum){ UINT64_MAX / 64, UINT64_MAX / 64,
							UINT64_MAX / 64, UINT64_MAX / 64,
							UINT64_MAX / 64 };
	for (i = 0; i < 2; i++)
		*memory_report_add_member(&report) = report.process;
	text = render(&report, false);
	assert_width(text);
	free(text);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

/* Of several processes one could be looked at: it has its name and number. */
static void test_one_of_several(void **state)
{
	struct memory_report report = sample();
	char *text;

	(void)state;
	*memory_report_add_member(&report) = report.process;
	report.process.pid = 0;
	report.process.comm[0] = '\0';
	text = render(&report, false);
	assert_non_null(strstr(text, "puma (21036): RSS 120.4 MiB, PSS 117.4 MiB, 21 threads"));
	free(text);
}

/* The remark has the reason, once. */
static void test_pss_unknown(void **state)
{
	struct memory_report report = sample();
	char *text;

	(void)state;
	report.pss_unknown = true;
	memory_report_remark(&report, "PSS is not known: there was no time.");
	text = render(&report, false);
	assert_int_equal(count_of(text, "PSS is not known"), 1);
	assert_int_equal(count_of(text, ", PSS "), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	       cmocka_unit_test(test_json),
		cmocka_unit_test(test_schema),	       cmocka_unit_test(test_growth),
		cmocka_unit_test(test_states),	       cmocka_unit_test(test_nasty),
		cmocka_unit_test(test_one_of_several), cmocka_unit_test(test_pss_unknown),
		cmocka_unit_test(test_verbose),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
