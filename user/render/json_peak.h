/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peak of a report in JSON, and what a site held then. */
#ifndef RENDER_JSON_PEAK_H
#define RENDER_JSON_PEAK_H

#include "analyze/report.h"
#include "render/json_writer.h"

/* Write the members, if there are moments before the report. */
void json_peak(struct json_writer *json, const struct report *report);
void json_peak_site(struct json_writer *json, const struct report *report,
		    const struct report_site *site);

#endif
