/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See verdict.h. Numbers that are limits here are explained in docs/verdicts.md. */
#include "verdict/verdict.h"

#include <math.h>

#include "verdict/growth_rate.h"
#include "verdict/interval.h"
#include "verdict/verdict_leak.h"
#include "verdict/verdict_line.h"

/* Nothing is judged before there are so many moments, 4 s at first. */
#define POINTS_MIN 16
/* The longest wait: a recording, which is untrusted, may have any times. */
#define WAIT_MOST_NS 1e18

/* What is in use grows if it is more by this part than in the first half of the time. */
#define RISE_MIN 0.02
/* What is steady may grow by no more than this part of itself in the second half. */
#define STEADY_MOST 0.25
/* What fills has come to this part of its rate at first. */
#define FILLING_MOST 0.5
/* Growth came early, if so much of it was there after the first half. */
#define EARLY_LEAST 0.95
/* Blocks are replaced if so many of those in use are freed in half of the time. */
#define TURNOVER_LEAST 0.05
/* Of temporary blocks no more than this part is in use, and they live no longer than this part of the time. */
#define TEMPORARY_INUSE 0.05
#define TEMPORARY_LIFE 0.01
/* So many blocks are freed in the two longest classes of a cache with a time limit. */
#define REGULAR_LEAST 0.8

static double verdict_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Growth of late: bytes per second and R2. */
static void verdict_fill_growth(const struct verdict_line *line, struct verdict *verdict)
{
	struct growth_rate_point points[VERDICT_LINE_POINTS];
	const struct verdict_moment *last = &line->moments[line->count - 1];
	size_t first = line->half, count = line->count - first, i;
	double block = last->objects > 0 ? last->bytes / last->objects : 0;

	for (i = 0; i < count; i++)
		points[i] = (struct growth_rate_point){ line->moments[first + i].time_s -
								line->moments[first].time_s,
							line->moments[first + i].bytes };
	verdict->growth = growth_rate_of(points, count, block);
	verdict->r2 = verdict_line_r2(line, first);
	if (line->moments[first].time_s > 0)
		verdict->growth_before = line->moments[first].bytes / line->moments[first].time_s;
}

static void verdict_fill_course(const struct verdict_line *line, struct verdict *verdict)
{
	const struct verdict_moment *last = &line->moments[line->count - 1];
	const struct verdict_moment *half = &line->moments[line->half];
	double peak = verdict_line_peak(line, 0, line->count);
	size_t i;

	verdict->births = last->born > half->born ? (uint64_t)(last->born - half->born) : 0;
	verdict->gained = (int64_t)(last->objects - half->objects);
	if (!(peak > 0))
		return;
	verdict->early_share = fmin(verdict_line_at(line, last->time_s / 4) / peak, 1);
	for (i = 0; i < line->count && line->moments[i].bytes < EARLY_LEAST * peak; i++)
		;
	verdict->grown_ns = (uint64_t)(line->moments[i].time_s * 1e9);
}

/* Does what is in use rise, beyond what it was before, and beyond what comes and goes? */
static bool verdict_rises(const struct verdict_line *line, const struct verdict *verdict)
{
	double now = verdict_line_peak(line, line->count - line->count / 8 - 1, line->count);
	double before = verdict_line_peak(line, 0, line->half + 1);

	return verdict->growth.low > 0 && now > before * (1 + RISE_MIN);
}

/* Is it certain that it hardly grows? */
static bool verdict_stays(const struct verdict_line *line, const struct verdict *verdict)
{
	double seconds = line->moments[line->count - 1].time_s - line->moments[line->half].time_s;
	double most = verdict_line_peak(line, line->half, line->count);
	double now = verdict_line_peak(line, line->count - line->count / 8 - 1, line->count);
	double before = verdict_line_peak(line, 0, line->half + 1);

	/* What has been higher before goes up and down. */
	return verdict->growth.high * seconds <= STEADY_MOST * most ||
	       now <= before * (1 + RISE_MIN);
}

/* Where rates fall by the same part in equal times, what is left to come is known. */
static void verdict_fill_level(const struct verdict_line *line, struct verdict *verdict)
{
	double late = verdict_line_rate(line, 0.75, 1), before = verdict_line_rate(line, 0.5, 0.75);
	double now = line->moments[line->count - 1].bytes,
	       quarter = verdict_seconds(verdict->time_ns) / 4;
	double falls = before > 0 ? late / before : 1;

	if (!(falls > 0) || falls > 0.9 || !(late > 0))
		return;
	verdict->level_bytes = now + late * quarter * falls / (1 - falls);
	/* Until 95 % of what is left has come. */
	verdict->level_ns = (uint64_t)(quarter * log(0.05) / log(falls) * 1e9);
}

static bool verdict_fills(const struct verdict_line *line, const struct verdict *verdict)
{
	return verdict_line_rate(line, 0.75, 1) < FILLING_MOST * verdict->growth_before;
}

static bool verdict_is_temporary(const struct site_stats *stats, const struct verdict *verdict)
{
	double life = (double)verdict->mean_life_ns / (double)verdict->time_ns;

	if (!lifespans_objects(&stats->lives) ||
	    (double)verdict->inuse_objects > TEMPORARY_INUSE * (double)stats->alloc_objects)
		return false;
	return verdict->temporary >= 0.5 || life <= TEMPORARY_LIFE;
}

/* A limit of time: nearly all are freed at about the same age. */
static bool verdict_is_regular(const struct lifespans *lives)
{
	unsigned int last = lifespans_class(lifespans_longest_ns(lives));
	uint64_t late = lives->classes[last] + (last ? lives->classes[last - 1] : 0);

	return last > 1 && (double)late >= REGULAR_LEAST * (double)lifespans_objects(lives);
}

/* What does not grow. */
static enum verdict_word verdict_of_steady(const struct verdict_line *line,
					   const struct site_stats *stats,
					   const struct verdict *verdict)
{
	double now = line->moments[line->count - 1].objects;
	double freed = (double)verdict->births - (double)verdict->gained;

	if (verdict_is_temporary(stats, verdict))
		return VERDICT_TEMPORARY;
	if (freed < TURNOVER_LEAST * now)
		return verdict->grown_ns <= verdict->time_ns / 2 ? VERDICT_WARM_UP : VERDICT_STEADY;
	/* Each new block takes the place of an old one: that varies far less than what comes and goes by chance. */
	if (verdict_line_deviation(line, line->half) <= 0.5 * sqrt(now) ||
	    verdict_is_regular(&stats->lives))
		return VERDICT_CACHE;
	return VERDICT_STEADY;
}

/* Until there are enough moments, at the planned distance, or the longest one so far. */
static uint64_t verdict_wait_for_moments(const struct verdict_line *line,
					 const struct verdict_input *input)
{
	const double planned_s =
		verdict_seconds(input->step_ns ? input->step_ns : HISTORY_SPACING_NS);
	const double step_s = fmax(planned_s, verdict_line_widest_s(line));

	return (uint64_t)llround(
		fmin((double)(POINTS_MIN - line->count) * step_s * 1e9, WAIT_MOST_NS));
}

static enum verdict_word verdict_judge(const struct verdict_line *line,
				       const struct verdict_input *input, struct verdict *verdict)
{
	struct verdict_leak leak;

	if (line->count < POINTS_MIN) {
		verdict->wait_ns = verdict_wait_for_moments(line, input);
		return VERDICT_UNKNOWN;
	}
	leak = input->several ? (struct verdict_leak){ 0 } : verdict_leak_find(line, input->stats);
	verdict->others_ns = leak.others_ns;
	verdict->survivors = leak.survivors;
	verdict->may_be_garbage = leak.may_be_garbage;
	if (leak.found) {
		verdict->never_freed_known = true;
		verdict->never_freed = leak.share;
		return VERDICT_LEAK;
	}
	if (verdict_rises(line, verdict)) {
		verdict->wait_ns = leak.wait_ns;
		if (!verdict_fills(line, verdict))
			return VERDICT_GROWING;
		verdict_fill_level(line, verdict);
		return VERDICT_FILLING;
	}
	if (verdict_stays(line, verdict))
		return verdict_of_steady(line, input->stats, verdict);
	verdict->wait_ns = verdict->time_ns;
	return VERDICT_UNKNOWN;
}

struct verdict verdict_of(const struct verdict_input *input)
{
	const struct site_stats *stats = input->stats;
	struct verdict verdict = { .r2 = -1, .early_share = -1 };
	struct verdict_line line;

	if (!stats->alloc_objects || input->now_ns <= input->start_ns)
		return verdict;
	verdict.time_ns = input->now_ns - input->start_ns;
	verdict.kept = !stats->free_objects;
	verdict.inuse_bytes = site_stats_inuse_bytes(stats);
	verdict.inuse_objects = site_stats_inuse_objects(stats);
	verdict.mean_life_ns = lifespans_mean_ns(&stats->lives);
	verdict.temporary = (double)stats->lives.temporary / (double)stats->alloc_objects;
	verdict.gcs = stats->gcs;
	verdict.gcs_known = stats->gcs_known;
	verdict_line_make(input, &line);
	verdict_fill_growth(&line, &verdict);
	verdict_fill_course(&line, &verdict);
	verdict.word = verdict_judge(&line, input, &verdict);
	return verdict;
}

struct verdict verdict_of_estimate(const struct budget_estimate *estimate)
{
	static const enum verdict_word words[] = { [BUDGET_UNKNOWN] = VERDICT_UNKNOWN,
						   [BUDGET_LEAK] = VERDICT_LEAK,
						   [BUDGET_GROWING] = VERDICT_GROWING,
						   [BUDGET_CACHE] = VERDICT_CACHE };
	struct verdict verdict = { .r2 = -1, .early_share = -1, .estimated = true };

	if (!estimate->known)
		return verdict;
	verdict.word = estimate->steady	 ? VERDICT_STEADY
		       : estimate->grows ? VERDICT_GROWING
					 : words[estimate->verdict];
	verdict.wait_ns = estimate->steady ? 0 : estimate->wait_ns;
	verdict.growth = estimate->rate;
	verdict.never_freed_known = budget_estimate_stays(estimate);
	verdict.never_freed = estimate->tail.share;
	verdict.kept = !estimate->ended;
	return verdict;
}

struct verdict verdict_of_estimates(const struct budget_estimate *estimate, bool leaks)
{
	struct verdict verdict = verdict_of_estimate(estimate);

	if (leaks)
		verdict.word = VERDICT_LEAK;
	else if (verdict.word == VERDICT_LEAK)
		verdict.word = estimate->rate.low > 0 ? VERDICT_GROWING : VERDICT_UNKNOWN;
	verdict.never_freed_known = false;
	return verdict;
}

struct verdict verdict_of_sum(const struct verdict_input *sum, bool leaks)
{
	struct verdict_input several = *sum;
	struct verdict verdict;

	several.several = true;
	verdict = verdict_of(&several);
	if (leaks)
		verdict.word = VERDICT_LEAK;
	return verdict;
}

uint64_t verdict_weight(const struct verdict *verdict)
{
	double rate = verdict->growth.value;
	uint64_t bytes = rate > 0 ? rate < 1e17 ? (uint64_t)rate : (uint64_t)1e17 : 0;

	return ((uint64_t)verdict->word << 58) + bytes;
}

const char *verdict_name(enum verdict_word word)
{
	static const char *const names[VERDICT_WORDS] = {
		[VERDICT_NONE] = "unknown",    [VERDICT_TEMPORARY] = "temporary",
		[VERDICT_STEADY] = "steady",   [VERDICT_WARM_UP] = "warm-up",
		[VERDICT_CACHE] = "cache",     [VERDICT_UNKNOWN] = "unknown",
		[VERDICT_FILLING] = "filling", [VERDICT_GROWING] = "growing",
		[VERDICT_LEAK] = "leak",
	};

	return names[word];
}
