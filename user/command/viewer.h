/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a session to the screen of `tracer top`, and from keys to what it shows (top/). */
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
	const struct options *options; /* not owned, and neither are the next two */
	struct reporter *reporter;
	struct session *session; /* NULL = nothing is traced yet */
	struct loop *loop;
	struct messages messages; /* what is written to its log is shown */
	struct view view;
	struct view_extent extent; /* of what was drawn last */
	struct showing showing;
	struct rows rows;
	struct growth_window window;
	uint64_t growth_ns; /* that the report's growth is of */
	bool is_gone; /* the row whose stack is shown holds nothing any more */
	bool is_stale; /* the snapshot has frames whose names are not known any more */
	bool is_shown; /* the terminal is taken over */
	int code; /* of a snapshot that failed */
	struct watch on_key, on_time;
};

/*
 * Look whether there is a terminal, and catch what is written to the log. Nothing is shown yet. Returns 0 or a negative errno with `error`
 * filled. Free with viewer_close.
 */
int viewer_open(struct viewer *viewer, const struct options *options, const struct log *log,
		struct error *error);

/* Take the terminal over, and keys from now on, whenever the loop runs. Returns 0 or a negative errno with `error` filled. */
int viewer_start(struct viewer *viewer, struct reporter *reporter, struct loop *loop,
		 struct error *error);

/* There is something to look at. Returns 0 or a negative errno. */
int viewer_begin(struct viewer *viewer, struct session *session);

/* What names a session's frames, as those of reporter_names. */
struct frame_namer viewer_names(struct viewer *viewer);

/* The terminal has another size (SIGWINCH), or is to be left for a while, as Ctrl-Z asks (SIGTSTP). Others mean nothing. */
void viewer_see_signal(struct viewer *viewer, int number);

/* Give the terminal back, and write the messages that have come meanwhile. Does nothing the second time. */
void viewer_leave(struct viewer *viewer);
void viewer_close(struct viewer *viewer);

#endif
