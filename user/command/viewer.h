/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects a session to the screen of `tracer top` (top/): draws reports and handles keys. */
#ifndef COMMAND_VIEWER_H
#define COMMAND_VIEWER_H

#include "command/growth_window.h"
#include "command/messages.h"
#include "command/options.h"
#include "command/reporter.h"
#include "command/showing.h"
#include "session/session.h"
#include "system/loop.h"
#include "top/draw.h"

struct viewer {
	const struct options *options; /* not owned, like the next two */
	struct reporter *reporter;
	struct session *session; /* NULL = nothing is traced yet */
	struct loop *loop;
	struct messages messages; /* a log whose messages are shown on the screen */
	struct view view;
	struct view_extent extent; /* from the last drawing */
	struct showing showing;
	struct rows rows;
	struct growth_window window;
	uint64_t growth_ns; /* time span of the report's growth */
	bool is_gone; /* the row whose stack is shown no longer holds anything */
	bool is_stale; /* the snapshot has frames that can no longer be named */
	bool is_shown; /* the screen is on */
	int code; /* error of a failed snapshot */
	struct watch on_key, on_time;
};

/*
 * Check for a terminal, and start catching log messages. Shows nothing yet. Returns 0 or a negative
 * errno with `error` filled. Free with viewer_close.
 */
int viewer_open(struct viewer *viewer, const struct options *options, const struct log *log,
		struct error *error);

/*
 * Take over the terminal, and handle keys in `loop`. Returns 0 or a negative errno with `error`
 * filled.
 */
int viewer_start(struct viewer *viewer, struct reporter *reporter, struct loop *loop,
		 struct error *error);

/* Start showing a session. Returns 0 or a negative errno. */
int viewer_begin(struct viewer *viewer, struct session *session);

/* The callbacks that name a session's frames; see reporter_names. */
struct frame_namer viewer_names(struct viewer *viewer);

/*
 * Handle SIGWINCH (the terminal was resized) and SIGTSTP (Ctrl-Z: leave the terminal for a while);
 * ignores others.
 */
void viewer_see_signal(struct viewer *viewer, int number);

/* Restore the terminal and write the messages held back meanwhile. A second call does nothing. */
void viewer_leave(struct viewer *viewer);
void viewer_close(struct viewer *viewer);

#endif
