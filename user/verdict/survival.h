/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The share of blocks that live longer than an age: the Kaplan-Meier estimator. Blocks may still be
 * alive (right-censored); for a block that was examined only now and then, the age at its free is
 * known within bounds (interval-censored), and the shares of these ages are iterated to a fixed
 * point (Turnbull). Pure.
 */
#ifndef VERDICT_SURVIVAL_H
#define VERDICT_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/estimate.h"

#define SURVIVAL_ALIVE UINT64_MAX

/* Blocks with the same fate. Ages are counted from birth. */
struct survival_event {
	uint64_t after_ns; /* alive at this age */
	/*
	 * Not alive at this age. Equal to after_ns = freed exactly then. SURVIVAL_ALIVE = not
	 * observed any longer.
	 */
	uint64_t until_ns;
	double count; /* blocks observed */
	double weight; /* number of blocks born that each of them represents */
};

/* A point of the curve; its share is that of blocks living longer. */
struct survival_point {
	uint64_t age_ns;
	double at_risk; /* blocks observed at this age; weighted */
	double effective; /* number of equally weighted blocks with as narrow an interval */
	double deaths; /* of these; weighted, fractional where ages are uncertain */
	struct estimate share; /* its interval is symmetric for log(-log(share)) */
	double variance; /* of the share, by Greenwood's formula plus the uncertainty of ages */
};

/* {0} is empty. Free with survival_free. */
struct survival {
	struct survival_point *points; /* by age */
	size_t count;
};

/* Estimate the curve. Ignores events without blocks and contradictory ones. */
void survival_estimate(struct survival *survival, const struct survival_event *events,
		       size_t count);
void survival_free(struct survival *survival);

/*
 * The share that lives longer than `age_ns`. False, with the last known share, if no block of that
 * age was observed.
 */
bool survival_at(const struct survival *survival, uint64_t age_ns, struct estimate *ret_share);

enum survival_shape {
	SURVIVAL_UNKNOWN, /* too few blocks, or undecided */
	SURVIVAL_FLAT, /* hardly a block is freed while its age doubles */
	SURVIVAL_FALLING,
};

/* How the curve ends. */
struct survival_tail {
	enum survival_shape shape;
	uint64_t from_ns, until_ns; /* ages; until_ns is twice from_ns */
	double deaths; /* between these ages */
	/* Share of the blocks reaching from_ns that do not outlive until_ns. */
	struct estimate loss;
	/* Share of all blocks that outlive until_ns. If the tail is flat, these are never freed. */
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
