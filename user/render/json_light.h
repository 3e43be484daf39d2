/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a JSON report specific to --light. */
#ifndef RENDER_JSON_LIGHT_H
#define RENDER_JSON_LIGHT_H

#include "model/light_report.h"
#include "model/site_stats.h"
#include "render/json_writer.h"

/* The member "light" of a report: how memory in use was determined, and what is undecided. */
void json_light(struct json_writer *json, const struct light_report *light);

/*
 * What of a site may have been freed; and which figures are unknown, since its frees are not seen.
 */
void json_light_site(struct json_writer *json, const struct site_stats *stats);

#endif
