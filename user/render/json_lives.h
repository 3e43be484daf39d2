/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the blocks of a row live, in JSON. */
#ifndef RENDER_JSON_LIVES_H
#define RENDER_JSON_LIVES_H

#include "model/site_stats.h"
#include "render/json_writer.h"

/* The members "temporary_objects" and "lifespan" of a site; none if no block was freed and no age is known. `born` as of site_survival_estimate. */
void json_lives(struct json_writer *json, const struct site_stats *stats, bool sampled,
		const double *born);

#endif
