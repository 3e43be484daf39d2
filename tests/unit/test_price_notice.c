/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The price of tracing in words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "command/price_notice.h"

/* 0.2 s in which tracing took a share of a core, in thousandths of a percent. */
static struct price price_of(uint64_t calls, uint64_t call_ns, uint64_t threads)
{
	return (struct price){ .counted = true,
			       .window_ns = 200000000,
			       .calls = calls,
			       .threads = threads,
			       .measured = true,
			       .cost_ns = calls * call_ns,
			       .busiest_ns = threads ? calls * call_ns / threads : 0,
			       .call_ns = call_ns };
}

static void check(struct price price, int reason, const char *expected, bool warned)
{
	struct buffer text = { 0 };

	price_notice(&price, reason, &text);
	assert_string_equal(text.data, expected);
	buffer_clear(&text);
	assert_int_equal(price_notice_warning(&price, false, &text), warned);
	buffer_free(&text);
}

static void test_words(void **state)
{
	struct price refused = price_of(6200, 0, 1);

	(void)state;
	check(price_of(6200, 6130, 1), 0,
	      "price: 31,000 calls a second at 6.1 us: about 19 % of one core", false);
	check(price_of(6249, 6130, 3), 0,
	      "price: 31,000 calls a second at 6.1 us: about 19 % of one core, in 3 threads",
	      false);
	check(price_of(2, 900, 1), 0,
	      "price: 10 calls a second at 0.9 us: less than 0.1 % of one core", false);
	check(price_of(200, 25000, 1), 0,
	      "price: 1,000 calls a second at 25.0 us: about 2.5 % of one core", false);
	check(price_of(0, 650, 0), 0, "price: no call in the first 0.2 s; one takes 0.7 us here",
	      false);
	refused.measured = false;
	check(refused, -EPERM,
	      "price: 31,000 calls a second; what a trap costs here could not be measured: "
	      "Operation not permitted",
	      false);
}

/* What counts is the thread that suffers most. */
static void test_warning(void **state)
{
	(void)state;
	check(price_of(100000, 1000, 1), 0,
	      "price: 500,000 calls a second at 1.0 us: about 50 % of one core", false);
	check(price_of(102000, 1000, 1), 0,
	      "price: 510,000 calls a second at 1.0 us: about 51 % of one core", true);
	check(price_of(360000, 1000, 2), 0,
	      "price: 1,800,000 calls a second at 1.0 us: about 180 % of one core, in 2 threads",
	      true);
	check(price_of(360000, 1000, 4), 0,
	      "price: 1,800,000 calls a second at 1.0 us: about 180 % of one core, in 4 threads",
	      false);
}

/* A thread with a twelfth of its time left is 12 times slower; the way out is named. */
static void test_factor(void **state)
{
	const struct price busy = price_of(91667, 2000, 1), full = price_of(200000, 2000, 1);
	struct buffer text = { 0 };

	(void)state;
	assert_true(price_notice_warning(&busy, false, &text));
	assert_string_equal(
		text.data,
		"warning: exact tracing slows it about 12 times or more; the thread that "
		"allocates spends about 92 % of its CPU time on being traced: trace it "
		"for a short time only, such as -d 2s; --budget 1% finds leaks at 1 % "
		"of its CPU time");
	buffer_clear(&text);
	assert_true(price_notice_warning(&full, true, &text));
	assert_non_null(strstr(text.data, "tracing with --light slows it 100 times or more;"));
	buffer_free(&text);
}

/* What counts is a thread's own CPU time, however much of that it gets; if it does next to nothing, it does not matter. */
static void test_cpu_time(void **state)
{
	const char *text = "price: 60,000 calls a second at 1.0 us: about 6.0 % of one core";
	struct price price = price_of(12000, 1000, 1), little = price_of(1900, 1000, 1);
	struct buffer warning = { 0 };

	(void)state;
	check(price, 0, text, false);
	price.busiest_cpu_ns = 24000000;
	check(price, 0, text, false);
	price.busiest_cpu_ns = 16000000;
	check(price, 0, text, true);
	little.busiest_cpu_ns = 2000000;
	check(little, 0, "price: 9,500 calls a second at 1.0 us: about 1.0 % of one core", false);
	price.busiest_pid = 4242;
	price.threads = 2;
	assert_true(price_notice_warning(&price, false, &warning));
	assert_string_equal(
		warning.data,
		"warning: exact tracing slows process 4242 about 4.0 times or more; of the "
		"threads that allocate, the busiest spends about 75 % of its CPU time "
		"on being traced: trace it for a short time only, such as -d 2s; "
		"--budget 1% finds leaks at 1 % of its CPU time");
	buffer_free(&warning);
}

/* A sum of costs above the CPU time is an error of the measurement: nothing of it is left. */
static void test_slowdown(void **state)
{
	struct price price = price_of(12000, 1000, 1);

	(void)state;
	assert_int_equal(price_slowdown(&price), 1063);
	price.busiest_cpu_ns = 13000000;
	assert_int_equal(price_slowdown(&price), 13000);
	price.busiest_cpu_ns = 12000001;
	assert_int_equal(price_slowdown(&price), PRICE_SLOWDOWN_MAX);
	price.busiest_cpu_ns = 11000000;
	assert_int_equal(price_slowdown(&price), PRICE_SLOWDOWN_MAX);
	price = price_of(0, 650, 0);
	assert_int_equal(price_slowdown(&price), 1000);
}

static void test_traps(void **state)
{
	const struct trap_costs costs = { .emulated_ns = 350,
					  .stepped_ns = 3500,
					  .return_ns = 550 };
	struct buffer text = { 0 };

	(void)state;
	price_notice_traps(&costs, "session", &text);
	assert_string_equal(text.data,
			    "What a trap costs here (session probes), without what is recorded\n"
			    "  at an emulated instruction                   350 ns\n"
			    "  at a single-stepped one                    3,500 ns\n"
			    "  at the return, where that is probed          550 ns\n");
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	 cmocka_unit_test(test_warning),
		cmocka_unit_test(test_factor),	 cmocka_unit_test(test_cpu_time),
		cmocka_unit_test(test_slowdown), cmocka_unit_test(test_traps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
