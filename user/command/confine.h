/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracer gives up once it traces. */
#ifndef COMMAND_CONFINE_H
#define COMMAND_CONFINE_H

#include "base/log.h"
#include "kernel/features.h"

/* Files and programs are open: what else root may do is not needed. What cannot be given up is said, with -v. */
void confine_tracer(enum backend backend, const struct log *log);

#endif
