/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_frame.h. */
#include "render/json_frame.h"

#include "model/frame_kind.h"
#include "render/json_member.h"

void json_frame_write(struct json_writer *json, const struct report_frame *frame)
{
	json_writer_open(json, '{');
	json_member_string(json, "kind", frame_kind_name(frame->kind));
	json_member_string(json, "function", frame->function);
	json_member_string(json, "module", frame->module);
	json_member_string(json, "build_id", frame->build_id);
	json_member_known(json, "offset", frame->offset,
			  (frame->module || frame->kind == FRAME_KERNEL) && !frame->whole);
	json_member_string(json, "file", frame->file);
	json_member_known(json, "line", frame->line, frame->line);
	json_member_bool(json, "inlined", frame->inlined);
	json_writer_close(json, '}');
}
