/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_pause.h. */
#include "memory/leaks_pause.h"

#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "system/thread_rest.h"

/* Between two looks at whether all threads have stopped. */
#define PAUSE_STEP_NS 100000

bool leaks_pause_is_allowed(const struct leaks_pause *pause, uint64_t pass_ns,
			    struct leak_report *report)
{
	char need[UNITS_TEXT_MAX], limit[UNITS_TEXT_MAX];

	if (pass_ns < pause->wanted->max_pause_ns)
		return true;
	leak_report_remark(report,
			   "The process was not stopped: a pass takes %s, and --max-pause is %s.",
			   units_format_time(pass_ns, need),
			   units_format_time(pause->wanted->max_pause_ns, limit));
	return false;
}

bool leaks_pause_begin(struct leaks_pause *pause)
{
	const struct timespec step = clock_timespec(PAUSE_STEP_NS);
	const pid_t pid = pause->wanted->pid;
	uint64_t end_ns;

	pause->begin_ns = clock_now_ns();
	pause->until_ns = pause->image->until_ns;
	pause->patience = pause->image->patience;
	end_ns = pause->begin_ns + pause->wanted->max_pause_ns;
	if (!pause->until_ns || end_ns < pause->until_ns)
		pause->image->until_ns = end_ns;
	pause->image->patience = NULL;
	watchdog_stop(pause->wanted->pause);
	while (!thread_rest_is_stopped("/proc", pid)) {
		if (clock_now_ns() >= end_ns)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

void leaks_pause_end(struct leaks_pause *pause, struct leak_report *report, bool is_whole)
{
	char limit[UNITS_TEXT_MAX];

	if (!watchdog_let_go(pause->wanted->pause))
		leak_report_remark(report,
				   "The process is stopped still: 'kill -CONT %d' lets it go on.",
				   pause->wanted->pid);
	report->pause_ns = clock_now_ns() - pause->begin_ns;
	report->is_paused = is_whole;
	pause->image->until_ns = pause->until_ns;
	pause->image->patience = pause->patience;
	if (!is_whole)
		leak_report_remark(report,
				   "The process was stopped and went on before a pass was over: "
				   "--max-pause is %s.",
				   units_format_time(pause->wanted->max_pause_ns, limit));
}
