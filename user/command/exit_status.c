/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See exit_status.h. */
#include "command/exit_status.h"

#include <sys/wait.h>

#define STATUS_FOUND 1
#define STATUS_SIGNAL 128

static int exit_status_of_command(const struct exit_facts *facts)
{
	if (!facts->has_ended)
		return 0;
	if (facts->wait_status < 0)
		return EXIT_STATUS_FAILED;
	if (WIFSIGNALED(facts->wait_status))
		return STATUS_SIGNAL + WTERMSIG(facts->wait_status);
	return WEXITSTATUS(facts->wait_status);
}

static int exit_status_of_finding(const struct exit_facts *facts)
{
	switch (facts->finding) {
	case FINDING_FOUND:
		return facts->has_command ? (int)facts->error_exitcode : STATUS_FOUND;
	case FINDING_UNJUDGED:
		return facts->has_command && !facts->error_exitcode ? 0 : EXIT_STATUS_UNJUDGED;
	case FINDING_NOTHING:
		break;
	}
	return 0;
}

int exit_status_of(const struct exit_facts *facts)
{
	int finding, command;

	if (facts->error)
		return facts->is_started ? EXIT_STATUS_FAILED : (int)facts->error;
	finding = exit_status_of_finding(facts);
	command = facts->is_started ? exit_status_of_command(facts) : 0;
	/* A command that has failed is no success, whether it could be judged or not. */
	if (finding && (facts->finding == FINDING_FOUND || !command))
		return finding;
	return command;
}
