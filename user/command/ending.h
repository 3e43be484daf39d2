/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the command that was traced has ended. */
#ifndef COMMAND_ENDING_H
#define COMMAND_ENDING_H

#include "base/log.h"
#include "system/spawn.h"

/* Log how the command called `name` has ended, if it has. */
void ending_log(const struct log *log, const char *name, struct spawn *spawn);

#endif
