/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects untraced children: a master process may allocate little and its workers much. */
#ifndef COMMAND_UNTRACED_H
#define COMMAND_UNTRACED_H

#include "base/log.h"
#include "command/options.h"
#include "session/session.h"

/* Log which processes named by -p have running children that are not traced. */
void untraced_log(const struct log *log, const struct options *options,
		  const struct session *session);

#endif
