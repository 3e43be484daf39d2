/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_pace.h. */
#include "windows/budget_pace.h"

#include "base/hash.h"

#define PERCENT_100 100000 /* of budget */

/* Fewer hits show next to nothing, for what attaching costs. */
#define HITS_MIN 64

/* However few calls there are, windows are not longer, and probes rest for a while in between. */
#define LENGTH_MAX_NS 500000000
#define REST_MIN_NS 500000000
#define REST_MAX_NS 30000000000

/* In a window is spent what is earned in this time. */
#define EARN_NS 2000000000

/*
 * Hits are taken while probes are attached and taken out, too, in which nothing is recorded. As long as it is not known how many, this
 * share is for the rest, in percent. Then a window aims at so many times as much in all; but not by saving up more than a
 * part of all that was ever earned.
 */
#define RECORDED_SHARE 70
#define EDGES_WORTH 4
#define EARNED_PART 5
#define EDGES_KEEP 4

static uint64_t pace_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t pace_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a * b / c, where the product may take more than 64 bits. */
static uint64_t pace_scale(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 result = c ? (unsigned __int128)a * b / c : 0;

	return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

void budget_pace_see_cpu(struct budget_pace *pace, uint64_t now_ns, uint64_t cpu_ns)
{
	if (!pace->start_ns)
		pace->start_ns = now_ns;
	pace->read_ns = now_ns;
	/* Processes that end take theirs with them. */
	if (cpu_ns > pace->cpu_ns)
		pace->cpu_ns = cpu_ns;
}

static uint64_t pace_earned(const struct budget_pace *pace)
{
	return pace_scale(pace->cpu_ns, pace->budget, PERCENT_100);
}

/* What may be spent now. */
static uint64_t pace_left(const struct budget_pace *pace)
{
	uint64_t earned = pace_earned(pace);

	return earned > pace->cost_ns ? earned - pace->cost_ns : 0;
}

/*
 * What a window should cost: as much as it may. Less than that if it takes long to earn it, or to spend it: many short windows show
 * more than few long ones.
 */
static uint64_t pace_aim(const struct budget_pace *pace)
{
	uint64_t passed = pace->read_ns - pace->start_ns, aim = pace->max_window_ns, least;
	uint64_t worth = pace_min(EDGES_WORTH * pace->edges_ns, pace_earned(pace) / EARNED_PART);

	if (passed)
		aim = pace_min(aim,
			       pace_max(pace_scale(pace_earned(pace), EARN_NS, passed), worth));
	if (pace->last_length_ns)
		aim = pace_min(aim,
			       pace->edges_ns + pace_scale(pace->last_recorded_ns, LENGTH_MAX_NS,
							   pace->last_length_ns));
	least = (pace->last_length_ns ? 4 : 1) * HITS_MIN * pace->hit_ns;
	return pace_max(aim, least);
}

/* Of what a window may cost, the part that is for recording. */
static uint64_t pace_recorded(const struct budget_pace *pace, uint64_t share)
{
	if (!pace->last_length_ns)
		return pace_scale(share, RECORDED_SHARE, 100);
	return pace_max(share > pace->edges_ns ? share - pace->edges_ns : 0, share / EDGES_WORTH);
}

/* Of what a window may cost, what may be spent before probes go out. */
static uint64_t pace_most(const struct budget_pace *pace, uint64_t share)
{
	return share - pace_min(pace->late_ns, share / EDGES_WORTH);
}

bool budget_pace_allows(const struct budget_pace *pace, struct budget_share *ret_share)
{
	uint64_t aim = pace_aim(pace), share = pace_min(pace_left(pace), pace->max_window_ns);

	if (share < aim / 2 || share < HITS_MIN * pace->hit_ns)
		return false;
	*ret_share = (struct budget_share){ .most_hits = pace_most(pace, share) / pace->hit_ns,
					    .length_ns = pace->max_window_ns };
	share = pace_recorded(pace, share);
	ret_share->hits = share / pace->hit_ns;
	if (pace->last_length_ns && pace->last_recorded_ns)
		ret_share->length_ns =
			pace_scale(share, pace->last_length_ns, pace->last_recorded_ns);
	else if (pace->last_length_ns)
		ret_share->length_ns = LENGTH_MAX_NS;
	if (ret_share->length_ns < pace->max_window_ns)
		ret_share->length_ns = pace->max_window_ns;
	ret_share->length_ns = pace_min(ret_share->length_ns, LENGTH_MAX_NS);
	return true;
}

/* A hit costs what it did in the last windows; few hits change that little. */
static void pace_learn(struct budget_pace *pace, const struct budget_spent *spent)
{
	uint64_t known = 4 * HITS_MIN;

	if (spent->hits)
		pace->hit_ns =
			pace_scale(1, pace->hit_ns * known + spent->cost_ns, known + spent->hits);
	if (!pace->hit_ns)
		pace->hit_ns = 1;
}

/* A mean in which older windows count ever less. More is of a time in which the tracer had no CPU, and is not expected of the next window. */
static uint64_t pace_mean(const struct budget_pace *pace, uint64_t before_ns, uint64_t last_ns)
{
	last_ns = pace_min(last_ns, pace->max_window_ns / EDGES_WORTH);
	return pace->last_length_ns ? before_ns - before_ns / EDGES_KEEP + last_ns / EDGES_KEEP
				    : last_ns;
}

/* What a window costs before it records and after it, by the share in its hits. */
static void pace_learn_edges(struct budget_pace *pace, const struct budget_spent *spent)
{
	uint64_t edges_ns = pace_scale(spent->cost_ns, spent->edge_hits, spent->hits);
	uint64_t late_ns = pace_scale(spent->cost_ns, spent->late_hits, spent->hits);

	pace->last_recorded_ns = spent->cost_ns > edges_ns ? spent->cost_ns - edges_ns : 0;
	pace->edges_ns = pace_mean(pace, pace->edges_ns, edges_ns);
	pace->late_ns = pace_mean(pace, pace->late_ns, late_ns);
}

void budget_pace_spend(struct budget_pace *pace, const struct budget_spent *spent)
{
	pace->cost_ns += spent->cost_ns;
	pace_learn_edges(pace, spent);
	pace->last_length_ns = spent->length_ns ? spent->length_ns : 1;
	pace_learn(pace, spent);
}

uint64_t budget_pace_next_ns(struct budget_pace *pace, uint64_t now_ns)
{
	uint64_t passed = pace->read_ns - pace->start_ns, aim = pace_aim(pace), rest;
	uint64_t earned = pace_earned(pace);
	uint64_t need = pace->cost_ns + aim;

	rest = need > earned ? pace_scale(need - earned, passed, earned) : 0;
	/* Nothing earned: nothing is known of how long it takes. */
	if (!earned || rest < REST_MIN_NS)
		rest = REST_MIN_NS;
	rest = pace_min(rest, REST_MAX_NS);
	pace->random = hash_word(pace->random, now_ns);
	return now_ns + rest / 2 + pace_scale(rest, pace->random >> 32, 1ull << 32);
}
