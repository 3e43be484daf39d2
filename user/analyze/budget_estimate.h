/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracing in windows (--budget) comes to: of each site how fast it grows, what it has gained since tracing began, and what share of
 * its blocks is never freed. All of it is estimated, with intervals of 95 %. Pure.
 */
#ifndef ANALYZE_BUDGET_ESTIMATE_H
#define ANALYZE_BUDGET_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/budget_life.h"
#include "analyze/survival.h"
#include "model/budget_report.h"
#include "model/estimate.h"
#include "model/snapshot.h"

/* Whether a row is a leak. Nothing else is claimed of any row. */
enum budget_verdict {
	BUDGET_UNKNOWN, /* not yet known, or its heap cannot be counted */
	/* It grows, of late and since tracing began, and hardly a block is freed while ages double: */
	BUDGET_LEAK, /* others are freed */
	BUDGET_GROWING, /* hardly any others are: a leak, or a cache that is not full */
	BUDGET_CACHE, /* its blocks are freed, some late, and it does not grow */
};

/* Of a site, or of a row of several. */
struct budget_estimate {
	bool known; /* windows have seen it */
	/* There is no census of its heap: rate and bytes are at least their `low`, and `high` is INFINITY. */
	bool lower_bound;
	struct estimate rate; /* growth in bytes per second, of late */
	struct estimate bytes; /* growth in bytes since tracing began */
	/* Growth in bytes since an earlier moment (budget_since.h), and whether its limits are known. */
	bool since_known;
	struct estimate since;
	/* Bytes per second that its blocks which are written to may be of: no part of `rate`, but for its `high`. */
	struct estimate written_rate;
	/* How many blocks windows have seen, that is recorded, and what has become of those that were followed. */
	uint64_t allocated, followed, unchanged, written, freed, lost;
	/* Of `allocated`: freed within their windows, and since, as many as those that were seen represent. */
	uint64_t ended;
	uint64_t mean_age_ns; /* of the unchanged ones */
	struct survival_tail tail;
	enum budget_verdict verdict;
	bool steady; /* with BUDGET_UNKNOWN: what it has gained is certainly from before; it hardly grows now */
	/* With BUDGET_UNKNOWN: it grows, or has most of what its heap certainly grows by; whether what stays is freed is not known. */
	bool grows;
	/* With BUDGET_UNKNOWN: so much longer should one look (budget_wait.h); 0 = not known. */
	uint64_t wait_ns;
};

/* Free with budget_estimates_free. The report must outlive it. */
struct budget_estimates {
	const struct budget_report *report;
	struct budget_estimate_site *sites; /* by key */
	size_t site_count;
	/* Bytes per second: of all heaps that are counted, and what of it no site has. */
	bool counted; /* at least one heap is */
	struct estimate growth;
	struct estimate written; /* of blocks in use that are written to */
	struct estimate unknown; /* cannot be attributed */
	uint64_t old_ns; /* only blocks of this age or more count */
	bool since_known; /* rows have what they have grown by since an earlier moment */
};

/* NULL gives NULL. */
struct budget_estimates *budget_estimates_new(const struct budget_report *report);
void budget_estimates_free(struct budget_estimates *estimates);

/* Is it certain that what heaps have in use hardly grows? Not if one of them cannot be counted. */
bool budget_estimates_are_level(const struct budget_estimates *estimates);

/*
 * Add to a sum what a site, by its key, has gained in bytes since tracing began. Limits add up as they are: what windows have missed is the same
 * for all sites, so that their errors are anything but independent.
 */
void budget_estimate_add_gained(const struct budget_estimates *estimates, uint64_t key,
				struct estimate *sum);

/* Of a row with its members, or of a site as it was recorded. */
struct budget_estimate budget_estimate_of(const struct budget_estimates *estimates,
					  const struct snapshot_site *row);

/* Is the share of its blocks known that is never freed? */
bool budget_estimate_stays(const struct budget_estimate *estimate);

/* Are there blocks of a row that are written to, and may be growth? */
bool budget_estimate_is_written(const struct budget_estimates *estimates,
				const struct snapshot_site *row);

/* The survival curve of a row's blocks. Free with survival_free. */
void budget_estimate_survival(const struct budget_estimates *estimates,
			      const struct snapshot_site *row, struct survival *ret_survival);

/* What became of a row's blocks, by age. */
void budget_estimate_life(const struct budget_estimates *estimates, const struct snapshot_site *row,
			  struct budget_life *ret_life);

/*
 * Put the estimates in the place of the sites' figures, which are of the windows alone, and mark them as such: what is in use is what a
 * site has gained since tracing began, as if all calls had been traced. Sites without a followed block hold nothing.
 */
void budget_estimates_apply(const struct budget_estimates *estimates, struct snapshot *snapshot);

/* What tracing has cost, in thousandths of a percent of the targets' CPU time. */
uint64_t budget_cost_share(const struct budget_report *report);

#endif
