/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions named on the command line. The truth is what the manual page says about --alloc and --free. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>
#include <cmocka.h>

#include <errno.h>

#include "probe/named.h"
#include "tracer_abi.h"

/* What a text must mean; all zero = it is refused, with `words` in the sentence. */
struct meaning {
	const char *text;
	bool frees;
	enum call_op op;
	unsigned int size, count, pointer;
	enum call_result result;
	uint64_t fixed_size;
	const char *words;
};

static const struct meaning meanings[] = {
	{ "libpool.so:get:size=arg1", false, CALL_ALLOC, 1, 0, 0, RESULT_POINTER, 0, NULL },
	{ "libpool.so:get:size=arg2,count=arg1,ret", false, CALL_ALLOC, 2, 1, 0, RESULT_POINTER, 0,
	  NULL },
	{ "p:get:ptr=ret,size=arg5", false, CALL_ALLOC, 5, 0, 0, RESULT_POINTER, 0, NULL },
	{ "p:get:ptr=arg3,size=arg1", false, CALL_ALLOC, 1, 0, 3, RESULT_OUT_STATUS, 0, NULL },
	{ "p:grow:size=arg2,old=arg1", false, CALL_REALLOC, 2, 0, 1, RESULT_POINTER, 0, NULL },
	{ "p:get:size=64", false, CALL_ALLOC, SIZE_ARG_FIXED, 0, 0, RESULT_POINTER, 64, NULL },
	{ "p:get:size=4k,count=arg1", false, CALL_ALLOC, SIZE_ARG_FIXED, 1, 0, RESULT_POINTER, 4096,
	  NULL },
	{ "p:get:size=arg1/32,count=arg2", false, CALL_ALLOC, 1 | ARG_IS_INT, 2, 0, RESULT_POINTER,
	  0, NULL },
	{ "p:get:size=64,count=arg5/32", false, CALL_ALLOC, SIZE_ARG_FIXED, 5 | ARG_IS_INT, 0,
	  RESULT_POINTER, 64, NULL },
	{ "p:_Z3getm:size=arg1", false, CALL_ALLOC, 1, 0, 0, RESULT_POINTER_OR_THROWS, 0, NULL },
	{ "p:put:ptr=arg2", true, CALL_FREE, 0, 0, 2, RESULT_FREES_INSIDE, 0, NULL },
	{ "p:put", true, CALL_FREE, 0, 0, 1, RESULT_FREES_INSIDE, 0, NULL },
	{ .text = "", .words = "FILE:FUNCTION" },
	{ .text = "p", .words = "FILE:FUNCTION" },
	{ .text = "p:", .words = "FILE:FUNCTION" },
	{ .text = ":get:size=arg1", .words = "FILE:FUNCTION" },
	{ .text = "p::size=arg1", .words = "name of the function" },
	{ .text = "p:get", .words = "size" },
	{ .text = "p:get:count=arg1", .words = "size" },
	{ .text = "p:get:size", .words = "no value" },
	{ .text = "p:get:size=", .words = "neither" },
	{ .text = "p:get:size=0", .words = "neither" },
	{ .text = "p:get:size=131072g", .words = "neither" },
	{ .text = "p:get:size=18446744073709551615", .words = "neither" },
	{ .text = "p:get:size=arg0", .words = "neither" },
	{ .text = "p:get:size=arg6", .words = "neither" },
	{ .text = "p:get:size=ret", .words = "neither" },
	{ .text = "p:get:size=arg1/16", .words = "neither" },
	{ .text = "p:get:size=/32", .words = "neither" },
	{ .text = "p:get:size=64/32", .words = "neither" },
	{ .text = "p:get:size=arg1,ptr=arg2/32", .words = "arg1 to arg5" },
	{ .text = "p:get:size=arg1,count=7", .words = "arg1 to arg5" },
	{ .text = "p:get:size=arg1,size=arg2", .words = "twice" },
	{ .text = "p:get:size=arg1,count=arg2,count=arg2", .words = "twice" },
	{ .text = "p:get:size=arg1,ret,ptr=ret", .words = "twice" },
	{ .text = "p:get:size=arg1,ret,ptr=arg2", .words = "twice" },
	{ .text = "p:get:size=arg1,ret=arg2", .words = "no value" },
	{ .text = "p:get:size=arg1,ptr=arg2,old=arg3", .words = "together" },
	{ .text = "p:get:length=arg1", .words = "none of size" },
	{ .text = "p:put:size=arg1", .frees = true, .words = "not ptr" },
	{ .text = "p:put:ptr=ret", .frees = true, .words = "arg1 to arg5" },
	{ .text = "p:put:ptr=arg1,ptr=arg1", .frees = true, .words = "twice" },
};

static void check_refused(const struct meaning *meaning)
{
	struct named_list list = { 0 };
	struct error error = { 0 };

	if (named_add(&list, meaning->text, meaning->frees, &error) != -EINVAL)
		fail_msg("'%s' was taken", meaning->text);
	assert_int_equal(error.kind, ERROR_USAGE);
	if (!strstr(error.text, meaning->words))
		fail_msg("'%s': %s", meaning->text, error.text);
	assert_int_equal(list.count, 0);
	named_list_free(&list);
}

static void check_taken(const struct meaning *meaning)
{
	struct named_list list = { 0 };
	struct error error = { 0 };
	uint64_t shape;

	if (named_add(&list, meaning->text, meaning->frees, &error))
		fail_msg("'%s': %s", meaning->text, error.text);
	shape = list.items[0].row.shape;
	assert_int_equal(SHAPE_OP(shape), meaning->op);
	assert_int_equal(SHAPE_SIZE_ARG(shape), meaning->size);
	assert_int_equal(SHAPE_COUNT_ARG(shape), meaning->count);
	assert_int_equal(SHAPE_PTR_ARG(shape), meaning->pointer);
	assert_int_equal(SHAPE_RESULT(shape), meaning->result);
	assert_int_equal(SHAPE_SOURCE(shape), SOURCE_HEAP);
	assert_true(shape & SHAPE_NAMED);
	assert_int_equal(list.items[0].row.fixed_size, meaning->fixed_size);
	assert_string_equal(list.items[0].text, meaning->text);
	named_list_free(&list);
}

static void test_meanings(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].words)
			check_refused(&meanings[i]);
		else
			check_taken(&meanings[i]);
}

static void test_names(void **state)
{
	struct named_list list = { 0 };
	struct error error;

	(void)state;
	assert_int_equal(named_add(&list, "libx.so:a::b(int):size=arg1", false, &error), 0);
	assert_int_equal(named_add(&list, "/opt/app:get:size=arg1", false, &error), 0);
	assert_int_equal(named_add(&list, "*:put", true, &error), 0);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.items[0].symbol, "a::b(int)");
	assert_string_equal(list.items[0].row.symbol, "a::b(int)");
	assert_true(named_matches(&list.items[0], "/usr/lib/libx.so"));
	assert_true(named_matches(&list.items[0], "/usr/lib/libx.so.1.2"));
	assert_true(named_matches(&list.items[0], "libx.so"));
	assert_false(named_matches(&list.items[0], "/usr/lib/libx.sox"));
	assert_false(named_matches(&list.items[0], "/usr/libx.so/liby.so"));
	assert_false(named_matches(&list.items[0], ""));
	assert_true(named_matches(&list.items[1], "/opt/app"));
	assert_false(named_matches(&list.items[1], "/srv/opt/app"));
	assert_false(named_matches(&list.items[1], "app"));
	assert_true(named_matches(&list.items[2], "/anything"));
	named_list_free(&list);
	assert_int_equal(list.count, 0);
}

static void test_too_many(void **state)
{
	struct named_list list = { 0 };
	struct error error;
	int i;

	(void)state;
	for (i = 0; i < 256; i++)
		assert_int_equal(named_add(&list, "p:put", true, &error), 0);
	assert_int_equal(named_add(&list, "p:put", true, &error), -EINVAL);
	named_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meanings),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
