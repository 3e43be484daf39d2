/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See growth_rate.h. */
#include "verdict/growth_rate.h"

#include <math.h>

#include "verdict/interval.h"

/* Blocks of one window are born in bursts, and are not independent of each other: so many are worth one. */
#define BURST 1.25

/* The slope of a random walk's regression has this times the variance of the walk's own mean step. */
#define WALK_FACTOR 1.2

/* Sums of a regression, around the means. */
struct growth_rate_fit {
	double time, bytes; /* means */
	double times, products; /* sums of squares of times, and of times by bytes */
	double slope;
};

static struct growth_rate_fit growth_rate_fit(const struct growth_rate_point *points, size_t count)
{
	struct growth_rate_fit fit = { 0 };
	double time;
	size_t i;

	for (i = 0; i < count; i++) {
		fit.time += points[i].time_s / (double)count;
		fit.bytes += points[i].bytes / (double)count;
	}
	for (i = 0; i < count; i++) {
		time = points[i].time_s - fit.time;
		fit.times += time * time;
		fit.products += time * (points[i].bytes - fit.bytes);
	}
	fit.slope = fit.times > 0 ? fit.products / fit.times : 0;
	return fit;
}

/* The variance of the slope, if each point has noise of its own: blocks that come and go. */
static double growth_rate_noise(const struct growth_rate_fit *fit,
				const struct growth_rate_point *points, size_t count)
{
	double sum = 0, rest;
	size_t i;

	for (i = 0; i < count; i++) {
		rest = points[i].bytes - fit->bytes - fit->slope * (points[i].time_s - fit->time);
		sum += rest * rest;
	}
	return sum / (double)(count - 2) / fit->times;
}

/*
 * The variance of the slope, if growth itself is at random: a walk. Noise of points makes steps that follow each other go to and fro,
 * a walk does not: this distinguishes the two. A walk by whole blocks has at least `least` for each second.
 */
static double growth_rate_walk(const struct growth_rate_fit *fit,
			       const struct growth_rate_point *points, size_t count, double least)
{
	double squares = 0, products = 0, before = 0, step, seconds;
	double all = points[count - 1].time_s - points[0].time_s, noise;
	size_t i;

	for (i = 1; i < count; i++) {
		seconds = points[i].time_s - points[i - 1].time_s;
		step = points[i].bytes - points[i - 1].bytes - fit->slope * seconds;
		squares += step * step;
		products += step * before;
		before = step;
	}
	noise = fmax(-products / (double)(count - 2), 0);
	return noise / fit->times + WALK_FACTOR * fmax((squares + 2 * products) / all, least) / all;
}

struct estimate growth_rate_of(const struct growth_rate_point *points, size_t count,
			       double block_bytes)
{
	struct growth_rate_fit fit = growth_rate_fit(points, count);
	double variance, width;

	if (count < 3 || !(fit.times > 0))
		return (struct estimate){ fit.slope, -INFINITY, INFINITY };
	variance = fmax(growth_rate_noise(&fit, points, count),
			growth_rate_walk(&fit, points, count, fabs(fit.slope) * block_bytes));
	width = interval_student((double)count - 2) * sqrt(variance);
	return (struct estimate){ fit.slope, fit.slope - width, fit.slope + width };
}

/* Sums over the sites of a class. */
struct growth_rate_sums {
	double unchanged, written, falling; /* bytes; `falling` is a part of `unchanged` */
	double seen; /* unchanged blocks of equal weight that would be worth as much */
	double variance; /* of `unchanged` */
	double each; /* bytes that an unchanged block represents, on average */
	double written_seen; /* written blocks */
};

double growth_rate_variance(const struct growth_rate_site *site)
{
	if (!(site->unchanged_seen > 0))
		return 0;
	return site->unchanged_bytes * site->unchanged_bytes / site->unchanged_seen *
	       fmax(site->dispersion, BURST);
}

static struct growth_rate_sums growth_rate_sum(const struct growth_rate_class *class)
{
	struct growth_rate_sums sums = { 0 };
	const struct growth_rate_site *site;
	double blocks = 0;

	for (site = class->sites; site < class->sites + class->count; site++) {
		sums.unchanged += site->unchanged_bytes;
		sums.written += site->written_bytes;
		sums.written_seen += site->written_seen;
		sums.falling += site->falling ? site->unchanged_bytes : 0;
		sums.variance += growth_rate_variance(site);
		blocks += site->unchanged_seen;
	}
	sums.each = blocks > 0 ? sums.unchanged / blocks : 0;
	sums.seen = sums.variance > 0 ? sums.unchanged * sums.unchanged / sums.variance : 0;
	return sums;
}

/* A quotient of which the divisor may be 0. */
static double growth_rate_per_second(double bytes, double seconds)
{
	return seconds > 0 ? bytes / seconds : INFINITY;
}

/* The bytes per second that windows have seen of `seen` blocks. */
static struct estimate growth_rate_events(const struct growth_rate_class *class, double seen,
					  double bytes)
{
	const struct estimate *seconds = &class->window_s, count = interval_count(seen);
	double each = seen > 0 ? bytes / seen : 0;

	if (!(seconds->high > 0))
		return (struct estimate){ 0, 0, INFINITY };
	return (struct estimate){
		growth_rate_per_second(count.value * each, seconds->value),
		count.low * each / seconds->high,
		growth_rate_per_second(count.high * each, seconds->low),
	};
}

/* The share of the unchanged blocks in all old ones. Without written ones this is no limit: others may have been missed. */
static struct estimate growth_rate_of_old(const struct growth_rate_sums *sums)
{
	double all = sums->unchanged + sums->written, total;

	if (!(sums->written > 0) || !(sums->unchanged > 0))
		return (struct estimate){ 0 };
	total = sums->seen * all / sums->unchanged;
	return interval_share(sums->seen, total);
}

/*
 * The part of the growth that the unchanged blocks may have caused: `high` by the most that windows can have missed, `low` by their
 * share in all old blocks and by the least.
 */
static struct estimate growth_rate_part(const struct growth_rate_class *class,
					const struct growth_rate_sums *sums)
{
	struct estimate events = growth_rate_events(class, sums->seen, sums->unchanged), part;
	struct estimate of_old = growth_rate_of_old(sums);
	double growth = class->growth.value;

	if (!(sums->unchanged > 0))
		return (struct estimate){ 0 };
	/* Of a class that does not grow there is nothing to divide but its interval. */
	if (!(growth > 0))
		return (struct estimate){ of_old.value, of_old.low, 1 };
	part.high = fmin(events.high / growth, 1);
	part.low = fmin(fmax(of_old.low, events.low / growth), part.high);
	if (!(sums->written > 0))
		part.value = part.high < 1 ? events.value / growth : 1;
	else if (isinf(events.value))
		part.value = of_old.value; /* rather too low than another's */
	else
		part.value = fmax(of_old.value, events.value / growth);
	part.value = fmax(fmin(part.value, part.high), part.low);
	return part;
}

/* How many blocks of equal weight a site's share is known by: that of one that comes in bursts by fewer than those of others. */
static double growth_rate_seen(const struct growth_rate_site *site,
			       const struct growth_rate_sums *sums)
{
	double share = site->unchanged_bytes / sums->unchanged, own = growth_rate_variance(site);
	double variance = (1 - share) * (1 - share) * own + share * share * (sums->variance - own);

	if (!(variance > 0) || !(share < 1))
		return sums->seen;
	return share * (1 - share) * sums->unchanged * sums->unchanged / variance;
}

/* Of none: windows may have missed what they would have seen of several bursts. */
static struct estimate growth_rate_share_of_none(const struct growth_rate_site *site,
						 const struct growth_rate_sums *sums)
{
	double missed = interval_count(0).high * fmax(site->dispersion, BURST) * sums->each;

	return (struct estimate){ 0, 0, missed > 0 ? missed / (missed + sums->unchanged) : 1 };
}

/* A site's part of what is divided. Without the blocks of caches, which will be freed, the shares of others are `ret_most`. */
static struct estimate growth_rate_share(const struct growth_rate_site *site,
					 const struct growth_rate_sums *sums,
					 struct estimate *ret_most)
{
	double own = site->unchanged_bytes, others = sums->unchanged - sums->falling;
	struct estimate share;
	double seen;

	if (!(own > 0))
		return *ret_most = growth_rate_share_of_none(site, sums);
	seen = growth_rate_seen(site, sums);
	share = interval_share(seen * own / sums->unchanged, seen);
	*ret_most = share;
	if (site->falling)
		share.low = 0;
	else if (sums->falling > 0)
		*ret_most = interval_share(seen * own / sums->unchanged,
					   seen * others / sums->unchanged);
	return share;
}

/* Growth is not below nothing: a site that holds old blocks has freed none of these. */
static struct estimate growth_rate_limit(struct estimate rate)
{
	return (struct estimate){ fmax(rate.value, 0), fmax(rate.low, 0), fmax(rate.high, 0) };
}

/* The product of the growth, a part of it, and a share in that part. The part's limits are no chance: they add up as they are. */
static struct estimate growth_rate_multiply(struct estimate growth, struct estimate part,
					    struct estimate share)
{
	struct estimate rate = interval_multiply(growth, share), limited;

	limited.value = rate.value * part.value;
	limited.low = rate.low * part.low;
	limited.high = part.high > 0 ? rate.high * part.high : 0;
	return growth_rate_limit(limited);
}

/* Whether others are caches is no chance: the limit is that of either case. */
static void growth_rate_set(const struct growth_rate_class *class,
			    const struct growth_rate_sums *sums, struct estimate part,
			    struct growth_rate_site *site)
{
	struct estimate most, share = growth_rate_share(site, sums, &most), rate;

	if (!(sums->unchanged > 0))
		part = (struct estimate){ 0, 0, 1 };
	site->rate = growth_rate_multiply(class->growth, part, share);
	rate = growth_rate_multiply(class->growth, part, most);
	site->rate.high = fmax(site->rate.high, rate.high);
}

static void growth_rate_divide_uncounted(struct growth_rate_class *class)
{
	struct growth_rate_site *site;
	struct estimate events;

	for (site = class->sites; site < class->sites + class->count; site++) {
		if (!(site->unchanged_bytes > 0))
			continue;
		events = growth_rate_events(class, site->unchanged_seen, site->unchanged_bytes);
		site->rate.low = site->falling ? 0 : events.low;
		site->rate.value =
			class->window_s.high > 0 ? site->unchanged_bytes / class->window_s.high : 0;
		site->rate.high = INFINITY;
	}
}

/* A part of the growth of a class, of which no site has a share. */
static struct estimate growth_rate_of_none(const struct growth_rate_class *class,
					   struct estimate part)
{
	return growth_rate_multiply(class->growth, part, (struct estimate){ 1, 1, 1 });
}

/* Nobody knows which of the written blocks are the growth: each site may have what its part of them allows. */
static void growth_rate_add_written(struct growth_rate_class *class,
				    const struct growth_rate_sums *sums)
{
	struct growth_rate_site *site;
	struct estimate share;

	for (site = class->sites; site < class->sites + class->count; site++) {
		if (!(site->written_bytes > 0))
			continue;
		share = interval_share(sums->written_seen * site->written_bytes / sums->written,
				       sums->written_seen);
		site->written = (struct estimate){ class->written.value * share.value, 0,
						   class->written.high * share.high };
		site->rate.high += site->written.high;
	}
}

/* What no unchanged block has caused: the written ones, as far as windows have seen enough of them, and else nobody. */
static void growth_rate_set_rest(struct growth_rate_class *class,
				 const struct growth_rate_sums *sums, struct estimate part)
{
	const struct estimate rest = { 1 - part.value, 1 - part.high, 1 - part.low };
	struct estimate events = { 0 }, written;
	double most = 0;

	if (sums->written > 0) {
		events = growth_rate_events(class, sums->written_seen, sums->written);
		most = class->growth.value > 0 ? fmin(events.high / class->growth.value, 1) : 1;
	}
	written = (struct estimate){ fmin(rest.value, most), fmin(rest.low, most),
				     fmin(rest.high, most) };
	class->written = growth_rate_of_none(class, written);
	growth_rate_add_written(class, sums);
	class->unknown = growth_rate_of_none(
		class,
		(struct estimate){ rest.value - written.value, fmax(rest.low - most, 0),
				   sums->written > 0 && most >= 1 ? 0 : rest.high - written.low });
}

void growth_rate_divide(struct growth_rate_class *class)
{
	const struct growth_rate_sums sums = growth_rate_sum(class);
	struct growth_rate_site *site;
	struct estimate part;

	class->written = class->unknown = (struct estimate){ 0 };
	for (site = class->sites; site < class->sites + class->count; site++)
		site->rate = site->written = (struct estimate){ 0 };
	if (!class->counted) {
		growth_rate_divide_uncounted(class);
		return;
	}
	part = growth_rate_part(class, &sums);
	for (site = class->sites; site < class->sites + class->count; site++)
		growth_rate_set(class, &sums, part, site);
	growth_rate_set_rest(class, &sums, part);
}
