/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See time_left.h. */
#include "command/time_left.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "command/progress.h"

#define STEP_NS 1000000000ull

static void time_left_on_time(void *context, struct watch *watch)
{
	const struct time_left *left = context;
	char passed[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	if (!loop_take_ticks(watch->fd))
		return;
	progress_show("traced for %s of %s",
		      units_format_time(clock_now_ns() - left->begin_ns, passed),
		      units_format_time(left->duration_ns, all));
}

void time_left_start(struct time_left *left, const struct options *options, struct loop *loop)
{
	const int fd = options->duration_ns && !options->arguments
			       ? loop_open_timer(STEP_NS, STEP_NS)
			       : -1;

	if (fd < 0)
		return;
	*left = (struct time_left){
		.watch = { .fd = fd, .handle = time_left_on_time, .context = left },
		.begin_ns = clock_now_ns(),
		.duration_ns = options->duration_ns
	};
	loop_add(loop, &left->watch);
}

void time_left_stop(struct time_left *left)
{
	if (!left->duration_ns)
		return;
	close(left->watch.fd);
	left->duration_ns = 0;
	progress_end();
}
