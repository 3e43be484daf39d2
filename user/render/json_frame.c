/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_frame.h. */
#include "render/json_frame.h"

#include "model/frame_kind.h"

static void json_frame_string(struct json_writer *json, const char *key, const char *text)
{
	json_writer_key(json, key);
	json_writer_string(json, text);
}

static void json_frame_known(struct json_writer *json, const char *key, uint64_t number, bool known)
{
	json_writer_key(json, key);
	if (known)
		json_writer_integer(json, number);
	else
		json_writer_null(json);
}

void json_frame_write(struct json_writer *json, const struct report_frame *frame)
{
	json_writer_open(json, '{');
	json_frame_string(json, "kind", frame_kind_name(frame->kind));
	json_frame_string(json, "function", frame->function);
	json_frame_string(json, "module", frame->module);
	json_frame_string(json, "build_id", frame->build_id);
	json_frame_known(json, "offset", frame->offset, frame->module && !frame->whole);
	json_frame_string(json, "file", frame->file);
	json_frame_known(json, "line", frame->line, frame->line);
	json_writer_key(json, "inlined");
	json_writer_bool(json, frame->inlined);
	json_writer_close(json, '}');
}
