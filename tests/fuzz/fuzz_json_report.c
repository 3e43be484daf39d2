/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report in JSON that somebody has written: a file of its own, or rows in a frame that is right. */
#include "analyze/difference.h"
#include "fuzz.h"
#include "recording/json_report.h"
#include "render/difference.h"

static void compare(const char *head, const uint8_t *data, size_t size, const char *end)
{
	struct profile profiles[2] = { { .name = "a" }, { .name = "b" } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1] };
	const struct render_difference_options style = { .top = 0 };
	struct error error = { 0 };
	struct buffer text = { 0 }, out = { 0 };
	struct difference *difference;
	int code;

	buffer_append_string(&text, head);
	buffer_append(&text, data, size);
	buffer_append_string(&text, end);
	code = json_report_parse(&text, "report", &profiles[0], &error);
	MUST(!code == !error.text[0]);
	if (!code) {
		difference = difference_new(pointers, 2);
		MUST(!difference->words[DIFFERENCE_NEW]);
		render_difference_text(difference, &style, &out);
		render_difference_json(difference, &style, &out);
		MUST(!memchr(out.data, '\x1b', out.length));
		difference_free(difference);
	}
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
	buffer_free(&text);
	buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	compare("", data, size, "");
	compare("{\"schema\":1,\"command\":\"trace\",\"time\":\"2026-01-01T00:00:00Z\",\"sites\":[{"
		"\"source\":\"heap\",\"alloc_bytes\":1,",
		data, size, "}]}");
	compare("{\"schema\":2,\"command\":\"trace\",\"time\":\"2026-01-01T00:00:00Z\",\"strings\":"
		"["
		"\"heap\",\"native\"],\"calls\":[[0,0,0]],\"sites\":[{\"call\":0,\"stack\":1}],",
		data, size, "}");
	return 0;
}
