/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See holder.h. */
#include "command/holder.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

static void holder_refuse(struct holder *holder, const char *why)
{
	log_write(
		holder->log, LOG_NOTICE,
		"programs and libraries are not held until they are probed, so first calls may be "
		"missed, which is counted: %s",
		why);
	open_hold_free(holder->opens);
	holder->opens = NULL;
}

void holder_prepare(struct holder *holder, struct session *session, struct spawn *spawn,
		    const struct options *options, const struct log *log)
{
	struct error error = { 0 };
	int code;

	if (!spawn->pid || options->no_hold)
		return;
	holder->session = session;
	holder->log = log;
	if (open_hold_new(&holder->opens, &error)) {
		holder_refuse(holder, error.text);
		return;
	}
	code = spawn_set_apart(spawn);
	if (code)
		holder_refuse(holder, strerror(-code));
	else if (open_hold_mark(holder->opens, spawn->pid, &error))
		holder_refuse(holder, error.text);
}

/* One at a time, so that signals and reports have their turn; the descriptor stays readable while there are more. */
static void holder_answer(void *context, struct watch *watch)
{
	struct holder *holder = context;
	struct held_open held;
	bool wanted = true;

	(void)watch;
	if (!open_hold_take(holder->opens, &held))
		return;
	if (held.fd >= 0) {
		wanted = session_see_open(holder->session, held.pid, held.fd, held.exec);
		close(held.fd);
	}
	open_hold_answer(holder->opens, &held, !wanted);
}

void holder_start(struct holder *holder, struct loop *loop)
{
	struct error error = { 0 };
	int code;

	if (!holder->opens)
		return;
	if (open_hold_start(holder->opens, &error)) {
		holder_refuse(holder, error.text);
		return;
	}
	holder->watch = (struct watch){ .fd = open_hold_fd(holder->opens),
					.handle = holder_answer,
					.context = holder };
	code = loop_add(loop, &holder->watch);
	if (code)
		holder_refuse(holder, strerror(-code));
}

int holder_release(struct holder *holder, struct spawn *spawn, struct error *error)
{
	struct pollfd ready[2] = { { .events = POLLIN }, { .events = POLLIN } };

	if (!spawn->pid)
		return 0;
	if (!holder->opens)
		return spawn_release(spawn, error);
	spawn_let_go(spawn);
	ready[0].fd = spawn->failure;
	ready[1].fd = holder->watch.fd;
	while (!ready[0].revents) {
		if (poll(ready, 2, -1) > 0 && ready[1].revents)
			holder_answer(holder, &holder->watch);
	}
	return spawn_release(spawn, error);
}

void holder_close(struct holder *holder)
{
	open_hold_free(holder->opens);
	holder->opens = NULL;
}
