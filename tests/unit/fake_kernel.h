/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of user/kernel that the session's parts call, without a kernel: links are numbers, and what is attached and closed
 * is written down. Include it once in a test program.
 */
#ifndef TESTS_FAKE_KERNEL_H
#define TESTS_FAKE_KERNEL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/attach.h"
#include "kernel/detach_queue.h"
#include "kernel/interp_table.h"
#include "kernel/link_task.h"
#include "kernel/return_check.h"
#include "kernel/unwind_loader.h"
#include "model/name_pool.h"

#define FAKE_LINKS 100000

/* One instruction that is probed. */
struct fake_link {
	pid_t pid;
	uint64_t offset, cookie;
	enum attach_kind kind;
	bool closed;
};

static struct fake_link fake_links[FAKE_LINKS];
static size_t fake_link_count;
static size_t fake_attach_calls, fake_close_calls;
static uint64_t fake_refused_offset; /* the kernel cannot probe it */
static int fake_attach_error; /* of each call, 0 = none */
static uint64_t fake_error_offset; /* only of those that are to probe it; 0 = of all */
static size_t fake_attach_error_after; /* calls that succeed before it */
static uint32_t fake_forgotten[64]; /* modules whose tables were dropped */
static size_t fake_forgotten_count;
static bool fake_unwind_full;
static uint32_t fake_added[64]; /* modules whose tables were asked for before they were mapped */
static size_t fake_added_count;
static size_t fake_added_at_attach; /* how many that were at the first attach */
static uint32_t fake_updated[64]; /* target_ids whose mappings were published */
static size_t fake_updated_count;
static uint32_t fake_unwind_ended; /* the target_id of the last process whose tables were dropped */
static size_t fake_interps_forgotten, fake_interps_dropped; /* processes */
static size_t
	fake_points_asked; /* how often it was asked for an end of interpreters' code to probe */
static struct name_pool *fake_interp_names; /* of the test that needs it */

static void fake_kernel_reset(void)
{
	memset(fake_links, 0, fake_link_count * sizeof(fake_links[0]));
	fake_link_count = fake_attach_calls = fake_close_calls = fake_forgotten_count = 0;
	fake_added_count = fake_added_at_attach = fake_updated_count = fake_unwind_ended = 0;
	fake_interps_forgotten = fake_interps_dropped = 0;
	fake_refused_offset = 0;
	fake_attach_error = 0;
	fake_error_offset = 0;
	fake_attach_error_after = 0;
	fake_unwind_full = false;
}

/* Probes at an offset that are in place now. */
static __attribute__((unused)) size_t fake_probes_at(uint64_t offset)
{
	size_t i, count = 0;

	for (i = 0; i < fake_link_count; i++)
		count += fake_links[i].offset == offset && !fake_links[i].closed;
	return count;
}

static __attribute__((unused)) size_t fake_probes(void)
{
	size_t i, count = 0;

	for (i = 0; i < fake_link_count; i++)
		count += !fake_links[i].closed;
	return count;
}

static void fake_keep(struct links *links, int link)
{
	links->fds = memory_grow(links->fds, links->count, &links->capacity, sizeof(int));
	links->fds[links->count++] = link;
}

static void fake_join(struct links *links, struct links *from)
{
	size_t i;

	for (i = 0; i < from->count; i++)
		fake_keep(links, from->fds[i]);
	free(from->fds);
	*from = (struct links){ 0 };
}

static void fake_close(struct links *links)
{
	size_t i;

	for (i = 0; i < links->count; i++) {
		if (fake_links[links->fds[i]].closed)
			abort();
		fake_links[links->fds[i]].closed = true;
	}
	free(links->fds);
	*links = (struct links){ 0 };
}

static bool fake_attach_fails(const struct attach_point *points, size_t count)
{
	size_t i;

	if (!fake_attach_error || fake_attach_calls <= fake_attach_error_after)
		return false;
	for (i = 0; i < count && fake_error_offset; i++)
		if (points[i].offset == fake_error_offset)
			break;
	return !fake_error_offset || i < count;
}

int attach_file(struct attachment *attachment, const struct attach_how *how, int file, pid_t pid,
		struct attach_point *points, size_t count, struct error *error)
{
	enum attach_kind kind;
	size_t i;

	(void)how;
	(void)file;
	if (!fake_attach_calls++)
		fake_added_at_attach = fake_added_count;
	if (fake_attach_fails(points, count))
		return error_set(error, ERROR_TARGET, fake_attach_error, "refused");
	for (kind = 0; kind < ATTACH_KIND_COUNT; kind++) {
		for (i = 0; i < count; i++) {
			if (points[i].kind != kind)
				continue;
			points[i].refused = points[i].offset == fake_refused_offset;
			if (points[i].refused)
				continue;
			fake_links[fake_link_count] = (struct fake_link){
				.pid = pid,
				.offset = points[i].offset,
				.cookie = points[i].cookie,
				.kind = kind,
			};
			fake_keep(kind == ATTACH_CALL ? &attachment->calls : &attachment->others,
				  (int)fake_link_count++);
		}
	}
	return 0;
}

bool attach_is_refusal(int code)
{
	return code == -EINVAL;
}

void attachment_join(struct attachment *attachment, struct attachment *from)
{
	fake_join(&attachment->calls, &from->calls);
	fake_join(&attachment->others, &from->others);
}

size_t attachment_count(const struct attachment *attachment)
{
	return attachment->calls.count + attachment->others.count;
}

void attachment_close(struct attachment *attachment)
{
	fake_close_calls += attachment_count(attachment) > 0;
	fake_close(&attachment->calls);
	fake_close(&attachment->others);
}

/* Probes are out at once. */
__attribute__((unused)) struct link_closing *attachment_close_begin(struct attachment *attachment)
{
	attachment_close(attachment);
	return NULL;
}

__attribute__((unused)) void link_task_close_end(struct link_closing *closing)
{
	if (closing)
		abort();
}

struct detach_queue {
	struct attachment links;
};

struct detach_queue *detach_queue_new(void)
{
	return memory_alloc(1, sizeof(struct detach_queue));
}

void detach_queue_add(struct detach_queue *queue, struct attachment *attachment)
{
	if (queue)
		attachment_join(&queue->links, attachment);
	else
		attachment_close(attachment);
}

size_t detach_queue_pending(struct detach_queue *queue)
{
	return queue ? attachment_count(&queue->links) : 0;
}

void detach_queue_wait(struct detach_queue *queue)
{
	if (queue)
		attachment_close(&queue->links);
}

void detach_queue_free(struct detach_queue *queue)
{
	if (!queue)
		return;
	attachment_close(&queue->links);
	free(queue);
}

void unwind_loader_mark_allocator(const struct unwind_loader *loader, uint32_t module)
{
	(void)loader;
	(void)module;
}

void unwind_loader_update(struct unwind_loader *loader, uint32_t target_id, pid_t pid,
			  const struct address_space *space)
{
	(void)loader;
	(void)pid;
	(void)space;
	if (fake_updated_count < 64)
		fake_updated[fake_updated_count++] = target_id;
}

void unwind_loader_add_module(struct unwind_loader *loader, uint32_t module)
{
	(void)loader;
	if (fake_added_count < 64)
		fake_added[fake_added_count++] = module;
}

void unwind_loader_expect(struct unwind_loader *loader, uint32_t module)
{
	unwind_loader_add_module(loader, module);
}

void unwind_loader_begin(struct unwind_loader *loader, uint32_t target_id)
{
	(void)loader;
	(void)target_id;
}

void unwind_loader_forget(struct unwind_loader *loader, uint32_t target_id)
{
	(void)loader;
	fake_unwind_ended = target_id;
}

bool unwind_loader_is_full(const struct unwind_loader *loader)
{
	(void)loader;
	return fake_unwind_full;
}

size_t unwind_loader_forget_modules(struct unwind_loader *loader, const uint32_t *modules,
				    size_t count)
{
	size_t i;

	(void)loader;
	for (i = 0; i < count && fake_forgotten_count < 64; i++)
		fake_forgotten[fake_forgotten_count++] = modules[i];
	return 0;
}

void interp_table_see(struct interp_table *table, const struct process *process, uint32_t target_id)
{
	(void)table;
	(void)process;
	(void)target_id;
}

/* Of all processes; NULL = none is known. */
static const struct gc_clock *fake_gc_clock;

const struct gc_clock *interp_table_gc_clock(struct interp_table *table,
					     const struct process *process)
{
	(void)table;
	(void)process;
	return fake_gc_clock;
}

void interp_table_forget_module(struct interp_table *table, uint32_t module)
{
	(void)table;
	(void)module;
}

bool interp_table_next_point(struct interp_table *table, struct interp_point *ret_point)
{
	(void)table;
	(void)ret_point;
	return fake_points_asked++ && false;
}

void interp_table_point_set(struct interp_table *table, const struct interp_point *point)
{
	(void)table;
	(void)point;
}

void interp_table_disable_memo(struct interp_table *table, struct process *process)
{
	(void)table;
	process->frees_unseen = true;
}

void interp_table_forget(struct interp_table *table, const struct process *process)
{
	(void)table;
	(void)process;
	fake_interps_forgotten++;
}

void interp_table_drop(struct interp_table *table, const struct process *process)
{
	(void)table;
	(void)process;
	fake_interps_dropped++;
}

struct stack *interp_table_merge(struct interp_table *table, const struct process *process,
				 struct stack *stack, const struct interp_record *record)
{
	(void)table;
	(void)process;
	(void)record;
	return stack;
}

struct name_pool *interp_table_pool(const struct interp_table *table)
{
	(void)table;
	return fake_interp_names;
}

/* As on a kernel that lets seccomp filters kill what is probed. */
enum return_check return_check_run(const struct kernel_features *features)
{
	(void)features;
	return RETURNS_FATAL;
}

#endif
