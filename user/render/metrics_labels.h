/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of the metrics format: what is appended stands between braces, and every value in it is safe and not long. */
#ifndef RENDER_METRICS_LABELS_H
#define RENDER_METRICS_LABELS_H

#include "analyze/report.h"
#include "base/buffer.h"

/* How figures were found: "counted", "sampled" or "estimated". */
const char *metrics_labels_quality(const struct report *report, bool sampled);

/* Of a process. */
void metrics_labels_process(struct buffer *out, const struct target *target, const char *quality);
/* Of an open site. */
void metrics_labels_site(struct buffer *out, const struct report *report,
			 const struct report_site *site);

/* Of all that have no series of their own. */
void metrics_labels_rest_of_processes(struct buffer *out, const char *quality);
void metrics_labels_rest_of_sites(struct buffer *out, const char *quality);

#endif
