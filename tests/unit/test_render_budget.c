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

/* No estimate, no mark of one: the first moment of a trace. */
static void test_nothing(void **state)
{
	struct budget_report *report = budget_report_new();
	char *text = render(report, "text", &(struct render_options){ .columns = 80 });

	(void)state;
	assert_non_null(strstr(text, "Nothing is in use"));
	assert_non_null(strstr(text, "in 0 windows"));
	free(text);
	budget_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	       cmocka_unit_test(test_folded),
		cmocka_unit_test(test_many_processes), cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_uncounted), cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
