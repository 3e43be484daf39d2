/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why what a trap costs could not be measured: the reason is the first thing that failed, wherever that was. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

/* What it asks of the kernel is here: with the real ones, a test would need root. */
#include "../user/kernel/trap_meter.c"

#define PATIENCE_MS 60000

static int link_code; /* of each link: the number of an open descriptor, or a negative errno */

int own_code_offset(uint64_t address, uint64_t *ret_offset)
{
	*ret_offset = address;
	return 0;
}

int bpf_call_load_empty(uint32_t attach_type)
{
	(void)attach_type;
	return STDERR_FILENO;
}

int bpf_call_link_uprobes(const struct uprobe_multi *probes)
{
	(void)probes;
	return link_code;
}

int perf_probe_attach(const struct perf_probe *probe)
{
	(void)probe;
	return link_code;
}

static struct trap_meter start(void)
{
	const struct probe_features traps = { 0 };
	struct trap_meter meter = { 0 };

	trap_meter_start(&meter, BACKEND_KERNEL_MULTI, &traps);
	return meter;
}

static void check_read(int link, int wanted)
{
	struct trap_meter meter;
	struct trap_costs costs;

	link_code = link;
	meter = start();
	assert_int_equal(trap_meter_read(&meter, PATIENCE_MS, &costs), wanted);
	trap_meter_close(&meter);
}

static void test_measured(void **state)
{
	(void)state;
	check_read(STDERR_FILENO, 0);
}

static void test_not_attached(void **state)
{
	(void)state;
	check_read(-EPERM, -EPERM);
	check_read(-EAGAIN, -EAGAIN);
}

/* There is no descriptor left for it. */
static void test_not_started(void **state)
{
	struct rlimit limit, none;
	struct trap_meter meter;
	struct trap_costs costs;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	meter = start();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(trap_meter_read(&meter, 0, &costs), -EMFILE);
	assert_int_equal(trap_meter_read(&meter, PATIENCE_MS, &costs), -EMFILE);
	trap_meter_reap(&meter);
	trap_meter_close(&meter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured),
		cmocka_unit_test(test_not_attached),
		cmocka_unit_test(test_not_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
