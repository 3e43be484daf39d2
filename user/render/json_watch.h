/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The member "watch" of a report of `tracer watch`: its progress, and the memory of the process
 * over time.
 */
#ifndef RENDER_JSON_WATCH_H
#define RENDER_JSON_WATCH_H

#include "analyze/report.h"
#include "render/json_writer.h"

void json_watch(struct json_writer *json, const struct report *report);

#endif
