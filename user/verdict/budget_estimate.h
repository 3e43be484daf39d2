/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates from tracing in windows (--budget): for each site its growth rate, its growth since
 * tracing began, and the share of its blocks that is never freed. All with 95 % confidence
 * intervals. Pure.
 */
#ifndef VERDICT_BUDGET_ESTIMATE_H
#define VERDICT_BUDGET_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verdict/budget_life.h"
#include "verdict/survival.h"
#include "model/budget_report.h"
#include "model/estimate.h"
#include "model/snapshot.h"

/* Whether a row is a leak. No other claim is made about a row. */
enum budget_verdict {
	BUDGET_UNKNOWN, /* not known yet, or its heap cannot be counted */
	/*
	 * It grows, recently and since tracing began, and hardly a block is freed while its age
	 * doubles:
	 */
	BUDGET_LEAK, /* other blocks are freed */
	BUDGET_GROWING, /* hardly any other is: a leak, or a cache that is not full */
	BUDGET_CACHE, /* its blocks are freed, some late, and it does not grow */
};

/* The estimate of a site, or of a row of several. */
struct budget_estimate {
	bool known; /* windows have recorded blocks of it */
	/*
	 * No census of its heap: rate and bytes are lower bounds in `low`, and `high` is INFINITY.
	 */
	bool lower_bound;
	struct estimate rate; /* recent growth in bytes per second */
	struct estimate bytes; /* growth in bytes since tracing began */
	/* Growth in bytes since an earlier moment (budget_since.h), and whether its limits are known. */
	bool since_known;
	struct estimate since;
	/*
	 * Growth, in bytes per second, that may be due to its written blocks: not part of `rate`,
	 * except for its `high`.
	 */
	struct estimate written_rate;
	/* Blocks recorded by windows, and what became of those followed. */
	uint64_t allocated, followed, unchanged, written, freed, lost;
	/*
	 * Of `allocated`: freed within their windows or later; scaled by what each followed block
	 * represents.
	 */
	uint64_t ended;
	uint64_t mean_age_ns; /* of the unchanged blocks */
	struct survival_tail tail;
	enum budget_verdict verdict;
	/* With BUDGET_UNKNOWN: its growth certainly came earlier, and it hardly grows now */
	bool steady;
	/*
	 * With BUDGET_UNKNOWN: it grows, or accounts for most of its heap's certain growth; it is
	 * unknown whether the remaining blocks will be freed.
	 */
	bool grows;
	/* With BUDGET_UNKNOWN: how much longer to trace (budget_wait.h); 0 = not known. */
	uint64_t wait_ns;
};

/* Free with budget_estimates_free. The report must outlive it. */
struct budget_estimates {
	const struct budget_report *report;
	struct budget_estimate_site *sites; /* by key */
	size_t site_count;
	/* Bytes per second: growth of all counted heaps, and the parts of it that no site has. */
	bool counted; /* at least one heap is counted */
	struct estimate growth;
	struct estimate written; /* due to written blocks in use */
	struct estimate unknown; /* cannot be attributed */
	uint64_t old_ns; /* age from which blocks count */
	bool since_known; /* rows have what they have grown by since an earlier moment */
};

/* NULL gives NULL. */
struct budget_estimates *budget_estimates_new(const struct budget_report *report);
void budget_estimates_free(struct budget_estimates *estimates);

/* Is it certain that the heaps hardly grow? False if one of them cannot be counted. */
bool budget_estimates_are_level(const struct budget_estimates *estimates);

/*
 * Add to a sum what a site, by its key, has gained in bytes since tracing began. Limits add up as they are: what windows have missed is the same
 * for all sites, so that their errors are anything but independent.
 */
void budget_estimate_add_gained(const struct budget_estimates *estimates, uint64_t key,
				struct estimate *sum);

/* The estimate of a row with its members, or of a recorded site. */
struct budget_estimate budget_estimate_of(const struct budget_estimates *estimates,
					  const struct snapshot_site *row);

/* Is the share of blocks that are never freed known? */
bool budget_estimate_stays(const struct budget_estimate *estimate);

/* Does the row have written blocks that may be growth? */
bool budget_estimate_is_written(const struct budget_estimates *estimates,
				const struct snapshot_site *row);

/* The survival curve of a row's blocks. Free with survival_free. */
void budget_estimate_survival(const struct budget_estimates *estimates,
			      const struct snapshot_site *row, struct survival *ret_survival);

/* What became of a row's blocks, by age. */
void budget_estimate_life(const struct budget_estimates *estimates, const struct snapshot_site *row,
			  struct budget_life *ret_life);

/*
 * Replace the sites' figures, which cover the windows alone, by the estimates, and mark them as
 * such. In use becomes what a site has gained since tracing began, as if all calls had been traced.
 * Sites without a followed block hold nothing.
 */
void budget_estimates_apply(const struct budget_estimates *estimates, struct snapshot *snapshot);

/* The cost of tracing in thousandths of a percent of the targets' CPU time. */
uint64_t budget_cost_share(const struct budget_report *report);

#endif
