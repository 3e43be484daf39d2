/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of massif (ms_print, massif-visualizer): what was in use at the moments that are known, by stacks at the last one and at the
 * peak. What stands in a tree is the innermost frame first; what is less than a hundredth is added up, as massif does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report_peak.h"
#include "base/compare.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "render/figures.h"
#include "render/formats.h"
#include "render/frame_text.h"
#include "render/notes.h"
#include "render/places.h"

/* So many moments are written, beside the peak and the last one. */
#define MASSIF_MOMENTS 100
/* So many parts of all is what has a line of its own. */
#define MASSIF_PART 100
#define MS_NS 1000000

/* A stack at one moment: numbers of places, innermost first. */
struct massif_stack {
	size_t first, length;
	uint64_t bytes;
	const uint32_t *path; /* set when there are no more */
};

/* Stacks that have their first frames in common. */
struct massif_node {
	const struct massif_stack *stacks;
	size_t count, depth;
	uint64_t bytes;
};

struct massif {
	const struct report *report;
	const struct render_options *options;
	struct buffer *out;
	size_t snapshots; /* so far */
	bool at_peak; /* what is taken of the sites */
	struct places places;
	struct massif_stack *stacks; /* owned */
	size_t count, capacity;
	uint32_t *numbers; /* owned */
	size_t number_count, number_capacity;
};

/* Readers take what follows a number sign for a comment: a wide one looks the same. */
static void massif_append(struct buffer *out, const char *text)
{
	const char *sign;

	for (; (sign = strchr(text, '#')); text = sign + 1) {
		buffer_append(out, text, (size_t)(sign - text));
		buffer_append_string(out, "\uff03");
	}
	buffer_append_string(out, text);
}

static void massif_comment(void *context, const char *sentence)
{
	struct massif *massif = context;

	buffer_append_string(massif->out, "desc: ");
	massif_append(massif->out, sentence);
	buffer_append_string(massif->out, "\n");
}

static void massif_begin(struct massif *massif)
{
	const struct report *report = massif->report;
	const struct target *target = report->target_count ? report->targets[0] : NULL;
	struct buffer command = { 0 };

	notes_of_report(report, massif_comment, massif);
	if (report->target_count == 1)
		text_append_safe(&command, target->exe ? target->exe : target->comm);
	else
		buffer_printf(&command, "%zu processes", report->target_count);
	buffer_append_string(massif->out, "cmd: ");
	massif_append(massif->out, command.data ? command.data : "");
	buffer_append_string(massif->out, "\ntime_unit: ms\n");
	buffer_free(&command);
}

static void massif_moment(struct massif *massif, uint64_t time_ns, uint64_t bytes, const char *tree)
{
	static const char line[] = "#-----------\n";

	buffer_printf(massif->out, "%ssnapshot=%zu\n%stime=%" PRIu64 "\nmem_heap_B=%" PRIu64 "\n",
		      line, massif->snapshots++, line, time_ns / MS_NS, bytes);
	buffer_printf(massif->out, "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n", tree);
}

/* Trees */

static void massif_push(struct massif *massif, uint32_t number)
{
	massif->numbers = memory_grow(massif->numbers, massif->number_count,
				      &massif->number_capacity, sizeof(*massif->numbers));
	massif->numbers[massif->number_count++] = number;
}

static void massif_take(void *context, const struct report_site *site,
			const uint64_t values[FIGURES])
{
	struct massif *massif = context;
	struct massif_stack stack = { .first = massif->number_count, .bytes = values[0] };
	size_t i;

	if (massif->at_peak && !report_peak_of(massif->report, site, &stack.bytes))
		return;
	if (!stack.bytes)
		return;
	places_add_site(&massif->places, site);
	stack.length = massif->places.path_length;
	for (i = stack.length; i > 0; i--)
		massif_push(massif, massif->places.path[i - 1]);
	massif->stacks = memory_grow(massif->stacks, massif->count, &massif->capacity,
				     sizeof(*massif->stacks));
	massif->stacks[massif->count++] = stack;
}

/* What was in use, and is of no site that is listed: of sites that have gone, or beyond -n. */
static void massif_add_rest(struct massif *massif, uint64_t bytes)
{
	const struct place place = { .name = "[sites that are not listed]" };
	struct massif_stack stack = { .first = massif->number_count, .length = 1 };
	uint64_t listed = 0;
	size_t i;

	for (i = 0; i < massif->count; i++)
		figures_add(&listed, massif->stacks[i].bytes);
	if (listed >= bytes)
		return;
	stack.bytes = bytes - listed;
	massif_push(massif, places_add(&massif->places, &place));
	massif->stacks = memory_grow(massif->stacks, massif->count, &massif->capacity,
				     sizeof(*massif->stacks));
	massif->stacks[massif->count++] = stack;
}

static int massif_compare(const void *a, const void *b)
{
	const struct massif_stack *left = a, *right = b;
	size_t i;

	for (i = 0; i < left->length && i < right->length; i++)
		if (left->path[i] != right->path[i])
			return compare_numbers(left->path[i], right->path[i]);
	return compare_numbers(left->length, right->length);
}

/* The largest first. */
static int massif_compare_nodes(const void *a, const void *b)
{
	const struct massif_node *left = a, *right = b;
	int order = compare_numbers(right->bytes, left->bytes);

	return order ? order : compare_pointers(left->stacks, right->stacks);
}

/* What a node's stacks have next. Those that end here have nothing. The result is to be freed. */
static struct massif_node *massif_children(const struct massif_node *node, size_t *ret_count)
{
	struct massif_node *children = memory_alloc(node->count + 1, sizeof(*children)), *child;
	uint32_t last = 0;
	size_t count = 0, i;

	for (i = 0; i < node->count; i++) {
		const struct massif_stack *stack = &node->stacks[i];

		if (stack->length <= node->depth)
			continue;
		if (!count || stack->path[node->depth] != last)
			children[count++] =
				(struct massif_node){ .stacks = stack, .depth = node->depth + 1 };
		last = stack->path[node->depth];
		child = &children[count - 1];
		child->count++;
		figures_add(&child->bytes, stack->bytes);
	}
	qsort(children, count, sizeof(*children), massif_compare_nodes);
	*ret_count = count;
	return children;
}

static bool massif_is_significant(uint64_t bytes, uint64_t total)
{
	return bytes >= total / MASSIF_PART + (total % MASSIF_PART > 0);
}

/* "0x0: main (a.c:3)": readers expect an address, which means nothing beyond a process. */
static void massif_label(struct massif *massif, const struct place *place)
{
	const char *where = place->file ? frame_text_base(place->file) : place->module;

	buffer_append_string(massif->out, "0x0: ");
	massif_append(massif->out, place->name);
	if (!where)
		return;
	buffer_append_string(massif->out, place->file ? " (" : " (in ");
	massif_append(massif->out, where);
	if (place->file && place->line)
		buffer_printf(massif->out, ":%" PRIu32, place->line);
	buffer_append_string(massif->out, ")");
}

static void massif_rest(struct massif *massif, const struct massif_node *rest, size_t count,
			size_t depth, uint64_t total)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < count; i++)
		figures_add(&bytes, rest[i].bytes);
	buffer_printf(massif->out,
		      "%*sn0: %" PRIu64 " in %zu place%s, %sbelow massif's threshold (1.00%%)\n",
		      (int)depth, "", bytes < total ? bytes : total, count, units_s(count),
		      count == 1 ? "" : "all ");
}

/* The line of a node, and those of what calls it. Counters that contradict themselves are bent: nothing is more than all. */
static void massif_node(struct massif *massif, const struct massif_node *node, uint64_t total)
{
	size_t count, shown = 0, i;
	struct massif_node *children = massif_children(node, &count);

	while (shown < count && massif_is_significant(children[shown].bytes, total))
		shown++;
	buffer_printf(massif->out, "%*sn%zu: %" PRIu64 " ", (int)node->depth, "",
		      shown + (shown < count), node->bytes < total ? node->bytes : total);
	if (node->depth)
		massif_label(massif, &massif->places.items[node->stacks->path[node->depth - 1]]);
	else
		buffer_append_string(massif->out, "(heap allocation functions) malloc/new/new[], "
						  "--alloc-fns, etc.");
	buffer_append_string(massif->out, "\n");
	for (i = 0; i < shown && render_drain(massif->options, massif->out); i++)
		massif_node(massif, &children[i], total);
	if (shown < count)
		massif_rest(massif, &children[shown], count - shown, node->depth + 1, total);
	free(children);
}

/* What was in use at the peak, or is now. */
static void massif_tree(struct massif *massif, uint64_t bytes)
{
	struct massif_node all = { .bytes = bytes };
	size_t i;

	massif->count = massif->number_count = 0;
	figures_walk_report(massif->report, massif_take, massif);
	massif_add_rest(massif, bytes);
	for (i = 0; i < massif->count; i++)
		massif->stacks[i].path = massif->numbers + massif->stacks[i].first;
	if (massif->count)
		qsort(massif->stacks, massif->count, sizeof(*massif->stacks), massif_compare);
	all.stacks = massif->stacks;
	all.count = massif->count;
	massif_node(massif, &all, bytes);
}

/* Moments */

static void massif_peak(struct massif *massif)
{
	const struct peak *peak = &massif->report->peak;

	massif_moment(massif, peak->time_ns, peak->bytes, "peak");
	massif->at_peak = true;
	massif_tree(massif, peak->bytes);
	massif->at_peak = false;
}

static void massif_last(struct massif *massif, bool is_peak)
{
	const struct report *report = massif->report;
	const uint64_t bytes = site_stats_inuse_bytes(&report->totals);

	massif_moment(massif, report->duration_ns, bytes, is_peak ? "peak" : "detailed");
	massif_tree(massif, bytes);
}

/* The moments before the last one, with the peak where it was. */
static void massif_moments(struct massif *massif, const struct timeline *timeline)
{
	const struct report *report = massif->report;
	const struct peak *peak = &report->peak;
	bool has_peak = !peak->known || peak->is_last;
	size_t i, step = timeline->count / MASSIF_MOMENTS + 1;

	for (i = 0; i < timeline->count; i += step) {
		const struct timeline_moment *moment = &timeline->moments[i];

		if (moment->time_ns >= report->duration_ns)
			break;
		if (!has_peak && moment->time_ns >= peak->time_ns) {
			massif_peak(massif);
			has_peak = true;
		}
		if (!peak->known || peak->is_last || moment->time_ns != peak->time_ns)
			massif_moment(massif, moment->time_ns, moment->bytes, "empty");
	}
	if (!has_peak)
		massif_peak(massif);
	massif_last(massif, peak->known && peak->is_last);
}

void render_massif(const struct report *report, const struct render_options *options,
		   struct buffer *out)
{
	struct massif massif = { .report = report, .options = options, .out = out };
	struct timeline own = { 0 };

	massif_begin(&massif);
	if (!report->options.timeline && report->options.history && !report->options.without_young)
		history_take(report->options.history, report->start_ns, &own);
	massif_moments(&massif, report->options.timeline ? report->options.timeline : &own);
	timeline_free(&own);
	places_free(&massif.places);
	free(massif.stacks);
	free(massif.numbers);
}
