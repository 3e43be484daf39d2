/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_verdict_group.h. */
#include "verdict/memory_verdict_group.h"

#include "verdict/memory_cause.h"
#include "base/memory.h"

/* Memory of the process that its group is charged with as anonymous, about: what is of no file. */
static uint64_t group_anonymous(const struct memory_report *report)
{
	uint64_t bytes = 0;
	int i;

	for (i = 0; i < PURPOSE_COUNT; i++)
		if (i != PURPOSE_CODE && i != PURPOSE_CONSTANTS &&
		    (i < PURPOSE_FILE || i > PURPOSE_KERNEL))
			bytes += report->parts[i].rss;
	return bytes;
}

/* Does the process have at least so many tenths of what the group has of anonymous memory? */
static bool group_is_mostly(const struct memory_report *report, unsigned int tenths)
{
	uint64_t anonymous = report->group.anon_bytes;

	return anonymous != HEAP_UNKNOWN && group_anonymous(report) >= anonymous / 10 * tenths;
}

/*
 * Is the account of the group asked for, or that of the process alone? Else it counts where its limit is near: from a half of it on, if the
 * process is a large part of the group, and of others from nine tenths on.
 */
static bool group_counts(const struct memory_report *report)
{
	const struct memory_group *group = &report->group;

	if (group->asked || group_is_mostly(report, 9))
		return true;
	return group->limit_bytes != HEAP_UNKNOWN &&
	       group->usage_bytes >= group->limit_bytes / 10 * (group_is_mostly(report, 5) ? 5 : 9);
}

bool memory_verdict_group_is_own(const struct memory_report *report)
{
	return report->group.known && (report->group.asked || group_is_mostly(report, 5));
}

/* Is so much of the group's account worth a sentence? */
static bool group_matters(const struct memory_report *report, uint64_t bytes)
{
	return bytes >= 16 * MEMORY_CAUSE_MIN && bytes >= report->group.usage_bytes / 2 &&
	       (report->group.asked || bytes >= report->process.rss_bytes / 2);
}

/* Shared memory is charged to a group as long as it is open somewhere, also if no process maps it. */
void memory_verdict_shared(struct memory_report *report)
{
	const struct memory_group *group = &report->group;
	size_text size, usage, mapped;
	uint64_t bytes = 0;
	int i;

	for (i = PURPOSE_SHARED; i <= PURPOSE_TMPFS; i++)
		bytes += report->member_count > 1 ? report->parts[i].pss : report->parts[i].rss;
	if (!memory_verdict_group_is_own(report) || group->shmem_bytes == HEAP_UNKNOWN ||
	    !group_matters(report, group->shmem_bytes))
		return;
	memory_cause_add(
		report, "shared-memory", group->shmem_bytes,
		memory_format("%s of the %s that its control group is charged with is shared "
			      "memory: /dev/shm, memfd, tmpfs. %s %s of it in memory.",
			      units_format_size(group->shmem_bytes, size),
			      units_format_size(group->usage_bytes, usage),
			      report->member_count > 1 ? "The processes map" : "The process maps",
			      units_format_size(bytes, mapped)),
		memory_format("The kernel cannot take it back without swap: it stays until the "
			      "files are deleted, and their descriptors and mappings are closed."));
}

/* What a limit or a monitor of the group sees is not the process alone. */
void memory_verdict_group(struct memory_report *report)
{
	const struct memory_group *group = &report->group;
	uint64_t cache = group->file_bytes;
	size_text size, usage;

	if (!group->known || !group_counts(report) || cache == HEAP_UNKNOWN)
		return;
	if (group->shmem_bytes != HEAP_UNKNOWN)
		cache -= group->shmem_bytes < cache ? group->shmem_bytes : cache;
	if (!group_matters(report, cache))
		return;
	memory_cause_add(
		report, "page-cache", cache,
		memory_format("%s of the %s that its control group is charged with is page "
			      "cache of files, and not memory of %s.",
			      units_format_size(cache, size),
			      units_format_size(group->usage_bytes, usage),
			      report->member_count > 1 ? "its processes" : "the process"),
		memory_format("The kernel takes it back when the group reaches its limit."));
}
