/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command/plan_notice.h"

#include "base/buffer.h"
#include "command/untraced.h"
#include "kernel/features.h"
#include "probe/plan.h"

/* Report what may be counted twice, and what cannot be probed, each once. */
static void plan_notice_skipped(struct plan_notice *notice, struct session *session)
{
	const struct plan *plan = session_plan(session);
	struct buffer overlap = { 0 };
	size_t i;

	if (!notice->warned_overlap && plan_describe_overlap(plan, &overlap)) {
		log_write(notice->log, LOG_NOTICE, "%s", overlap.data);
		notice->warned_overlap = true;
	}
	buffer_free(&overlap);

	for (i = notice->printed_skipped; i < plan->skipped_count; i++)
		log_write(notice->log, plan->skipped[i].lost ? LOG_NOTICE : LOG_VERBOSE,
			  "not probed: %s", plan->skipped[i].sentence);
	notice->printed_probes = plan->count;
	notice->printed_skipped = plan->skipped_count;
}

void plan_notice_ready(struct plan_notice *notice, struct session *session)
{
	const struct options *options = notice->options;
	const struct plan *plan = session_plan(session);
	size_t running = session_running(session);
	struct buffer line = { 0 };

	log_write(notice->log, LOG_VERBOSE, "%zu functions are probed by %s probes", plan->count,
		  backend_name(session_backend(session)));
	if (notice->log->level >= LOG_NOTICE)
		plan_summarize(plan, 0, &line);
	if (options->arguments)
		log_write(notice->log, LOG_ERROR, "ready: tracing %s%s%s", options->arguments[0],
			  line.length ? "; " : "", line.length ? line.data : "");
	else
		log_write(notice->log, LOG_ERROR, "ready: tracing %zu process%s%s%s%s", running,
			  running == 1 ? "" : "es",
			  options->duration_ns || options->count ? "" : " until Ctrl-C",
			  line.length ? "; " : "", line.length ? line.data : "");
	buffer_free(&line);
	untraced_log(notice->log, options, session);
	plan_notice_skipped(notice, session);
}

void plan_notice_found(struct plan_notice *notice, struct session *session)
{
	struct buffer found = { 0 };

	plan_summarize(session_plan(session), notice->printed_probes, &found);
	if (found.length)
		log_write(notice->log, LOG_NOTICE, "mapped since: %s", found.data);
	buffer_free(&found);
	plan_notice_skipped(notice, session);
}
