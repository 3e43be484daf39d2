/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a snapshot to a report, in three steps: judge every site (what counts, what is in use), rank them,
 * name the frames of those that are listed. Only the last step is slow, and it sees the listed sites only.
 */
#include "analyze/report.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/loss.h"

/* A site that may be listed: its counters as the report has them, and what it is ranked by. */
struct candidate {
	const struct snapshot_site *site;
	struct counters counters;
	uint64_t weight;
};

uint64_t counters_inuse_bytes(const struct counters *counters)
{
	return counters->alloc_bytes - counters->free_bytes;
}

uint64_t counters_inuse_objects(const struct counters *counters)
{
	return counters->alloc_objects - counters->free_objects;
}

bool counters_hold(const struct counters *counters)
{
	return counters_inuse_bytes(counters) || counters_inuse_objects(counters);
}

bool report_sort_is_inuse(enum report_sort sort)
{
	return sort == SORT_INUSE || sort == SORT_INUSE_OBJECTS;
}

static uint64_t report_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The counters of a site as they are, but never with more freed than was allocated. */
static struct counters report_recorded(const struct snapshot_site *site)
{
	struct counters counters = site->counters;

	counters.free_bytes = report_min(counters.free_bytes, counters.alloc_bytes);
	counters.free_objects = report_min(counters.free_objects, counters.alloc_objects);
	return counters;
}

/* Take the blocks that are too young out of `counters`. */
static void report_leave_out_young(struct counters *counters, const struct snapshot_site *site)
{
	counters->alloc_bytes -= report_min(site->young_bytes, counters_inuse_bytes(counters));
	counters->alloc_objects -=
		report_min(site->young_objects, counters_inuse_objects(counters));
}

/* Only a damaged recording reaches the limit; there, freed must still not pass allocated. */
static void report_add_limited(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void report_add(struct counters *sum, const struct counters *counters)
{
	report_add_limited(&sum->alloc_bytes, counters->alloc_bytes);
	report_add_limited(&sum->alloc_objects, counters->alloc_objects);
	report_add_limited(&sum->free_bytes, counters->free_bytes);
	report_add_limited(&sum->free_objects, counters->free_objects);
}

static uint64_t report_weight(const struct counters *counters, enum report_sort sort)
{
	switch (sort) {
	case SORT_INUSE:
		return counters_inuse_bytes(counters);
	case SORT_INUSE_OBJECTS:
		return counters_inuse_objects(counters);
	case SORT_ALLOC:
		return counters->alloc_bytes;
	case SORT_ALLOC_OBJECTS:
		return counters->alloc_objects;
	}
	return 0;
}

static bool report_is_candidate(const struct counters *counters,
				const struct report_options *options)
{
	if (!counters->alloc_bytes && !counters->alloc_objects)
		return false;
	return !options->top || !report_sort_is_inuse(options->sort) || counters_hold(counters);
}

/* Where the totals of a target are. */
struct target_place {
	const struct target *target;
	size_t index;
};

static int target_place_compare(const void *a, const void *b)
{
	const struct target_place *left = a, *right = b;

	return (left->target > right->target) - (left->target < right->target);
}

static struct target_place *report_places(const struct report *report)
{
	struct target_place *places = memory_alloc(report->target_count, sizeof(*places));
	size_t i;

	for (i = 0; i < report->target_count; i++)
		places[i] = (struct target_place){ report->targets[i], i };
	qsort(places, report->target_count, sizeof(*places), target_place_compare);
	return places;
}

/* A site that counts, in the sums of the report that it belongs to. */
static void report_sum(struct report *report, const struct target_place *places,
		       const struct snapshot_site *site, const struct counters *counters)
{
	const struct target_place wanted = { site->target, 0 };
	const struct target_place *place = bsearch(&wanted, places, report->target_count,
						   sizeof(*places), target_place_compare);

	if (place)
		report_add(&report->target_totals[place->index], counters);
	if (place && site->sampled)
		report->target_sampled[place->index] = true;
	if (site->sampled && site->ended)
		report->ended_sampled = true;
	else if (site->sampled)
		report_add(&report->sampled, counters);
	report_add(site->ended ? &report->ended : &report->totals, counters);
	report->sites_in_use += !site->ended && counters_hold(counters);
}

/* Add every site to the sums of the report and the ones that may be listed to `candidates`. */
static size_t report_judge(struct report *report, const struct snapshot *snapshot,
			   const struct report_options *options, struct candidate *candidates)
{
	struct target_place *places = report_places(report);
	size_t count = 0;
	size_t i;

	for (i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];
		struct counters counters = report_recorded(site);

		report_add(&report->recorded, &counters);
		if (site->sampled)
			report_add(&report->estimated, &counters);
		report->samples += site->samples;
		if (options->min_age_ns)
			report_leave_out_young(&counters, site);
		report_sum(report, places, site, &counters);
		if (report_is_candidate(&counters, options))
			candidates[count++] =
				(struct candidate){ site, counters,
						    report_weight(&counters, options->sort) };
	}
	free(places);
	return count;
}

static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	if (left->site->key != right->site->key)
		return left->site->key < right->site->key ? -1 : 1;
	return (left->site > right->site) - (left->site < right->site);
}

static char *report_build_id(const struct module *module)
{
	char text[2 * BUILD_ID_MAX + 1];

	if (!module || !module->build_id_size)
		return NULL;
	return memory_copy_string(module_format_build_id(module, text));
}

static struct report_frame *report_frame_add(struct report_site *site, size_t *capacity)
{
	site->frames =
		memory_grow(site->frames, site->frame_count, capacity, sizeof(*site->frames));
	return &site->frames[site->frame_count++];
}

/* What is known without asking for names. */
static const char *report_frame_function(const struct frame *frame)
{
	if (frame->kind == FRAME_ERROR)
		return frame->reason;
	return frame->whole && frame->name ? frame->name->function : NULL;
}

/* One captured frame becomes one frame of the report for each function that was inlined there. */
static void report_name_frame(struct report_site *site, size_t *capacity,
			      const struct module_list *modules, const struct frame *frame,
			      const struct report_names *names)
{
	const struct module *module = module_list_get(modules, frame->module);
	const struct symbol_list *symbols = NULL;
	size_t i = 0;

	if (frame->kind != FRAME_ERROR && !frame->whole)
		symbols = names->lookup(names->context, frame);
	do {
		struct report_frame *to = report_frame_add(site, capacity);

		*to = (struct report_frame){
			.kind = frame->kind,
			.function = report_frame_function(frame),
			.module = module ? module->path : NULL,
			.build_id = report_build_id(module),
			.offset = module ? frame->offset : 0,
			.whole = frame->whole,
		};
		if (!symbols || !symbols->count)
			break;
		to->function = symbols->items[i].function;
		to->file = symbols->items[i].file;
		to->line = symbols->items[i].line;
		to->inlined = symbols->items[i].inlined;
	} while (++i < symbols->count);
}

static void report_fill_site(struct report_site *to, const struct candidate *from,
			     const struct module_list *modules,
			     const struct report_options *options, const struct report_names *names)
{
	const struct snapshot_site *site = from->site;
	uint64_t objects = counters_inuse_objects(&from->counters);
	size_t capacity = 0;
	uint32_t i;

	to->pid = site->target->pid;
	to->target = site->target;
	to->source = site->source;
	to->allocator = site->function->allocator;
	to->function = site->function->function;
	to->ended = site->ended;
	to->sampled = site->sampled;
	to->samples = site->samples;
	to->counters = from->counters;
	if (counters_hold(&from->counters))
		to->oldest_ns = site->oldest_ns;
	if (objects)
		to->mean_age_ns = (uint64_t)(site->age_sum_ns / objects);
	for (i = 0; i < site->stack->count; i++)
		if (options->internal || !site->stack->frames[i].internal)
			report_name_frame(to, &capacity, modules, &site->stack->frames[i], names);
}

struct report *report_build(const struct snapshot *snapshot, const struct report_options *options,
			    const struct report_names *names)
{
	struct candidate *candidates = memory_alloc(snapshot->site_count, sizeof(*candidates));
	struct report *report = memory_alloc(1, sizeof(*report));
	size_t i, count;

	report->wall_time = snapshot->wall_time;
	if (snapshot->time_ns > snapshot->start_ns)
		report->duration_ns = snapshot->time_ns - snapshot->start_ns;
	report->targets = snapshot->targets;
	report->target_count = snapshot->target_count;
	report->target_totals =
		memory_alloc(snapshot->target_count, sizeof(*report->target_totals));
	report->target_sampled =
		memory_alloc(snapshot->target_count, sizeof(*report->target_sampled));
	report->sort = options->sort;
	report->min_age_ns = options->min_age_ns;
	for (i = 0; i < LOSS_COUNT; i++)
		report->loss[i] = snapshot->loss[i];

	count = report_judge(report, snapshot, options, candidates);
	qsort(candidates, count, sizeof(*candidates), candidate_compare);
	if (options->top && count > options->top)
		count = options->top;
	report->sites = memory_alloc(count, sizeof(*report->sites));
	for (i = 0; i < count; i++) {
		report->sites[i].rank = i + 1;
		report_fill_site(&report->sites[i], &candidates[i], snapshot->modules, options,
				 names);
	}
	report->site_count = count;
	free(candidates);
	return report;
}

static void report_site_free(struct report_site *site)
{
	size_t i;

	for (i = 0; i < site->frame_count; i++)
		free(site->frames[i].build_id);
	free(site->frames);
}

void report_free(struct report *report)
{
	size_t i;

	if (!report)
		return;
	for (i = 0; i < report->site_count; i++)
		report_site_free(&report->sites[i]);
	free(report->sites);
	free(report->target_totals);
	free(report->target_sampled);
	free(report);
}

uint64_t report_calls_dropped(const struct report *report)
{
	uint64_t calls = 0;
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++)
		if (loss_kind((enum loss)loss) == LOSS_KIND_CALL)
			calls += report->loss[loss];
	return calls;
}

uint64_t report_calls_seen(const struct report *report)
{
	return report->recorded.alloc_objects + report->recorded.free_objects -
	       report->estimated.alloc_objects - report->estimated.free_objects +
	       report->loss[LOSS_FREE_UNTRACKED] + report_calls_dropped(report);
}
