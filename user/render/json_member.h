/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of JSON objects: a key with its value. `known` false gives null. */
#ifndef RENDER_JSON_MEMBER_H
#define RENDER_JSON_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "render/json_writer.h"

/* NULL gives null; see json_writer_string. */
void json_member_string(struct json_writer *json, const char *key, const char *text);
void json_member_bool(struct json_writer *json, const char *key, bool value);
void json_member_integer(struct json_writer *json, const char *key, uint64_t number);
void json_member_known(struct json_writer *json, const char *key, uint64_t number, bool known);
void json_member_signed(struct json_writer *json, const char *key, int64_t number, bool known);
/* Nanoseconds, as a number of seconds. */
void json_member_seconds(struct json_writer *json, const char *key, uint64_t ns, bool known);
/* Seconds since the epoch as "2026-01-31T12:00:00Z"; null for a year that has no such form. */
void json_member_time(struct json_writer *json, const char *key, int64_t wall_time);

#endif
