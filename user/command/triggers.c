/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See triggers.h. */
#include "command/triggers.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "system/end_signals.h"
#include "system/proc.h"

/* How often it is looked, and of how much time a look takes one part at most: where there are many processes, it is seldomer. */
#define LOOK_NS 100000000
#define LOOK_PART 1000
/* How often it is asked whether the tracer is to end, while it waits for the command. */
#define WAIT_MS 100

void triggers_init(struct triggers *triggers, const struct options *options, const struct log *log)
{
	*triggers = (struct triggers){
		.options = options,
		.log = log,
		.trigger.limits = { .rss_bytes = options->when_rss,
				    .growth_bytes = options->when_growth_bytes,
				    .growth_ns = options->when_growth_ns },
		.runner.socket = -1,
		.on_time.fd = -1,
		.on_end.fd = -1,
	};
}

int triggers_prepare(struct triggers *triggers, const char *path, bool recording,
		     const struct spawn_signals *signals, struct error *error)
{
	const struct runner_options wanted = { .command = triggers->options->exec,
					       .path = path,
					       .makes_files = !recording,
					       .reasons = trigger_words,
					       .reason_count = TRIGGER_KINDS,
					       .signals = signals };

	return wanted.command ? runner_start(&triggers->runner, &wanted, error) : 0;
}

/* Looking */

/* The groups of processes that came since the last look are watched, too. */
static void triggers_read_processes(struct triggers *triggers, uint64_t *ret_rss_bytes)
{
	struct pid_list now = { 0 };
	uint64_t bytes;
	size_t i;

	session_list(triggers->session, &now);
	for (i = 0; i < now.count; i++) {
		if (!proc_read_rss("/proc", now.pids[i], &bytes))
			*ret_rss_bytes += bytes;
		if (triggers->options->on_oom && !pid_list_has(&triggers->pids, now.pids[i]))
			oom_watch_add(&triggers->oom, "/proc", CGROUP_ROOT, now.pids[i]);
	}
	pid_list_free(&triggers->pids);
	triggers->pids = now;
}

static void triggers_look(struct triggers *triggers)
{
	uint64_t begin_ns = clock_now_ns(), rss_bytes = 0;

	/* Before groups are added: whoever is killed now was in one of those. */
	if (triggers->options->on_oom)
		trigger_see_kills(&triggers->trigger, oom_watch_take(&triggers->oom));
	triggers_read_processes(triggers, &rss_bytes);
	trigger_read(&triggers->trigger, begin_ns, rss_bytes);
	triggers->look_from_ns = begin_ns + (clock_now_ns() - begin_ns) * LOOK_PART;
}

static void triggers_fire(struct triggers *triggers)
{
	enum trigger_kind kind;

	while (!triggers->runs && trigger_take(&triggers->trigger, &kind))
		triggers->fire(triggers->context, kind);
}

static void triggers_on_time(void *context, struct watch *watch)
{
	struct triggers *triggers = context;

	if (!loop_take_ticks(watch->fd) || clock_now_ns() < triggers->look_from_ns)
		return;
	triggers_look(triggers);
	triggers_fire(triggers);
}

/* Take the end of the command, if it has come. */
static void triggers_take_end(struct triggers *triggers, int wait_ms)
{
	int status, code = runner_take_end(&triggers->runner, wait_ms, &status);

	if (!code)
		return;
	triggers->runs = false;
	if (code < 0) {
		log_write(triggers->log, LOG_ERROR,
			  "warning: the command of --exec is run no more: %s", strerror(-code));
		runner_close(&triggers->runner);
	} else if (WIFSIGNALED(status)) {
		log_write(triggers->log, LOG_NOTICE, "the command of --exec was ended by signal %d",
			  WTERMSIG(status));
	} else if (WEXITSTATUS(status)) {
		log_write(triggers->log, LOG_NOTICE,
			  "the command of --exec has ended with status %d", WEXITSTATUS(status));
	}
}

static void triggers_on_end(void *context, struct watch *watch)
{
	struct triggers *triggers = context;

	(void)watch;
	triggers_take_end(triggers, 0);
	triggers_fire(triggers);
}

/* Returns 0 or a negative errno. */
static int triggers_watch(struct triggers *triggers, struct loop *loop, struct watch *watch, int fd,
			  void (*handle)(void *context, struct watch *watch))
{
	*watch = (struct watch){ .fd = fd, .handle = handle, .context = triggers };
	return fd < 0 ? fd : loop_add(loop, watch);
}

int triggers_start(struct triggers *triggers, const struct session *session, struct loop *loop)
{
	const struct options *options = triggers->options;
	int code = 0;

	triggers->session = session;
	if (options->when_rss || options->when_growth_bytes || options->on_oom) {
		triggers_look(triggers);
		code = triggers_watch(triggers, loop, &triggers->on_time,
				      loop_open_timer(LOOK_NS, LOOK_NS), triggers_on_time);
	}
	if (!code && triggers->runner.socket >= 0)
		code = triggers_watch(triggers, loop, &triggers->on_end, triggers->runner.socket,
				      triggers_on_end);
	return code;
}

void triggers_ask(struct triggers *triggers)
{
	trigger_ask(&triggers->trigger);
	triggers_fire(triggers);
}

/* Reports */

int triggers_open_report(struct triggers *triggers, const char *path, struct output *output,
			 struct error *error)
{
	uint32_t number;
	int fd;

	*output = (struct output){ .fd = -1 };
	if (triggers->runner.socket < 0)
		return 0;
	fd = runner_make_file(&triggers->runner, &number, error);
	if (fd < 0)
		return fd;
	*output = (struct output){ .fd = fd, .path = memory_format("%s.%u", path, number) };
	return 0;
}

void triggers_describe(const struct triggers *triggers, enum trigger_kind kind, struct buffer *text)
{
	const struct trigger *trigger = &triggers->trigger;
	char size[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	if (kind == TRIGGER_RSS)
		buffer_printf(text, "--when-rss: the resident memory is %s",
			      units_format_size(trigger->rss_bytes, size));
	else if (kind == TRIGGER_GROWTH)
		buffer_printf(text, "--when-growth: the resident memory has grown by %s within %s",
			      units_format_size(trigger->grown_bytes, size),
			      units_format_time(trigger->limits.growth_ns, time));
	else if (kind == TRIGGER_OOM)
		buffer_append_string(
			text,
			"--on-oom: the kernel has killed a process, since memory has run out");
	else
		buffer_append_string(text, "a report was asked for");
}

void triggers_run(struct triggers *triggers, enum trigger_kind kind)
{
	if (triggers->runner.socket >= 0)
		triggers->runs = !runner_run(&triggers->runner, kind);
}

/* The end */

/* It may take as long as it likes: who looks at the tracer has to know why that goes on. */
static void triggers_wait(struct triggers *triggers)
{
	if (triggers->runs && !triggers->waits && !end_signals_are_pending()) {
		log_write(triggers->log, LOG_NOTICE,
			  "waiting for the command of --exec, which still runs: Ctrl-C leaves it "
			  "alone");
		triggers->waits = true;
	}
	while (triggers->runs && !end_signals_are_pending())
		triggers_take_end(triggers, WAIT_MS);
}

void triggers_finish(struct triggers *triggers)
{
	enum trigger_kind kind;

	if (!triggers->session)
		return;
	if (triggers->options->on_oom)
		trigger_see_kills(&triggers->trigger, oom_watch_take(&triggers->oom));
	while (trigger_take(&triggers->trigger, &kind)) {
		triggers_wait(triggers);
		if (triggers->runs)
			return;
		triggers->fire(triggers->context, kind);
	}
}

void triggers_close(struct triggers *triggers)
{
	triggers_wait(triggers);
	runner_close(&triggers->runner);
	oom_watch_free(&triggers->oom);
	pid_list_free(&triggers->pids);
	if (triggers->on_time.fd >= 0)
		close(triggers->on_time.fd);
}
