/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_reader.h. */
#include "recording/budget_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "recording/budget_schema.h"
#include "recording/number_rows.h"

/* More than any recording has: one with more is made to take memory, or sums of it are no numbers. */
#define MARKS_MAX (1 << 12)
#define HEAPS_MAX (1 << 16)
#define CENSUSES_MAX (1 << 8) /* of a heap */
#define COUNTS_MAX (1 << 25) /* of all heaps: a size class at a census */
#define COHORTS_MAX (1 << 20)
#define COUNT_MAX (1ull << 53)
#define TIME_MAX (INT64_MAX / 2)

/* Sums of ages are in units of so many ns. */
#define AGE_UNIT 65536

struct budget_load {
	struct database *database;
	struct budget_range range;
	struct snapshot *snapshot;
	struct budget_report *report;
	struct budget_heap *heap; /* whose censuses are being read, */
	size_t number; /* and how many of these have been */
	size_t counts;
};

/* Windows */

/* The row of the interval; false if there is none. */
static bool load_budget(struct budget_load *load)
{
	const struct schema_column *column;
	struct buffer sql = { 0 };
	struct query query;
	bool found;

	buffer_append_string(&sql, "SELECT cost_unknown");
	schema_append_names(&sql, budget_schema_columns);
	buffer_append_string(&sql, " FROM budget WHERE interval = ?");
	query_open(&query, load->database, sql.data);
	buffer_free(&sql);
	query_number(&query, load->range.last);
	found = query_next(&query);
	if (found) {
		load->report = load->snapshot->budget = budget_report_new();
		load->report->cost_unknown = query_take_bool(&query);
		for (column = budget_schema_columns; column->name; column++)
			*(uint64_t *)((char *)load->report + column->offset) =
				query_take_number(&query, TIME_MAX);
		if (load->report->time_ns != load->snapshot->time_ns ||
		    load->report->start_ns > load->report->time_ns)
			database_damage(load->database, "times of a budget are not its interval's");
	}
	query_close(&query);
	return found;
}

/* Rows that are there in the interval. */
static void load_open_span(struct budget_load *load, struct query *query, const char *sql)
{
	query_open(query, load->database, sql);
	query_number(query, load->range.last);
	query_number(query, load->range.last);
}

static void load_marks(struct budget_load *load)
{
	struct budget_report *report = load->report;
	struct budget_mark *last = NULL, *mark;
	size_t capacity = 0;
	struct query query;

	load_open_span(load, &query,
		       "SELECT start_ns, traced_ns, windows FROM window_mark WHERE since <= ? AND"
		       " (until IS NULL OR until > ?) ORDER BY start_ns");
	while (query_next(&query)) {
		report->marks = memory_grow(report->marks, report->mark_count, &capacity,
					    sizeof(*report->marks));
		last = report->mark_count ? &report->marks[report->mark_count - 1] : NULL;
		mark = &report->marks[report->mark_count++];
		mark->start_ns = query_take_number(&query, TIME_MAX);
		mark->traced_ns = query_take_number(&query, TIME_MAX);
		mark->windows = query_take_number(&query, TIME_MAX);
		if (report->mark_count > MARKS_MAX)
			database_damage(load->database, "it has too many marks of windows");
		else if (last &&
			 (mark->start_ns <= last->start_ns || mark->traced_ns < last->traced_ns ||
			  mark->windows <= last->windows))
			database_damage(load->database, "marks of windows do not grow");
	}
	query_close(&query);
}

/* Heaps */

/* The newest rows first: of each place or key only the first one counts. */
static void load_open_latest(struct budget_load *load, struct query *query, const char *sql)
{
	query_open(query, load->database, sql);
	query_number(query, load->range.first);
	query_number(query, load->range.last);
}

/* Is it the first row of a place or key? */
static bool load_is_first(struct table *seen, uint64_t key)
{
	static char mark;

	if (table_get(seen, key))
		return false;
	table_put(seen, key, &mark);
	return true;
}

static void load_heap(struct budget_load *load, struct query *query, uint64_t place)
{
	struct budget_heap *heap;
	const char *reason;

	if (query_take_bool(query))
		return;
	if (load->report->heap_count == HEAPS_MAX) {
		database_damage(load->database, "it has too many heaps");
		return;
	}
	heap = budget_report_add_heap(load->report);
	heap->target_id = (uint32_t)place;
	heap->allocator = strings_keep(&load->snapshot->strings, query_take_text(query));
	reason = query_take_text(query);
	heap->reason = reason ? memory_copy_string(reason) : NULL;
	heap->cpu_ns = query_take_number(query, TIME_MAX);
}

static int heap_compare(const void *a, const void *b)
{
	const struct budget_heap *left = a, *right = b;

	return left->target_id < right->target_id ? -1 : left->target_id > right->target_id;
}

/* By their places. */
static void load_heaps(struct budget_load *load)
{
	struct table seen = { 0 };
	struct query query;
	uint64_t place;

	load_open_latest(load, &query,
			 "SELECT place, gone, allocator, reason, cpu_ns FROM heap"
			 " WHERE interval BETWEEN ? AND ? ORDER BY interval DESC");
	while (query_next(&query)) {
		place = query_take_number(&query, UINT32_MAX);
		if (load_is_first(&seen, place))
			load_heap(load, &query, place);
	}
	query_close(&query);
	table_free(&seen);
	if (load->report->heap_count)
		qsort(load->report->heaps, load->report->heap_count, sizeof(*load->report->heaps),
		      heap_compare);
}

static struct budget_heap *load_find_heap(const struct budget_load *load, uint64_t place)
{
	const struct budget_heap wanted = { .target_id = (uint32_t)place };
	const struct budget_report *report = load->report;

	return report->heap_count ? bsearch(&wanted, report->heaps, report->heap_count,
					    sizeof(wanted), heap_compare)
				  : NULL;
}

/* How many censuses each heap has in the interval. */
static void load_count_censuses(struct budget_load *load)
{
	struct budget_report *report = load->report;
	struct budget_heap *heap;
	struct query query;
	size_t i;

	load_open_span(load, &query,
		       "SELECT place FROM census WHERE since <= ? AND"
		       " (until IS NULL OR until > ?)");
	while (query_next(&query)) {
		heap = load_find_heap(load, query_take_number(&query, UINT32_MAX));
		if (!heap)
			database_damage(load->database, "a census is of no heap");
		else if (++heap->census_count > CENSUSES_MAX)
			database_damage(load->database, "it has too many censuses");
	}
	query_close(&query);
	for (i = 0; i < report->heap_count; i++)
		report->heaps[i].censuses = memory_alloc(report->heaps[i].census_count + 1,
							 sizeof(*report->heaps[i].censuses));
}

/* What a heap has of a size class at each of its censuses. */
static struct budget_size *load_size(struct budget_load *load, uint32_t size_class)
{
	struct budget_heap *heap = load->heap;
	struct budget_size *size;
	size_t i = heap->size_count;

	while (i && heap->sizes[i - 1].size_class > size_class)
		i--;
	if (i && heap->sizes[i - 1].size_class == size_class)
		return &heap->sizes[i - 1];
	load->counts += heap->census_count;
	if (load->counts > COUNTS_MAX) {
		database_damage(load->database, "it has too many censuses");
		return NULL;
	}
	heap->sizes = memory_resize(heap->sizes, heap->size_count + 1, sizeof(*heap->sizes));
	size = &heap->sizes[i];
	memmove(size + 1, size, (heap->size_count++ - i) * sizeof(*size));
	size->size_class = size_class;
	size->blocks = memory_alloc(heap->census_count, sizeof(*size->blocks));
	size->bytes = memory_alloc(heap->census_count, sizeof(*size->bytes));
	return size;
}

/* The class that begins with this size; BUDGET_SIZE_CLASSES if none does. */
static uint32_t load_size_class(uint64_t least)
{
	const uint32_t size_class = budget_size_class(least);

	return size_class < BUDGET_SIZE_CLASSES && budget_size_least(size_class) == least
		       ? size_class
		       : BUDGET_SIZE_CLASSES;
}

static void load_sizes(struct budget_load *load, const char *text)
{
	struct number_rows rows = number_rows_begin(text);
	uint64_t row[BUDGET_SCHEMA_SIZE];
	struct budget_size *size;
	uint32_t size_class;

	while (number_rows_next(&rows, row, BUDGET_SCHEMA_SIZE, COUNT_MAX)) {
		size_class = load_size_class(row[0]);
		rows.damaged = size_class == BUDGET_SIZE_CLASSES;
		size = rows.damaged ? NULL : load_size(load, size_class);
		if (!size)
			break;
		size->blocks[load->number] = row[1];
		size->bytes[load->number] = row[2];
	}
	if (rows.damaged)
		database_damage(load->database, "sizes of a census are none");
}

static void load_census(struct budget_load *load, struct query *query)
{
	struct budget_heap *heap = load_find_heap(load, query_take_number(query, UINT32_MAX));
	struct budget_census *census;

	if (heap != load->heap) {
		load->heap = heap;
		load->number = 0;
	}
	if (!heap || load->number == heap->census_count) {
		database_damage(load->database, "a census is of no heap");
		return;
	}
	census = &heap->censuses[load->number];
	census->time_ns = query_take_number(query, TIME_MAX);
	census->live_blocks = query_take_number(query, COUNT_MAX);
	census->live_bytes = query_take_number(query, COUNT_MAX);
	census->unknown_bytes = query_take_number(query, COUNT_MAX);
	/* The last one may have begun when the snapshot had. */
	if (load->number && census->time_ns <= census[-1].time_ns)
		database_damage(load->database, "times of censuses do not grow");
	load_sizes(load, query_take_text(query));
	load->number++;
}

static void load_censuses(struct budget_load *load)
{
	struct query query;

	load_count_censuses(load);
	load_open_span(load, &query,
		       "SELECT place, time_ns, live_blocks, live_bytes, unknown_bytes, sizes"
		       " FROM census WHERE since <= ? AND (until IS NULL OR until > ?)"
		       " ORDER BY place, time_ns");
	while (query_next(&query))
		load_census(load, &query);
	query_close(&query);
}

/* Sites */

static enum budget_ages load_age(uint64_t seconds)
{
	int age;

	for (age = 0; age < BUDGET_AGES; age++)
		if (budget_age_least_ns((enum budget_ages)age) / 1000000000 == seconds)
			return (enum budget_ages)age;
	return BUDGET_AGES;
}

/* No block is older than the trace. */
static bool load_age_can_be(const struct budget_load *load, const struct budget_age *age)
{
	const uint64_t most = (load->report->time_ns - load->report->start_ns) / AGE_UNIT + 1;

	return (double)age->age_ns_sum <= (double)age->unchanged.blocks * (double)most;
}

static void load_blocks(struct budget_load *load, struct budget_site *site, const char *text)
{
	struct number_rows rows = number_rows_begin(text);
	uint64_t row[BUDGET_SCHEMA_ROW], *places[BUDGET_SCHEMA_COUNTS];
	enum budget_ages age_class;
	struct budget_age *age;
	uint32_t size_class;
	size_t i;

	while (number_rows_next(&rows, row, BUDGET_SCHEMA_ROW, COUNT_MAX)) {
		size_class = load_size_class(row[0]);
		age_class = load_age(row[1]);
		rows.damaged = age_class == BUDGET_AGES || size_class == BUDGET_SIZE_CLASSES;
		if (rows.damaged)
			break;
		age = &budget_site_cohort(site, size_class)->ages[age_class];
		budget_schema_counts(age, places);
		for (i = 0; i < BUDGET_SCHEMA_COUNTS; i++)
			*places[i] = row[2 + i];
		rows.damaged |= !load_age_can_be(load, age);
	}
	if (rows.damaged)
		database_damage(load->database, "blocks of a cohort are none");
}

static void load_cohort(struct budget_load *load, struct query *query, uint64_t key)
{
	struct budget_site *site;

	if (query_take_bool(query))
		return;
	if (load->report->site_count == COHORTS_MAX) {
		database_damage(load->database, "it has too many cohorts");
		return;
	}
	site = budget_report_add_site(load->report);
	site->key = key;
	site->target_id = (uint32_t)query_take_number(query, UINT32_MAX);
	site->allocated_blocks = query_take_number(query, COUNT_MAX);
	site->allocated_bytes = query_take_number(query, COUNT_MAX);
	site->freed_blocks = query_take_number(query, COUNT_MAX);
	site->first_ns = query_take_number(query, TIME_MAX);
	site->last_ns = query_take_number(query, TIME_MAX);
	load_blocks(load, site, query_take_text(query));
}

static void load_cohorts(struct budget_load *load)
{
	struct table seen = { 0 };
	struct query query;
	uint64_t key;

	load_open_latest(load, &query,
			 "SELECT key, gone, place, allocated_blocks, allocated_bytes,"
			 " freed_blocks, first_ns, last_ns, blocks FROM cohort"
			 " WHERE interval BETWEEN ? AND ? ORDER BY interval DESC");
	while (query_next(&query)) {
		key = query_take_word(&query);
		if (load_is_first(&seen, key))
			load_cohort(load, &query, key);
	}
	query_close(&query);
	table_free(&seen);
}

static bool load_has_tables(struct database *database)
{
	struct query query;
	bool found;

	query_open(&query, database, "SELECT 1 FROM sqlite_schema WHERE name = 'budget'");
	found = query_next(&query);
	query_close(&query);
	return found;
}

void budget_reader_load(struct database *database, struct budget_range range,
			struct snapshot *snapshot)
{
	struct budget_load load = { .database = database, .range = range, .snapshot = snapshot };

	if (!load_has_tables(database) || !load_budget(&load))
		return;
	load_marks(&load);
	load_heaps(&load);
	load_censuses(&load);
	load_cohorts(&load);
}
