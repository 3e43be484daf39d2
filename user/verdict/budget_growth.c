/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_growth.h. */
#include "verdict/budget_growth.h"

#include <math.h>
#include <stdlib.h>

#include "verdict/budget_windows.h"
#include "verdict/growth_rate.h"
#include "verdict/interval.h"
#include "verdict/own_time.h"
#include "base/compare.h"
#include "base/memory.h"

#define SECOND 1e9

/* Of a class that shows how much windows see, so great a part at most may be a cache's. */
#define FALLING_MOST 0.2

/* With two censuses, the error of growth is not known: as if it were this part of it. */
#define UNKNOWN_ERROR 0.25

/* A site's blocks of a class. */
struct growth_part {
	uint32_t target_id, size_class;
	struct budget_estimate_site *site;
	const struct budget_cohort *cohort;
};

static int growth_compare_parts(const void *a, const void *b)
{
	const struct growth_part *left = a, *right = b;
	int order = compare_numbers(left->target_id, right->target_id);

	return order ? order : compare_numbers(left->size_class, right->size_class);
}

/* The greatest class of ages that half of the time reaches: younger blocks may be anything. */
enum budget_ages budget_growth_old(const struct budget_report *report)
{
	return budget_age_class(budget_windows_duration(report) / 2);
}

/* Growth */

const struct budget_heap *budget_growth_heap(const struct budget_report *report, uint32_t target_id)
{
	size_t i;

	for (i = 0; i < report->heap_count; i++)
		if (report->heaps[i].target_id == target_id)
			return &report->heaps[i];
	return NULL;
}

bool budget_growth_is_counted(const struct budget_heap *heap)
{
	return heap && heap->allocator && heap->census_count >= 2;
}

static int growth_compare_sizes(const void *a, const void *b)
{
	const struct budget_size *left = a, *right = b;

	return compare_numbers(left->size_class, right->size_class);
}

const struct budget_size *budget_growth_size(const struct budget_heap *heap, uint32_t size_class)
{
	const struct budget_size wanted = { .size_class = size_class };

	if (!heap->size_count)
		return NULL;
	return bsearch(&wanted, heap->sizes, heap->size_count, sizeof(wanted),
		       growth_compare_sizes);
}

/* What a census has of a class, or of all if `size` is NULL. */
static double growth_counted(const struct budget_heap *heap, const struct budget_size *size,
			     size_t census)
{
	return (double)(size ? size->bytes[census] : heap->censuses[census].live_bytes);
}

/* By the censuses of the second half of the time: what came before may be a start. `ret_degrees` of freedom. */
static struct estimate growth_late(const struct budget_report *report,
				   const struct budget_heap *heap, const struct budget_size *size,
				   double block_bytes, double *ret_degrees)
{
	uint64_t from = report->time_ns - budget_windows_duration(report) / 2;
	struct growth_rate_point *points;
	size_t first = heap->census_count, i;
	struct estimate growth;

	while (first &&
	       (heap->census_count - first < 3 || heap->censuses[first - 1].time_ns >= from))
		first--;
	points = memory_alloc(heap->census_count - first, sizeof(*points));
	for (i = first; i < heap->census_count; i++) {
		points[i - first].time_s =
			(double)(heap->censuses[i].time_ns - heap->censuses[first].time_ns) /
			SECOND;
		points[i - first].bytes = growth_counted(heap, size, i);
	}
	growth = growth_rate_of(points, heap->census_count - first, block_bytes);
	free(points);
	*ret_degrees = (double)(heap->census_count - first) - 2;
	return growth;
}

double budget_growth_noise(const struct budget_heap *heap, const struct budget_size *size)
{
	const struct budget_census *at = heap->censuses;
	double sum = 0, part, rest;
	size_t i;

	for (i = 1; i + 1 < heap->census_count; i++) {
		if (at[i + 1].time_ns <= at[i - 1].time_ns)
			continue;
		part = (double)(at[i].time_ns - at[i - 1].time_ns) /
		       (double)(at[i + 1].time_ns - at[i - 1].time_ns);
		rest = growth_counted(heap, size, i) - part * growth_counted(heap, size, i + 1) -
		       (1 - part) * growth_counted(heap, size, i - 1);
		sum += rest * rest / (1 + part * part + (1 - part) * (1 - part));
	}
	return heap->census_count > 2 ? sum / (double)(heap->census_count - 2) : 0;
}

/*
 * Of all the time: counted from the first census to the last, and before and behind them at the same rate, of which nothing and twice as
 * much are the limits. Blocks that come and go are no growth: those that either of the two has counted.
 */
static struct estimate growth_since_start(const struct budget_report *report,
					  const struct budget_heap *heap,
					  const struct budget_size *size)
{
	size_t last = heap->census_count - 1;
	double counted = (double)(heap->censuses[last].time_ns - heap->censuses[0].time_ns);
	double grown = growth_counted(heap, size, last) - growth_counted(heap, size, 0), more = 0;
	double noise = INTERVAL_Z * sqrt(2 * budget_growth_noise(heap, size));

	if (grown > 0 && counted > 0)
		more = grown * fmax((double)budget_windows_duration(report) / counted - 1, 0);
	return (struct estimate){ grown + more, grown - noise, grown + 2 * more + noise };
}

/* Classes */

/* The parts of one class of one heap. */
struct growth_class {
	const struct budget_report *report;
	const struct budget_heap *heap; /* NULL = not counted */
	const struct budget_size *size; /* NULL = of no block */
	/* How long windows were in which old blocks were born, how many of them there were, and how many others. */
	double old_s, old_windows, young_windows;
	/* The part of windows that was the target's own time: by what traps have cost, and by what classes that are counted grow by, too. */
	struct estimate own, calibrated;
	enum budget_ages old;
	struct growth_part *parts;
	size_t count;
};

double budget_growth_dispersion(double seen, double squares, double windows)
{
	if (!(seen > 0) || windows < 2)
		return 0;
	return (squares - seen * seen / windows) / seen * windows / (windows - 1);
}

/* The old blocks of a cohort. */
static struct growth_rate_site growth_old_blocks(const struct growth_part *part,
						 const struct growth_class *class)
{
	struct growth_rate_site site = { .falling = part->site->falling };
	double squares = 0, young = 0, young_squares = 0;
	int age;

	for (age = 0; age < BUDGET_AGES; age++) {
		const struct budget_age *row = &part->cohort->ages[age];

		if (age < (int)class->old) {
			young += (double)row->unchanged.seen;
			young_squares += (double)row->window_squares;
			continue;
		}
		squares += (double)row->window_squares;
		site.unchanged_seen += (double)row->unchanged.seen;
		site.unchanged_bytes += (double)row->unchanged.bytes * part->site->retained;
		site.written_seen += (double)row->written.seen;
		site.written_bytes += (double)row->written.bytes;
	}
	site.dispersion =
		site.unchanged_seen > 0
			? budget_growth_dispersion(site.unchanged_seen, squares, class->old_windows)
			: budget_growth_dispersion(young, young_squares, class->young_windows);
	return site;
}

static struct growth_rate_class growth_class_begin(const struct growth_class *class,
						   struct growth_rate_site *sites, double window_s)
{
	const bool counted = class->heap && class->size;
	size_t i;

	for (i = 0; i < class->count; i++)
		sites[i] = growth_old_blocks(&class->parts[i], class);
	return (struct growth_rate_class){
		.counted = counted,
		.window_s = interval_scale(counted ? class->calibrated : class->own, window_s),
		.sites = sites,
		.count = class->count
	};
}

/* The rates of late. What no site has is in the sums if the class certainly grows: noise of many classes would add up. */
static void growth_class_rates(const struct growth_class *class, struct growth_rate_site *sites,
			       struct budget_estimates *sums)
{
	struct growth_rate_class rates = growth_class_begin(class, sites, class->old_s);
	double degrees;
	size_t i;

	if (rates.counted)
		rates.growth = growth_late(class->report, class->heap, class->size,
					   (double)budget_size_least(class->size->size_class),
					   &degrees);
	growth_rate_divide(&rates);
	for (i = 0; i < class->count; i++)
		class->parts[i].site->rate =
			interval_add(class->parts[i].site->rate, sites[i].rate);
	if (!(rates.growth.low > 0))
		return;
	for (i = 0; i < class->count; i++)
		class->parts[i].site->written =
			interval_add(class->parts[i].site->written, sites[i].written);
	sums->written = interval_add(sums->written, rates.written);
	sums->unknown = interval_add(sums->unknown, rates.unknown);
}

/* What sites have gained since the start: growth in one unit of time, which is all of it. */
static void growth_class_bytes(const struct growth_class *class, struct growth_rate_site *sites)
{
	double all_s = (double)budget_windows_duration(class->report) / SECOND;
	struct growth_rate_class whole;
	size_t i;

	if (!(all_s > 0))
		return;
	whole = growth_class_begin(class, sites, class->old_s / all_s);
	if (whole.counted)
		whole.growth = growth_since_start(class->report, class->heap, class->size);
	growth_rate_divide(&whole);
	for (i = 0; i < class->count; i++)
		class->parts[i].site->bytes =
			interval_add(class->parts[i].site->bytes, sites[i].rate);
}

static void growth_class(const struct growth_class *class, struct budget_estimates *sums)
{
	struct growth_rate_site *sites = memory_alloc(class->count + 1, sizeof(*sites));
	size_t i;

	for (i = 0; i < class->count; i++)
		class->parts[i].site->lower_bound |= !class->heap || !class->size;
	growth_class_rates(class, sites, sums);
	growth_class_bytes(class, sites);
	free(sites);
}

/* Classes of a heap that grow, and of which windows have recorded no block: they are nobody's. */
static void growth_unseen(const struct growth_class *heap, const struct growth_part *parts,
			  size_t count, struct budget_estimates *sums)
{
	struct growth_class class = *heap;
	size_t i, n = 0;

	for (i = 0; i < heap->heap->size_count; i++) {
		class.size = &heap->heap->sizes[i];
		while (n < count && parts[n].size_class < class.size->size_class)
			n++;
		if (n == count || parts[n].size_class != class.size->size_class)
			growth_class(&class, sums);
	}
}

/* All parts of one process. */
static void growth_process(struct growth_class *class, struct growth_part *parts, size_t count,
			   struct budget_estimates *sums)
{
	size_t begin, end;

	for (begin = 0; begin < count; begin = end) {
		for (end = begin; end < count && parts[end].size_class == parts[begin].size_class;)
			end++;
		class->parts = &parts[begin];
		class->count = end - begin;
		class->size = class->heap ? budget_growth_size(class->heap, parts[begin].size_class)
					  : NULL;
		growth_class(class, sums);
	}
	class->parts = NULL;
	class->count = 0;
	if (class->heap)
		growth_unseen(class, parts, count, sums);
}

static bool growth_has_part(const struct growth_part *parts, size_t count, uint32_t target_id)
{
	size_t i;

	for (i = 0; i < count && parts[i].target_id != target_id; i++)
		;
	return i < count;
}

/* What a class shows of the windows. False if it shows nothing: a cache that may be freed is more than growth. */
static bool growth_class_shows(const struct growth_class *class, struct own_time_class *shown)
{
	struct growth_rate_site site;
	struct estimate growth;
	double falling = 0, variance = 0, burst = 0, degrees;
	size_t i;

	*shown = (struct own_time_class){ 0 };
	for (i = 0; i < class->count; i++) {
		site = growth_old_blocks(&class->parts[i], class);
		shown->bytes += site.unchanged_bytes;
		shown->written_bytes += site.written_bytes;
		variance += growth_rate_variance(&site);
		site.dispersion = 0;
		burst += growth_rate_variance(&site);
		falling += class->parts[i].site->falls ? site.unchanged_bytes : 0;
	}
	if (!class->size || !(variance > 0) || falling > FALLING_MOST * shown->bytes)
		return false;
	shown->independent = shown->bytes * shown->bytes / variance;
	shown->seen = shown->bytes * shown->bytes / burst;
	growth = growth_late(class->report, class->heap, class->size,
			     (double)budget_size_least(class->size->size_class), &degrees);
	shown->growth = growth.value;
	shown->growth_error = degrees >= 1
				      ? (growth.high - growth.low) / 2 / interval_student(degrees)
				      : UNKNOWN_ERROR * growth.value;
	return true;
}

/*
 * How much of the windows was the target's own time is not known well of one that runs in bursts, or that windows slow down a lot. What its
 * classes grow by shows it.
 */
static void growth_calibrate(struct growth_class *class, struct growth_part *parts, size_t count)
{
	struct own_time_class *shown = memory_alloc(count + 1, sizeof(*shown));
	size_t begin, end, n = 0;

	for (begin = 0; begin < count && class->heap; begin = end) {
		for (end = begin; end < count && parts[end].size_class == parts[begin].size_class;)
			end++;
		class->parts = &parts[begin];
		class->count = end - begin;
		class->size = budget_growth_size(class->heap, parts[begin].size_class);
		n += growth_class_shows(class, &shown[n]);
	}
	class->calibrated = class->own;
	own_time_calibrate(shown, n, class->old_s, &class->calibrated);
	free(shown);
}

/* Processes without a block that was recorded have a heap that may grow all the same. */
static void growth_processes(struct budget_estimates *sums, struct growth_part *parts, size_t count)
{
	const uint64_t old_ns = sums->report->time_ns - sums->old_ns;
	const struct estimate own = budget_windows_own(sums->report);
	struct growth_class class = { .report = sums->report,
				      .old_s = budget_windows_traced(sums->report, old_ns) / SECOND,
				      .old_windows = budget_windows_count(sums->report, old_ns),
				      .own = own,
				      .calibrated = own,
				      .old = budget_growth_old(sums->report) };
	const struct budget_heap *heap;
	size_t begin, end, i;

	class.young_windows =
		budget_windows_count(sums->report, sums->report->time_ns) - class.old_windows;
	for (begin = 0; begin < count; begin = end) {
		for (end = begin; end < count && parts[end].target_id == parts[begin].target_id;)
			end++;
		heap = budget_growth_heap(sums->report, parts[begin].target_id);
		class.heap = budget_growth_is_counted(heap) ? heap : NULL;
		growth_calibrate(&class, &parts[begin], end - begin);
		growth_process(&class, &parts[begin], end - begin, sums);
	}
	for (i = 0; i < sums->report->heap_count; i++) {
		class.heap = &sums->report->heaps[i];
		if (budget_growth_is_counted(class.heap) &&
		    !growth_has_part(parts, count, class.heap->target_id))
			growth_process(&class, NULL, 0, sums);
	}
}

/* Growth of all heaps that are counted, whoever has caused it. */
static void growth_heaps(struct budget_estimates *estimates)
{
	const struct budget_report *report = estimates->report;
	double degrees;
	size_t i;

	for (i = 0; i < report->heap_count; i++)
		if (budget_growth_is_counted(&report->heaps[i])) {
			estimates->counted = true;
			estimates->growth = interval_add(
				estimates->growth,
				growth_late(report, &report->heaps[i], NULL, 0, &degrees));
		}
}

static size_t growth_list_parts(const struct budget_estimates *estimates, struct growth_part *parts)
{
	size_t count = 0, i, n;

	for (i = 0; i < estimates->site_count; i++)
		for (n = 0; n < estimates->sites[i].site->cohort_count; n++)
			parts[count++] = (struct growth_part){
				estimates->sites[i].site->target_id,
				estimates->sites[i].site->cohorts[n].size_class,
				&estimates->sites[i],
				&estimates->sites[i].site->cohorts[n],
			};
	if (count)
		qsort(parts, count, sizeof(*parts), growth_compare_parts);
	return count;
}

void budget_growth_divide(struct budget_estimates *estimates)
{
	struct growth_part *parts;
	size_t count = 1, i;

	for (i = 0; i < estimates->site_count; i++)
		count += estimates->sites[i].site->cohort_count;
	parts = memory_alloc(count, sizeof(*parts));
	count = growth_list_parts(estimates, parts);
	growth_heaps(estimates);
	growth_processes(estimates, parts, count);
	free(parts);
}
