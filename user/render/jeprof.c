/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of jeprof, which is that of jemalloc's heap profiles: stacks of addresses, the names of all addresses, so that no reader
 * needs the program, and its files, for who has them. Equal code has equal addresses in all profiles, so that they can be subtracted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "render/figures.h"
#include "render/formats.h"
#include "render/frame_text.h"
#include "render/notes.h"
#include "render/ranges.h"

/* Addresses of what has none in a file: above those of all files, by a hash of its name, or, where that is taken, in order. */
#define JEPROF_NAMED (3ull << 61)
#define JEPROF_MORE (2ull << 61)
#define JEPROF_HASH ((1ull << 61) - 2)
/* A sign of ASCII and the wide one that looks the same. */
#define JEPROF_WIDE 0xfee0

struct jeprof_stack {
	size_t first, length; /* in the addresses, innermost first */
	uint64_t values[FIGURES];
};

struct jeprof {
	const struct render_options *options;
	struct buffer *out;
	struct ranges ranges;
	struct strings names;
	struct table by_address; /* kept names */
	struct jeprof_stack *stacks; /* owned, as what follows */
	size_t count, capacity;
	uint64_t *addresses; /* of all stacks */
	size_t address_count, address_capacity;
	uint64_t *symbols; /* addresses, each once */
	size_t symbol_count, symbol_capacity;
	uint64_t more; /* so many have an address in order */
	uint64_t sums[FIGURES];
	struct buffer name, text; /* that are being made */
};

/* Names */

static void jeprof_append_wide(struct buffer *out, const char *text, const char *signs)
{
	for (; *text; text++) {
		const unsigned int code = (unsigned char)*text + JEPROF_WIDE;
		const char wide[] = { (char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)),
				      (char)(0x80 | (code & 0x3f)) };

		if (strchr(signs, *text))
			buffer_append(out, wide, sizeof(wide));
		else
			buffer_append(out, text, 1);
	}
}

/*
 * Readers take "--" for what separates inlined functions, and cut off what is in brackets: arguments of C++. No more than that may be
 * lost, so other signs are wide.
 */
static void jeprof_append_name(struct jeprof *jeprof, bool is_native)
{
	static const char *const signs[2][2] = { { "", "-" }, { "()<>", "()<>-" } };
	const char *text = jeprof->name.data + strspn(jeprof->name.data, " ");
	const char *name = *text ? text : "[unknown]";
	const bool has_brackets = !is_native || *name == '<' || *name == '(';
	const bool has_dashes = strstr(name, "--") || *name == '-' || name[strlen(name) - 1] == '-';

	jeprof_append_wide(&jeprof->text, name, signs[has_brackets][has_dashes]);
}

/* Returns the name to fill. */
static struct buffer *jeprof_begin_name(struct jeprof *jeprof)
{
	buffer_clear(&jeprof->name);
	buffer_append_string(&jeprof->name, "");
	return &jeprof->name;
}

/* Frames that were captured as one, outermost first. */
static void jeprof_name_frames(struct jeprof *jeprof, const struct report_frame *frames,
			       size_t count)
{
	size_t i;

	for (i = count; i > 0; i--) {
		frame_text_append(jeprof_begin_name(jeprof), &frames[i - 1]);
		jeprof_append_name(jeprof, frames[i - 1].kind == FRAME_NATIVE);
		if (i > 1)
			buffer_append_string(&jeprof->text, "--");
	}
}

static void jeprof_name_process(struct jeprof *jeprof, const struct report_site *site)
{
	struct buffer *name = jeprof_begin_name(jeprof);

	text_append_safe(name, *site->target->comm ? site->target->comm : "[unknown]");
	if (site->process_count == 1)
		buffer_printf(name, " (%d)", site->pid);
	jeprof_append_name(jeprof, false);
}

/* Addresses */

/* May this address have the name? It has it from now on. */
static bool jeprof_claim(struct jeprof *jeprof, uint64_t address, const char *name)
{
	const char *other = table_get(&jeprof->by_address, address);

	if (other)
		return other == name;
	table_put(&jeprof->by_address, address, (void *)(uintptr_t)name);
	jeprof->symbols = memory_grow(jeprof->symbols, jeprof->symbol_count,
				      &jeprof->symbol_capacity, sizeof(*jeprof->symbols));
	jeprof->symbols[jeprof->symbol_count++] = address;
	return true;
}

/* Add the address of what has been named, which is the one that it has in its file, or 0. */
static void jeprof_push(struct jeprof *jeprof, uint64_t address)
{
	const char *name = strings_keep(&jeprof->names, jeprof->text.data);

	if (!address || !jeprof_claim(jeprof, address, name)) {
		address = JEPROF_NAMED | (hash_string(HASH_BEGIN, name) & JEPROF_HASH);
		if (!jeprof_claim(jeprof, address, name)) {
			address = JEPROF_MORE + jeprof->more++;
			jeprof_claim(jeprof, address, name);
		}
	}
	jeprof->addresses = memory_grow(jeprof->addresses, jeprof->address_count,
					&jeprof->address_capacity, sizeof(*jeprof->addresses));
	jeprof->addresses[jeprof->address_count++] = address;
	buffer_clear(&jeprof->text);
}

static uint64_t jeprof_address(struct jeprof *jeprof, const struct report_frame *frame)
{
	const size_t file = ranges_find(&jeprof->ranges, frame);

	return file == SIZE_MAX ? 0 : ranges_address(&jeprof->ranges, file, frame);
}

static void jeprof_take(void *context, const struct report_site *site,
			const uint64_t values[FIGURES])
{
	struct jeprof *jeprof = context;
	struct jeprof_stack stack = { .first = jeprof->address_count };
	size_t i, span;

	if (frame_text_append_leaf(jeprof_begin_name(jeprof), site)) {
		jeprof_append_name(jeprof, false);
		jeprof_push(jeprof, 0);
	}
	for (i = 0; i < site->frame_count; i += span) {
		span = frame_text_span(site->frames + i, site->frame_count - i);
		jeprof_name_frames(jeprof, site->frames + i, span);
		jeprof_push(jeprof, jeprof_address(jeprof, &site->frames[i]));
	}
	jeprof_name_process(jeprof, site);
	jeprof_push(jeprof, 0);
	stack.length = jeprof->address_count - stack.first;
	memcpy(stack.values, values, sizeof(stack.values));
	for (i = 0; i < FIGURES; i++)
		figures_add(&jeprof->sums[i], values[i]);
	jeprof->stacks = memory_grow(jeprof->stacks, jeprof->count, &jeprof->capacity,
				     sizeof(*jeprof->stacks));
	jeprof->stacks[jeprof->count++] = stack;
}

/* The file */

static void jeprof_symbols(struct jeprof *jeprof, const struct report *report)
{
	size_t i;

	buffer_append_string(jeprof->out, "--- symbol\n");
	if (report->target_count == 1 && report->targets[0]->exe) {
		buffer_append_string(jeprof->out, "binary=");
		text_append_safe(jeprof->out, report->targets[0]->exe);
		buffer_append_string(jeprof->out, "\n");
	}
	for (i = 0; i < jeprof->symbol_count && render_drain(jeprof->options, jeprof->out); i++) {
		buffer_printf(jeprof->out, "0x%" PRIx64 " ", jeprof->symbols[i]);
		buffer_append_string(jeprof->out,
				     table_get(&jeprof->by_address, jeprof->symbols[i]));
		buffer_append_string(jeprof->out, "\n");
	}
	buffer_append_string(jeprof->out, "---\n");
}

static void jeprof_comment(void *context, const char *sentence)
{
	struct jeprof *jeprof = context;

	buffer_append_string(jeprof->out, "# ");
	buffer_append_string(jeprof->out, sentence);
	buffer_append_string(jeprof->out, "\n");
}

static void jeprof_values(struct jeprof *jeprof, const uint64_t values[FIGURES])
{
	buffer_printf(jeprof->out, "  t*: %" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "]\n",
		      values[1], values[0], values[3], values[2]);
}

/* Of all addresses but the first, readers subtract 1: they are return addresses in jemalloc's profiles. */
static void jeprof_stack(struct jeprof *jeprof, const struct jeprof_stack *stack)
{
	size_t i;

	buffer_append_string(jeprof->out, "@");
	for (i = 0; i < stack->length; i++)
		buffer_printf(jeprof->out, " 0x%" PRIx64,
			      jeprof->addresses[stack->first + i] + (i > 0));
	buffer_append_string(jeprof->out, "\n");
	jeprof_values(jeprof, stack->values);
}

/* A period of 0 is none: figures are not those of samples. */
static void jeprof_heap(struct jeprof *jeprof, const struct report *report)
{
	size_t i;

	buffer_append_string(jeprof->out, "--- heap\nheap_v2/0\n");
	notes_of_report(report, jeprof_comment, jeprof);
	jeprof_values(jeprof, jeprof->sums);
	for (i = 0; i < jeprof->count && render_drain(jeprof->options, jeprof->out); i++)
		jeprof_stack(jeprof, &jeprof->stacks[i]);
}

static void jeprof_files(struct jeprof *jeprof)
{
	size_t i;

	buffer_append_string(jeprof->out, "\nMAPPED_LIBRARIES:\n");
	for (i = 0; i < jeprof->ranges.count && render_drain(jeprof->options, jeprof->out); i++) {
		const struct range_pages pages = ranges_pages(&jeprof->ranges, i);
		const char *path = jeprof->ranges.items[i].path;

		if (!pages.limit || !path)
			continue;
		buffer_printf(jeprof->out, "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " 00:00 0 ",
			      pages.start, pages.limit, pages.offset);
		text_append_safe(jeprof->out, path);
		buffer_append_string(jeprof->out, "\n");
	}
}

void render_jeprof(const struct report *report, const struct render_options *options,
		   struct buffer *out)
{
	struct jeprof jeprof = { .options = options, .out = out, .ranges.by_name = true };

	figures_walk_report(report, jeprof_take, &jeprof);
	jeprof_symbols(&jeprof, report);
	jeprof_heap(&jeprof, report);
	jeprof_files(&jeprof);
	ranges_free(&jeprof.ranges);
	strings_free(&jeprof.names);
	table_free(&jeprof.by_address);
	free(jeprof.stacks);
	free(jeprof.addresses);
	free(jeprof.symbols);
	buffer_free(&jeprof.name);
	buffer_free(&jeprof.text);
}
