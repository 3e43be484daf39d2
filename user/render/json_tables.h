/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that rows of a JSON report refer to in schema 2: strings, modules, calls, frames and
 * stacks, each once, by position. The tables follow the rows, which can so be written one by one.
 */
#ifndef RENDER_JSON_TABLES_H
#define RENDER_JSON_TABLES_H

#include "render/json_writer.h"
#include "render/render.h"

struct json_tables;

/* Empty tables. Free with json_tables_free. */
struct json_tables *json_tables_new(void);
void json_tables_free(struct json_tables *tables);

/* Return a position; new items are added. All copy their arguments. */
uint32_t json_tables_call(struct json_tables *tables, const struct report_site *site);
uint32_t json_tables_frame(struct json_tables *tables, const struct report_frame *frame);
/* False: there are no frames, and so no stack. */
bool json_tables_stack(struct json_tables *tables, const struct report_frame *frames, size_t count,
		       uint32_t *ret_position);

/* Write the tables as members of the report. */
void json_tables_write(const struct json_tables *tables, struct json_writer *json,
		       const struct render_options *options);

#endif
