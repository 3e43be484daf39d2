/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suppressions: what memcheck and LeakSanitizer take for a fit, by their manuals; and what a report has then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/glob.h"
#include "analyze/leak_rules.h"
#include "analyze/suppression_ruby.h"
#include "base/memory.h"

#define BEGIN "{\nname\nMemcheck:Leak\n"

static struct report_frame frames[] = {
	{ .function = "make", .module = "/usr/lib/libfoo.so.1", .file = "src/foo.c", .line = 12 },
	{ .module = "/usr/lib/libbar.so" },
	{ .function = "ns::Parser::parse(char*)", .module = "/opt/app" },
	{ .function = "main", .module = "/opt/app" },
};

static void add_group(struct leak_report *report, enum leak_verdict verdict)
{
	struct leak_group *group = leak_report_add_group(report);

	group->verdict = verdict;
	group->site = 1;
	group->function = "malloc";
	group->own = (struct leak_sum){ 2, 20 };
	group->indirect = (struct leak_sum){ 1, 5 };
	group->frames = memory_alloc(4, sizeof(frames[0]));
	memcpy(group->frames, frames, sizeof(frames));
	group->frame_count = 4;
	leak_sum_add(&report->sums[verdict], &group->own);
	leak_sum_add(&report->sums[LEAK_INDIRECT], &group->indirect);
}

static bool fits(const char *text)
{
	struct suppressions list = { 0 };
	struct leak_report report = { 0 };
	struct error error = { 0 };
	bool result;

	add_group(&report, LEAK_DEFINITE);
	assert_int_equal(suppressions_parse(&list, text, "file", &error), 0);
	assert_int_equal(list.count, 1);
	result = suppression_fits(&list.items[0], &report.groups[0]);
	report.groups[0].site = 0;
	assert_false(suppression_fits(&list.items[0], &report.groups[0]));
	suppressions_free(&list);
	leak_report_free(&report);
	return result;
}

static void test_memcheck(void **state)
{
	(void)state;
	assert_true(fits(BEGIN "fun:malloc\nfun:make\n}\n"));
	assert_false(fits(BEGIN "fun:make\n}\n"));
	assert_false(fits(BEGIN "fun:calloc\nfun:make\n}\n"));
	assert_true(fits(BEGIN "fun:*alloc\nfun:m?ke\nobj:*/libbar.so\n}\n"));
	assert_false(fits(BEGIN "fun:malloc\nfun:mak\n}\n"));
	assert_true(fits(BEGIN "fun:malloc\nfun:make\nfun:*\nfun:*parse*\n}\n"));
	assert_true(fits(BEGIN "...\nfun:main\n}\n"));
	assert_true(fits(BEGIN "...\nfun:main\n...\n}\n"));
	assert_true(fits(BEGIN "fun:malloc\n...\nobj:/opt/app\nfun:main\n}\n"));
	assert_false(fits(BEGIN "...\nfun:main\nfun:_start\n}\n"));
	assert_true(fits(BEGIN "fun:malloc\nsrc:foo.c:12\n}\n"));
	assert_true(fits(BEGIN "fun:malloc\nsrc:foo.c\n}\n"));
	assert_false(fits(BEGIN "fun:malloc\nsrc:foo.c:13\n}\n"));
	assert_true(fits(
		"  {  \r\n a name: { \r\n Helgrind,Memcheck:Leak\r\n  ...\r\nfun:main\r\n}\r\n"));
}

static void test_kinds(void **state)
{
	(void)state;
	assert_true(fits(BEGIN "match-leak-kinds: definite\n...\nfun:main\n}\n"));
	assert_true(fits(BEGIN "match-leak-kinds: possible,definite\n...\nfun:main\n}\n"));
	assert_true(fits(BEGIN "match-leak-kinds: all\n...\nfun:main\n}\n"));
	assert_false(fits(BEGIN "match-leak-kinds: possible,reachable\n...\nfun:main\n}\n"));
	assert_false(fits(BEGIN "match-leak-kinds: none\n...\nfun:main\n}\n"));
}

static void test_leak_sanitizer(void **state)
{
	(void)state;
	assert_true(fits("leak:make\n"));
	assert_true(fits("# known\nleak:Parser::p*char\n"));
	assert_true(fits("leak:libbar\n"));
	assert_true(fits("leak:^ns::Parser"));
	assert_true(fits("leak:libbar.so$"));
	assert_true(fits("leak:foo.c"));
	assert_false(fits("leak:^Parser"));
	assert_false(fits("leak:libbar$"));
	assert_false(fits("leak:m?ke"));
}

static void test_glob(void **state)
{
	char text[20001];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	/* No more than the product of the lengths. */
	assert_false(glob_fits("*a*a*a*a*a*a*a*a*a*a*b", text));
	assert_false(glob_is_in("a*a*a*a*a*a*a*a*ab", text));
	assert_true(glob_fits("", ""));
	assert_false(glob_fits("", "a"));
	assert_true(glob_is_in("", "a"));
	assert_true(glob_is_in("^$", ""));
	assert_false(glob_is_in("^$", "a"));
	assert_true(glob_is_in("b$", "aab"));
	assert_false(glob_is_in("b$", "aba"));
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"fun:make\n",
		"{\n",
		"{\nname\n",
		"{\nname\nMemcheck:Leak\nfun:make\n",
		BEGIN "make\n}\n",
		BEGIN "}\n",
		BEGIN "match-leak-kinds: some\n...\n}\n",
		"leak:\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct suppressions list = { 0 };
		struct error error = { 0 };

		assert_int_not_equal(suppressions_parse(&list, texts[i], "known.supp", &error), 0);
		assert_int_equal(error.kind, ERROR_USAGE);
		assert_non_null(strstr(error.text, "known.supp"));
		suppressions_free(&list);
	}
}

/* Other errors than leaks, and a last line without an end. */
static void test_others(void **state)
{
	struct suppressions list = { 0 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(suppressions_parse(&list,
					    "{\nx\nMemcheck:Cond\nanything\n}\n{\ny\n"
					    "Memcheck:Leak\n...\nfun:a\n}\nleak:z",
					    "file", &error),
			 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(suppressions_add_preset(&list, "ruby", &error), 0);
	assert_int_equal(suppressions_add_preset(&list, "python", &error), 0);
	assert_int_equal(suppressions_add_preset(&list, "glibc", &error), 0);
	assert_int_not_equal(suppressions_add_preset(&list, "perl", &error), 0);
	suppressions_free(&list);
}

static void test_rules(void **state)
{
	struct suppressions list = { 0 };
	const char *const modules[] = { "foo.so.1", "libfoo.so.1" };
	struct leak_rules rules = { .verdicts = ~0u, .suppressions = &list };
	struct leak_report report = { 0 };

	(void)state;
	suppressions_parse(&list, BEGIN "match-leak-kinds: definite\n...\nfun:main\n}\n", "file",
			   NULL);
	add_group(&report, LEAK_DEFINITE);
	add_group(&report, LEAK_POSSIBLE);
	leak_rules_apply(&rules, &report);
	assert_int_equal(report.group_count, 1);
	assert_int_equal(report.suppressed.blocks, 3);
	assert_int_equal(report.suppressed.bytes, 25);
	assert_int_equal(report.sums[LEAK_DEFINITE].blocks, 0);
	assert_int_equal(report.sums[LEAK_INDIRECT].bytes, 5);
	assert_int_equal(list.items[0].sum.bytes, 25);
	rules.modules = modules;
	rules.module_count = 2;
	leak_rules_apply(&rules, &report);
	assert_int_equal(report.group_count, 1);
	/* The other one of them alone. */
	rules.module_count = 1;
	leak_rules_apply(&rules, &report);
	assert_int_equal(report.group_count, 0);
	assert_int_equal(report.left_out.bytes, 25);
	assert_int_equal(report.sums[LEAK_POSSIBLE].blocks, 0);
	add_group(&report, LEAK_POSSIBLE);
	rules.module_count = 0;
	rules.verdicts = 1u << LEAK_DEFINITE;
	leak_rules_apply(&rules, &report);
	assert_int_equal(report.group_count, 0);
	assert_int_equal(report.sums[LEAK_POSSIBLE].blocks, 2);
	suppressions_free(&list);
	leak_report_free(&report);
}

/* By rows of frames, the innermost first: "function@module". */
static bool rubys(const char *const *rows, size_t count)
{
	struct report_frame *list = memory_alloc(count, sizeof(*list));
	struct leak_group group = { .frames = list, .frame_count = count };
	size_t i;
	bool result;

	for (i = 0; i < count; i++) {
		list[i].function = *rows[2 * i] ? rows[2 * i] : NULL;
		list[i].module = *rows[2 * i + 1] ? rows[2 * i + 1] : NULL;
		list[i].kind = list[i].module ? FRAME_NATIVE : FRAME_RUBY;
	}
	result = suppression_ruby_fits(&group);
	free(list);
	return result;
}

#define RUBYS(...)                                  \
	rubys((const char *const[]){ __VA_ARGS__ }, \
	      sizeof((const char *const[]){ __VA_ARGS__ }) / (2 * sizeof(char *)))

/* Stacks as Ruby 3.1 has them, with names and stripped: an extension that calls xmalloc, and one that makes a string. */
static void test_of_ruby(void **state)
{
	const char *const ruby = "/usr/lib/libruby-3.1.so.3.1.2", *const extension =
									  "/opt/json/parser.so";
	struct suppressions list = { 0 };

	(void)state;
	assert_false(RUBYS("", ruby, "fbuffer_alloc", extension, "generate", ""));
	assert_false(RUBYS("objspace_xmalloc0", ruby, "ruby_xmalloc0", ruby, "ruby_xmalloc2", ruby,
			   "fbuffer_alloc", extension));
	assert_true(RUBYS("", ruby, "", ruby, "fbuffer_to_s", extension));
	assert_true(RUBYS("objspace_xmalloc0", ruby, "ruby_xmalloc", ruby, "str_new0", ruby,
			  "rb_str_new", ruby, "fbuffer_to_s", extension));
	assert_true(RUBYS("", "/usr/bin/ruby3.1", "rb_str_new", "/usr/bin/ruby3.1", "fbuffer_to_s",
			  extension));
	assert_false(RUBYS("take", extension, "", ruby, "", ruby));
	assert_false(RUBYS("", "/usr/bin/rubyist", "", "/usr/bin/rubyist"));
	assert_false(RUBYS("require", "", "<main>", ""));
	assert_false(RUBYS("", ruby));
	assert_int_equal(suppressions_add_preset(&list, "ruby", NULL), 0);
	assert_true(list.count > 2 && list.items[0].is_of_ruby);
	suppressions_free(&list);
}

/* A stack for which there was no room may go through the module: it is not left out. */
static void test_unknown_stack(void **state)
{
	struct suppressions list = { 0 };
	const char *const other = "libother.so";
	struct leak_rules rules = {
		.verdicts = ~0u, .suppressions = &list, .modules = &other, .module_count = 1
	};
	struct leak_report report = { 0 };

	(void)state;
	add_group(&report, LEAK_DEFINITE);
	add_group(&report, LEAK_DEFINITE);
	report.groups[1].frames[0] =
		(struct report_frame){ .kind = FRAME_ERROR, .function = "stack table full" };
	report.groups[1].frame_count = 1;
	leak_rules_apply(&rules, &report);
	assert_int_equal(report.group_count, 1);
	assert_true(leak_rules_stack_is_unknown(&report.groups[0]));
	assert_int_equal(report.left_out.blocks, 3);
	assert_int_equal(report.sums[LEAK_DEFINITE].blocks, 2);
	leak_report_free(&report);
}

/* What is made of a group fits it. */
static void test_made(void **state)
{
	struct leak_report report = { 0 };
	struct buffer text = { 0 };

	(void)state;
	add_group(&report, LEAK_DEFINITE);
	suppression_describe(&report.groups[0], 1, &text);
	assert_true(fits(text.data));
	assert_non_null(strstr(text.data, "obj:/usr/lib/libbar.so"));
	buffer_clear(&text);
	/* Names may have any byte; the file is ASCII. */
	report.groups[0].frames[0].function = "caf\xc3\xa9\xff\x1b\n";
	suppression_describe(&report.groups[0], 1, &text);
	assert_non_null(strstr(text.data, "fun:caf?????\n"));
	buffer_free(&text);
	leak_report_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memcheck),       cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_leak_sanitizer), cmocka_unit_test(test_glob),
		cmocka_unit_test(test_refused),	       cmocka_unit_test(test_others),
		cmocka_unit_test(test_rules),	       cmocka_unit_test(test_made),
		cmocka_unit_test(test_of_ruby),	       cmocka_unit_test(test_unknown_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
