/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See late.h. */
#include "follow/late.h"

#include "base/clock.h"

void late_free(struct late *late)
{
	table_free(&late->sharers);
}

/* How long it ran without probes while blocks were recorded; 0 = not at all. */
static uint64_t late_by(const struct late *late, uint64_t since_ns)
{
	uint64_t now = clock_now_ns();

	if (!late->start_ns)
		return 0;
	if (since_ns < late->start_ns)
		since_ns = late->start_ns;
	return now > since_ns ? now - since_ns : 0;
}

void late_file(struct late *late, struct process *process, const char *path, uint64_t since_ns)
{
	uint64_t ns;

	/* Its first files are late as it is itself. What is held while it is opened is not mapped yet. */
	if (!process->probed || !since_ns || since_ns == UINT64_MAX)
		return;
	ns = late_by(late, since_ns);
	if (!ns)
		return;
	late->files++;
	lateness_add_file(&process->target.late, path, ns);
	notices_late_file(late->notices, process, path, ns);
}

void late_ended(struct late *late, struct process *process, struct module *file, uint64_t since_ns)
{
	bool unmapped = file->fd < 0 && file->unmapped;

	/* A process that has no probes at all counts as a child. */
	if (!late->start_ns || !process->probed || !since_ns)
		return;
	/* It may have executed another program since it mapped the file. */
	if (since_ns == UINT64_MAX && !unmapped)
		return;
	if (!file->inode || file->no_fd || file->unanswered || file->uncopied)
		return;
	if (file->fd < 0 && (file->missed || file->shared || !unmapped))
		return;
	file->missed = true;
	late->missed++;
	notices_missed_file(late->notices, process, file->path);
}

void late_child(struct late *late, struct process *process, uint64_t since_ns)
{
	uint64_t ns = late_by(late, since_ns);

	if (!ns)
		return;
	late->children++;
	lateness_add_child(&process->target.late, ns);
}

/*
 * Links that are one for many probes leave out the calls of other processes, even in the same memory; so do the BPF programs
 * where files are probed for the whole machine. Perf events are tied to the memory.
 */
void late_sharer(struct late *late, const struct process *process, struct process *owner)
{
	void *began = (void *)(uintptr_t)(process->start_ticks + 1);
	uint32_t pid = (uint32_t)process->target.pid;

	if (!owner || !late->start_ns || !late->by_process ||
	    table_get(&late->sharers, pid) == began)
		return;
	table_put(&late->sharers, pid, began);
	late->shared++;
	lateness_add_shared(&owner->target.late);
}

void late_forget(struct late *late, uint32_t pid)
{
	table_remove(&late->sharers, pid);
}
