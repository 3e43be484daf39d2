/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_since.h. */
#include "verdict/budget_since.h"

#include <math.h>
#include <stdlib.h>

#include "verdict/budget_growth.h"
#include "verdict/budget_windows.h"
#include "verdict/growth_rate.h"
#include "verdict/interval.h"
#include "verdict/own_time.h"
#include "base/compare.h"
#include "base/memory.h"

#define SECOND 1e9
/* Blocks count from this part of the time on, so that most of those that will be freed soon are. */
#define AGE_PART 16
/* Blocks of one window are born in bursts: so many are worth one, at least. */
#define BURST 1.25
/* What of a class is a cache's may be in place of blocks that are older than tracing: with more of it, it shows nothing of the windows. */
#define FALLING_MOST 0.2

/* A site's blocks of a class at both moments. */
struct since_part {
	uint32_t target_id, size_class;
	struct budget_estimate_site *site;
	const struct budget_cohort *before, *after; /* NULL = none */
	struct estimate gained; /* since tracing began, before */
	double held, blocks; /* in use before; and how many more since then */
	double lost; /* so many that were in use before may not be any more */
	double each; /* bytes of each */
	double weight; /* blocks that each of them represents, */
	double thinned; /* by so many more than before */
	double dispersion;
};

struct since {
	const struct budget_report *before, *after;
	enum budget_ages age; /* younger blocks count by their share that comes to it */
	double windows; /* of all time */
	double traced_s; /* the windows between the moments, in seconds */
};

/* One class of one heap. */
struct since_class {
	struct estimate growth; /* bytes, of sites that have gained */
	struct since_part *parts;
	struct growth_rate_site *gains; /* of these; owned */
	size_t count;
	double gained; /* bytes that windows have seen, of all sites that have gained, */
	double noise; /* the sum of since_noise */
	double factor; /* bytes that each of them is worth, at most */
};

bool budget_since_is_of_one(const struct budget_report *before, const struct budget_report *after)
{
	return before->start_ns == after->start_ns && before->time_ns < after->time_ns;
}

/* Windows */

struct since_sum {
	double unchanged, bytes, seen,
		squares; /* of blocks that are old enough; the first with a share of the others, too */
	double written, written_bytes, gone;
};

/* What share of blocks comes to the age. */
static double since_survive(const struct budget_cohort *cohort, enum budget_ages age)
{
	const double entered = cohort ? (double)cohort->ages[0].reached.blocks : 0;

	return entered > 0 ? fmin((double)cohort->ages[age].reached.blocks / entered, 1) : 0;
}

static struct since_sum since_sum(const struct budget_cohort *cohort, enum budget_ages least,
				  double young)
{
	struct since_sum sum = { 0 };
	int age;

	for (age = 0; cohort && age < BUDGET_AGES; age++) {
		const struct budget_age *row = &cohort->ages[age];
		const double part = age < (int)least ? young : 1;

		sum.unchanged += (double)row->unchanged.blocks * part;
		sum.bytes += (double)row->unchanged.bytes * part;
		sum.seen += (double)row->unchanged.seen * part;
		sum.squares += (double)row->window_squares * part;
		sum.written += (double)row->written.blocks;
		sum.written_bytes += (double)row->written.bytes;
		if (age >= (int)least)
			sum.gone += (double)row->freed.blocks + (double)row->lost.blocks;
	}
	return sum;
}

static void since_compare(const struct since *since, struct since_part *part)
{
	const double young = since_survive(part->after, since->age);
	const struct since_sum before = since_sum(part->before, since->age, young),
			       after = since_sum(part->after, since->age, young);
	double old_weight = before.seen > 0 ? before.unchanged / before.seen : 0;

	part->held = before.unchanged;
	part->blocks = after.unchanged - before.unchanged;
	part->each = after.unchanged > 0    ? after.bytes / after.unchanged
		     : before.unchanged > 0 ? before.bytes / before.unchanged
					    : (double)budget_size_least(part->size_class);
	part->weight = after.seen > 0 ? after.unchanged / after.seen : fmax(old_weight, 1);
	part->thinned = old_weight > 0 ? fmax(part->weight - old_weight, 0) : 0;
	part->lost = fmax(after.gone - before.gone, 0) + fmax(after.written - before.written, 0);
	part->lost = fmax(fmin(part->lost, part->held), -part->blocks);
	part->dispersion =
		fmax(budget_growth_dispersion(after.seen, after.squares, since->windows), BURST);
}

/*
 * The variance of the bytes that a part has gained, beyond that of as many independent births: others were born, too, in place of those that
 * were lost meanwhile. And a thinned cohort shows what it held before less well.
 */
static double since_noise(const struct since_part *part)
{
	const double lost = part->blocks > 0 ? 2 * part->lost : part->lost + part->blocks + 1;

	return part->each * part->each * part->dispersion *
	       (fmax(lost, 0) * part->weight + part->held * part->thinned);
}

/* Censuses */

/* Of each moment, its last census: what a class has, or all. */
static struct estimate since_counted(const struct since *since, const struct budget_heap *before,
				     const struct budget_heap *after, uint32_t size_class)
{
	const struct budget_size *first = budget_growth_size(before, size_class),
				 *last = budget_growth_size(after, size_class);
	const struct budget_census *from = &before->censuses[before->census_count - 1],
				   *to = &after->censuses[after->census_count - 1];
	double grown = 0, more, noise, counted = (double)(to->time_ns - from->time_ns);
	double all = (double)(since->after->time_ns - since->before->time_ns);

	grown += last ? (double)last->bytes[after->census_count - 1] : 0;
	grown -= first ? (double)first->bytes[before->census_count - 1] : 0;
	noise = last ? INTERVAL_Z * sqrt(2 * budget_growth_noise(after, last)) : 0;
	/* Up to each moment, some time has passed since its census: so much may have come then. */
	more = fabs(grown) / counted *
	       (double)(since->before->time_ns - from->time_ns + since->after->time_ns -
			to->time_ns);
	grown *= all / counted;
	return (struct estimate){ grown, grown - more - noise, grown + more + noise };
}

static bool since_is_counted(const struct budget_heap *before, const struct budget_heap *after)
{
	return before && after && before->allocator && before->census_count &&
	       budget_growth_is_counted(after) &&
	       after->censuses[after->census_count - 1].time_ns >
		       before->censuses[before->census_count - 1].time_ns;
}

/* Classes */

/*
 * What a site has lost, by the part of its blocks that windows have seen go: of what it had gained before, so that it is not more. Without
 * such a part it is what it may have lost.
 */
static struct estimate since_lost(const struct since_part *part)
{
	const struct estimate *gained = &part->gained;
	double share, error;

	if (!(part->held > 0))
		return (struct estimate){ 0 };
	share = fmin(fmax(-part->blocks, 0) / part->held, 1);
	error = INTERVAL_Z * sqrt(since_noise(part)) / (part->each * part->held);
	return (struct estimate){ -share * gained->value, -fmin(share + error, 1) * gained->high,
				  -fmax(share - error, 0) * gained->low };
}

static struct growth_rate_site since_gain(const struct since_part *part)
{
	const struct since_sum before = since_sum(part->before, 0, 1),
			       after = since_sum(part->after, 0, 1);
	const double blocks = fmax(part->blocks, 0);

	return (struct growth_rate_site){
		.unchanged_seen = blocks / part->weight,
		.unchanged_bytes = blocks * part->each,
		.dispersion = part->dispersion,
		.written_seen = fmax(after.written - before.written, 0) / part->weight,
		.written_bytes = fmax(after.written_bytes - before.written_bytes, 0),
		.falling = part->site->falling,
	};
}

static void since_class_begin(const struct since *since, struct since_class *class)
{
	const uint32_t target_id = class->parts[0].target_id;
	size_t i;

	class->growth = since_counted(since, budget_growth_heap(since->before, target_id),
				      budget_growth_heap(since->after, target_id),
				      class->parts[0].size_class);
	class->gains = memory_alloc(class->count, sizeof(*class->gains));
	for (i = 0; i < class->count; i++) {
		const struct since_part *part = &class->parts[i];

		class->gains[i] = since_gain(part);
		class->gained += class->gains[i].unchanged_bytes;
		class->noise += since_noise(part);
		if (part->blocks < 0)
			class->growth = interval_subtract(class->growth, since_lost(part));
	}
}

/* What a class shows of the windows, as in budget_growth.c. */
static bool since_class_shows(const struct since *since, const struct since_class *class,
			      struct own_time_class *shown)
{
	const double seconds = (double)(since->after->time_ns - since->before->time_ns) / SECOND;
	double falling = 0, variance = class->noise, burst = 0;
	struct growth_rate_site site;
	size_t i;

	*shown = (struct own_time_class){ .growth = class->growth.value / seconds };
	shown->growth_error = (class->growth.high - class->growth.low) / 2 / INTERVAL_Z / seconds;
	for (i = 0; i < class->count; i++) {
		site = class->gains[i];
		shown->bytes += site.unchanged_bytes;
		shown->written_bytes += site.written_bytes;
		falling += site.falling ? site.unchanged_bytes : 0;
		variance += growth_rate_variance(&site);
		site.dispersion = 0;
		burst += growth_rate_variance(&site);
	}
	if (!(burst > 0) || falling > FALLING_MOST * shown->bytes)
		return false;
	shown->independent = shown->bytes * shown->bytes / variance;
	shown->seen = shown->bytes * shown->bytes / burst;
	return true;
}

/* How much of the target's own time the windows were worth, by the time between the moments. */
static struct estimate since_windows(const struct since *since, const struct since_class *classes,
				     size_t count)
{
	struct own_time_class *shown = memory_alloc(count + 1, sizeof(*shown));
	struct estimate own = budget_windows_own(since->after);
	const double seconds = (double)(since->after->time_ns - since->before->time_ns) / SECOND;
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		n += since_class_shows(since, &classes[i], &shown[n]);
	own_time_calibrate(shown, n, since->traced_s, &own);
	free(shown);
	return interval_scale(own, since->traced_s / seconds);
}

/* What a byte that windows have seen is worth at most. */
static double since_factor(const struct since_class *class, const struct estimate *window_s)
{
	double factor = INFINITY;

	if (window_s->value > 0)
		factor = 1 / window_s->value;
	if (class->gained > 0 && class->growth.high > 0)
		factor = fmin(factor, class->growth.high / class->gained);
	return factor;
}

/*
 * The error of a site's part by what it and others have lost and gained meanwhile, beyond that of as many births. Windows that miss bursts may see none
 * of a site that has gained all that its class has.
 */
static struct estimate since_widen(const struct since_class *class, size_t index,
				   const struct estimate *window_s)
{
	const struct since_part *part = &class->parts[index];
	const struct growth_rate_site *site = &class->gains[index];
	const struct estimate gain = site->rate;
	const double own = since_noise(part);
	double share = class->gained > 0 ? site->unchanged_bytes / class->gained : 0, most;
	double variance = (1 - share) * (1 - share) * own + share * share * (class->noise - own);
	double error = variance > 0 ? INTERVAL_Z * sqrt(variance) * class->factor : 0;

	most = interval_count(site->unchanged_seen / part->dispersion).high * part->dispersion *
	       part->weight * part->each;
	most = window_s->low > 0 ? most / window_s->low : INFINITY;
	return (struct estimate){ gain.value, gain.value - hypot(gain.value - gain.low, error),
				  fmax(gain.value + hypot(gain.high - gain.value, error),
				       fmin(most, class->growth.high)) };
}

static void since_divide(struct since_class *class, struct estimate window_s)
{
	struct growth_rate_class rates = { .counted = true,
					   .growth = class->growth,
					   .window_s = window_s,
					   .sites = class->gains,
					   .count = class->count };
	struct estimate gain;
	size_t i;

	growth_rate_divide(&rates);
	class->factor = since_factor(class, &window_s);
	for (i = 0; i < class->count; i++) {
		struct since_part *part = &class->parts[i];

		gain = since_widen(class, i, &window_s);
		if (part->blocks < 0)
			gain = interval_add(since_lost(part), (struct estimate){ 0, 0, gain.high });
		gain.low = fmax(gain.low, -part->gained.high);
		part->site->since = interval_add(part->site->since, gain);
	}
	free(class->gains);
}

/* Parts */

static const struct budget_cohort *since_cohort(const struct budget_site *site, uint32_t size_class)
{
	size_t i;

	for (i = 0; site && i < site->cohort_count; i++)
		if (site->cohorts[i].size_class == size_class)
			return &site->cohorts[i];
	return NULL;
}

static const struct budget_estimate_site *since_find(const struct budget_estimates *estimates,
						     uint64_t key)
{
	size_t low = 0, high = estimates->site_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (estimates->sites[middle].key == key)
			return &estimates->sites[middle];
		if (estimates->sites[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* What a site had gained before in blocks of a class, by its part of those that windows have seen. */
static struct estimate since_gained(const struct budget_estimate_site *site,
				    const struct budget_cohort *cohort)
{
	double all = 0;
	size_t i;

	if (!site || !cohort)
		return (struct estimate){ 0 };
	for (i = 0; i < site->site->cohort_count; i++)
		all += since_sum(&site->site->cohorts[i], 0, 1).bytes;
	if (!(all > 0))
		return site->bytes;
	return interval_scale(site->bytes, since_sum(cohort, 0, 1).bytes / all);
}

static int since_compare_parts(const void *a, const void *b)
{
	const struct since_part *left = a, *right = b;
	int order = compare_numbers(left->target_id, right->target_id);

	return order ? order : compare_numbers(left->size_class, right->size_class);
}

static struct since_part *since_list(const struct since *since, struct budget_estimates *estimates,
				     const struct budget_estimates *before, size_t *ret_count)
{
	struct since_part *parts;
	size_t count = 1, i, n;

	for (i = 0; i < estimates->site_count; i++)
		count += estimates->sites[i].site->cohort_count;
	parts = memory_alloc(count, sizeof(*parts));
	for (i = count = 0; i < estimates->site_count; i++) {
		struct budget_estimate_site *site = &estimates->sites[i];
		const struct budget_estimate_site *old = since_find(before, site->key);

		for (n = 0; n < site->site->cohort_count; n++) {
			struct since_part *part = &parts[count++];

			*part = (struct since_part){ .target_id = site->site->target_id,
						     .size_class =
							     site->site->cohorts[n].size_class,
						     .site = site,
						     .after = &site->site->cohorts[n] };
			part->before = since_cohort(old ? old->site : NULL, part->size_class);
			part->gained = since_gained(old, part->before);
			since_compare(since, part);
		}
	}
	if (count)
		qsort(parts, count, sizeof(*parts), since_compare_parts);
	*ret_count = count;
	return parts;
}

/* All parts of a process whose heap is counted. */
static void since_divide_process(const struct since *since, struct since_part *parts, size_t count)
{
	struct since_class *classes = memory_alloc(count, sizeof(*classes));
	struct estimate window_s;
	size_t begin, end, n = 0, i;

	for (begin = 0; begin < count; begin = end) {
		for (end = begin; end < count && !since_compare_parts(&parts[begin], &parts[end]);)
			end++;
		classes[n].parts = &parts[begin];
		classes[n].count = end - begin;
		since_class_begin(since, &classes[n++]);
	}
	window_s = since_windows(since, classes, n);
	for (i = 0; i < n; i++)
		since_divide(&classes[i], window_s);
	free(classes);
}

static void since_divide_all(const struct since *since, struct since_part *parts, size_t count)
{
	const struct estimate unknown = { 0, -INFINITY, INFINITY };
	const struct budget_heap *before, *after;
	size_t begin, end, i;

	for (begin = 0; begin < count; begin = end) {
		for (end = begin; end < count && parts[end].target_id == parts[begin].target_id;)
			end++;
		before = budget_growth_heap(since->before, parts[begin].target_id);
		after = budget_growth_heap(since->after, parts[begin].target_id);
		if (since_is_counted(before, after)) {
			since_divide_process(since, &parts[begin], end - begin);
			continue;
		}
		for (i = begin; i < end; i++)
			parts[i].site->since = before ? unknown : parts[i].site->bytes;
	}
}

void budget_since_begin(struct budget_estimates *estimates, const struct budget_report *before)
{
	const struct budget_report *after = estimates->report;
	struct budget_estimates *old = budget_estimates_new(before);
	struct since since = {
		.before = before,
		.after = after,
		.age = budget_age_class((after->time_ns - before->time_ns) / AGE_PART),
		.windows = budget_windows_count(after, after->time_ns),
		.traced_s = (budget_windows_traced(after, after->time_ns) -
			     budget_windows_traced(after, before->time_ns)) /
			    SECOND,
	};
	struct since_part *parts;
	size_t count;

	parts = since_list(&since, estimates, old, &count);
	since_divide_all(&since, parts, count);
	estimates->since_known = true;
	free(parts);
	budget_estimates_free(old);
}
