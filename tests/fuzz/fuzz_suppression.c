/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of suppressions that somebody has written, against a stack; what is made of names from a target fits it again. */
#include <string.h>

#include "analyze/suppression.h"
#include "base/memory.h"
#include "fuzz.h"

static void try_file(const char *text, const struct leak_group *group)
{
	struct suppressions list = { 0 };
	struct error error = { 0 };
	size_t i;
	int code = suppressions_parse(&list, text, "file", &error);

	MUST(!code == !error.text[0]);
	for (i = 0; !code && i < list.count; i++) {
		MUST(list.items[i].line_count);
		suppression_fits(&list.items[i], group);
	}
	suppressions_free(&list);
}

static void try_names(const struct leak_group *group)
{
	struct suppressions list = { 0 };
	struct error error = { 0 };
	struct buffer text = { 0 };

	suppression_describe(group, 1, &text);
	MUST(!suppressions_parse(&list, text.data, "made", &error));
	MUST(list.count == 1);
	suppressions_free(&list);
	buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = memory_alloc(size + 1, 1);
	struct report_frame frames[2] = { { .module = "/usr/lib/libfoo.so" },
					  { .function = "main", .file = "a.c", .line = 1 } };
	struct leak_group group = { .verdict = LEAK_DEFINITE,
				    .site = 1,
				    .function = "malloc",
				    .frames = frames,
				    .frame_count = 2 };

	memcpy(text, data, size);
	try_file(text, &group);
	frames[0].function = text;
	try_names(&group);
	free(text);
	return 0;
}
