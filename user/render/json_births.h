/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory in use of a row by birth, in JSON. */
#ifndef RENDER_JSON_BIRTHS_H
#define RENDER_JSON_BIRTHS_H

#include "model/snapshot.h"
#include "render/json_writer.h"

/* Write the member "births" of a row, if births are known. Times count from `start_ns`. */
void json_births(struct json_writer *json, const struct snapshot_site *row, uint64_t start_ns);

#endif
