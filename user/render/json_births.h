/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in use of a row by when it was born, in JSON. */
#ifndef RENDER_JSON_BIRTHS_H
#define RENDER_JSON_BIRTHS_H

#include "model/snapshot.h"
#include "render/json_writer.h"

/* The member "births" of a row, if there are marks that it has births by. `start_ns`: what times count from. */
void json_births(struct json_writer *json, const struct snapshot_site *row, uint64_t start_ns);

#endif
