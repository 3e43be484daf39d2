/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace processes, or a command, and report, record, or look for lost blocks. Decides what is done when; how is for the session, the
 * reporter, the recorder and the finder.
 */
#include "command/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verdict/watch_price.h"
#include "base/clock.h"
#include "base/memory.h"
#include "command/choice.h"
#include "command/command.h"
#include "command/confine.h"
#include "command/ending.h"
#include "command/holder.h"
#include "command/listing.h"
#include "command/naming.h"
#include "command/plan_notice.h"
#include "command/price_notice.h"
#include "command/progress.h"
#include "command/reporter.h"
#include "command/schedule.h"
#include "command/selection.h"
#include "command/session_wanted.h"
#include "command/time_left.h"
#include "command/trace_options.h"
#include "command/triggers.h"
#include "decode/decoder.h"
#include "render/render.h"
#include "session/session.h"
#include "system/end_signals.h"
#include "system/loop.h"
#include "system/privilege.h"
#include "system/proc.h"
#include "system/spawn.h"

/* How long the target's calls are counted to find what tracing costs. */
#define WINDOW_NS 200000000

struct trace {
	const struct options *options;
	const struct log *log;
	struct module_list modules;
	struct decoder *decoder;
	struct spawn_signals signals; /* as they were before the tracer changed them */
	struct end_signals *end_signals;
	struct spawn spawn;
	struct ending ending; /* of a command that is stopped there: its lost blocks are found */
	struct selector selector;
	struct session *session;
	struct holder holder;
	struct reporter reporter;
	struct triggers triggers;
	struct recorder *recorder; /* NULL = the reporter writes reports */
	struct server *server; /* or reports are for who asks it; NULL = there is none */
	struct finder *finder; /* or finds lost blocks at the end; NULL = nothing does */
	struct viewer *viewer; /* or for who looks at it; NULL = nobody does */
	struct watcher *watcher; /* or they are what a watch has come to; NULL = there is none */
	/* What `options` is: a watch decides whether it has a budget. */
	struct options *own;
	struct schedule schedule;
	struct loop loop;
	struct watch on_signal, on_event, on_window, on_pipe, on_history;
	struct plan_notice notice; /* of what is probed */
	struct time_left left; /* of -d */
	bool waiting; /* for the first process */
	bool unprobed; /* the command has no allocator; what it executes may have */
	bool unlisted; /* the command's libraries are not known before it opens them */
	bool closed; /* the reports have no reader any more */
	bool closing; /* the next report is the last one */
	uint64_t active_ns; /* since when the session is active; 0 = not yet */
	bool started; /* the command has been executed */
	struct error error;
};

/* Programs and probes */

static int trace_open_session(struct trace *trace)
{
	struct session_options wanted = session_wanted_of(trace->options, trace->log);

	wanted.stop_at_end = trace->ending.spawn ? trace->spawn.pid : 0;
	wanted.selector = trace->selector.kind ? &trace->selector : NULL;
	wanted.marks = trace->recorder ? &trace->recorder->times : NULL;
	wanted.modules = &trace->modules;
	wanted.decoder = trace->decoder;
	wanted.names = trace->viewer ? viewer_names(trace->viewer)
				     : reporter_names(&trace->reporter);
	wanted.idle_part = trace->watcher ? WATCH_PRICE_IDLE_PART : 0;
	return session_open(&wanted, &trace->session, &trace->error);
}

static int trace_add_process(struct trace *trace, pid_t pid, char *const *paths)
{
	struct process *process;
	int code = process_open(pid, &process, &trace->error);

	return code ? code : session_add_process(trace->session, process, paths, &trace->error);
}

static int trace_add_command(struct trace *trace)
{
	char **paths = NULL;
	int code = listing_read_started(trace->options, trace->decoder, trace->spawn.path,
					trace->log, &paths, &trace->error);

	if (code >= 0) {
		trace->unlisted = code > 0;
		code = trace_add_process(trace, trace->spawn.pid, paths);
	}
	listing_free(paths);
	return code;
}

/* A command that only starts others need not have an allocator. */
static int trace_check_probes(struct trace *trace)
{
	const struct options *options = trace->options;
	struct error none = { 0 };

	if (!options->arguments || !options->follow_fork || options->named.count ||
	    options->usdt == USDT_ONLY || !session_check_probes(trace->session, &none))
		return session_check_probes(trace->session, &trace->error);
	trace->unprobed = true;
	log_write(trace->log, LOG_NOTICE, "what %s executes is traced: until then, %s",
		  options->arguments[0], none.text);
	return 0;
}

static int trace_add_processes(struct trace *trace)
{
	const struct options *options = trace->options;
	int code = 0;
	size_t i;

	if (options->arguments)
		code = trace_add_command(trace);
	/* One who wants the end does not wait until many are probed. */
	for (i = 0; i < options->pid_count && !code && !(i && end_signals_are_pending()); i++) {
		/* Before probes slow it down. */
		if (options->format->classes && !trace->recorder && !trace->finder)
			reporter_count_objects(&trace->reporter, options->pids[i]);
		code = trace_add_process(trace, options->pids[i], NULL);
	}
	session_select(trace->session);
	if (!code)
		code = session_check_light(trace->session, &trace->error);
	if (!code && trace->selector.kind == SELECT_SOME && !options->waits &&
	    !session_has_matched(trace->session))
		return selection_refuse(options, ": -w waits for one", &trace->error);
	/* More may come. */
	if (code || trace->selector.kind || trace->unlisted)
		return code;
	return trace_check_probes(trace);
}

/* What tracing costs. False as long as it is not known. */
static bool trace_print_price(struct trace *trace, bool last)
{
	int reason = 0;
	const struct price *price = session_end_measure(trace->session, last, &reason);

	if (price)
		price_notice_log(price, reason, trace->options->light, trace->log);
	return price != NULL;
}

/* Reports */

static void trace_stop(struct trace *trace)
{
	loop_stop(&trace->loop);
}

static int trace_report(struct trace *trace, bool last)
{
	struct snapshot *snapshot;
	int code;

	if (last) {
		trace_print_price(trace, true);
		/* What is recorded while the heap is looked at belongs to it. */
		if (!trace->options->light)
			session_deactivate(trace->session);
	}
	if (trace->recorder)
		recorder_sees_mark(trace->recorder);
	code = session_snapshot(trace->session, &snapshot);
	if (last)
		session_detach_begin(trace->session);
	if (code)
		return session_refuse_snapshot(code, &trace->error);
	if (snapshot->budget)
		price_notice_budget(snapshot->budget, trace->log);
	trace->reporter.is_last = last;
	if (trace->recorder)
		code = recorder_write(trace->recorder, snapshot, &trace->error);
	else
		code = reporter_write(&trace->reporter, snapshot, &trace->error);
	snapshot_free(snapshot);
	if (code == -EPIPE)
		trace->closed = true;
	return code;
}

/* A report or interval on the way. One that fails ends the tracer. */
static void trace_report_now(struct trace *trace)
{
	if (trace_report(trace, false))
		trace_stop(trace);
}

/* A trigger's report: a mark of a recording, or where a command is run on it a file of its own. One that fails ends the tracer. */
static void trace_fire(void *context, enum trigger_kind kind)
{
	struct trace *trace = context;
	struct output file = { .fd = -1 };
	struct buffer text = { 0 };
	int code = 0;

	if (trace->closed || trace->error.kind)
		return;
	if (!trace->recorder)
		code = triggers_open_report(&trace->triggers, trace->reporter.output.path, &file,
					    &trace->error);
	else if (kind != TRIGGER_SIGNAL)
		recorder_mark(trace->recorder, trigger_words[kind],
			      trace->triggers.trigger.fired[kind]);
	triggers_describe(&trace->triggers, kind, &text);
	if (file.path)
		buffer_printf(&text, ": the report is in '%s'", file.path);
	if (kind != TRIGGER_SIGNAL || file.path)
		log_write(trace->log, LOG_NOTICE, "%s", text.data);
	buffer_free(&text);
	trace->reporter.aside = file.path ? &file : NULL;
	if (trace->watcher)
		trace->watcher->is_asked = true;
	/* At the end, the last report follows in any case. */
	if (!code && (!trace->closing || trace->recorder || file.path))
		code = trace_report(trace, false);
	trace->reporter.aside = NULL;
	if (output_close(&file, &trace->error) && !code)
		code = -EIO;
	if (code)
		trace_stop(trace);
	else
		triggers_run(&trace->triggers, kind);
}

static int trace_find_lost(struct trace *trace)
{
	trace_print_price(trace, true);
	return finder_run(trace->finder, end_signals_are_late, &trace->error);
}

static int trace_report_last(struct trace *trace)
{
	trace->closing = true;
	triggers_finish(&trace->triggers);
	if (trace->closed || trace->error.kind)
		return -EIO;
	/* Who has looked at a screen until it was enough wants no other report. */
	if (trace->server || (trace->viewer && !session_is_over(trace->session)))
		return 0;
	return trace->finder ? trace_find_lost(trace) : trace_report(trace, true);
}

/* Events */

/* Are there reports, or intervals, before the end? */
static bool trace_reports(const struct trace *trace)
{
	return !trace->server && !trace->viewer && !trace->finder;
}

static void trace_on_signal(void *context, struct watch *watch)
{
	struct trace *trace = context;
	int number = loop_take_signal(watch->fd);

	if (number == SIGUSR2 && !trace->waiting)
		trace->recorder->is_marked = true;
	if (trace->viewer)
		viewer_see_signal(trace->viewer, number);
	if (number == SIGUSR1 && !trace->waiting && trace_reports(trace))
		triggers_ask(&trace->triggers);
	if (number == SIGUSR2 && !trace->waiting)
		trace_report_now(trace);
	/* It stays pending, for who waits for the reader of the last report. */
	if (number == end_signals_number() && !raise(number))
		trace_stop(trace);
}

static void trace_on_asked(void *context, struct watch *watch)
{
	struct trace *trace = context;

	if (recorder_is_asked(trace->recorder, &trace->loop, watch) && !trace->waiting)
		trace_report_now(trace);
}

/* One look of a watch, which ends when it is sure. */
static void trace_look(struct trace *trace)
{
	const uint64_t own_ns = watcher_own_ns();

	if (clock_now_ns() >= trace->watcher->next_ns) {
		trace_report_now(trace);
		watcher_rest(trace->watcher, own_ns);
	}
	if (watcher_is_over(trace->watcher))
		trace_stop(trace);
}

static void trace_on_interval(void *context)
{
	struct trace *trace = context;

	if (trace->watcher)
		trace_look(trace);
	else
		trace_report_now(trace);
}

static void trace_on_window(void *context, struct watch *watch)
{
	if (!loop_take_ticks(watch->fd) || !trace_print_price(context, false))
		return;
	close(watch->fd);
	watch->fd = -1;
}

/* What sites hold, for verdicts. */
static void trace_on_history(void *context, struct watch *watch)
{
	struct trace *trace = context;

	if (loop_take_ticks(watch->fd))
		session_keep_history(trace->session, &trace->reporter.history);
}

/* Returns 0 or a negative errno. */
static int trace_watch(struct trace *trace, struct watch *watch, int fd,
		       void (*handle)(void *context, struct watch *watch))
{
	*watch = (struct watch){ .fd = fd, .handle = handle, .context = trace };
	return fd < 0 ? fd : loop_add(&trace->loop, watch);
}

static int trace_watch_time(struct trace *trace)
{
	const struct options *options = trace->options;
	int code = trace->viewer ? viewer_begin(trace->viewer, trace->session) : 0;

	/* Windows of --budget have prices of their own. */
	if (!options->budget && !code)
		code = trace_watch(trace, &trace->on_window, loop_open_timer(WINDOW_NS, WINDOW_NS),
				   trace_on_window);

	if (trace->reporter.is_judged && !code)
		code = trace_watch(trace, &trace->on_history,
				   loop_open_timer(HISTORY_SPACING_NS, HISTORY_SPACING_NS),
				   trace_on_history);
	if (trace->viewer || code)
		return code;
	time_left_start(&trace->left, options, &trace->loop);
	trace->schedule.report = trace_on_interval;
	trace->schedule.context = trace;
	return schedule_start(&trace->schedule, options, trace->active_ns, &trace->loop);
}

/* There is something to trace: time begins, and no timer is ahead of it. */
static int trace_begin(struct trace *trace)
{
	int code;

	end_signals_set_begun();
	trace->waiting = false;
	if (!trace->options->budget)
		session_measure(trace->session);
	if (!trace->active_ns)
		session_activate(trace->session);
	code = trace_watch_time(trace);
	if (code) {
		trace_stop(trace);
		return error_set(&trace->error, ERROR_PERMISSION, code, "cannot create a timer: %s",
				 strerror(-code));
	}
	/* Before others see that it is ready: what grows from then on grows since the first look. */
	code = triggers_start(&trace->triggers, trace->session, &trace->loop);
	if (code) {
		trace_stop(trace);
		return error_set(&trace->error, ERROR_PERMISSION, code,
				 "cannot wait for triggers: %s", strerror(-code));
	}
	plan_notice_ready(&trace->notice, trace->session);
	return 0;
}

/* `tracer leaks` looks at one process, whatever its children do. */
static bool trace_is_over(const struct trace *trace)
{
	return session_is_over(trace->session) || session_is_stopped(trace->session) ||
	       (trace->finder && !session_traces(trace->session, trace->finder->pid));
}

static void trace_on_event(void *context, struct watch *watch)
{
	struct trace *trace = context;

	(void)watch;
	session_drain(trace->session);
	if (trace->waiting && !session_check_probes(trace->session, &(struct error){ 0 }))
		trace_begin(trace);
	if (!trace->waiting)
		plan_notice_found(&trace->notice, trace->session);
	if (trace_is_over(trace))
		trace_stop(trace);
}

static void trace_on_pipe(void *context, struct watch *watch)
{
	struct trace *trace = context;

	(void)watch;
	trace->closed = true;
	trace_stop(trace);
}

/* Fails where the output is no pipe and cannot break: then there is nothing to watch. */
static void trace_watch_pipe(struct trace *trace)
{
	if (trace->recorder)
		return;
	trace->on_pipe = (struct watch){ .fd = trace->finder ? trace->finder->output.fd
							     : trace->reporter.output.fd,
					 .handle = trace_on_pipe,
					 .context = trace };
	loop_add_broken(&trace->loop, &trace->on_pipe);
}

static int trace_watch_all(struct trace *trace)
{
	int code = trace_watch(trace, &trace->on_event, session_fd(trace->session), trace_on_event);

	if (code)
		return error_set(&trace->error, ERROR_PERMISSION, code,
				 "cannot wait for events: %s", strerror(-code));
	if (trace->recorder)
		recorder_start(trace->recorder, &trace->loop, trace_on_asked, trace);
	trace_watch_pipe(trace);
	return 0;
}

/* Life */

/* Signals are taken over before anything starts, so that no way to end leaves something behind. */
static int trace_open(struct trace *trace)
{
	const int of_viewer[] = { end_signals_number(), SIGUSR1, SIGWINCH, SIGTSTP, 0 };
	const int others[] = { end_signals_number(), SIGUSR1, trace->recorder ? SIGUSR2 : 0, 0 };
	const int *signals = trace->viewer ? of_viewer : others;
	const int late = trace->options->arguments ? EXIT_STATUS_FAILED : ERROR_PERMISSION;
	int code = loop_open(&trace->loop, &trace->error);

	if (trace->options->debuginfod && !getenv("DEBUGINFOD_URLS"))
		log_write(trace->log, LOG_NOTICE, "no server asked: DEBUGINFOD_URLS is not set");
	if (!code)
		code = proc_check("/proc", getpid(), &trace->error);
	if (code)
		return code;
	spawn_signals_save(&trace->signals);
	output_ignore_signals();
	code = end_signals_open(late, &trace->end_signals, &trace->error);
	if (code)
		return code;
	code = trace_watch(trace, &trace->on_signal, loop_open_signals(signals), trace_on_signal);
	if (code)
		return error_set(&trace->error, ERROR_PERMISSION, code,
				 "cannot wait for signals: %s", strerror(-code));
	trace->spawn = (struct spawn){ .signals = &trace->signals,
				       .user = trace->options->user,
				       .no_terminal = trace->viewer != NULL };
	trace->reporter.log = trace->log;
	/* Windows of --budget have verdicts of their own, and --light sees no lifespans. */
	trace->reporter.is_judged = !trace->recorder && !trace->finder && !trace->options->budget &&
				    !trace->options->light;
	trace->decoder =
		decoder_new(trace->options->call_graph != CALL_GRAPH_FP, end_signals_are_urgent);
	trace->reporter.symbolizer = naming_start(trace->options, &trace->modules);
	trace->reporter.names = naming_of(trace->reporter.symbolizer);
	if (trace->options->arguments)
		code = spawn_hold(&trace->spawn, trace->options->arguments, &trace->error);
	if (!code && trace->finder && trace->options->arguments)
		code = ending_open(&trace->ending, &trace->spawn, trace->options->arguments[0],
				   trace->log, &trace->error);
	return code;
}

/* What takes the snapshots. */
static int trace_open_writer(struct trace *trace)
{
	const struct options *options = trace->options;
	const int *pids = options->arguments ? &trace->spawn.pid : options->pids;
	size_t count = options->arguments ? 1 : options->pid_count;
	int code;

	if (trace->server)
		return server_start(trace->server, trace->session, &trace->reporter, &trace->loop,
				    &trace->error);
	if (trace->finder) {
		trace->finder->session = trace->session;
		trace->finder->ending = &trace->ending;
		trace->finder->symbolizer = trace->reporter.symbolizer;
		return finder_open(trace->finder, options, pids[0], trace->log, &trace->error);
	}
	if (!trace->recorder) {
		code = reporter_open(&trace->reporter, options, pids, count, &trace->error);
		if (!code && trace->viewer)
			code = viewer_start(trace->viewer, &trace->reporter, &trace->loop,
					    &trace->error);
		return code;
	}
	trace->recorder->symbolizer = trace->reporter.symbolizer;
	return recorder_open(trace->recorder, options, pids, count, &trace->error);
}

static int trace_close_writer(struct trace *trace)
{
	if (trace->server)
		server_close(trace->server);
	if (trace->finder)
		return finder_close(trace->finder, &trace->error);
	if (trace->recorder)
		return recorder_close(trace->recorder, &trace->error);
	return reporter_close(&trace->reporter, &trace->error);
}

/* The first windows of a watch: where all calls cost less than the budget, all are traced. */
static int trace_choose(struct trace *trace)
{
	bool all = false;
	int code;

	if (trace->options->waits || trace->options->arguments)
		return 0;
	trace->active_ns = clock_now_ns();
	code = choice_run(trace->session, trace->on_signal.fd, trace->options->duration_ns, &all,
			  &trace->error);
	if (code || !all)
		return code;
	trace->own->budget = 0;
	trace->active_ns = 0;
	trace->reporter.is_judged = true;
	session_close(trace->session);
	trace->session = NULL;
	code = trace_open_session(trace);
	return code ? code : trace_add_processes(trace);
}

static void trace_wait(struct trace *trace)
{
	trace->waiting = true;
	session_activate(trace->session);
	selection_log_wait(trace->options, trace->log);
}

static int trace_start(struct trace *trace)
{
	const unsigned int user = privileges_unused_user();
	int code = trace_open(trace);

	if (!code)
		code = selection_read(trace->options, &trace->selector, &trace->error);
	if (!code)
		code = trace_open_session(trace);
	if (!code)
		code = trace_add_processes(trace);
	if (!code && trace->watcher)
		code = trace_choose(trace);
	if (!code)
		code = trace_open_writer(trace);
	if (!code)
		code = trace_watch_all(trace);
	if (!code)
		code = triggers_prepare(&trace->triggers,
					trace->recorder ? trace->recorder->path
							: trace->reporter.output.path,
					trace->recorder, &trace->signals, &trace->error);
	if (code)
		return code;
	holder_prepare(&trace->holder, trace->session, &trace->spawn, trace->options, trace->log);
	end_signals_drop_privileges(trace->end_signals, user);
	confine_tracer(session_backend(trace->session), trace->options->debuginfod, user,
		       trace->log);
	holder_start(&trace->holder, &trace->loop);
	if (trace->options->waits && !session_running(trace->session)) {
		trace_wait(trace);
		return 0;
	}
	code = trace_begin(trace);
	if (!code)
		code = holder_release(&trace->holder, &trace->spawn, &trace->error);
	trace->started = !code && trace->options->arguments;
	return code;
}

static void trace_close(struct trace *trace)
{
	const int fds[] = { trace->on_signal.fd, trace->on_window.fd, trace->on_history.fd };
	size_t i;

	session_close(trace->session);
	/* A child that is still held has a copy of the descriptor whose end the symbolizer's process waits for. */
	spawn_free(&trace->spawn);
	symbolizer_free(trace->reporter.symbolizer);
	decoder_free(trace->decoder);
	module_list_free(&trace->modules);
	selector_free(&trace->selector);
	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] > 0)
			close(fds[i]);
	schedule_close(&trace->schedule);
	loop_close(&trace->loop);
}

static struct exit_facts trace_facts(struct trace *trace)
{
	struct exit_facts facts = { .error = trace->error.kind,
				    .has_command = trace->options->arguments != NULL,
				    .is_started = trace->started,
				    .error_exitcode = trace->options->error_exitcode };

	facts.has_ended = trace->started && spawn_poll(&trace->spawn, &facts.wait_status);
	if (!facts.error)
		facts.finding = trace->finder ? trace->finder->finding
					      : reporter_finding(&trace->reporter);
	return facts;
}

int trace_execute(const struct options *options, const struct log *log,
		  const struct trace_taker *taker)
{
	struct options own = *options;
	struct trace trace = { .options = &own,
			       .own = &own,
			       .log = log,
			       .notice = { .options = &own, .log = log },
			       .reporter.output.fd = -1,
			       .reporter.watcher = taker->watcher,
			       .watcher = taker->watcher,
			       .recorder = taker->recorder,
			       .server = taker->server,
			       .finder = taker->finder,
			       .viewer = taker->viewer };
	struct exit_facts facts;
	int code, status;

	if (!trace.viewer && !trace.server)
		progress_open(log);
	triggers_init(&trace.triggers, &own, log);
	trace.triggers.fire = trace_fire;
	trace.triggers.context = &trace;
	code = trace_start(&trace);
	if (!code)
		code = loop_run(&trace.loop);
	time_left_stop(&trace.left);
	if (trace.viewer)
		viewer_leave(trace.viewer);
	if (trace.viewer && trace.viewer->code)
		session_refuse_snapshot(trace.viewer->code, &trace.error);
	holder_close(&trace.holder);
	if (!code && (trace.waiting || trace.unlisted || trace.unprobed) &&
	    session_is_over(trace.session))
		session_check_probes(trace.session, &trace.error);
	else if (!code && trace.waiting)
		selection_refuse_wait(options, &trace.error);
	if (!code && !trace.closed && !trace.error.kind) {
		if (options->arguments && trace_is_over(&trace))
			ending_log(log, options->arguments[0], &trace.spawn);
		code = trace_report_last(&trace);
	}
	ending_let_go(&trace.ending, trace.session);
	triggers_close(&trace.triggers);
	trace_close_writer(&trace);
	facts = trace_facts(&trace);
	status = exit_status_of(&facts);
	if (trace.error.kind)
		command_fail(log, &trace.error);
	end_signals_set_done(status);
	trace_close(&trace);
	return status;
}
