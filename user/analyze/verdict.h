/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of the blocks of a site: one word, and the numbers that it was found by. The evidence is how long blocks live, what was in
 * use over time, and when the blocks that stay were born. docs/verdicts.md has the rules and what they cannot know. Pure.
 */
#ifndef ANALYZE_VERDICT_H
#define ANALYZE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/budget_estimate.h"
#include "analyze/verdict_line.h"
#include "model/estimate.h"

/* In the order of what matters least. */
enum verdict_word {
	VERDICT_NONE, /* there is nothing to judge */
	VERDICT_TEMPORARY, /* blocks are freed soon, and hardly any is in use */
	VERDICT_STEADY, /* what is in use does not grow */
	VERDICT_WARM_UP, /* all growth came early */
	VERDICT_CACHE, /* births and deaths balance; old blocks are replaced */
	VERDICT_UNKNOWN, /* not seen for long enough */
	VERDICT_FILLING, /* it grows, ever more slowly */
	VERDICT_GROWING, /* it grows; nothing shows that what stays is never freed */
	VERDICT_LEAK, /* a share of blocks is never freed, and others are, far sooner */
	VERDICT_WORDS,
};

struct verdict {
	enum verdict_word word;
	bool estimated; /* by windows of --budget: only word, never_freed and growth are known */
	bool is_watched, is_sure; /* of a watch (settled.h): and it has been so for long enough */
	bool kept; /* no block has been freed yet */
	bool never_freed_known;
	struct estimate never_freed; /* share of the blocks; only of leaks */
	/* Bytes per second in the second half of the time; limits may be infinite. */
	struct estimate growth;
	double r2; /* of a line through what was in use then; below 0 = not known */
	double growth_before; /* bytes per second in the first half */
	double level_bytes; /* where what fills levels out, */
	uint64_t level_ns; /* about so long from now; 0 = not known */
	/* Since the middle of the time: blocks born, and by how many there are more. */
	uint64_t births;
	int64_t gained;
	/* An age that almost none of those outlives that are freed, and how many blocks in use are twice as old; 0 = not known. */
	uint64_t others_ns, survivors;
	double early_share; /* what of the growth came in the first quarter of the time; below 0 = not known */
	uint64_t grown_ns; /* when 95 % of it had come, from the beginning */
	uint64_t time_ns; /* that was looked at */
	uint64_t wait_ns; /* so much longer should one look; 0 = not known */
	uint64_t inuse_bytes, inuse_objects, mean_life_ns;
	double temporary; /* share of blocks freed by the next call of their thread */
	uint64_t gcs; /* that the oldest block has outlived; with gcs_known */
	bool gcs_known;
	bool may_be_garbage; /* it would be a leak but for major collections that there were not yet */
};

struct verdict verdict_of(const struct verdict_input *input);

/* What --budget has found of a row. */
struct verdict verdict_of_estimate(const struct budget_estimate *estimate);

/* All sites: `sum` of them, and whether a row of them is a leak. */
struct verdict verdict_of_sum(const struct verdict_input *sum, bool leaks);

/* What comes first where rows are ordered by what matters: the word, then growth. */
uint64_t verdict_weight(const struct verdict *verdict);

/* "leak", "warm-up": as programs read it. */
const char *verdict_name(enum verdict_word word);

#endif
