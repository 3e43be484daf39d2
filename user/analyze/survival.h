/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What share of blocks lives longer than an age: the estimator of Kaplan and Meier. Blocks may still be alive (right-censored), and of
 * one that was looked at now and then it is only known between which ages it was freed (interval-censored): then the shares of
 * these ages are iterated until they agree with themselves (Turnbull). Pure.
 */
#ifndef ANALYZE_SURVIVAL_H
#define ANALYZE_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/estimate.h"

#define SURVIVAL_ALIVE UINT64_MAX

/* Blocks with the same fate. Ages are from their birth. */
struct survival_event {
	uint64_t after_ns; /* at this age they were alive */
	/* At this one they were not. The same as after_ns = freed right then. SURVIVAL_ALIVE = not looked at any more. */
	uint64_t until_ns;
	double count; /* blocks that were looked at */
	double weight; /* how many of those that were born each represents */
};

/* At an age at which something is known; shares are those that live longer. */
struct survival_point {
	uint64_t age_ns;
	double at_risk; /* blocks that had reached this age, and were looked at then; weighted */
	double effective; /* how many blocks of equal weight would give as narrow an interval */
	double deaths; /* of these; weighted, and a fraction where ages are uncertain */
	struct estimate share; /* its interval is symmetric for log(-log(share)) */
	double variance; /* of the share, by Greenwood, and by what is uncertain of ages */
};

/* {0} = of no block. Free with survival_free. */
struct survival {
	struct survival_point *points; /* by age */
	size_t count;
};

/* Estimate the curve. Events without blocks, and those that contradict themselves, are left out. */
void survival_estimate(struct survival *survival, const struct survival_event *events,
		       size_t count);
void survival_free(struct survival *survival);

/* The share that lives longer than `age_ns`. False, with the last share known, if no block of this age was looked at. */
bool survival_at(const struct survival *survival, uint64_t age_ns, struct estimate *ret_share);

enum survival_shape {
	SURVIVAL_UNKNOWN, /* too few blocks, or between the others */
	SURVIVAL_FLAT, /* hardly a block is freed while ages double */
	SURVIVAL_FALLING,
};

/* How the curve ends. */
struct survival_tail {
	enum survival_shape shape;
	uint64_t from_ns, until_ns; /* ages, of which the second is twice the first */
	double deaths; /* between these ages */
	/* Of blocks that reach the first age: the share that does not outlive the second. */
	struct estimate loss;
	/* Of all: those that outlive until_ns. If the tail is flat, they are never freed. */
	struct estimate share;
};

/*
 * Judge the end of the curve: the last age that at least 10 blocks have reached, and half of it. Flat: with confidence, no more than
 * SURVIVAL_FLAT_LOSS of the blocks are freed between them; falling: with confidence, more are. An exponential lifetime of X is
 * 39 % freed between X / 2 and X.
 */
#define SURVIVAL_FLAT_LOSS 0.1
struct survival_tail survival_judge_tail(const struct survival *survival);

#endif
