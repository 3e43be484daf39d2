/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ending.h. */
#include "command/ending.h"

#include <string.h>
#include <sys/wait.h>

#include "system/end_signals.h"

/* A command that goes on at its end is waited for, for its exit status; once a signal is to end the tracer, for so long. */
#define END_MS 5000

int ending_open(struct ending *ending, struct spawn *spawn, const char *name, const struct log *log,
		struct error *error)
{
	int code = watchdog_start(&ending->watchdog, spawn->pid, 0, error);

	if (!code)
		*ending = (struct ending){ log, name, spawn, ending->watchdog };
	return code;
}

static void ending_wait(const struct ending *ending)
{
	while (!watchdog_wait_end(&ending->watchdog, END_MS) && !end_signals_are_pending())
		;
}

void ending_let_go(struct ending *ending, struct session *session)
{
	const bool is_stopped = session && session_is_stopped(session);

	if (!ending->spawn)
		return;
	/* What stops it must be out. */
	if (is_stopped)
		session_detach(session);
	if (!watchdog_let_go(&ending->watchdog))
		log_write(
			ending->log, LOG_ERROR,
			"warning: %s (process %d) is stopped still: 'kill -CONT %d' lets it go on",
			ending->name, ending->watchdog.pid, ending->watchdog.pid);
	if (is_stopped) {
		ending_wait(ending);
		ending_log(ending->log, ending->name, ending->spawn);
	}
	watchdog_close(&ending->watchdog);
	ending->spawn = NULL;
}

void ending_log(const struct log *log, const char *name, struct spawn *spawn)
{
	int status;

	if (!spawn_poll(spawn, &status))
		return;
	if (status < 0)
		log_write(log, LOG_NOTICE, "%s ended", name);
	else if (WIFSIGNALED(status))
		log_write(log, LOG_NOTICE, "%s was ended by signal %d (%s)", name, WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	else
		log_write(log, LOG_NOTICE, "%s exited with status %d", name, WEXITSTATUS(status));
}
