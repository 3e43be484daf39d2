/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach_file where the kernel refuses some instructions. The kernel is a list of what is open: each point must be probed once, or
 * not at all, whatever was tried on the way.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* What it asks of the kernel is here: with the real ones, a test would need root. */
#include "../user/kernel/attach.c"

#define REFUSED 0x666
#define LINKS_MAX 64

struct open_link {
	bool open, returns;
	size_t count;
	uint64_t offsets[8];
};

static struct open_link opened[LINKS_MAX];
static int opened_count;
static bool refuses_entries; /* at REFUSED; otherwise returns there, too */

static int open_link(const uint64_t *offsets, size_t count, bool returns)
{
	struct open_link *link = &opened[opened_count];
	size_t i;

	for (i = 0; i < count; i++) {
		if (offsets[i] == REFUSED && !(returns && refuses_entries))
			return -EIO;
		link->offsets[i] = offsets[i];
	}
	link->open = true;
	link->count = count;
	link->returns = returns;
	return opened_count++;
}

int bpf_program__fd(const struct bpf_program *program)
{
	(void)program;
	return 3;
}

int bpf_call_link_uprobes(const struct uprobe_multi *probes)
{
	return open_link(probes->offsets, probes->count, probes->returns);
}

int perf_probe_attach(const struct perf_probe *probe)
{
	return open_link(&probe->offset, 1, probe->returns);
}

int perf_probe_load_copy(const struct bpf_program *program, uint64_t cookie)
{
	(void)program;
	(void)cookie;
	return -ENOEXEC;
}

struct link_closing *link_task_close_begin(const int *fds, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		assert_true(opened[fds[i]].open);
		opened[fds[i]].open = false;
	}
	return NULL;
}

void link_task_close_end(struct link_closing *closing)
{
	assert_null(closing);
}

void link_task_close(const int *fds, size_t count)
{
	link_task_close_end(link_task_close_begin(fds, count));
}

/* How often an offset is probed now, at its entry or for its return. */
static size_t count_probes(uint64_t offset, bool returns)
{
	size_t count = 0, j;
	int i;

	for (i = 0; i < opened_count; i++)
		for (j = 0; opened[i].open && j < opened[i].count; j++)
			count += opened[i].returns == returns && opened[i].offsets[j] == offset;
	return count;
}

static void check_points(enum backend backend, enum attach_kind kind)
{
	struct attach_point points[] = {
		{ .offset = 0x100, .kind = kind, .symbol = "one" },
		{ .offset = REFUSED, .kind = kind, .symbol = "refused" },
		{ .offset = 0x200, .kind = kind, .symbol = "two" },
	};
	const struct attach_how how = { .backend = backend };
	struct attachment attachment = { 0 };
	struct error error = { 0 };
	bool returns = kind == ATTACH_CALL && backend != BACKEND_KERNEL_SESSION;
	size_t i;

	opened_count = 0;
	assert_int_equal(attach_file(&attachment, &how, 3, 42, points, 3, &error), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(points[i].refused, i == 1);
		assert_int_equal(count_probes(points[i].offset, false), i != 1);
		assert_int_equal(count_probes(points[i].offset, true), i != 1 && returns);
	}
	attachment_close(&attachment);
	for (i = 0; i < 3; i++)
		assert_int_equal(count_probes(points[i].offset, false) +
					 count_probes(points[i].offset, true),
				 0);
}

static void check_backend(enum backend backend)
{
	check_points(backend, ATTACH_FREE);
	check_points(backend, ATTACH_CALL);
	refuses_entries = true;
	check_points(backend, ATTACH_CALL);
	refuses_entries = false;
}

static void test_refused(void **state)
{
	(void)state;
	check_backend(BACKEND_KERNEL_SESSION);
	check_backend(BACKEND_KERNEL_MULTI);
	check_backend(BACKEND_KERNEL_PERF);
	check_backend(BACKEND_KERNEL_IOCTL);
}

/* Where all are refused, none is in place, of other kinds neither. */
static void test_all_refused(void **state)
{
	struct attach_point points[] = {
		{ .offset = 0x100, .kind = ATTACH_FREE, .symbol = "free" },
		{ .offset = REFUSED, .kind = ATTACH_CALL, .symbol = "malloc" },
		{ .offset = REFUSED, .kind = ATTACH_CALL, .symbol = "calloc" },
	};
	const struct attach_how how = { .backend = BACKEND_KERNEL_PERF };
	struct attachment attachment = { 0 };
	struct error error = { 0 };

	(void)state;
	opened_count = 0;
	assert_int_equal(attach_file(&attachment, &how, 3, 42, points, 3, &error), -EIO);
	assert_int_equal(attachment_count(&attachment), 0);
	assert_int_equal(count_probes(0x100, false), 0);
	attachment_close(&attachment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_all_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
