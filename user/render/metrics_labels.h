/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels of the metrics format, for use between braces; every value is safe and limited in length.
 */
#ifndef RENDER_METRICS_LABELS_H
#define RENDER_METRICS_LABELS_H

#include "analyze/report.h"
#include "base/buffer.h"

/* The origin of figures: "counted", "sampled" or "estimated". */
const char *metrics_labels_quality(const struct report *report, bool sampled);

/* Labels of a process. */
void metrics_labels_process(struct buffer *out, const struct target *target, const char *quality);
/* Labels of an open site. */
void metrics_labels_site(struct buffer *out, const struct report *report,
			 const struct report_site *site);

/* Labels of the sum of those without their own series. */
void metrics_labels_rest_of_processes(struct buffer *out, const char *quality);
void metrics_labels_rest_of_sites(struct buffer *out, const char *quality);

#endif
