/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_member.h. */
#include "render/json_member.h"

#include <time.h>

void json_member_string(struct json_writer *json, const char *key, const char *text)
{
	json_writer_key(json, key);
	json_writer_string(json, text);
}

void json_member_bool(struct json_writer *json, const char *key, bool value)
{
	json_writer_key(json, key);
	json_writer_bool(json, value);
}

void json_member_integer(struct json_writer *json, const char *key, uint64_t number)
{
	json_writer_key(json, key);
	json_writer_integer(json, number);
}

void json_member_known(struct json_writer *json, const char *key, uint64_t number, bool known)
{
	json_writer_key(json, key);
	if (known)
		json_writer_integer(json, number);
	else
		json_writer_null(json);
}

void json_member_signed(struct json_writer *json, const char *key, int64_t number, bool known)
{
	json_writer_key(json, key);
	if (known)
		json_writer_signed(json, number);
	else
		json_writer_null(json);
}

void json_member_seconds(struct json_writer *json, const char *key, uint64_t ns, bool known)
{
	json_writer_key(json, key);
	if (known)
		json_writer_seconds(json, ns);
	else
		json_writer_null(json);
}

void json_member_time(struct json_writer *json, const char *key, int64_t wall_time)
{
	time_t seconds = (time_t)wall_time;
	char text[64];
	struct tm tm;

	json_writer_key(json, key);
	if (gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		json_writer_string(json, text);
	else
		json_writer_null(json);
}
