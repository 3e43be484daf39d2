/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See choice.h. It has a loop of its own, so that nothing of it is left in the one that follows. */
#include "command/choice.h"

#include <string.h>
#include <unistd.h>

#include "verdict/watch_price.h"
#include "base/clock.h"
#include "system/loop.h"

/* How often windows are asked, and for how long. */
#define ASK_NS 200000000
#define MOST_NS 6000000000ULL

struct choice {
	struct session *session;
	struct loop loop;
	uint64_t most_ns;
	struct watch on_signal, on_event, on_time;
	bool all;
};

/* It stays pending, for the loop that follows. */
static void choice_on_signal(void *context, struct watch *watch)
{
	struct choice *choice = context;

	(void)watch;
	loop_stop(&choice->loop);
}

static void choice_on_event(void *context, struct watch *watch)
{
	struct choice *choice = context;

	(void)watch;
	session_drain(choice->session);
	if (session_is_over(choice->session))
		loop_stop(&choice->loop);
}

static void choice_on_time(void *context, struct watch *watch)
{
	struct choice *choice = context;
	struct snapshot *snapshot;
	bool enough = false;

	if (!loop_take_ticks(watch->fd) || session_snapshot(choice->session, &snapshot))
		return;
	choice->all = watch_price_allows_all(snapshot->budget, &enough);
	if (enough || snapshot->time_ns > snapshot->start_ns + choice->most_ns)
		loop_stop(&choice->loop);
	snapshot_free(snapshot);
}

/* Returns 0 or a negative errno. */
static int choice_add(struct choice *choice, struct watch *watch, int fd,
		      void (*handle)(void *context, struct watch *watch))
{
	*watch = (struct watch){ .fd = fd, .handle = handle, .context = choice };
	return fd < 0 ? fd : loop_add(&choice->loop, watch);
}

int choice_run(struct session *session, int signals, uint64_t duration_ns, bool *ret_all,
	       struct error *error)
{
	struct choice choice = { .session = session, .most_ns = MOST_NS };
	int code = loop_open(&choice.loop, error);

	if (code)
		return code;
	if (duration_ns && duration_ns / 4 < MOST_NS)
		choice.most_ns = duration_ns / 4;
	session_activate(session);
	code = choice_add(&choice, &choice.on_time, loop_open_timer(ASK_NS, ASK_NS),
			  choice_on_time);
	if (!code)
		code = choice_add(&choice, &choice.on_signal, signals, choice_on_signal);
	if (!code)
		code = choice_add(&choice, &choice.on_event, session_fd(session), choice_on_event);
	if (!code)
		code = loop_run(&choice.loop);
	if (choice.on_time.fd >= 0)
		close(choice.on_time.fd);
	loop_close(&choice.loop);
	*ret_all = choice.all;
	return code ? error_set(error, ERROR_PERMISSION, code,
				"cannot wait for the first windows: %s", strerror(-code))
		    : 0;
}
