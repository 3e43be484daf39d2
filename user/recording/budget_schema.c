/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_schema.h. */
#include "recording/budget_schema.h"

#include <string.h>

#define COLUMN(name)                                        \
	{                                                   \
#name, offsetof(struct budget_report, name) \
	}

const struct schema_column budget_schema_columns[] = {
	COLUMN(budget),	    COLUMN(max_window_ns),    COLUMN(start_ns),
	COLUMN(time_ns),    COLUMN(window_count),     COLUMN(hits),
	COLUMN(recorded),   COLUMN(lost_count),	      COLUMN(edge_hits),
	COLUMN(traced_ns),  COLUMN(cpu_ns),	      COLUMN(cost_ns),
	COLUMN(busiest_ns), COLUMN(over_count),	      COLUMN(longest_ns),
	COLUMN(hit_ns),	    COLUMN(weight),	      COLUMN(processes),
	COLUMN(pass_most),  COLUMN(processes_unseen), COLUMN(oldest_look_ns),
	{ NULL },
};

/* So that all columns are of 64 bits. */
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "size_t is no column");

void budget_schema_counts(struct budget_age *age, uint64_t *ret_counts[BUDGET_SCHEMA_COUNTS])
{
	struct budget_blocks *const all[] = { &age->reached, &age->freed, &age->lost,
					      &age->unchanged, &age->written };
	size_t i, count = 0;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		ret_counts[count++] = &all[i]->seen;
		ret_counts[count++] = &all[i]->blocks;
		ret_counts[count++] = &all[i]->bytes;
	}
	ret_counts[count++] = &age->age_ns_sum;
	ret_counts[count] = &age->window_squares;
}

void budget_schema_append_tables(struct buffer *sql)
{
	const struct schema_column *column;

	buffer_append_string(sql, "CREATE TABLE budget(interval INTEGER PRIMARY KEY,"
				  " cost_unknown INTEGER");
	for (column = budget_schema_columns; column->name; column++)
		buffer_printf(sql, ", %s INTEGER", column->name);
	buffer_append_string(
		sql,
		");"
		"CREATE TABLE window_mark(start_ns INTEGER, traced_ns INTEGER, windows INTEGER,"
		" since INTEGER, until INTEGER, PRIMARY KEY(start_ns, since)) WITHOUT ROWID;"
		"CREATE TABLE heap(interval INTEGER, place INTEGER, gone INTEGER, allocator TEXT,"
		" reason TEXT, cpu_ns INTEGER, PRIMARY KEY(interval, place)) WITHOUT ROWID;"
		"CREATE TABLE census(place INTEGER, time_ns INTEGER, live_blocks INTEGER,"
		" live_bytes INTEGER, unknown_bytes INTEGER, sizes TEXT, since INTEGER,"
		" until INTEGER, PRIMARY KEY(place, time_ns, since)) WITHOUT ROWID;"
		"CREATE TABLE cohort(interval INTEGER, key INTEGER, gone INTEGER, place INTEGER,"
		" allocated_blocks INTEGER, allocated_bytes INTEGER, freed_blocks INTEGER,"
		" first_ns INTEGER, last_ns INTEGER, blocks TEXT,"
		" PRIMARY KEY(interval, key)) WITHOUT ROWID;"
		"CREATE TABLE estimate(interval INTEGER, site INTEGER, followed INTEGER,"
		" lower_bound INTEGER, rate REAL, rate_low REAL, rate_high REAL, grown REAL,"
		" grown_low REAL, grown_high REAL, written REAL, written_low REAL,"
		" written_high REAL, never_freed REAL, never_freed_low REAL,"
		" never_freed_high REAL, PRIMARY KEY(interval, site)) WITHOUT ROWID;");
}
