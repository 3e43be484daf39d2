/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_members.h. */
#include "command/memory_members.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/units.h"
#include "command/candidates.h"
#include "command/target_options.h"
#include "discover/descendants.h"
#include "system/proc.h"

/* Of many processes, so many are named. */
#define NAMES_MAX 8

/* The processes of a report: several, or the one that it is about. */
static const struct memory_process *members_of(const struct memory_report *report,
					       size_t *ret_count)
{
	*ret_count = report->member_count ? report->member_count : 1;
	return report->member_count ? report->members : &report->process;
}

/* Does it still run, and has its pid not been given to another one? */
static bool members_has_stayed(const struct memory_process *member)
{
	uint64_t start_ticks;

	return !proc_read_start_time("/proc", member->pid, &start_ticks) &&
	       start_ticks == member->start_ticks && proc_has_memory("/proc", member->pid);
}

static void members_add_tree(const struct memory_report *before, struct pid_list *list)
{
	const struct memory_process *members;
	size_t i, count;

	members = members_of(before, &count);
	for (i = 0; i < count; i++) {
		if (!members_has_stayed(&members[i]) || pid_list_has(list, members[i].pid))
			continue;
		pid_list_add(list, members[i].pid);
		descendants_list(members[i].pid, list);
	}
}

/* Those that have not ended, into `ret_pids`, which has room for all. */
static size_t members_select(const struct held_pids *held, const pid_t *pids, size_t count,
			     pid_t *ret_pids)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++)
		if (!held_pids_ended(held, pids[i]))
			ret_pids[kept++] = pids[i];
	return kept;
}

static int members_refuse(const struct held_pids *held, const struct pid_list *list,
			  struct error *error)
{
	const struct held_pid *ended = held_pids_ended(held, list->pids[0]);

	if (list->count == 1 && ended)
		return error_set(error, ERROR_TARGET, -ESRCH, "process %d (%s) has ended",
				 ended->pid, ended->comm);
	return error_set(error, ERROR_TARGET, -ESRCH, "all processes have ended");
}

/* The processes of the options, without a pid that is another process's by now. */
static int members_find(const struct options *options, const struct held_pids *held,
			struct pid_list *list, struct error *error)
{
	struct options present = *options;
	int code;

	present.pids = memory_alloc(options->pid_count + 1, sizeof(*present.pids));
	present.pid_count = members_select(held, options->pids, options->pid_count, present.pids);
	code = candidates_find(&present, list, error);
	free(present.pids);
	return code;
}

int memory_members_list(const struct options *options, const struct held_pids *held,
			const struct memory_report *before, struct pid_list *list,
			struct error *error)
{
	struct pid_list now = { 0 };
	size_t left;
	int code;

	if (!options->tree && !options->all && !target_options_selects(options)) {
		left = members_select(held, list->pids, list->count, list->pids);
		if (!left)
			return members_refuse(held, list, error);
		list->count = left;
		return 0;
	}
	code = members_find(options, held, &now, error);
	if (code) {
		pid_list_free(&now);
		return code;
	}
	if (options->tree)
		members_add_tree(before, &now);
	if (!now.count) {
		pid_list_free(&now);
		return members_refuse(held, list, error);
	}
	pid_list_free(list);
	*list = now;
	return 0;
}

static bool members_has(const struct memory_process *members, size_t count,
			const struct memory_process *process)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (members[i].pid == process->pid &&
		    members[i].start_ticks == process->start_ticks)
			return true;
	return false;
}

/* "sh (12), cat (13) and 4 others": those of `members` that `others` lack. Returns how many these are. */
static size_t members_name(const struct memory_process *members, size_t count,
			   const struct memory_process *others, size_t other_count,
			   struct buffer *names)
{
	size_t i, found = 0;

	for (i = 0; i < count; i++) {
		if (members_has(others, other_count, &members[i]))
			continue;
		if (found++ < NAMES_MAX)
			buffer_printf(names, "%s%s (%d)", found > 1 ? ", " : "", members[i].comm,
				      members[i].pid);
	}
	if (found > NAMES_MAX)
		buffer_printf(names, " and %zu other%s", found - NAMES_MAX,
			      units_s(found - NAMES_MAX));
	return found;
}

void memory_members_compare(struct memory_report *report, const struct memory_report *before)
{
	const struct memory_process *now, *then;
	struct buffer came = { 0 }, went = { 0 };
	size_t now_count, then_count;

	now = members_of(report, &now_count);
	then = members_of(before, &then_count);
	if (members_name(now, now_count, then, then_count, &came))
		memory_report_remark(report, "Since the look before there came: %s.", came.data);
	if (members_name(then, then_count, now, now_count, &went))
		memory_report_remark(report, "Since the look before there went: %s.", went.data);
	buffer_free(&came);
	buffer_free(&went);
}
