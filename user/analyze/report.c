/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a snapshot to a report, in three steps: judge every site (what counts, what is in use), rank them,
 * ask for the names of those that are listed. Only the last step is slow, and it sees the listed sites only.
 */
#include "analyze/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/container.h"
#include "analyze/leaves.h"
#include "analyze/report_frames.h"
#include "analyze/report_peak.h"
#include "analyze/report_verdict.h"
#include "analyze/weight.h"
#include "base/compare.h"
#include "base/memory.h"
#include "model/loss.h"

/* A site that may be listed, and what it is ranked by. */
struct candidate {
	const struct snapshot_site *site;
	struct growth growth;
	struct verdict verdict;
	uint64_t weight;
};

bool report_sort_is_inuse(enum report_sort sort)
{
	return sort == SORT_INUSE || sort == SORT_INUSE_OBJECTS || sort == SORT_AGE ||
	       sort == SORT_GROWTH || sort == SORT_LEAK || sort == SORT_AUTO;
}

static bool report_is_candidate(const struct site_stats *stats,
				const struct report_options *options)
{
	if (!stats->alloc_bytes && !stats->alloc_objects)
		return false;
	return (!options->top && !options->only_held) || !report_sort_is_inuse(options->sort) ||
	       site_stats_hold(stats);
}

/* Nothing of it counts as in use, but it may be what has grown, or what is gone since an earlier moment. */
static bool report_has_estimate(const struct snapshot_site *site,
				const struct report_options *options)
{
	const struct budget_estimates *estimates = options->estimates;

	if (!estimates)
		return false;
	return budget_estimate_is_written(estimates, site) ||
	       (estimates->since_known &&
		fabs(budget_estimate_of(estimates, site).since.value) >= 1);
}

/* Where the totals of a target are. */
struct target_place {
	const struct target *target;
	size_t index;
};

static int target_place_compare(const void *a, const void *b)
{
	const struct target_place *left = a, *right = b;

	return compare_pointers(left->target, right->target);
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

static void report_sum_target(struct report *report, const struct target_place *places,
			      const struct snapshot_site *site,
			      const struct report_options *options)
{
	const struct target_place wanted = { site->target, 0 };
	const struct target_place *place = bsearch(&wanted, places, report->target_count,
						   sizeof(*places), target_place_compare);
	const struct site_stats stats = weight_counted(site, options);

	if (!place)
		return;
	site_stats_add(&report->target_totals[place->index], &stats);
	report->target_sampled[place->index] |= site->sampled;
}

/* A row may be of several processes. */
static void report_sum_targets(struct report *report, const struct target_place *places,
			       const struct snapshot_site *site,
			       const struct report_options *options)
{
	size_t i;

	if (!site->member_count)
		report_sum_target(report, places, site, options);
	for (i = 0; i < site->member_count; i++)
		report_sum_target(report, places, &site->members[i], options);
}

/* A site that counts, in the sums of the report that it belongs to. */
static void report_sum(struct report *report, const struct snapshot_site *site,
		       const struct site_stats *stats)
{
	if (site->left_out && !site->ended) {
		site_stats_add(&report->left_out, stats);
		report->sites_left_out += site_stats_hold(stats);
	}
	if (site->sampled && site->ended)
		report->ended_sampled = true;
	else if (site->sampled)
		site_stats_add(&report->sampled, stats);
	site_stats_add(site->ended ? &report->ended : &report->totals, stats);
	report->sites_in_use += !site->ended && !site->left_out && site_stats_hold(stats);
}

/* Of windows, what sites have gained is estimated at each moment anew, so it is no difference of figures. */
static struct growth report_growth_since(const struct snapshot_site *site,
					 const struct budget_estimates *estimates)
{
	const struct budget_estimate estimate = budget_estimate_of(estimates, site);

	return (struct growth){
		.known = estimate.since_known,
		.bytes = estimate.since_known ? estimate_bytes(estimate.since.value) : 0,
	};
}

static struct growth report_growth(const struct snapshot_site *site,
				   const struct report_options *options)
{
	const struct growth_base none = { 0 };

	if (options->estimates && options->estimates->since_known)
		return report_growth_since(site, options->estimates);
	return growth_of(options->base ? options->base : &none, site, options->without_young);
}

/* A row that has become smaller is below all that has not. */
static uint64_t report_weight(const struct site_stats *stats, const struct growth *growth,
			      const struct verdict *verdict, const struct report_options *options)
{
	if (options->sort == SORT_LEAK)
		return verdict_weight(verdict);
	if (options->sort != SORT_GROWTH)
		return weight_of(stats, options->sort);
	return (uint64_t)growth->bytes ^ (uint64_t)1 << 63;
}

/* What a row has now, or in a watch what it has settled on. */
static struct verdict report_verdict(const struct snapshot *snapshot,
				     const struct report_options *options,
				     const struct snapshot_site *site)
{
	struct verdict verdict = report_verdict_of(snapshot, options, site);
	struct site_stats stats = weight_counted(site, options);

	if (!options->settled || site->left_out)
		return verdict;
	return settled_see(options->settled, site->id, &verdict, site_stats_inuse_bytes(&stats));
}

static void report_begin_settled(const struct snapshot *snapshot,
				 const struct report_options *options)
{
	settled_begin(options->settled, snapshot->start_ns, snapshot->time_ns);
	options->settled->heaps_may_grow = options->estimates &&
					   !budget_estimates_are_level(options->estimates);
}

/* What the greatest rows of these verdicts have in use, in bytes. */
struct greatest {
	uint64_t growing, unclear;
};

static void greatest_see(struct greatest *greatest, const struct site_stats *stats,
			 enum verdict_word word)
{
	uint64_t *most = word == VERDICT_GROWING ? &greatest->growing : &greatest->unclear;
	uint64_t bytes = site_stats_inuse_bytes(stats);

	if ((word == VERDICT_GROWING || word == VERDICT_UNKNOWN) && bytes > *most)
		*most = bytes;
}

/* What grows comes first unless a greater row may turn out to be a leak. */
static enum report_sort report_order(enum verdict_word worst, const struct greatest *greatest)
{
	if (worst == VERDICT_GROWING && greatest->unclear > greatest->growing)
		return SORT_INUSE;
	return worst >= VERDICT_GROWING ? SORT_LEAK : SORT_INUSE;
}

static void report_count_verdict(struct report *report, const struct site_stats *stats,
				 enum verdict_word word)
{
	const bool is_known = word != VERDICT_NONE && word != VERDICT_UNKNOWN;

	report->leaks += word == VERDICT_LEAK;
	report->judged += is_known;
	report->unjudged += !is_known && stats->alloc_objects;
}

/* Add every site to the sums of the report and the ones that may be listed, without weights, to `candidates`. */
static size_t report_judge(struct report *report, const struct snapshot *snapshot,
			   const struct report_options *options, struct candidate *candidates)
{
	struct target_place *places = report_places(report);
	enum verdict_word worst = VERDICT_NONE;
	struct greatest greatest = { 0 };
	size_t count = 0;
	size_t i;

	report->growth.known = (options->base && options->base->known) ||
			       (options->estimates && options->estimates->since_known);
	if (options->settled)
		report_begin_settled(snapshot, options);
	for (i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];
		struct growth growth = report_growth(site, options);
		struct verdict verdict = report_verdict(snapshot, options, site);
		struct site_stats stats = site->stats;

		site_stats_limit_freed(&stats);
		site_stats_add(&report->recorded, &stats);
		if (site->sampled)
			site_stats_add(&report->estimated, &stats);
		if (options->without_young)
			site_stats_leave_out_young(&stats);
		report_sum(report, site, &stats);
		report_sum_targets(report, places, site, options);
		if (!site->ended)
			growth_add(&report->growth.bytes, growth.bytes);
		report_count_verdict(report, &site->stats, verdict.word);
		if (verdict.word > worst)
			worst = verdict.word;
		greatest_see(&greatest, &stats, verdict.word);
		if (!site->left_out &&
		    (report_is_candidate(&stats, options) || report_has_estimate(site, options)))
			candidates[count++] = (struct candidate){ site, growth, verdict, 0 };
	}
	report->verdict = report_verdict_of_all(snapshot, options, worst);
	if (options->sort == SORT_AUTO)
		report->options.sort = report_order(worst, &greatest);
	free(places);
	return count;
}

static void report_weigh(const struct report *report, struct candidate *candidates, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct candidate *each = &candidates[i];
		struct site_stats stats = weight_counted(each->site, &report->options);

		each->weight =
			report_weight(&stats, &each->growth, &each->verdict, &report->options);
	}
}

static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	int order = compare_numbers(right->weight, left->weight);

	if (!order)
		order = compare_numbers(left->site->key, right->site->key);
	return order ? order : compare_pointers(left->site, right->site);
}

/* The member of a row that weighs most. */
static const struct snapshot_site *report_greatest(const struct snapshot_site *site,
						   const struct report_options *options)
{
	const struct snapshot_site *greatest = site->members;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < site->member_count; i++) {
		const struct site_stats stats = weight_counted(&site->members[i], options);
		uint64_t weight = weight_of(&stats, options->sort);

		if (weight > most) {
			most = weight;
			greatest = &site->members[i];
		}
	}
	return greatest;
}

static size_t report_count_processes(const struct snapshot_site *site)
{
	size_t count = 1, i;

	/* Those of a process are together. */
	for (i = 1; i < site->member_count; i++)
		count += site->members[i].target != site->members[i - 1].target;
	return count;
}

/* Add the frames of a site, and find its line among them if that is asked for. Returns how many are hidden. */
static size_t report_add_frames(const struct report *report, const struct snapshot_site *site,
				struct frame_list *to)
{
	const struct report_options *options = &report->options;
	struct app_line line;
	bool is_line = false;
	size_t hidden;

	if (options->lines && options->judge) {
		is_line = judge_find_line(options->judge, site, &line);
		if (is_line || judge_find_place(options->judge, site, &line))
			to->wanted = &line.view;
	}
	hidden = report_frames_add(to, report->modules, site->stack, options, &report->names);
	to->wanted = NULL;
	/* The innermost function is not marked as the application's. */
	if (!is_line && to->found == 1)
		to->found = 0;
	return hidden;
}

static void report_fill_line(const struct report *report, struct report_site *to)
{
	const struct report_options *options = &report->options;
	const struct snapshot_site *greatest;
	struct frame_list stack = { 0 };

	if (options->judge)
		leaves_fill(to, to->origin, report->modules, options);
	if (!options->internal && !options->lines)
		return;
	greatest = report_greatest(to->origin, options);
	report_add_frames(report, greatest, &stack);
	to->line = stack.found - 1;
	to->stack = stack.items;
	to->stack_length = stack.count;
}

/* A row that shows whole stacks. */
static void report_fill_stack(const struct report *report, struct report_site *to)
{
	const struct stack *stack = to->origin->stack;

	if (report->options.judge && report->options.lines && to->origin->member_count &&
	    stack->count && !stack->frames[0].whole)
		leaves_fill(to, to->origin, report->modules, &report->options);
}

/* The container of all members that hold blocks; NULL if they differ. */
static const char *report_common_container(const struct report *report,
					   const struct snapshot_site *site)
{
	const struct report_options *options = &report->options;
	const bool holds = site_stats_hold(&site->stats);
	const char *common = NULL, *container;
	size_t i;

	for (i = 0; i < site->member_count; i++) {
		const struct site_stats stats = weight_counted(&site->members[i], options);

		if (holds && !site_stats_hold(&stats))
			continue;
		container = container_of_stack(site->members[i].stack, options->judge);
		if (!container || (common && strcmp(common, container)))
			return NULL;
		common = container;
	}
	return common;
}

static const char *report_container(const struct report *report, const struct report_site *site)
{
	if (!report->options.judge || site->region != REGION_NONE)
		return NULL;
	if (site->origin->member_count)
		return report_common_container(report, site->origin);
	return container_of_stack(site->origin->stack, report->options.judge);
}

/* A line's stack is not in its frames. */
static const char *report_hint(const struct report *report, const struct report_site *site)
{
	const struct snapshot_site *from = site->origin->member_count && site->by_line
						   ? report_greatest(site->origin, &report->options)
						   : site->origin;

	return report_frames_hint(from->stack, &report->options, &report->names);
}

struct report_site report_open_site(const struct report *report, size_t index)
{
	struct report_site site = report->sites[index];
	struct frame_list frames = { 0 };

	site.frames_hidden = report_add_frames(report, site.origin, &frames);
	site.frames = frames.items;
	site.frame_count = frames.count;
	site.line = frames.found - 1;
	if (site.by_line)
		report_fill_line(report, &site);
	else
		report_fill_stack(report, &site);
	site.hint = report_hint(report, &site);
	site.container = report_container(report, &site);
	return site;
}

void report_close_site(struct report_site *site)
{
	report_frames_free(site->frames, site->frame_count);
	report_frames_free(site->stack, site->stack_length);
	leaves_free(site);
}

/* Before anything is written, since names may take long. */
static void report_ask_names(const struct report *report, size_t index)
{
	struct report_site site = report->sites[index];

	report_frames_ask(site.origin->stack, &report->options, &report->names);
	report_hint(report, &site);
	report_container(report, &site);
	if (!site.by_line)
		return;
	report_fill_line(report, &site);
	report_close_site(&site);
}

static bool report_has_master(const struct snapshot_site *site, struct judge *judge)
{
	size_t i;

	for (i = 0; i < site->member_count; i++)
		if (judge_is_master(judge, site->members[i].target))
			return true;
	return judge_is_master(judge, site->target);
}

static void report_fill_counts(struct report_site *to, struct judge *judge)
{
	size_t running = judge ? judge_count_processes(judge, to->target) : 0;
	size_t masters = judge ? judge_count_masters(judge, to->target) : 0;

	to->of_processes = running > to->process_count ? running : to->process_count;
	if (!masters || running - masters < 2 || running - masters < to->process_count ||
	    report_has_master(to->origin, judge))
		return;
	to->of_workers = running - masters;
}

static void report_fill_site(struct report_site *to, const struct candidate *from,
			     const struct report_options *options)
{
	const struct snapshot_site *site = from->site;

	to->origin = site;
	to->pid = site->target->pid;
	to->target = site->target;
	to->source = site->source;
	to->allocator = site->function->allocator;
	to->function = site->function->function;
	to->ended = site->ended;
	to->sampled = site->sampled;
	to->stats = weight_counted(site, options);
	to->growth = from->growth;
	to->verdict = from->verdict;
	if (options->estimates)
		to->estimate = report_verdict_estimate(options, site, &from->verdict);
	if (!site_stats_hold(&to->stats))
		to->stats.oldest_ns = 0;
	to->process_count = report_count_processes(site);
	to->by_line = site->by_line;
	to->region = site->region;
	to->resident_known = site->source == SOURCE_MMAP && !site->ended &&
			     site_stats_is_measured(&to->stats);
	to->stack_count = site->member_count ? site->member_count : 1;
	if (site->by_line || !region_has_line(site->region) || to->process_count > 1)
		report_fill_counts(to, options->judge);
}

/* A watch names the row that holds most, too: place it behind the `top` first ones if it is not among them. */
static bool report_place_greatest(struct candidate *candidates, size_t count, size_t top,
				  const struct report_options *options)
{
	struct candidate moved;
	uint64_t most = 0, bytes;
	size_t greatest = 0, i;

	for (i = 0; i < count; i++) {
		const struct site_stats stats = weight_counted(candidates[i].site, options);

		bytes = site_stats_inuse_bytes(&stats);
		if (bytes <= most)
			continue;
		most = bytes;
		greatest = i;
	}
	if (greatest < top)
		return false;
	moved = candidates[greatest];
	candidates[greatest] = candidates[top];
	candidates[top] = moved;
	return true;
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
	report->price = snapshot->price;
	report->modules = snapshot->modules;
	report->start_ns = snapshot->start_ns;
	report->options = *options;
	report->names = *names;
	for (i = 0; i < LOSS_COUNT; i++)
		report->loss[i] = snapshot->loss[i];

	count = report_judge(report, snapshot, options, candidates);
	report_weigh(report, candidates, count);
	report->peak = report_peak_find(report);
	qsort(candidates, count, sizeof(*candidates), candidate_compare);
	if (options->top && count > options->top)
		count = options->top +
			(options->settled &&
			 report_place_greatest(candidates, count, options->top, options));
	report->sites = memory_alloc(count, sizeof(*report->sites));
	for (i = 0; i < count; i++) {
		report->sites[i].rank = i + 1;
		report_fill_site(&report->sites[i], &candidates[i], options);
		report_ask_names(report, i);
	}
	report->site_count = count;
	free(candidates);
	return report;
}

void report_free(struct report *report)
{
	if (!report)
		return;
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
	uint64_t frees = report->recorded.free_objects - report->estimated.free_objects;

	return report->recorded.alloc_objects - report->estimated.alloc_objects +
	       (report->options.light ? 0 : frees) + report->loss[LOSS_FREE_UNTRACKED] +
	       report_calls_dropped(report);
}
