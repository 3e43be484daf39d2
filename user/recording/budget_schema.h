/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording made with --budget: results of windows and censuses, from which a
 * reader makes the estimates that the live report had, and these estimates with their limits, for
 * users of sqlite3.
 */
#ifndef RECORDING_BUDGET_SCHEMA_H
#define RECORDING_BUDGET_SCHEMA_H

#include "model/budget_report.h"
#include "recording/schema.h"

/* Columns of the table `budget`, in struct budget_report; the last has no name. */
extern const struct schema_column budget_schema_columns[];

/*
 * Length of a row of `cohort.blocks`: the least size of the size class, the least age of the age
 * class in seconds, and the counts of budget_schema_counts.
 */
#define BUDGET_SCHEMA_COUNTS 17
#define BUDGET_SCHEMA_ROW (2 + BUDGET_SCHEMA_COUNTS)

/* Length of a row of `census.sizes`: the least size of the class, blocks and bytes. */
#define BUDGET_SCHEMA_SIZE 3

/* The counts of an age class, in row order. */
void budget_schema_counts(struct budget_age *age, uint64_t *ret_counts[BUDGET_SCHEMA_COUNTS]);

/* Append the statements that create the tables. */
void budget_schema_append_tables(struct buffer *sql);

#endif
