/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording that is made with --budget: what windows and censuses have yielded, of which a reader makes the estimates that a
 * report of the running process had, and these estimates with their limits, for users of sqlite3.
 */
#ifndef RECORDING_BUDGET_SCHEMA_H
#define RECORDING_BUDGET_SCHEMA_H

#include "model/budget_report.h"
#include "recording/schema.h"

/* Of the table `budget`, in struct budget_report; ended by one without a name. */
extern const struct schema_column budget_schema_columns[];

/* Numbers of a row of `cohort.blocks`: the least size of a class, the least age of a class in seconds, and what budget_schema_counts lists. */
#define BUDGET_SCHEMA_COUNTS 17
#define BUDGET_SCHEMA_ROW (2 + BUDGET_SCHEMA_COUNTS)

/* Numbers of a row of `census.sizes`: the least size of a class, blocks and bytes. */
#define BUDGET_SCHEMA_SIZE 3

/* The counts of an age class, in their order in a row. */
void budget_schema_counts(struct budget_age *age, uint64_t *ret_counts[BUDGET_SCHEMA_COUNTS]);

/* The statements that make the tables. */
void budget_schema_append_tables(struct buffer *sql);

#endif
