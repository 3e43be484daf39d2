/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See suppression.h. */
#include "analyze/suppression.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/glob.h"
#include "analyze/suppression_ruby.h"
#include "base/memory.h"

/* Like memcheck: no more frames are looked at. */
#define FRAMES_DESCRIBED 24

#define VERDICTS_ALL (~0u)

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

/* A text that is read line by line. */
struct reading {
	struct suppressions *to;
	const char *at; /* the next line */
	const char *what;
	size_t number; /* of the line */
	struct buffer line; /* without blanks at its ends */
};

/* The next line that is not empty and no comment. */
static bool reading_next(struct reading *reading)
{
	size_t length;

	while (*reading->at) {
		length = strcspn(reading->at, "\n");
		buffer_clear(&reading->line);
		buffer_append(&reading->line, reading->at, length);
		reading->at += length + (reading->at[length] == '\n');
		reading->number++;
		while (reading->line.length &&
		       strchr(" \t\r", reading->line.data[reading->line.length - 1]))
			reading->line.data[--reading->line.length] = '\0';
		length = strspn(reading->line.data, " \t\r");
		memmove(reading->line.data, reading->line.data + length,
			reading->line.length - length + 1);
		reading->line.length -= length;
		if (reading->line.length && *reading->line.data != '#')
			return true;
	}
	return false;
}

static struct suppression *suppressions_new(struct suppressions *suppressions, const char *name)
{
	struct suppression *suppression;

	suppressions->items = memory_grow(suppressions->items, suppressions->count,
					  &suppressions->capacity, sizeof(*suppressions->items));
	suppression = &suppressions->items[suppressions->count++];
	*suppression =
		(struct suppression){ .name = memory_copy_string(name), .verdicts = VERDICTS_ALL };
	return suppression;
}

static void suppression_clear(struct suppression *suppression)
{
	size_t i;

	for (i = 0; i < suppression->line_count; i++)
		free(suppression->lines[i].pattern);
	free(suppression->lines);
	free(suppression->name);
}

static void suppression_add(struct suppression *suppression, enum suppression_line_kind kind,
			    const char *pattern)
{
	suppression->lines = memory_grow(suppression->lines, suppression->line_count,
					 &suppression->line_capacity, sizeof(*suppression->lines));
	suppression->lines[suppression->line_count++] = (struct suppression_line){
		.kind = kind, .pattern = pattern ? memory_copy_string(pattern) : NULL
	};
}

/* memcheck's */

/* C++'s operators have the names that reports have; other mangled names are as they are. */
static const char *suppression_function(const char *pattern)
{
	static const struct {
		const char *mangled, *name;
	} operators[] = { { "_Znw", "operator new(*" }, { "_Zna", "operator new[](*" } };
	size_t i;

	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (!strncmp(pattern, operators[i].mangled, 4))
			return operators[i].name;
	return pattern;
}

static int reading_add_verdicts(const struct reading *reading, struct suppression *suppression,
				const char *list, struct error *error)
{
	static const struct {
		const char *word;
		unsigned int verdicts;
	} words[] = { { "definite", 1u << LEAK_DEFINITE },
		      { "possible", 1u << LEAK_POSSIBLE },
		      { "indirect", 1u << LEAK_INDIRECT },
		      { "reachable", 1u << LEAK_REACHABLE },
		      { "all", VERDICTS_ALL },
		      { "none", 0 } };
	size_t i, length;

	suppression->verdicts = 0;
	for (list += strspn(list, " \t"); *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == length &&
			    !strncmp(words[i].word, list, length))
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return USAGE("%s, line %zu: 'match-leak-kinds' has definite, possible, "
				     "indirect, reachable, all or none",
				     reading->what, reading->number);
		suppression->verdicts |= words[i].verdicts;
	}
	return 0;
}

static int reading_add_line(const struct reading *reading, struct suppression *suppression,
			    struct error *error)
{
	const char *line = reading->line.data;

	if (!strncmp(line, "match-leak-kinds:", 17))
		return reading_add_verdicts(reading, suppression, line + 17, error);
	if (!strcmp(line, "..."))
		suppression_add(suppression, SUPPRESSION_REST, NULL);
	else if (!strncmp(line, "fun:", 4))
		suppression_add(suppression, SUPPRESSION_FUNCTION, suppression_function(line + 4));
	else if (!strncmp(line, "obj:", 4))
		suppression_add(suppression, SUPPRESSION_MODULE, line + 4);
	else if (!strncmp(line, "src:", 4))
		suppression_add(suppression, SUPPRESSION_SOURCE, line + 4);
	else
		return USAGE("%s, line %zu: a frame begins with 'fun:', 'obj:' or 'src:', or is "
			     "'...'",
			     reading->what, reading->number);
	return 0;
}

/* "Memcheck:Leak", or with other tools: "Memcheck,Helgrind:Leak". */
static bool reading_is_leak(const char *line)
{
	const char *colon = strchr(line, ':');
	const char *tool = strstr(line, "Memcheck");

	return colon && tool && tool < colon && !strcmp(colon + 1, "Leak");
}

static int reading_unfinished(const struct reading *reading, struct error *error)
{
	return USAGE("%s: a suppression is not finished: '}' is missing", reading->what);
}

static bool suppression_has_place(const struct suppression *suppression)
{
	size_t i;

	for (i = 0; i < suppression->line_count; i++)
		if (suppression->lines[i].kind != SUPPRESSION_REST)
			return true;
	return false;
}

/* What is behind "{". One of another error is read, and left out. */
static int reading_add_block(struct reading *reading, struct error *error)
{
	struct suppression *suppression;
	bool is_leak;
	int code = 0;

	if (!reading_next(reading))
		return reading_unfinished(reading, error);
	suppression = suppressions_new(reading->to, reading->line.data);
	if (!reading_next(reading))
		return reading_unfinished(reading, error);
	is_leak = reading_is_leak(reading->line.data);
	for (;;) {
		if (!reading_next(reading))
			return reading_unfinished(reading, error);
		if (!strcmp(reading->line.data, "}"))
			break;
		if (is_leak)
			code = reading_add_line(reading, suppression, error);
		if (code)
			return code;
	}
	if (is_leak && !suppression_has_place(suppression))
		return USAGE("%s, line %zu: a suppression without a frame but '...' would fit all",
			     reading->what, reading->number);
	if (!is_leak) {
		suppression_clear(suppression);
		reading->to->count--;
	}
	return 0;
}

static int reading_add(struct reading *reading, struct error *error)
{
	const char *line = reading->line.data;

	if (!strcmp(line, "{"))
		return reading_add_block(reading, error);
	if (strncmp(line, "leak:", 5) != 0 || !line[5])
		return USAGE("%s, line %zu: neither 'leak:PATTERN' nor '{'", reading->what,
			     reading->number);
	suppression_add(suppressions_new(reading->to, line + 5), SUPPRESSION_ANYWHERE, line + 5);
	return 0;
}

int suppressions_parse(struct suppressions *suppressions, const char *text, const char *what,
		       struct error *error)
{
	struct reading reading = { .to = suppressions, .at = text, .what = what };
	int code = 0;

	while (!code && reading_next(&reading))
		code = reading_add(&reading, error);
	buffer_free(&reading.line);
	return code;
}

/* Presets: what each such program loses once, or keeps where no pointer is seen. */

static const struct {
	const char *name, *text;
} presets[] = {
	{ "ruby", "{\nfiles that are loaded are remembered\nMemcheck:Leak\n...\n"
		  "fun:require_internal\n...\n}\n"
		  "{\nthe stack of marks\nMemcheck:Leak\n...\nfun:stack_chunk_alloc\n...\n}\n" },
	{ "python", "{\nthe lock of the interpreter\nMemcheck:Leak\nfun:malloc\n"
		    "fun:PyThread_allocate_lock\n...\n}\n"
		    "{\nkeys of threads\nMemcheck:Leak\nfun:malloc\nfun:PyThread_create_key\n"
		    "...\n}\n" },
	{ "glibc", "{\nthread-local storage\nMemcheck:Leak\n...\nfun:_dl_allocate_tls*\n...\n}\n"
		   "{\nits table\nMemcheck:Leak\n...\nfun:allocate_dtv*\n...\n}\n"
		   "{\nthread-local storage of libraries\nMemcheck:Leak\n...\n"
		   "fun:*tls_get_addr*\n...\n}\n"
		   "{\nwhat ends threads\nMemcheck:Leak\n...\nfun:*pthread_exit*\n...\n}\n" },
};

int suppressions_add_preset(struct suppressions *suppressions, const char *name,
			    struct error *error)
{
	size_t i;

	for (i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (!strcmp(presets[i].name, name))
			break;
	if (i < sizeof(presets) / sizeof(presets[0])) {
		if (!strcmp(name, "ruby"))
			suppressions_new(suppressions, "what Ruby allocates for itself")
				->is_of_ruby = true;
		return suppressions_parse(suppressions, presets[i].text, name, error);
	}
	return USAGE("there is no preset '@%s': known are @ruby, @python, @glibc", name);
}

/* Fitting */

/* The frames of a group as memcheck counts them: the allocator's function is the first. */
static const struct report_frame *group_frame(const struct leak_group *group, size_t index)
{
	return index ? &group->frames[index - 1] : NULL;
}

static bool line_fits_source(const char *pattern, const struct report_frame *frame)
{
	char place[4096];
	const char *base;

	if (!frame->file)
		return false;
	base = strrchr(frame->file, '/');
	base = base ? base + 1 : frame->file;
	snprintf(place, sizeof(place), "%s:%u", base, frame->line);
	return glob_fits(pattern, frame->file) || glob_fits(pattern, base) ||
	       glob_fits(pattern, place);
}

/* An unknown function is "???" for memcheck, and "fun:*" fits it. The module of the allocator's function is one of valgrind's there. */
static bool line_fits(const struct suppression_line *line, const struct leak_group *group,
		      size_t index)
{
	const struct report_frame *frame = group_frame(group, index);

	if (!frame)
		return line->kind == SUPPRESSION_FUNCTION
			       ? glob_fits(line->pattern, group->function ? group->function : "???")
			       : line->kind == SUPPRESSION_MODULE;
	if (line->kind == SUPPRESSION_FUNCTION)
		return glob_fits(line->pattern, frame->function ? frame->function : "???");
	if (line->kind == SUPPRESSION_MODULE)
		return frame->module && glob_fits(line->pattern, frame->module);
	return line_fits_source(line->pattern, frame);
}

/* Lines fit from the first frame on; frames beyond the last line make no difference. */
static bool lines_fit(const struct suppression *suppression, const struct leak_group *group)
{
	const size_t count = group->frame_count + 1, none = SIZE_MAX;
	size_t line = 0, frame = 0, rest = none, again = 0;

	while (line < suppression->line_count) {
		if (suppression->lines[line].kind == SUPPRESSION_REST) {
			rest = ++line;
			again = frame;
		} else if (frame < count && line_fits(&suppression->lines[line], group, frame)) {
			line++;
			frame++;
		} else if (rest != none && again < count) {
			line = rest;
			frame = ++again;
		} else {
			return false;
		}
	}
	return true;
}

static bool text_has(const char *pattern, const char *text)
{
	return text && glob_is_in(pattern, text);
}

static bool anywhere_fits(const char *pattern, const struct leak_group *group)
{
	size_t i;

	for (i = 0; i < group->frame_count; i++)
		if (text_has(pattern, group->frames[i].function) ||
		    text_has(pattern, group->frames[i].file) ||
		    text_has(pattern, group->frames[i].module))
			return true;
	return false;
}

bool suppression_fits(const struct suppression *suppression, const struct leak_group *group)
{
	if (!group->site || !(suppression->verdicts & 1u << group->verdict))
		return false;
	if (suppression->is_of_ruby)
		return suppression_ruby_fits(group);
	if (suppression->lines[0].kind == SUPPRESSION_ANYWHERE)
		return anywhere_fits(suppression->lines[0].pattern, group);
	return lines_fit(suppression, group);
}

/* Making */

/* A name from a target as one line of ASCII: "?" fits any byte. */
static void describe_append(struct buffer *out, const char *label, const char *text)
{
	buffer_append_string(out, label);
	for (; *text; text++)
		buffer_append(
			out, (unsigned char)*text < ' ' || (unsigned char)*text >= 127 ? "?" : text,
			1);
	buffer_append_string(out, "\n");
}

void suppression_describe(const struct leak_group *group, size_t number, struct buffer *out)
{
	size_t i;

	if (!group->site)
		return;
	buffer_printf(out, "{\n   tracer-%zu\n   Memcheck:Leak\n   match-leak-kinds: %s\n", number,
		      leak_verdict_name(group->verdict));
	describe_append(out, "   fun:", group->function ? group->function : "*");
	for (i = 0; i < group->frame_count && i < FRAMES_DESCRIBED; i++) {
		const struct report_frame *frame = &group->frames[i];

		if (frame->function)
			describe_append(out, "   fun:", frame->function);
		else
			describe_append(out, "   obj:", frame->module ? frame->module : "*");
		/* Where memcheck's stacks end, too. */
		if (frame->function && !strcmp(frame->function, "main"))
			break;
	}
	buffer_append_string(out, "}\n");
}

void suppressions_free(struct suppressions *suppressions)
{
	size_t i;

	for (i = 0; i < suppressions->count; i++)
		suppression_clear(&suppressions->items[i]);
	free(suppressions->items);
	*suppressions = (struct suppressions){ 0 };
}
