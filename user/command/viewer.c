/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See viewer.h. A snapshot stays until the next one, so that keys do not wait for the kernel. */
#include "command/viewer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "command/naming.h"
#include "system/end_signals.h"
#include "top/terminal.h"

/* The next snapshot comes after so many times of what the last one took at least. */
#define REST_TIMES 4

/* A message gives way to the keys after this time. */
#define MESSAGE_NS 8000000000ull

int viewer_open(struct viewer *viewer, const struct options *options, const struct log *log,
		struct error *error)
{
	*viewer = (struct viewer){ .options = options,
				   .view = view_new(options->sort, !options->light),
				   .on_time.fd = -1 };
	messages_open(&viewer->messages, log);
	return terminal_check(error);
}

/* Drawing */

static const char *viewer_message(const struct viewer *viewer)
{
	const struct messages *messages = &viewer->messages;

	if (!messages->last_ns || clock_now_ns() > messages->last_ns + MESSAGE_NS)
		return NULL;
	return messages->last.data;
}

static void viewer_draw(struct viewer *viewer)
{
	const struct content content = { .report = viewer->showing.report,
					 .rows = &viewer->rows,
					 .history = &viewer->reporter->history,
					 .growth_ns = viewer->growth_ns,
					 .frames = reporter_frames(viewer->options),
					 .message = viewer_message(viewer),
					 .is_gone = viewer->is_gone };
	size_t columns, rows;
	struct screen screen;

	if (!viewer->is_shown)
		return;
	terminal_size(&columns, &rows);
	screen = draw_screen(&content, &viewer->view, columns, rows, terminal_is_ascii(),
			     &viewer->extent);
	terminal_draw(&screen);
	screen_free(&screen);
}

/* The report */

static bool viewer_is_without_young(const struct viewer *viewer)
{
	return viewer->options->min_age_ns || viewer->options->survived;
}

static void viewer_rank(struct viewer *viewer)
{
	const struct options *options = viewer->options;
	struct view *view = &viewer->view;
	struct report_options wanted = { .sort = view->sort,
					 .top = options->top,
					 .only_held = true,
					 .without_young = viewer_is_without_young(viewer),
					 .min_age_ns = options->min_age_ns,
					 .survived = options->survived,
					 .lines = !view->by_process,
					 .internal = options->level == LOG_VERBOSE,
					 .history = viewer->reporter->is_judged
							    ? &viewer->reporter->history
							    : NULL };

	wanted.base = growth_window_find(&viewer->window, viewer->showing.snapshot->time_ns,
					 &viewer->growth_ns);
	showing_rank(&viewer->showing, &wanted);
	rows_find(&viewer->rows, viewer->showing.report, view);
	viewer->is_gone = !rows_follow(&viewer->rows, viewer->showing.report, view);
}

static void viewer_group(struct viewer *viewer)
{
	const struct options *options = viewer->options;

	showing_group(&viewer->showing,
		      viewer->view.by_process ? GROUP_BY_PROCESS : reporter_by(options),
		      viewer->view.pid, options->level == LOG_VERBOSE);
	viewer_rank(viewer);
}

/* Where no block's end is seen, what sites hold is known from reports alone. */
static void viewer_keep_history(struct viewer *viewer)
{
	const struct snapshot *snapshot = viewer->showing.snapshot;
	struct history *history = &viewer->reporter->history;
	size_t i;

	if (viewer->reporter->is_judged || !history_begin(history, snapshot->time_ns))
		return;
	for (i = 0; i < snapshot->site_count; i++)
		history_set(history, snapshot->sites[i].key, &snapshot->sites[i].stats);
}

/* Returns 0 or a negative errno. */
static int viewer_take(struct viewer *viewer)
{
	struct snapshot *snapshot;
	int code = session_snapshot(viewer->session, &snapshot);

	if (code)
		return code;
	viewer->is_stale = false;
	showing_take(&viewer->showing, snapshot, &viewer->options->rules, &viewer->reporter->names);
	viewer_keep_history(viewer);
	return 0;
}

static void viewer_set_timer(struct viewer *viewer, uint64_t took_ns)
{
	const uint64_t rest_ns = took_ns * REST_TIMES;

	loop_set_timer(viewer->on_time.fd, viewer->options->interval_ns > rest_ns
						   ? viewer->options->interval_ns
						   : rest_ns);
}

/* A new snapshot, with its report. */
static void viewer_refresh(struct viewer *viewer)
{
	const uint64_t begin_ns = clock_now_ns();

	viewer->code = viewer_take(viewer);
	if (viewer->code) {
		loop_stop(viewer->loop);
		return;
	}
	viewer_group(viewer);
	growth_window_keep(&viewer->window, viewer->showing.snapshot,
			   viewer_is_without_young(viewer));
	viewer_set_timer(viewer, clock_now_ns() - begin_ns);
}

/* Names of a report may take time; what went wrong with them is a message. */
static void viewer_update(struct viewer *viewer, unsigned int effect)
{
	struct symbolizer *symbolizer = viewer->reporter->symbolizer;

	symbolizer_begin_report(symbolizer);
	if (viewer->session && (effect & VIEW_THAW || viewer->is_stale))
		viewer_refresh(viewer);
	else if (viewer->showing.snapshot && effect & VIEW_GROUP)
		viewer_group(viewer);
	if (effect & VIEW_MARK && viewer->showing.snapshot)
		growth_window_mark(&viewer->window, viewer->showing.snapshot,
				   viewer_is_without_young(viewer));
	if (effect & VIEW_UNMARK)
		growth_window_unmark(&viewer->window);
	if (viewer->showing.report && effect & VIEW_RANK)
		viewer_rank(viewer);
	viewer_draw(viewer);
	symbolizer_end_report(symbolizer);
	naming_complain(symbolizer, &viewer->messages.log);
}

/* Events */

static void viewer_press(struct viewer *viewer, uint32_t key)
{
	const unsigned int effect = view_press(&viewer->view, &viewer->extent, key);

	if (viewer->showing.report && !viewer->view.chosen_id)
		rows_follow(&viewer->rows, viewer->showing.report, &viewer->view);
	/* Whoever presses a key has seen it. */
	viewer->messages.last_ns = 0;
	if (effect & VIEW_QUIT)
		loop_stop(viewer->loop);
	else
		viewer_update(viewer, effect);
}

static void viewer_on_key(void *context, struct watch *watch)
{
	struct viewer *viewer = context;
	uint32_t key;

	(void)watch;
	do {
		if (!terminal_take_key(&key))
			loop_stop(viewer->loop);
		else if (key != VIEW_KEY_NONE)
			viewer_press(viewer, key);
	} while (key != VIEW_KEY_NONE && !viewer->loop->stopped);
}

static void viewer_on_time(void *context, struct watch *watch)
{
	struct viewer *viewer = context;

	if (!loop_take_ticks(watch->fd))
		return;
	viewer_update(viewer, viewer->view.frozen ? VIEW_DRAW : VIEW_THAW);
	if (viewer->view.frozen)
		viewer_set_timer(viewer, 0);
}

void viewer_see_signal(struct viewer *viewer, int number)
{
	if (!viewer->is_shown || (number != SIGWINCH && number != SIGTSTP))
		return;
	if (number == SIGTSTP)
		terminal_suspend();
	viewer_update(viewer, number == SIGTSTP && !viewer->view.frozen ? VIEW_THAW : VIEW_DRAW);
}

/* Names */

static void viewer_look_up(void *context, const struct frame *frame)
{
	struct viewer *viewer = context;

	symbolizer_lookup(viewer->reporter->symbolizer, frame);
}

/* Its number may become another file's: what is shown would get the names of that. */
static void viewer_forget(void *context, uint32_t module)
{
	struct viewer *viewer = context;

	symbolizer_forget(viewer->reporter->symbolizer, module);
	viewer->is_stale = true;
}

struct frame_namer viewer_names(struct viewer *viewer)
{
	return (struct frame_namer){ .look_up = viewer_look_up,
				     .forget = viewer_forget,
				     .context = viewer };
}

/* Life */

int viewer_start(struct viewer *viewer, struct reporter *reporter, struct loop *loop,
		 struct error *error)
{
	const struct options *options = viewer->options;
	int code;

	viewer->reporter = reporter;
	viewer->loop = loop;
	messages_hold(&viewer->messages);
	code = terminal_open(
		options_use_color(options->color, true, getenv("NO_COLOR"), getenv("TERM")), error);
	if (code)
		return code;
	end_signals_set_last(terminal_restore);
	viewer->is_shown = true;
	viewer->on_key =
		(struct watch){ .fd = STDIN_FILENO, .handle = viewer_on_key, .context = viewer };
	code = loop_add(loop, &viewer->on_key);
	if (code)
		return error_set(error, ERROR_PERMISSION, code, "cannot wait for keys: %s",
				 strerror(-code));
	viewer_draw(viewer);
	return 0;
}

int viewer_begin(struct viewer *viewer, struct session *session)
{
	const int fd = loop_open_timer(1, 0);

	if (fd < 0)
		return fd;
	viewer->session = session;
	viewer->on_time = (struct watch){ .fd = fd, .handle = viewer_on_time, .context = viewer };
	return loop_add(viewer->loop, &viewer->on_time);
}

void viewer_leave(struct viewer *viewer)
{
	if (viewer->is_shown)
		terminal_close();
	viewer->is_shown = false;
	/* What it refers to ends with the run. */
	showing_free(&viewer->showing);
	messages_release(&viewer->messages);
}

void viewer_close(struct viewer *viewer)
{
	viewer_leave(viewer);
	rows_free(&viewer->rows);
	growth_window_free(&viewer->window);
	if (viewer->on_time.fd >= 0)
		close(viewer->on_time.fd);
	viewer->on_time.fd = -1;
	messages_close(&viewer->messages);
}
