/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a JSON report is there only with --light. */
#ifndef RENDER_JSON_LIGHT_H
#define RENDER_JSON_LIGHT_H

#include "model/light_report.h"
#include "model/site_stats.h"
#include "render/json_writer.h"

/* The member "light" of a report: how what is in use was found out, and what could not be decided. */
void json_light(struct json_writer *json, const struct light_report *light);

/* What of a site may have been freed; and what is not known of it, since its frees are not seen. */
void json_light_site(struct json_writer *json, const struct site_stats *stats);

#endif
