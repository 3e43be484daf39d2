/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict on a site: one word for what becomes of its blocks, and the numbers that support it.
 * The evidence is how long blocks live, what was in use over time, and when the remaining blocks
 * were born. docs/verdicts.md has the rules and their limits. Pure.
 */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verdict/budget_estimate.h"
#include "verdict/verdict_line.h"
#include "model/estimate.h"

/* In order of increasing importance. */
enum verdict_word {
	VERDICT_NONE, /* nothing to judge */
	VERDICT_TEMPORARY, /* blocks are freed soon; hardly any is in use */
	VERDICT_STEADY, /* memory in use does not grow */
	VERDICT_WARM_UP, /* all growth came early */
	VERDICT_CACHE, /* allocations and frees balance; old blocks are replaced */
	VERDICT_UNKNOWN, /* not observed for long enough */
	VERDICT_FILLING, /* grows, ever more slowly */
	VERDICT_GROWING, /* grows; no evidence that the remaining blocks are never freed */
	VERDICT_LEAK, /* a share of blocks is never freed; others are, far sooner */
	VERDICT_WORDS,
};

struct verdict {
	enum verdict_word word;
	bool estimated; /* from windows of --budget: only word, never_freed and growth are set */
	bool is_watched, is_sure; /* watch (settled.h): part of a watch; settled for long enough */
	bool kept; /* no block has been freed yet */
	bool never_freed_known;
	struct estimate never_freed; /* share of the blocks; only for leaks */
	/* Bytes per second in the second half of the time; limits may be infinite. */
	struct estimate growth;
	double r2; /* of a line fitted to memory in use in that half; negative = unknown */
	double growth_before; /* bytes per second in the first half */
	double level_bytes; /* level that a filling site approaches, */
	uint64_t level_ns; /* and the time until then; 0 = unknown */
	/* In the second half: blocks born, and net gain of blocks. */
	uint64_t births;
	int64_t gained;
	/*
	 * An age by which almost all freed blocks are freed, and the number of blocks in use twice
	 * as old; 0 = unknown.
	 */
	uint64_t others_ns, survivors;
	double early_share; /* share of the growth in the first quarter; negative = unknown */
	uint64_t grown_ns; /* time from the start to 95 % of the growth */
	uint64_t time_ns; /* time observed */
	uint64_t wait_ns; /* how much longer to observe; 0 = unknown */
	uint64_t inuse_bytes, inuse_objects, mean_life_ns;
	double temporary; /* share of blocks freed by their thread's next call */
	uint64_t gcs; /* major collections that the oldest block has survived; with gcs_known */
	bool gcs_known;
	bool may_be_garbage; /* would be a leak, but too few major collections have run yet */
};

struct verdict verdict_of(const struct verdict_input *input);

/* The verdict from an estimate of --budget. */
struct verdict verdict_of_estimate(const struct budget_estimate *estimate);

/*
 * The same for a row of several places, and whether any of them is a leak. The share that is never
 * freed is not known for them together.
 */
struct verdict verdict_of_estimates(const struct budget_estimate *estimate, bool leaks);

/* The verdict on several places, such as all sites: their `sum`, and whether any row is a leak. */
struct verdict verdict_of_sum(const struct verdict_input *sum, bool leaks);

/* Sort key by importance: the word, then growth. */
uint64_t verdict_weight(const struct verdict *verdict);

/* The word for machine-readable output: "leak", "warm-up". */
const char *verdict_name(enum verdict_word word);

#endif
