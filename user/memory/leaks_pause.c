/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_pause.h. */
#include "memory/leaks_pause.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "reach/reach_graph.h"
#include "system/memory_sharer.h"
#include "system/thread_rest.h"

/* Between two looks at whether all threads have stopped. */
#define PAUSE_STEP_NS 100000

static bool pause_has_time(const struct leaks_pause *pause, uint64_t pass_ns,
			   struct leak_report *report)
{
	const uint64_t now_ns = clock_now_ns(), until_ns = pause->image->until_ns;
	const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	char need[UNITS_TEXT_MAX], limit[UNITS_TEXT_MAX];

	units_format_time(pass_ns, need);
	if (pass_ns >= pause->wanted->max_pause_ns)
		leak_report_remark(
			report,
			"The process was not stopped: a pass takes %s, and --max-pause is %s.",
			need, units_format_time(pause->wanted->max_pause_ns, limit));
	else if (until_ns && pass_ns >= left_ns)
		leak_report_remark(
			report,
			"The process was not stopped: a pass takes %s, and %s of --deadline "
			"are left.",
			need, units_format_time(left_ns, limit));
	else
		return true;
	return false;
}

bool leaks_pause_is_allowed(const struct leaks_pause *pause, uint64_t pass_ns, uint64_t blocks,
			    struct leak_report *report)
{
	const uint64_t memory = 2 * reach_graph_need(blocks);
	char need[UNITS_TEXT_MAX];
	pid_t sharer;

	if (!pause_has_time(pause, pass_ns, report))
		return false;
	if (memory > pause->wanted->max_memory) {
		leak_report_remark(report,
				   "The process was not stopped: two passes take %s of the "
				   "tracer's memory: --max-memory is more.",
				   units_format_size(memory, need));
		return false;
	}
	sharer = memory_sharer_find("/proc", pause->wanted->pid);
	if (sharer > 0)
		leak_report_remark(report,
				   "The process was not stopped: process %d shares its memory, and "
				   "would run on.",
				   (int)sharer);
	else if (sharer < 0)
		leak_report_remark(report, "The process was not stopped: the kernel does not show "
					   "whether another one shares its memory.");
	return !sharer;
}

bool leaks_pause_begin(struct leaks_pause *pause)
{
	const struct timespec step = clock_timespec(PAUSE_STEP_NS);
	const struct leaks_wanted *wanted = pause->wanted;
	struct image *image = pause->image;
	uint64_t end_ns;

	pause->begin_ns = clock_now_ns();
	pause->until_ns = image->until_ns;
	pause->patience = image->patience;
	end_ns = pause->begin_ns + wanted->max_pause_ns;
	if (!image->until_ns || end_ns < image->until_ns)
		image->until_ns = end_ns;
	/* No more time, whoever keeps the tracer from a CPU; but less. */
	pause->own = (struct image_patience){ .is_over = wanted->is_over };
	image->patience = &pause->own;
	watchdog_stop(wanted->pause);
	while (!thread_rest_is_stopped("/proc", wanted->pid)) {
		if (image_is_over(image)) {
			pause->was_stopped = thread_rest_is_held("/proc", wanted->pid);
			return false;
		}
		nanosleep(&step, NULL);
	}
	pause->was_stopped = true;
	return true;
}

static void pause_remark(const struct leaks_pause *pause, struct leak_report *report,
			 const struct error *refused)
{
	char limit[UNITS_TEXT_MAX];

	units_format_time(pause->wanted->max_pause_ns, limit);
	if (!pause->was_stopped)
		leak_report_remark(report,
				   "The process was to be stopped, and did not stop within %s: the "
				   "first process of a container is not stopped from inside of it, "
				   "and none that waits for a disk before it goes on.",
				   limit);
	else if (refused->text[0] && !image_is_over(pause->image))
		leak_report_remark(report, "The process was stopped, but for no pass: %s.",
				   refused->text);
	else
		leak_report_remark(report,
				   "The process was stopped and went on before a pass was over: "
				   "--max-pause is %s.",
				   limit);
}

void leaks_pause_end(struct leaks_pause *pause, struct leak_report *report, bool is_whole,
		     const struct error *refused)
{
	const bool goes_on = watchdog_let_go(pause->wanted->pause);

	if (pause->was_stopped)
		report->pause_ns = clock_now_ns() - pause->begin_ns;
	report->is_paused = is_whole;
	if (!goes_on)
		leak_report_remark(report,
				   "The process is stopped still: 'kill -CONT %d' lets it go on.",
				   pause->wanted->pid);
	if (!is_whole)
		pause_remark(pause, report, refused);
	pause->image->until_ns = pause->until_ns;
	pause->image->patience = pause->patience;
}
