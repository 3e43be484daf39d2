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

/* What a limit or a monitor of the group sees is not the process alone. */
void memory_verdict_group(struct memory_report *report)
{
	const struct memory_group *group = &report->group;
	uint64_t cache = group->file_bytes;
	size_text size, usage;

	if (!group->known || !group_counts(report) || cache == HEAP_UNKNOWN ||
	    cache < 16 * MEMORY_CAUSE_MIN || cache < group->usage_bytes / 2 ||
	    (!group->asked && cache < report->process.rss_bytes / 2))
		return;
	if (group->shmem_bytes != HEAP_UNKNOWN && group->shmem_bytes < cache)
		cache -= group->shmem_bytes;
	memory_cause_add(
		report, "page-cache", cache,
		memory_format("%s of the %s that its control group is charged with is page "
			      "cache of files, and not memory of %s.",
			      units_format_size(cache, size),
			      units_format_size(group->usage_bytes, usage),
			      report->member_count > 1 ? "its processes" : "the process"),
		memory_format("The kernel takes it back when the group reaches its limit."));
}
