/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of tracing in windows: expected outputs in all widths, and that every figure that is estimated is marked as such in each
 * format. JSON is read by an independent parser (tests/data/render/check_report.py).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/notes.h"
#include "unit/budget_world.h"
#include "unit/expected.h"
#include "unit/sample.h"

/* A leak beside a cache of the same size, half of whose blocks are written to; and a mapping, which no census counts. */
static struct budget_report *make_report(void)
{
	struct budget_report *report = world_new(13);
	struct budget_heap *heap = world_add_heap(report);

	world_add_size(heap, 720, 8450 * 720, 20000);
	world_add_size(heap, 4096, 92000, 1000);
	world_add(report, &(struct world_blocks){ 1, 720, 13, 1, 1, 0, 0 });
	world_add(report, &(struct world_blocks){ 2, 720, 110, 0, 6, 0.5, 0 });
	world_add(report, &(struct world_blocks){ 3, 8192, 2, 1, 1, 0, 0 });
	return report;
}

static char *render(const struct budget_report *budget, const char *format,
		    const struct render_options *style)
{
	struct budget_estimates *estimates = budget_estimates_new(budget);
	const struct report_options options = { .top = 10, .estimates = estimates };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report;
	char *text;

	sample->snapshot.time_ns = budget->time_ns;
	budget_estimates_apply(estimates, &sample->snapshot);
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, format, style);
	report_free(report);
	sample_free(sample);
	budget_estimates_free(estimates);
	return text;
}

static void check_output(const char *name, const char *format, size_t columns)
{
	const struct render_options style = { .columns = columns, .lines = 60 };
	struct budget_report *report = make_report();
	char *text = render(report, format, &style);

	assert_expected(name, text);
	free(text);
	budget_report_free(report);
}

static void test_text(void **state)
{
	(void)state;
	check_output("budget-60.txt", "text", 60);
	check_output("budget.txt", "text", 80);
	check_output("budget-200.txt", "text", 200);
}

static void set_processes(struct budget_report *report)
{
	report->processes = 410;
	report->pass_most = 32;
	report->processes_unseen = 12;
	report->oldest_look_ns = 7500000000;
}

/* That not all were looked at just now is said; and a reason that several have, once. */
static void test_many_processes(void **state)
{
	const struct render_options wide = { .columns = 200 };
	struct budget_report *report = make_report();
	char *text, *reason;
	size_t i;

	(void)state;
	set_processes(report);
	for (i = 0; i < 2; i++)
		budget_report_add_heap(report)->reason =
			memory_copy_string("no heap was recognized");
	text = render(report, "text", &wide);
	assert_non_null(
		strstr(text, "\n410 processes, of which at most 32 are looked at in one pass: the "
			     "oldest look was 7.5 s ago, and 12 were not looked at yet\n"));
	reason = strstr(text, "no heap was recognized");
	assert_non_null(reason);
	assert_null(strstr(reason + 1, "no heap was recognized"));
	free(text);
	report->processes = 32;
	report->processes_unseen = 0;
	text = render(report, "text", &wide);
	assert_null(strstr(text, "looked at in one pass"));
	free(text);
	budget_report_free(report);
}

static void test_folded(void **state)
{
	(void)state;
	check_output("budget.folded", "folded", 0);
}

static void test_json(void **state)
{
	const struct render_options style = { 0 };
	struct budget_report *report = make_report();
	char *text;

	(void)state;
	set_processes(report);
	text = render(report, "json", &style);
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	assert_expected("budget.json", text);
	free(text);
	budget_report_free(report);
}

/* Schema 2 is the same report; without a census limits are not known. */
static void test_json_uncounted(void **state)
{
	struct budget_report *report = make_report();
	struct buffer both = { 0 };
	char *text;
	int schema;

	(void)state;
	report->heaps[0].allocator = NULL;
	report->heaps[0].reason = memory_copy_string("jemalloc's arenas\x1b[2J are not understood");
	for (schema = 1; schema <= 2; schema++) {
		text = render(report, "json", &(struct render_options){ .schema = schema });
		buffer_append_string(&both, text);
		free(text);
	}
	assert_int_equal(check_reports(both.data, both.length, ""), 2);
	assert_non_null(strstr(both.data, "\"lower_bound\":true"));
	assert_non_null(strstr(both.data, "\"high\":null"));
	buffer_free(&both);
	text = render(report, "text", &(struct render_options){ .columns = 80 });
	assert_non_null(strstr(text, "rates are lower bounds: jemalloc's arenas\\x1b[2J"));
	assert_non_null(strstr(text, "at least "));
	free(text);
	budget_report_free(report);
}

/* With -v a row has all ages: of the curve, and of what is in use. */
static void test_verbose(void **state)
{
	const struct render_options style = { .columns = 1000, .verbose = true };
	struct budget_report *report = make_report();
	char *text = render(report, "text", &style);

	(void)state;
	/* Of 13 in each of 32 windows, 2 s apart, the last a second ago: at 1 s 1 window, at 2 to 4 s 1, at 4 to 8 s 2 ... */
	assert_non_null(strstr(text, "; in use from an age of 1.0 s on 13 unchanged, 2.0 s on 13 "
				     "unchanged, 4.0 s on 26 unchanged"));
	assert_non_null(strstr(text, "; older than 1.0 s ~100 % (99-100), 2.0 s ~100 % (99-100), "
				     "4.0 s ~100 % (99-100)"));
	free(text);
	budget_report_free(report);
}

/* Each figure of the graph has its mark. */
static void test_svg(void **state)
{
	struct budget_report *report = make_report();
	char *text = render(report, "svg", &(struct render_options){ 0 });
	const char *at;
	size_t titles = 0;

	(void)state;
	assert_non_null(strstr(text, ": ~421.3 MiB in use after"));
	assert_null(strstr(text, ": 421.3 MiB"));
	for (at = strstr(text, "\"><title>"); at; at = strstr(at + 1, "\"><title>")) {
		const char *end = strstr(at, " bytes, ");

		assert_non_null(end);
		while (*--end != ':')
			;
		assert_memory_equal(end, ": ~", 3);
		titles++;
	}
	assert_in_range(titles, 10, 100);
	free(text);
	budget_report_free(report);
}

/* What no site is charged with has series of its own, by the same figures as JSON; and no figure of a site counts as counted. */
static void test_metrics(void **state)
{
	struct budget_report *report = make_report();
	char *text = render(report, "metrics", &(struct render_options){ 0 });

	(void)state;
	assert_non_null(strstr(text, "\ntracer_budget_unattributed_bytes_per_second{limit=\"mid\"} "
				     "91997.3417\n"));
	assert_non_null(
		strstr(text, "\ntracer_budget_written_bytes_per_second{limit=\"low\"} 0\n"));
	assert_non_null(strstr(text, "\ntracer_budget_growth_bytes_per_second{limit=\"high\"} "
				     "6177870."));
	assert_null(strstr(text, "quality=\"counted\""));
	assert_null(strstr(text, "tracer_site_allocated_bytes_total{"));
	free(text);
	report->heaps[0].allocator = NULL;
	text = render(report, "metrics", &(struct render_options){ 0 });
	assert_null(strstr(text, "tracer_budget_unattributed_bytes_per_second"));
	free(text);
	budget_report_free(report);
}

static void see_note(void *context, const char *line)
{
	buffer_append_string(context, line);
	buffer_append_string(context, "\n");
}

/* Formats of other tools have sentences for a reader. */
static void test_notes(void **state)
{
	struct budget_report *budget = make_report();
	struct budget_estimates *estimates = budget_estimates_new(budget);
	const struct report report = { .options = { .estimates = estimates } };
	struct buffer lines = { 0 };

	(void)state;
	notes_of_report(&report, see_note, &lines);
	assert_non_null(strstr(lines.data, "\n~ estimated from windows of tracing (--budget)"));
	assert_non_null(strstr(lines.data, "\n~ cannot be attributed: 89.8 KiB per second (95 %: "
					   "81.2 KiB to 275.2 KiB)\n"));
	assert_null(strstr(lines.data, "alive but written"));
	buffer_free(&lines);
	budget_estimates_free(estimates);
	budget_report_free(budget);
}

/* No estimate, no mark of one: the first moment of a trace. */
static void test_nothing(void **state)
{
	struct budget_report *report = budget_report_new();
	char *text = render(report, "text", &(struct render_options){ .columns = 80 });

	(void)state;
	assert_non_null(strstr(text, "hold more: no allocation was recorded."));
	assert_non_null(strstr(text, "in 0 windows"));
	free(text);
	/* Blocks that were recorded, of which none stays, are not denied. */
	report->recorded = 2275;
	text = render(report, "text", &(struct render_options){ .columns = 80 });
	assert_non_null(strstr(text, "of 2,275 blocks recorded in windows"));
	assert_null(strstr(text, "no allocation was recorded"));
	free(text);
	report->recorded = 1;
	text = render(report, "text", &(struct render_options){ .columns = 80 });
	assert_non_null(strstr(text, "of 1 block recorded in windows"));
	free(text);
	budget_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	       cmocka_unit_test(test_folded),
		cmocka_unit_test(test_many_processes), cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_uncounted), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_verbose),	       cmocka_unit_test(test_svg),
		cmocka_unit_test(test_metrics),	       cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
