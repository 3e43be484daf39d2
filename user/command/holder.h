/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a started command's opens of programs and libraries until their probes are attached:
 * connects open_hold and the session. Where opens cannot be held, tracing continues without, and
 * what it misses is counted.
 */
#ifndef COMMAND_HOLDER_H
#define COMMAND_HOLDER_H

#include "base/log.h"
#include "command/options.h"
#include "session/session.h"
#include "system/loop.h"
#include "system/open_hold.h"
#include "system/spawn.h"

/* Start with {0}. */
struct holder {
	struct open_hold *opens; /* NULL = nothing is held */
	struct session *session;
	const struct log *log;
	struct watch watch;
};

/* Do what needs privileges. `spawn` is held, or {0} if there is no command. */
void holder_prepare(struct holder *holder, struct session *session, struct spawn *spawn,
		    const struct options *options, const struct log *log);

/* Start answering held opens, in `loop`. */
void holder_start(struct holder *holder, struct loop *loop);

/* As spawn_release, while opens are answered: the exec itself is one of them. */
int holder_release(struct holder *holder, struct spawn *spawn, struct error *error);

/* Stop holding. */
void holder_close(struct holder *holder);

#endif
