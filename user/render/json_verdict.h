/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The member "verdict" of a site, and of a report. */
#ifndef RENDER_JSON_VERDICT_H
#define RENDER_JSON_VERDICT_H

#include "verdict/verdict.h"
#include "render/json_writer.h"

void json_verdict(struct json_writer *json, const struct verdict *verdict);

#endif
