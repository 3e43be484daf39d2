/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes that a process lacks, and those that it only seems to lack, since the list of its mappings
 * is old. Truth: no breakpoint is ever put in, so all probes are missing while the child maps the
 * file, and none once it has unmapped it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel/bpf_call.h"
#include "kernel/link_task.h"
#include "kernel/perf_probe.h"
#include "follow/guard.h"
#include "unit/session_world.h"

#define LATE_NS (1000 * SECOND_NS) /* of scans, after which the next one is due in hours */

#define PROBES 2 /* of malloc and free */

static struct child *child;
static struct process *process;
static struct guard guard;

/* Nothing is put back. */
bool bpf_programs_are_recording(const struct bpf_programs *programs)
{
	(void)programs;
	return false;
}

int bpf_call_load_empty(uint32_t attach_type)
{
	(void)attach_type;
	return -1;
}

int bpf_call_link_uprobes(const struct uprobe_multi *probes)
{
	(void)probes;
	return -1;
}

int perf_probe_attach(const struct perf_probe *probe)
{
	(void)probe;
	return -1;
}

void link_task_close(const int *fds, size_t count)
{
	(void)fds;
	(void)count;
}

/* Probes lie in the page that the child maps. */
static int set_up(void **state)
{
	struct plan *plan = &world.core.files.plan;
	size_t i;

	world_set_up(state);
	process = world_trace(&world, &child, true);
	for (i = 0; i < plan->count; i++)
		plan->probes[i].site_offset = 16 * i;
	guard = (struct guard){ .processes = &world.core.processes, .scan = &world.core.scan };
	return 0;
}

static int tear_down(void **state)
{
	guard_free(&guard);
	return world_tear_down(state);
}

static bool is_warned(void)
{
	return world_logged(&world, "cannot be put back");
}

static void test_missing(void **state)
{
	(void)state;
	guard_check(&guard);
	assert_int_equal(guard.missing, PROBES);
	assert_true(is_warned());
}

/* Its mappings are read again before anything is reported. */
static void test_unmapped(void **state)
{
	(void)state;
	child_ask(child, CHILD_UNMAP, "");
	guard_check(&guard);
	assert_int_equal(guard.missing, 0);
	assert_false(is_warned());
}

/* A process that has used up its time for scans: nothing is known until the next check. */
static void test_unmapped_while_no_scan_is_due(void **state)
{
	(void)state;
	process->scan_ns = LATE_NS;
	child_ask(child, CHILD_UNMAP, "");
	guard_check(&guard);
	assert_true(process->needs_scan);
	assert_int_equal(guard.missing, 0);
	assert_false(is_warned());
	process->scan_ns = 0;
	guard_check(&guard);
	assert_int_equal(guard.missing, 0);
	assert_false(is_warned());
}

static void test_missing_is_seen_once_a_scan_is_due(void **state)
{
	(void)state;
	process->scan_ns = LATE_NS;
	guard_check(&guard);
	assert_int_equal(guard.missing, 0);
	process->scan_ns = 0;
	guard_check(&guard);
	assert_int_equal(guard.missing, PROBES);
	assert_true(is_warned());
}

#define GUARD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GUARD_TEST(test_missing),
		GUARD_TEST(test_unmapped),
		GUARD_TEST(test_unmapped_while_no_scan_is_due),
		GUARD_TEST(test_missing_is_seen_once_a_scan_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
