/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What leads to a block, as text and as JSON: all words with its address, and the way on which the process reaches it. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/json_member.h"
#include "render/json_writer.h"
#include "render/leaks.h"
#include "render/text_style.h"

#define INDENT 4

static const char *who_verdict(const struct leak_who *who, const struct leak_report *report)
{
	switch (who->verdict) {
	case LEAK_REACHABLE:
		return "still reachable";
	case LEAK_STALE:
		return "stale: only old words lead to it";
	case LEAK_POSSIBLE:
		return "possibly lost: only hints lead to it";
	case LEAK_INDIRECT:
		return "lost: only lost blocks lead to it";
	case LEAK_DEFINITE:
		return leak_report_is_proof(report)	? "definitely lost"
		       : leak_report_is_partial(report) ? "probably lost"
							: "lost";
	default:
		return "not judged: it is new, or on the move";
	}
}

static void who_append_what(struct buffer *line, const char *kind, const char *name)
{
	if (*kind || *name)
		buffer_printf(line, ", %s%s%s", kind, *kind && *name ? " " : "", name);
}

static void who_append_block(struct buffer *line, uint64_t address, uint64_t size)
{
	char bytes[UNITS_TEXT_MAX];

	buffer_printf(line, "block of %s byte%s at 0x%llx", units_format_count(size, bytes),
		      units_s(size), (unsigned long long)address);
}

static void who_append_root(struct buffer *line, const struct leak_link *link)
{
	buffer_append_string(line, leak_root_title(link->root));
	if (link->tid)
		buffer_printf(line, " of thread %d", (int)link->tid);
	who_append_what(line, "", link->name);
	if (link->place)
		buffer_printf(line, ", at 0x%llx", (unsigned long long)link->place);
}

static void who_append_link(struct buffer *line, const struct leak_link *link)
{
	if (!link->block) {
		who_append_root(line, link);
	} else {
		who_append_block(line, link->block, link->size);
		if (link->place)
			buffer_printf(line, " + %llu",
				      (unsigned long long)(link->place - link->block));
		who_append_what(line, link->kind, link->name);
	}
	if (link->into)
		buffer_printf(line, " (leads %llu byte%s inside)", (unsigned long long)link->into,
			      units_s(link->into));
}

static void who_text_line(const struct text_writer *writer, const struct buffer *line)
{
	columns_pad(writer->out, 0, INDENT);
	columns_wrap(writer->out, line->data, writer->width - INDENT, INDENT + 2);
}

static void who_text_holders(const struct text_writer *writer, const struct leak_who *who,
			     size_t top)
{
	const struct leak_links *holders = &who->holders;
	size_t i, shown = top && top < holders->count ? top : holders->count;
	char count[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	buffer_printf(writer->out, "  Words that lead to it: %s\n",
		      units_format_count(who->holder_count, count));
	for (i = 0; i < shown; i++) {
		buffer_clear(&line);
		who_append_link(&line, &holders->items[i]);
		who_text_line(writer, &line);
	}
	if (shown < who->holder_count)
		buffer_printf(writer->out, "%*s%s more%s\n", INDENT, "",
			      units_format_count(who->holder_count - shown, count),
			      shown < holders->count ? " (-n 0 shows all)" : "");
	buffer_free(&line);
}

static void who_text_way(const struct text_writer *writer, const struct leak_who *who)
{
	const struct leak_links *way = &who->way;
	char count[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	size_t i;

	if (!way->count)
		return;
	buffer_printf(writer->out, "\n  %s\n",
		      way->items[0].block ? "What it is lost with:"
					  : "How the process reaches it:");
	for (i = 0; i < way->count; i++) {
		if (who->left_out && i == way->count / 2)
			buffer_printf(writer->out, "%*s... %s more block%s ...\n", INDENT, "",
				      units_format_count(who->left_out, count),
				      units_s(who->left_out));
		buffer_clear(&line);
		buffer_append_string(&line, i ? "-> " : "");
		who_append_link(&line, &way->items[i]);
		who_text_line(writer, &line);
	}
	buffer_printf(writer->out, "%*s-> the block\n", INDENT, "");
	buffer_free(&line);
}

void render_leaks_who_text(const struct leak_report *report,
			   const struct render_leaks_options *options, struct buffer *out)
{
	const struct leak_who *who = report->who;
	size_t width = options->base.columns ? options->base.columns : RENDER_COLUMNS;
	const struct text_writer writer = {
		.out = out,
		.color = options->base.color,
		.width = width < TEXT_COLUMNS_MIN ? TEXT_COLUMNS_MIN : width,
	};
	struct buffer line = { 0 };

	buffer_printf(&line, "%s (%d): ", report->comm, (int)report->pid);
	who_append_block(&line, who->address, who->size);
	who_append_what(&line, who->kind, who->name);
	buffer_printf(&line, ": %s", who_verdict(who, report));
	if (*who->note)
		buffer_printf(&line, "; %s", who->note);
	text_style_set(&writer, STYLE_STRONG);
	columns_wrap(out, line.data, writer.width, 2);
	text_style_set(&writer, STYLE_PLAIN);
	buffer_append_string(out, "\n");
	who_text_holders(&writer, who, options->top);
	who_text_way(&writer, who);
	buffer_free(&line);
}

static void who_json_address(struct json_writer *json, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	json_member_string(json, key, address ? text : NULL);
}

static void who_json_link(struct json_writer *json, const struct leak_link *link)
{
	json_writer_open(json, '{');
	json_member_string(json, "root", link->block ? NULL : leak_root_name(link->root));
	who_json_address(json, "place", link->place);
	json_member_known(json, "thread", (uint64_t)link->tid, link->tid);
	who_json_address(json, "block", link->block);
	json_member_known(json, "size", link->size, link->block);
	json_member_known(json, "offset", link->place - link->block, link->block && link->place);
	json_member_integer(json, "into", link->into);
	json_member_string(json, "what", *link->kind ? link->kind : NULL);
	json_member_string(json, "name", *link->name ? link->name : NULL);
	json_writer_close(json, '}');
}

static void who_json_links(struct json_writer *json, const char *key,
			   const struct leak_links *links)
{
	size_t i;

	json_writer_key(json, key);
	json_writer_open(json, '[');
	for (i = 0; i < links->count; i++)
		who_json_link(json, &links->items[i]);
	json_writer_close(json, ']');
}

void render_leaks_who_json(const struct leak_who *who, struct json_writer *json)
{
	json_writer_key(json, "who");
	if (!who) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	who_json_address(json, "asked", who->asked);
	who_json_address(json, "address", who->address);
	json_member_integer(json, "size", who->size);
	json_member_string(json, "kind", leak_verdict_name(who->verdict));
	json_member_string(json, "what", *who->kind ? who->kind : NULL);
	json_member_string(json, "name", *who->name ? who->name : NULL);
	json_member_string(json, "note", *who->note ? who->note : NULL);
	json_member_integer(json, "holder_count", who->holder_count);
	who_json_links(json, "holders", &who->holders);
	json_member_integer(json, "way_left_out", who->left_out);
	who_json_links(json, "way", &who->way);
	json_writer_close(json, '}');
}
