/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See recorder.h. */
#include "command/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "verdict/budget_estimate.h"
#include "analyze/report_verdict.h"
#include "command/mark_key.h"
#include "command/naming.h"
#include "command/output.h"

/* Who has asked for a mark sets the file's time: marker.c. */
static void recorder_watch(struct recorder *recorder)
{
	recorder->asked_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (recorder->asked_fd < 0 ||
	    inotify_add_watch(recorder->asked_fd, recorder->path, IN_ATTRIB) >= 0)
		return;
	close(recorder->asked_fd);
	recorder->asked_fd = -1;
}

/* As a report of the recording judges it. */
static const char *recorder_judge(void *context, const struct snapshot *snapshot,
				  const struct snapshot_site *site)
{
	const struct recorder *recorder = context;
	const struct report_options options = { .history = &recorder->history,
						.estimates = recorder->estimates };
	const struct verdict verdict = report_verdict_of(snapshot, &options, site);

	return verdict.word == VERDICT_NONE ? NULL : verdict_name(verdict.word);
}

static bool recorder_estimate(void *context, const struct snapshot_site *site,
			      struct site_estimate *ret_estimate)
{
	const struct recorder *recorder = context;
	struct budget_estimate estimate = { 0 };

	if (recorder->estimates)
		estimate = budget_estimate_of(recorder->estimates, site);
	*ret_estimate = (struct site_estimate){ .rate = estimate.rate,
						.grown = estimate.bytes,
						.written = estimate.written_rate,
						.never_freed = estimate.tail.share,
						.stays = budget_estimate_stays(&estimate),
						.lower_bound = estimate.lower_bound,
						.followed = estimate.followed };
	return estimate.known;
}

/* What sites held before is what they held at intervals. */
static void recorder_keep_history(struct recorder *recorder, const struct snapshot *snapshot)
{
	struct history *history = &recorder->history;
	size_t i;

	if (snapshot->budget || !history_begin(history, snapshot->time_ns))
		return;
	for (i = 0; i < snapshot->site_count; i++)
		if (!snapshot->sites[i].ended)
			history_set(history, snapshot->sites[i].key, &snapshot->sites[i].stats);
	history_end(history);
}

int recorder_open(struct recorder *recorder, const struct options *options, const int *pids,
		  size_t pid_count, struct error *error)
{
	struct output_names names = { .pids = pids, .pid_count = pid_count, .time = time(NULL) };
	const struct report_names frames = naming_of(recorder->symbolizer);
	struct writer_options wanted = { .names = { .lookup = frames.lookup,
						    .hint = frames.hint,
						    .context = frames.context },
					 .judge = { recorder_judge, recorder_estimate, recorder },
					 .min_age_ns = options->min_age_ns,
					 .survived = options->survived,
					 .interval_ns = options->interval_ns,
					 .budget = options->budget,
					 .limit = options->limit };
	char *host = output_host();
	int code;

	names.host = wanted.host = host;
	recorder->path = output_expand(options->output, &names);
	code = writer_open(&recorder->writer, recorder->path, &wanted, error);
	free(host);
	if (code)
		return code;
	recorder_watch(recorder);
	/* A program that is started reads standard input itself. */
	if (!options->arguments)
		recorder->key_fd = mark_key_open();
	if (recorder->key_fd >= 0)
		log_write(recorder->log, LOG_NOTICE,
			  "Enter sets a mark, with a name before it one of that name");
	return 0;
}

void recorder_start(struct recorder *recorder, struct loop *loop,
		    void (*handle)(void *context, struct watch *watch), void *context)
{
	recorder->on_asked = (struct watch){ recorder->asked_fd, handle, context };
	recorder->on_key = (struct watch){ recorder->key_fd, handle, context };
	if (recorder->asked_fd >= 0)
		loop_add(loop, &recorder->on_asked);
	if (recorder->key_fd >= 0)
		loop_add(loop, &recorder->on_key);
}

bool recorder_is_asked(struct recorder *recorder, struct loop *loop, struct watch *watch)
{
	enum mark_key_press press;

	if (watch == &recorder->on_asked)
		return recorder_sees_mark(recorder);
	press = mark_key_take(recorder->key_fd, recorder->named_mark);
	if (press == MARK_KEY_GONE)
		loop_remove(loop, watch);
	if (press == MARK_KEY_BAD_NAME)
		log_write(recorder->log, LOG_NOTICE,
			  "no mark is set: its name is a text of up to %d bytes that does not "
			  "begin with a digit",
			  MARKER_NAME_MAX);
	recorder->is_marked |= press == MARK_KEY_NAMELESS || press == MARK_KEY_NAMED;
	return recorder->is_marked;
}

bool recorder_sees_mark(struct recorder *recorder)
{
	char events[4096];

	while (recorder->asked_fd >= 0 && read(recorder->asked_fd, events, sizeof(events)) > 0)
		;
	recorder->is_asked |= writer_sees_mark(&recorder->writer);
	return recorder->is_asked;
}

void recorder_mark(struct recorder *recorder, const char *word, uint64_t number)
{
	snprintf(recorder->named_mark, sizeof(recorder->named_mark), "%s-%" PRIu64, word, number);
	recorder->is_marked = true;
}

int recorder_write(struct recorder *recorder, struct snapshot *snapshot, struct error *error)
{
	char mark[MARKER_NAME_MAX + 1] = "";
	int code;

	if (*recorder->named_mark)
		snprintf(mark, sizeof(mark), "%s", recorder->named_mark);
	else if (recorder->is_marked)
		snprintf(mark, sizeof(mark), "m%" PRIu64, ++recorder->marks);
	if (recorder->symbolizer) {
		symbolizer_begin_report(recorder->symbolizer);
		snapshot->loss[LOSS_FILES_WITHOUT_NAMES] += symbolizer_unread(recorder->symbolizer);
	}
	recorder_keep_history(recorder, snapshot);
	recorder->estimates = budget_estimates_new(snapshot->budget);
	if (recorder->estimates)
		budget_estimates_apply(recorder->estimates, snapshot);
	code = writer_add(&recorder->writer, snapshot, recorder->is_marked ? mark : NULL, error);
	budget_estimates_free(recorder->estimates);
	recorder->estimates = NULL;
	if (recorder->symbolizer) {
		symbolizer_end_report(recorder->symbolizer);
		naming_complain(recorder->symbolizer, recorder->log);
	}
	if (recorder->is_marked && !code)
		log_write(recorder->log, LOG_NOTICE, "mark '%s' is set", mark);
	/* What is born after it is distinguished from what was born before it; windows see some of these blocks only. */
	if ((recorder->is_marked || recorder->is_asked) && !code && !snapshot->budget)
		marks_add(&recorder->times, snapshot->time_ns);
	recorder->is_marked = recorder->is_asked = false;
	*recorder->named_mark = '\0';
	return code;
}

int recorder_close(struct recorder *recorder, struct error *error)
{
	uint64_t count = recorder->writer.interval;
	int code = writer_close(&recorder->writer, error);

	if (!code && count)
		log_write(recorder->log, LOG_NOTICE,
			  "%" PRIu64 " interval%s recorded: 'tracer report %s' shows the last one",
			  count, count == 1 ? " is" : "s are", recorder->path);
	marks_free(&recorder->times);
	history_free(&recorder->history);
	free(recorder->path);
	if (recorder->asked_fd >= 0)
		close(recorder->asked_fd);
	if (recorder->key_fd >= 0)
		close(recorder->key_fd);
	return code;
}
