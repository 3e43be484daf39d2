/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a report on lost blocks, which follow the evidence; and what of the kernel's texts they rest on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "render/leaks.h"
#include "system/kernel_words.h"
#include "system/thread_calls.h"
#include "system/thread_rest.h"

static struct leak_report report_of_one(void)
{
	struct leak_report report = { .pid = 4242,
				      .comm = "na\033me",
				      .passes = 4,
				      .is_quiet = true,
				      .has_registers = true };
	struct leak_group *group = leak_report_add_group(&report);

	group->verdict = LEAK_DEFINITE;
	group->kind = "class";
	group->name = "app::\033[31mReq";
	group->size = 72;
	group->own = (struct leak_sum){ 3, 216 };
	group->indirect = (struct leak_sum){ 1, 24 };
	group->address = 0x1000;
	report.sums[LEAK_DEFINITE] = group->own;
	report.sums[LEAK_INDIRECT] = group->indirect;
	return report;
}

static void check_text(const struct leak_report *report, const char *has, const char *has_not)
{
	const struct render_leaks_options options = { .base = { .columns = 80 }, .top = 10 };
	struct buffer text = { 0 };

	render_leaks_text(report, &options, &text);
	assert_non_null(strstr(text.data, has));
	if (has_not)
		assert_null(strstr(text.data, has_not));
	assert_null(strchr(text.data, '\033'));
	buffer_free(&text);
}

/* Each thing that was not seen takes the certainty away; without a quiet pass there is none. */
static void test_words_follow_the_evidence(void **state)
{
	struct leak_report report = report_of_one();

	(void)state;
	check_text(&report, "definitely lost", "probably");
	report.is_quiet = false;
	check_text(&report, "  lost  ", "definitely");
	check_text(&report, "the process ran meanwhile", "probably");
	report.is_restless = true;
	check_text(&report, "probably lost", "definitely");
	report.is_restless = false;
	report.is_quiet = true;
	report.swapped_bytes = 1 << 20;
	check_text(&report, "1.0 MiB are swapped out", "definitely");
	report.swapped_bytes = 0;
	report.unread_bytes = 4096;
	check_text(&report, "probably lost", "definitely");
	report.unread_bytes = 0;
	report.heap_unread = true;
	check_text(&report, "probably lost", "definitely");
	report.heap_unread = false;
	assert_false(leak_report_is_much(0, 0));
	assert_true(leak_report_is_much(1, 0));
	assert_false(leak_report_is_much(10, 990));
	assert_true(leak_report_is_much(11, 990));
	report.kernel_unread = true;
	check_text(&report, "probably lost", "definitely");
	report.kernel_unread = false;
	report.pages_unknown = true;
	check_text(&report, "probably lost", "definitely");
	report.pages_unknown = false;
	report.frees_unknown = true;
	check_text(&report, "probably lost", "definitely");
	report.frees_unknown = false;
	report.has_registers = false;
	check_text(&report, "probably lost", "definitely");
	leak_report_free(&report);
}

static void test_json(void **state)
{
	const struct render_leaks_options options = { 0 };
	struct leak_report report = report_of_one();
	struct buffer text = { 0 };
	json_t *root, *group;

	(void)state;
	leak_report_remark(&report, "A %s.", "remark");
	render_leaks_json(&report, &options, &text);
	assert_null(strchr(text.data, '\033'));
	root = json_loads(text.data, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "evidence")), "quiet");
	assert_true(json_is_true(json_object_get(root, "certain")));
	group = json_array_get(json_object_get(root, "groups"), 0);
	assert_string_equal(json_string_value(json_object_get(group, "kind")), "definite");
	assert_int_equal(json_integer_value(json_object_get(group, "indirect_bytes")), 24);
	assert_true(json_is_null(json_object_get(group, "frames")));
	assert_int_equal(json_array_size(json_object_get(root, "remarks")), 1);
	json_decref(root);
	report.is_quiet = false;
	buffer_clear(&text);
	render_leaks_json(&report, &options, &text);
	assert_non_null(strstr(text.data, "\"evidence\":\"4 passes\""));
	assert_non_null(strstr(text.data, "\"certain\":false"));
	buffer_free(&text);
	leak_report_free(&report);
}

/* As Linux 6.1 writes them. */
/* Signals that wait may have a value, but those that only the kernel sends, or that have no handler. */
static void test_kernel_signals(void **state)
{
	static const char none[] = "Name:\tx\nSigQ:\t3/99\nSigPnd:\t0000000000000000\n"
				   "ShdPnd:\t0000000000030100\nSigBlk:\t0000000200000000\n";
	static const char thread[] = "SigQ:\t3/99\nSigPnd:\t0000000200000000\n"
				     "ShdPnd:\t0000000000000000\n";
	static const char process[] = "SigQ:\t3/99\nSigPnd:\t0000000000000000\n"
				      "ShdPnd:\t0000000000000200\n";

	(void)state;
	assert_int_equal(kernel_words_parse_signals(none, sizeof(none) - 1), 0);
	assert_int_equal(kernel_words_parse_signals(thread, sizeof(thread) - 1),
			 KERNEL_HIDDEN_SIGNALS);
	assert_int_equal(kernel_words_parse_signals(process, sizeof(process) - 1),
			 KERNEL_HIDDEN_SIGNALS);
	assert_int_equal(kernel_words_parse_signals(process, sizeof(process) - 8), 0);
	assert_int_equal(kernel_words_parse_signals("", 0), 0);
}

static void test_kernel_words(void **state)
{
	static const char text[] =
		"pos:\t0\nflags:\t02\nmnt_id:\t15\n"
		"tfd:        5 events:       19 data:     7f0123456780  pos:0 ino:61 sdev:d\n"
		"tfd:        6 events:       19 data:                6  pos:0 ino:62 sdev:d\n"
		"tfd:        7 events:       19 data:\n"
		"ID: 0\nsignal: 10/000055555555a2a0\nnotify: signal/pid.7\nClockID: 1\n"
		"signal: 10";
	struct kernel_words words = { 0 };

	(void)state;
	kernel_words_parse(text, sizeof(text) - 1, &words);
	assert_int_equal(words.count, 3);
	assert_int_equal(words.items[0], 0x7f0123456780);
	assert_int_equal(words.items[1], 6);
	assert_int_equal(words.items[2], 0x55555555a2a0);
	free(words.items);
}

static void test_thread_calls(void **state)
{
	static const char waits[] = "0 0x3 0x7ffd0010 0x1 0x0 0x0 0x0 0x7ffd0f00 0x7f01\n";
	struct thread_registers registers = { 0 };

	(void)state;
	assert_true(thread_calls_parse(waits, sizeof(waits) - 1, &registers));
	assert_int_equal(registers.count, 8);
	assert_int_equal(registers.stack_pointer, 0x7ffd0f00);
	assert_true(thread_calls_parse("-1 0x7ffd0f00 0x7f01\n", 21, &registers));
	assert_int_equal(registers.stack_pointer, 0x7ffd0f00);
	assert_false(thread_calls_parse("running\n", 8, &registers));
	assert_false(thread_calls_parse("0 0x\n", 5, &registers));
	assert_false(thread_calls_parse("", 0, &registers));
}

/* The caller runs, so it is never at rest; what has gone is not either. */
static void test_whoever_runs_does_not_rest(void **state)
{
	struct buffer before = { 0 }, after = { 0 };

	(void)state;
	assert_false(thread_rest_read("/proc", getpid(), &before));
	assert_false(thread_rest_read("/nowhere", 1, &after));
	assert_false(thread_rest_is_same(&after, &after));
	buffer_clear(&before);
	buffer_append_string(&before, "1 2 3 4\n");
	buffer_append_string(&after, "1 2 3 5\n");
	assert_false(thread_rest_is_same(&before, &after));
	assert_true(thread_rest_is_same(&before, &before));
	buffer_free(&before);
	buffer_free(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_follow_the_evidence),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_kernel_words),
		cmocka_unit_test(test_kernel_signals),
		cmocka_unit_test(test_thread_calls),
		cmocka_unit_test(test_whoever_runs_does_not_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
