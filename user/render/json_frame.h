/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame in JSON, as in schema 1. */
#ifndef RENDER_JSON_FRAME_H
#define RENDER_JSON_FRAME_H

#include "model/report_frame.h"
#include "render/json_writer.h"

void json_frame_write(struct json_writer *json, const struct report_frame *frame);

#endif
