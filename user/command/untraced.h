/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A master process may allocate little and its workers much: processes with children that are not traced. */
#ifndef COMMAND_UNTRACED_H
#define COMMAND_UNTRACED_H

#include "base/log.h"
#include "command/options.h"
#include "session/session.h"

/* Log which processes that were named by -p have children that run and are not traced. */
void untraced_log(const struct log *log, const struct options *options,
		  const struct session *session);

#endif
