/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lifespans of a row's blocks, in JSON. */
#ifndef RENDER_JSON_LIVES_H
#define RENDER_JSON_LIVES_H

#include "model/site_stats.h"
#include "render/json_writer.h"

/*
 * Write the members "temporary_objects" and "lifespan" of a site; none if no block was freed and no
 * age is known. See site_survival_estimate for `born`.
 */
void json_lives(struct json_writer *json, const struct site_stats *stats, bool sampled,
		const double *born);

#endif
