/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ending.h. */
#include "command/ending.h"

#include <string.h>
#include <sys/wait.h>

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
