/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See pushing.h. There is one push at a time, and nothing is kept for later: the next one has all that the last one had. */
#include "command/pushing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* A push takes at most so long. */
#define LIMIT_MS 10000

int pushing_open(struct pushing *pushing, const struct options *options, const struct log *log,
		 struct error *error)
{
	int code = push_url_parse(options->otlp, &pushing->url, error);

	if (!code)
		code = push_url_resolve(&pushing->url, error);
	if (!code)
		code = push_start(&pushing->push, &pushing->url, LIMIT_MS, error);
	if (code)
		return code;
	pushing->options = options;
	pushing->log = log;
	pushing->on_time.fd = -1;
	return 0;
}

/* What a failed connection is a sign of, and what to do. */
static const char *pushing_explain_code(int code)
{
	switch (code) {
	case -ECONNREFUSED:
		return "nobody listens there: start the collector, or correct --otlp";
	case -ETIMEDOUT:
		return "there was no answer in time: see whether the collector and the way to it "
		       "work";
	case -EPROTO:
		return "what listens there does not speak HTTP/1.1: correct the port of --otlp (of "
		       "OTLP by HTTP it is 4318)";
	case -EFBIG:
		return "the report is too large: -n pushes fewer sites";
	default:
		return strerror(-code);
	}
}

static const char *pushing_explain_status(unsigned int status)
{
	if (status == 401 || status == 403)
		return "it asks who pushes: push to a collector or agent on this host, which has "
		       "the key";
	if (status == 404)
		return "it takes no profiles there: see its settings (of OpenTelemetry's "
		       "collector, "
		       "--feature-gates=service.profilesSupport) and the path of --otlp";
	if (status == 413)
		return "the report is too large for it: -n pushes fewer sites";
	if (status == 429 || status >= 500)
		return "it cannot take it now: see the log of the collector";
	return "see the log of the collector";
}

static bool pushing_is_accepted(const struct push_answer *answer)
{
	return !answer->code && answer->status >= 200 && answer->status < 300;
}

/* Once per change. */
static void pushing_log(struct pushing *pushing, const struct push_answer *answer)
{
	const struct push_url *url = &pushing->url;

	if (answer->code == pushing->last.code && answer->status == pushing->last.status)
		return;
	pushing->last = *answer;
	if (pushing_is_accepted(answer))
		log_write(pushing->log, LOG_NOTICE, "profiles are pushed to http://%s%s",
			  url->authority, url->path);
	else if (answer->code)
		log_write(pushing->log, LOG_ERROR,
			  "warning: cannot push profiles to http://%s%s: %s; it is tried again at "
			  "each interval",
			  url->authority, url->path, pushing_explain_code(answer->code));
	else
		log_write(pushing->log, LOG_ERROR,
			  "warning: http://%s%s answers %u to profiles: %s; it is tried again at "
			  "each interval",
			  url->authority, url->path, answer->status,
			  pushing_explain_status(answer->status));
}

static void pushing_count(struct pushing *pushing, const struct push_answer *answer)
{
	if (pushing_is_accepted(answer))
		pushing->accepted++;
	else
		pushing->failed++;
	pushing_log(pushing, answer);
}

/* Without its process there is nothing to do any more. */
static void pushing_end(struct pushing *pushing)
{
	log_write(pushing->log, LOG_ERROR,
		  "warning: no profiles are pushed any more: the process that did it has ended; "
		  "start tracer again");
	pushing_close(pushing);
}

static void pushing_on_answer(void *context, struct watch *watch)
{
	struct pushing *pushing = context;
	struct push_answer answer;
	const int code = push_take(&pushing->push, &answer);

	(void)watch;
	if (code < 0)
		pushing_end(pushing);
	if (code <= 0)
		return;
	pushing->waiting = false;
	pushing_count(pushing, &answer);
}

static void pushing_on_time(void *context, struct watch *watch)
{
	struct pushing *pushing = context;
	struct push_answer answer = { 0 };
	struct buffer body = { 0 };

	if (!loop_take_ticks(watch->fd))
		return;
	if (pushing->waiting) {
		pushing->skipped++;
		return;
	}
	answer.code = pushing->make(pushing->context, &body);
	if (!answer.code)
		answer.code = push_send(&pushing->push, &body);
	pushing->waiting = !answer.code;
	if (answer.code)
		pushing_count(pushing, &answer);
	buffer_free(&body);
}

int pushing_start(struct pushing *pushing, struct loop *loop,
		  int (*make)(void *context, struct buffer *out), void *context,
		  struct error *error)
{
	const uint64_t interval_ns = pushing->options->otlp_interval_ns;
	int code;

	pushing->make = make;
	pushing->context = context;
	pushing->on_answer = (struct watch){ .fd = pushing->push.socket,
					     .handle = pushing_on_answer,
					     .context = pushing };
	pushing->on_time = (struct watch){ .fd = loop_open_timer(interval_ns, interval_ns),
					   .handle = pushing_on_time,
					   .context = pushing };
	code = pushing->on_time.fd < 0 ? pushing->on_time.fd : loop_add(loop, &pushing->on_time);
	if (!code)
		code = loop_add(loop, &pushing->on_answer);
	if (code)
		error_set(error, ERROR_PERMISSION, code, "cannot create a timer: %s",
			  strerror(-code));
	return code;
}

void pushing_append_metrics(const struct pushing *pushing, struct buffer *out)
{
	if (!pushing->options)
		return;
	buffer_printf(out,
		      "# HELP tracer_otlp_pushes_total Profiles pushed by OTLP, by what became of "
		      "them.\n"
		      "# TYPE tracer_otlp_pushes_total counter\n"
		      "tracer_otlp_pushes_total{result=\"accepted\"} %" PRIu64 "\n"
		      "tracer_otlp_pushes_total{result=\"failed\"} %" PRIu64 "\n"
		      "tracer_otlp_pushes_total{result=\"skipped\"} %" PRIu64 "\n",
		      pushing->accepted, pushing->failed, pushing->skipped);
}

void pushing_close(struct pushing *pushing)
{
	push_close(&pushing->push);
	if (pushing->options && pushing->on_time.fd >= 0)
		close(pushing->on_time.fd);
	pushing->on_time.fd = -1;
}
