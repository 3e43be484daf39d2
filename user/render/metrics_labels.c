/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See metrics_labels.h. */
#include "render/metrics_labels.h"

#include <inttypes.h>

#include "model/source.h"
#include "render/columns.h"
#include "render/text_place.h"

/* Of a value. It is one line of valid UTF-8 when it is cut. */
#define VALUE_COLUMNS 100

const char *metrics_labels_quality(const struct report *report, bool sampled)
{
	if (report->options.estimates)
		return "estimated";
	return sampled ? "sampled" : "counted";
}

/* `safe`: of characters that the format gives a meaning, only quotes and backslashes are left in it. NULL = empty. */
static void metrics_labels_append(struct buffer *out, const char *name, const char *safe)
{
	buffer_printf(out, "%s%s=\"", out->length ? "," : "", name);
	for (; safe && *safe; safe++) {
		if (*safe == '"' || *safe == '\\')
			buffer_append_string(out, "\\");
		buffer_append(out, safe, 1);
	}
	buffer_append_string(out, "\"");
}

/* The start of any text. */
static void metrics_labels_append_start(struct buffer *out, const char *name, const char *text)
{
	struct buffer safe = { 0 };

	columns_append_start(&safe, text, VALUE_COLUMNS);
	metrics_labels_append(out, name, safe.data);
	buffer_free(&safe);
}

static void metrics_labels_append_pid(struct buffer *out, int pid)
{
	buffer_printf(out, "%spid=\"%d\"", out->length ? "," : "", pid);
}

void metrics_labels_process(struct buffer *out, const struct target *target, const char *quality)
{
	metrics_labels_append_pid(out, target->pid);
	metrics_labels_append_start(out, "comm", target->comm);
	metrics_labels_append(out, "quality", quality);
}

void metrics_labels_rest_of_processes(struct buffer *out, const char *quality)
{
	metrics_labels_append(out, "pid", "other");
	metrics_labels_append(out, "comm", "");
	metrics_labels_append(out, "quality", quality);
}

/* What a row is of: its function, and where that is. */
static void metrics_labels_append_frame(struct buffer *out, const struct report_site *site)
{
	const struct report_frame *frame = text_place_frame(site);
	struct buffer name = { 0 }, place = { 0 };

	if (frame) {
		text_place_append_name(&name, frame, VALUE_COLUMNS);
		text_place_append(&place, frame, false, VALUE_COLUMNS);
	} else {
		text_place_append_row(&name, site, VALUE_COLUMNS);
	}
	metrics_labels_append(out, "function", name.data);
	metrics_labels_append(out, "place", place.data);
	buffer_free(&name);
	buffer_free(&place);
}

void metrics_labels_site(struct buffer *out, const struct report *report,
			 const struct report_site *site)
{
	buffer_printf(out, "id=\"%016" PRIx64 "\"", site->origin->id);
	if (site->process_count > 1)
		metrics_labels_append(out, "pid", "");
	else
		metrics_labels_append_pid(out, site->pid);
	metrics_labels_append_start(out, "comm", site->target->comm);
	metrics_labels_append(out, "source", source_name(site->source));
	metrics_labels_append_frame(out, site);
	metrics_labels_append(out, "quality", metrics_labels_quality(report, site->sampled));
}

void metrics_labels_rest_of_sites(struct buffer *out, const char *quality)
{
	metrics_labels_append(out, "id", "other");
	metrics_labels_append(out, "pid", "");
	metrics_labels_append(out, "comm", "");
	metrics_labels_append(out, "source", "");
	metrics_labels_append(out, "function", "[other sites]");
	metrics_labels_append(out, "place", "");
	metrics_labels_append(out, "quality", quality);
}
