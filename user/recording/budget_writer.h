/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes changes of the results of --budget windows. Marks of windows and censuses, which a report
 * has only for a time, are written once, with the intervals in which they exist.
 */
#ifndef RECORDING_BUDGET_WRITER_H
#define RECORDING_BUDGET_WRITER_H

#include <stdbool.h>

#include "base/table.h"
#include "model/budget_report.h"
#include "model/estimate.h"
#include "recording/database.h"

/* The estimates of a site, as in reports. */
struct site_estimate {
	struct estimate rate, grown, written, never_freed; /* see struct budget_estimate */
	bool stays; /* `never_freed` is known */
	bool lower_bound;
	uint64_t followed; /* number of blocks behind them */
};

struct budget_writer {
	struct query add_budget, add_mark, end_mark, add_heap, add_census, end_census, add_cohort,
		add_estimate;
	struct table marks; /* struct written_span by start_ns; owned, as all of these */
	struct table heaps; /* struct written_heap by place */
	struct table cohorts; /* struct written_cohort by key */
	uint64_t interval; /* that is being written */
};

/* The database must outlive it, and have its tables. Close with budget_writer_close. */
void budget_writer_open(struct budget_writer *writer, struct database *database);
/* Accepts {0}. */
void budget_writer_close(struct budget_writer *writer);

/*
 * Write the difference of `report` from the interval before, or all with `whole`. NULL = write
 * nothing.
 */
void budget_writer_write(struct budget_writer *writer, uint64_t interval, bool whole,
			 const struct budget_report *report);

/* Write an estimate of a site, unless it equals `written`; then updates `written`. */
void budget_writer_estimate(struct budget_writer *writer, uint64_t interval, uint64_t site,
			    const struct site_estimate *estimate, struct site_estimate *written);

#endif
