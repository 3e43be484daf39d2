/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See attach.h. */
#include "kernel/attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/units.h"
#include "kernel/bpf_call.h"
#include "kernel/link_task.h"
#include "kernel/perf_probe.h"
#include "system/privilege.h"

/* An error of the kernel's own that user space has no name for. */
#define KERNEL_ENOTSUPP 524

/* What is attached at once: the points of one kind in a file. */
struct group {
	struct links *links; /* they get what is attached */
	int file;
	pid_t pid;
	uint64_t *offsets, *cookies, *semaphores;
	bool has_semaphores;
	struct attach_point **points;
	size_t count;
	bool linked; /* by uprobe_multi links; otherwise by perf events */
};

static int attach_refuse(int code, const struct group *group, struct error *error)
{
	if (code == -ESRCH)
		return error_set(error, ERROR_TARGET, code, "process %d ended before it was probed",
				 group->pid);
	if (code == -EPERM || code == -EACCES || code == -EMFILE || code == -ENFILE)
		return privileges_refuse(group->linked ? STEP_ATTACH_MULTI : STEP_ATTACH_PERF, code,
					 error);
	return error_set(error, ERROR_PERMISSION, code,
			 "the kernel refused probes on %s and %zu more function%s: %s",
			 group->points[0]->symbol, group->count - 1, units_s(group->count - 1),
			 strerror(-code));
}

/* `fd` may be a negative errno, which is returned. */
static int links_keep(struct links *links, int fd)
{
	if (fd < 0)
		return fd;
	links->fds = memory_grow(links->fds, links->count, &links->capacity, sizeof(*links->fds));
	links->fds[links->count++] = fd;
	return 0;
}

static void links_join(struct links *links, struct links *from)
{
	size_t i;

	for (i = 0; i < from->count; i++)
		links_keep(links, from->fds[i]);
	free(from->fds);
	*from = (struct links){ 0 };
}

/* Close those that have come since there were `count`. */
static void links_shorten(struct links *links, size_t count)
{
	if (links->count == count)
		return;
	link_task_close(links->fds + count, links->count - count);
	links->count = count;
}

static int attach_multi(const struct group *group, const struct bpf_program *program,
			uint32_t attach_type, bool returns)
{
	struct uprobe_multi probes = {
		.program = bpf_program__fd(program),
		.attach_type = attach_type,
		.file = group->file,
		.pid = group->pid,
		.returns = returns,
		.offsets = group->offsets,
		.cookies = group->cookies,
		.semaphores = group->has_semaphores ? group->semaphores : NULL,
		.count = group->count,
	};

	return links_keep(group->links, bpf_call_link_uprobes(&probes));
}

static int attach_perf_one(const struct group *group, size_t index, enum backend backend,
			   const struct bpf_program *program, bool returns)
{
	struct perf_probe probe = {
		.file = group->file,
		.offset = group->offsets[index],
		.pid = group->pid,
		.returns = returns,
		.program = bpf_program__fd(program),
		.linked = backend == BACKEND_KERNEL_PERF,
		.cookie = group->cookies[index],
		.semaphore = group->semaphores[index],
	};
	int code, copy = -ENOEXEC;

	if (!probe.linked)
		copy = perf_probe_load_copy(program, probe.cookie);
	/* The BPF programs for returns and exceptions read no cookie. */
	if (copy < 0 && copy != -ENOEXEC)
		return copy;
	if (copy >= 0)
		probe.program = copy;
	code = links_keep(group->links, perf_probe_attach(&probe));
	if (copy >= 0)
		close(copy);
	return code;
}

static int attach_perf(const struct group *group, enum backend backend,
		       const struct bpf_program *program, bool returns)
{
	size_t i;
	int code = 0;

	for (i = 0; i < group->count && !code; i++)
		code = attach_perf_one(group, i, backend, program, returns);
	return code;
}

/* Returns are probed before entries: an entry without its return would count as a call that never returned. */
static int attach_calls(const struct group *group, enum backend backend,
			const struct attach_programs *programs)
{
	int code;

	if (backend == BACKEND_KERNEL_SESSION)
		return attach_multi(group, programs->session, ATTACH_UPROBE_SESSION, false);
	if (backend == BACKEND_KERNEL_MULTI) {
		code = attach_multi(group, programs->exit, ATTACH_UPROBE_MULTI, true);
		return code ? code
			    : attach_multi(group, programs->entry, ATTACH_UPROBE_MULTI, false);
	}
	code = attach_perf(group, backend, programs->exit, true);
	return code ? code : attach_perf(group, backend, programs->entry, false);
}

static int attach_entries(const struct group *group, enum backend backend,
			  const struct bpf_program *program)
{
	if (backend == BACKEND_KERNEL_SESSION || backend == BACKEND_KERNEL_MULTI)
		return attach_multi(group, program, ATTACH_UPROBE_MULTI, false);
	return attach_perf(group, backend, program, false);
}

static void group_fill(struct group *group, struct attach_point *points, size_t count,
		       enum attach_kind kind)
{
	size_t i;

	group->count = 0;
	group->has_semaphores = false;
	for (i = 0; i < count; i++) {
		if (points[i].kind != kind)
			continue;
		group->offsets[group->count] = points[i].offset;
		group->cookies[group->count] = points[i].cookie;
		group->semaphores[group->count] = points[i].semaphore;
		group->has_semaphores |= points[i].semaphore != 0;
		group->points[group->count++] = &points[i];
	}
}

/* All points of a group, or none. */
static int attach_group(const struct group *group, enum backend backend,
			const struct attach_programs *programs, enum attach_kind kind)
{
	const struct bpf_program *const alone[] = {
		[ATTACH_THROW] = programs->throw,	[ATTACH_LEAVE] = programs->leave,
		[ATTACH_INSIDE] = programs->inside,	[ATTACH_FREE] = programs->free,
		[ATTACH_ENTRY] = programs->entry,	[ATTACH_SAMPLE] = programs->sample,
		[ATTACH_SAMPLE_END] = programs->sample,
	};
	const size_t before = group->links->count;
	int code = kind == ATTACH_CALL ? attach_calls(group, backend, programs)
				       : attach_entries(group, backend, alone[kind]);

	if (code)
		links_shorten(group->links, before);
	return code;
}

/* The kernel refuses a whole link for one instruction that it cannot probe: do without that one. */
static int attach_one_by_one(const struct group *all, enum backend backend,
			     const struct attach_programs *programs, enum attach_kind kind,
			     const struct log *log)
{
	struct group one = *all;
	int code = 0, refused = 0;
	size_t i, attached = 0;

	for (i = 0; i < all->count; i++) {
		one.offsets = all->offsets + i;
		one.cookies = all->cookies + i;
		one.semaphores = all->semaphores + i;
		one.points = all->points + i;
		one.count = 1;
		code = attach_group(&one, backend, programs, kind);
		if (!code) {
			attached++;
			continue;
		}
		refused = code;
		one.points[0]->refused = true;
		log_write(log, LOG_NOTICE, "%s is not traced: the kernel refuses the probe (%s)",
			  one.points[0]->symbol, strerror(-code));
	}
	return attached ? 0 : refused;
}

bool attach_is_refusal(int code)
{
	return code == -EINVAL || code == -EOPNOTSUPP || code == -EIO || code == -KERNEL_ENOTSUPP;
}

int attach_file(struct attachment *attachment, const struct attach_how *how, int file, pid_t pid,
		struct attach_point *points, size_t count, struct error *error)
{
	struct group group = { .file = file,
			       .pid = pid,
			       .linked = how->backend <= BACKEND_KERNEL_MULTI };
	const size_t calls = attachment->calls.count, others = attachment->others.count;
	enum attach_kind kind;
	int code = 0;

	group.offsets = memory_alloc(count, sizeof(*group.offsets));
	group.cookies = memory_alloc(count, sizeof(*group.cookies));
	group.semaphores = memory_alloc(count, sizeof(*group.semaphores));
	group.points = memory_alloc(count, sizeof(struct attach_point *));
	for (kind = 0; kind < ATTACH_KIND_COUNT && !code; kind++) {
		group.links = kind == ATTACH_CALL ? &attachment->calls : &attachment->others;
		group_fill(&group, points, count, kind);
		if (!group.count)
			continue;
		code = attach_group(&group, how->backend, &how->programs, kind);
		if (attach_is_refusal(code) && group.count > 1)
			code = attach_one_by_one(&group, how->backend, &how->programs, kind,
						 how->log);
	}
	if (code) {
		attach_refuse(code, &group, error);
		/* Frees without what allocates, or entries without exits, would be worse than nothing. */
		links_shorten(&attachment->calls, calls);
		links_shorten(&attachment->others, others);
	}
	free(group.offsets);
	free(group.cookies);
	free(group.semaphores);
	free(group.points);
	return code;
}

void attachment_join(struct attachment *attachment, struct attachment *from)
{
	links_join(&attachment->calls, &from->calls);
	links_join(&attachment->others, &from->others);
}

size_t attachment_count(const struct attachment *attachment)
{
	return attachment->calls.count + attachment->others.count;
}

struct link_closing *attachment_close_begin(struct attachment *attachment)
{
	struct link_closing *closing;

	/* Together: it takes no longer than one. */
	links_join(&attachment->calls, &attachment->others);
	closing = link_task_close_begin(attachment->calls.fds, attachment->calls.count);
	free(attachment->calls.fds);
	attachment->calls = (struct links){ 0 };
	return closing;
}

void attachment_close(struct attachment *attachment)
{
	link_task_close_end(attachment_close_begin(attachment));
}
