/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See schedule.h. */
#include "command/schedule.h"

#include <unistd.h>

#include "base/clock.h"

static void schedule_on_tick(void *context, struct watch *watch)
{
	struct schedule *schedule = context;

	if (!loop_take_ticks(watch->fd))
		return;
	if (++schedule->ticks == schedule->count)
		loop_stop(schedule->loop);
	else
		schedule->report(schedule->context);
}

static void schedule_on_end(void *context, struct watch *watch)
{
	struct schedule *schedule = context;

	if (loop_take_ticks(watch->fd))
		loop_stop(schedule->loop);
}

/* Returns 0 or a negative errno. */
static int schedule_watch(struct schedule *schedule, struct watch *watch, int fd,
			  void (*handle)(void *context, struct watch *watch))
{
	*watch = (struct watch){ .fd = fd, .handle = handle, .context = schedule };
	return fd < 0 ? fd : loop_add(schedule->loop, watch);
}

int schedule_start(struct schedule *schedule, const struct options *options, uint64_t since_ns,
		   struct loop *loop)
{
	const uint64_t interval_ns = options->interval_ns, all_ns = options->duration_ns;
	const uint64_t past_ns = since_ns ? clock_now_ns() - since_ns : 0;
	int code = 0;

	schedule->loop = loop;
	schedule->count = options->count;
	if (all_ns)
		code = schedule_watch(schedule, &schedule->on_end,
				      loop_open_timer(past_ns < all_ns ? all_ns - past_ns : 0, 0),
				      schedule_on_end);
	if (interval_ns && !code)
		code = schedule_watch(schedule, &schedule->on_tick,
				      loop_open_timer(interval_ns, interval_ns), schedule_on_tick);
	return code;
}

void schedule_close(struct schedule *schedule)
{
	const int fds[] = { schedule->on_tick.fd, schedule->on_end.fd };
	size_t i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] > 0)
			close(fds[i]);
	*schedule = (struct schedule){ 0 };
}
