/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_writer.h. */
#include "recording/budget_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "recording/budget_schema.h"
#include "recording/number_rows.h"

/* What is there in some intervals: the first one and the last one so far. */
struct written_span {
	uint64_t since, seen;
};

struct written_heap {
	char *text; /* what its last row has; owned */
	struct table censuses; /* struct written_span by time */
	uint64_t seen;
};

struct written_cohort {
	char *text;
	uint64_t seen;
};

/* Life */

void budget_writer_open(struct budget_writer *writer, struct database *database)
{
	struct buffer sql = { 0 };

	buffer_append_string(&sql, "INSERT INTO budget(interval, cost_unknown");
	schema_append_names(&sql, budget_schema_columns);
	buffer_append_string(&sql, ") VALUES(?, ?");
	schema_append_values(&sql, budget_schema_columns);
	buffer_append_string(&sql, ")");
	query_open(&writer->add_budget, database, sql.data);
	buffer_free(&sql);
	query_open(&writer->add_mark, database, "INSERT INTO window_mark VALUES(?, ?, ?, ?, NULL)");
	query_open(&writer->end_mark, database,
		   "UPDATE window_mark SET until = ? WHERE start_ns = ? AND since = ?");
	query_open(&writer->add_heap, database, "INSERT INTO heap VALUES(?, ?, ?, ?, ?, ?)");
	query_open(&writer->add_census, database,
		   "INSERT INTO census VALUES(?, ?, ?, ?, ?, ?, ?, NULL)");
	query_open(&writer->end_census, database,
		   "UPDATE census SET until = ? WHERE place = ? AND time_ns = ? AND since = ?");
	query_open(&writer->add_cohort, database,
		   "INSERT INTO cohort VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	query_open(&writer->add_estimate, database,
		   "INSERT INTO estimate VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
}

static void writer_free_values(struct table *table)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(table, &cursor));)
		free(slot->value);
	table_free(table);
}

static void heap_free(struct written_heap *heap)
{
	writer_free_values(&heap->censuses);
	free(heap->text);
	free(heap);
}

static void cohort_free(struct written_cohort *cohort)
{
	free(cohort->text);
	free(cohort);
}

void budget_writer_close(struct budget_writer *writer)
{
	const struct table_slot *slot;
	size_t cursor;

	query_close(&writer->add_budget);
	query_close(&writer->add_mark);
	query_close(&writer->end_mark);
	query_close(&writer->add_heap);
	query_close(&writer->add_census);
	query_close(&writer->end_census);
	query_close(&writer->add_cohort);
	query_close(&writer->add_estimate);
	for (cursor = 0; (slot = table_next(&writer->heaps, &cursor));)
		heap_free(slot->value);
	for (cursor = 0; (slot = table_next(&writer->cohorts, &cursor));)
		cohort_free(slot->value);
	table_free(&writer->heaps);
	table_free(&writer->cohorts);
	writer_free_values(&writer->marks);
}

/* The keys of a table, which must not change while it is walked. Free with free(). */
static uint64_t *writer_list_keys(const struct table *table, size_t *ret_count)
{
	uint64_t *keys = memory_alloc(table->count + 1, sizeof(*keys));
	const struct table_slot *slot;
	size_t cursor;

	*ret_count = 0;
	for (cursor = 0; (slot = table_next(table, &cursor));)
		keys[(*ret_count)++] = slot->key;
	return keys;
}

/* Windows */

static void writer_add_budget(struct budget_writer *writer, const struct budget_report *report)
{
	const struct schema_column *column;

	query_number(&writer->add_budget, writer->interval);
	query_number(&writer->add_budget, report->cost_unknown);
	for (column = budget_schema_columns; column->name; column++)
		query_number(&writer->add_budget,
			     *(const uint64_t *)((const char *)report + column->offset));
	query_run(&writer->add_budget);
}

static void writer_end_mark(struct budget_writer *writer, uint64_t start_ns)
{
	struct written_span *mark = table_remove(&writer->marks, start_ns);

	query_number(&writer->end_mark, writer->interval);
	query_number(&writer->end_mark, start_ns);
	query_number(&writer->end_mark, mark->since);
	query_run(&writer->end_mark);
	free(mark);
}

static void writer_see_mark(struct budget_writer *writer, const struct budget_mark *mark)
{
	struct written_span *written = table_get(&writer->marks, mark->start_ns);

	if (!written) {
		written = memory_alloc(1, sizeof(*written));
		written->since = writer->interval;
		table_put(&writer->marks, mark->start_ns, written);
		query_number(&writer->add_mark, mark->start_ns);
		query_number(&writer->add_mark, mark->traced_ns);
		query_number(&writer->add_mark, mark->windows);
		query_number(&writer->add_mark, writer->interval);
		query_run(&writer->add_mark);
	}
	written->seen = writer->interval;
}

static void writer_write_marks(struct budget_writer *writer, const struct budget_report *report)
{
	size_t i, count;
	uint64_t *keys;

	for (i = 0; i < report->mark_count; i++)
		writer_see_mark(writer, &report->marks[i]);
	keys = writer_list_keys(&writer->marks, &count);
	for (i = 0; i < count; i++) {
		const struct written_span *mark = table_get(&writer->marks, keys[i]);

		if (mark->seen != writer->interval)
			writer_end_mark(writer, keys[i]);
	}
	free(keys);
}

/* Heaps */

static void writer_add_census(struct budget_writer *writer, const struct budget_heap *heap,
			      size_t number)
{
	const struct budget_census *census = &heap->censuses[number];
	struct buffer sizes = { 0 };
	size_t i;

	for (i = 0; i < heap->size_count; i++) {
		const struct budget_size *size = &heap->sizes[i];
		const uint64_t row[BUDGET_SCHEMA_SIZE] = { budget_size_least(size->size_class),
							   size->blocks[number],
							   size->bytes[number] };

		if (size->blocks[number])
			number_rows_append(&sizes, row, BUDGET_SCHEMA_SIZE);
	}
	number_rows_close(&sizes);
	query_number(&writer->add_census, heap->target_id);
	query_number(&writer->add_census, census->time_ns);
	query_number(&writer->add_census, census->live_blocks);
	query_number(&writer->add_census, census->live_bytes);
	query_number(&writer->add_census, census->unknown_bytes);
	query_text(&writer->add_census, sizes.length ? sizes.data : NULL);
	query_number(&writer->add_census, writer->interval);
	query_run(&writer->add_census);
	buffer_free(&sizes);
}

/* Censuses that the heap has no more. */
static void writer_end_censuses(struct budget_writer *writer, uint64_t place,
				struct written_heap *heap)
{
	size_t count, i;
	uint64_t *keys = writer_list_keys(&heap->censuses, &count);

	for (i = 0; i < count; i++) {
		struct written_span *census = table_get(&heap->censuses, keys[i]);

		if (census->seen == writer->interval)
			continue;
		query_number(&writer->end_census, writer->interval);
		query_number(&writer->end_census, place);
		query_number(&writer->end_census, keys[i]);
		query_number(&writer->end_census, census->since);
		query_run(&writer->end_census);
		free(table_remove(&heap->censuses, keys[i]));
	}
	free(keys);
}

static void writer_write_censuses(struct budget_writer *writer, const struct budget_heap *heap,
				  struct written_heap *written)
{
	struct written_span *census;
	size_t i;

	for (i = 0; i < heap->census_count; i++) {
		census = table_get(&written->censuses, heap->censuses[i].time_ns);
		if (!census) {
			census = memory_alloc(1, sizeof(*census));
			census->since = writer->interval;
			table_put(&written->censuses, heap->censuses[i].time_ns, census);
			writer_add_census(writer, heap, i);
		}
		census->seen = writer->interval;
	}
	writer_end_censuses(writer, heap->target_id, written);
}

/* `heap` NULL: it has gone. */
static void writer_add_heap(struct budget_writer *writer, uint64_t place,
			    const struct budget_heap *heap)
{
	query_number(&writer->add_heap, writer->interval);
	query_number(&writer->add_heap, place);
	query_number(&writer->add_heap, !heap);
	query_text(&writer->add_heap, heap ? heap->allocator : NULL);
	query_text(&writer->add_heap, heap ? heap->reason : NULL);
	query_number(&writer->add_heap, heap ? heap->cpu_ns : 0);
	query_run(&writer->add_heap);
}

/* Keep what a row has now. True if it is another one than before. */
static bool text_changes(char **text, char *now)
{
	const bool changes = !*text || strcmp(*text, now) != 0;

	free(*text);
	*text = now;
	return changes;
}

static void writer_see_heap(struct budget_writer *writer, bool whole,
			    const struct budget_heap *heap)
{
	struct written_heap *written = table_get(&writer->heaps, heap->target_id);

	if (!written) {
		written = memory_alloc(1, sizeof(*written));
		table_put(&writer->heaps, heap->target_id, written);
	}
	written->seen = writer->interval;
	if (text_changes(&written->text,
			 memory_format("%llu %s %s", (unsigned long long)heap->cpu_ns,
				       heap->allocator ? heap->allocator : "",
				       heap->reason ? heap->reason : "")) ||
	    whole)
		writer_add_heap(writer, heap->target_id, heap);
	writer_write_censuses(writer, heap, written);
}

static void writer_write_heaps(struct budget_writer *writer, bool whole,
			       const struct budget_report *report)
{
	struct written_heap *heap;
	size_t i, count;
	uint64_t *places;

	for (i = 0; i < report->heap_count; i++)
		writer_see_heap(writer, whole, &report->heaps[i]);
	places = writer_list_keys(&writer->heaps, &count);
	for (i = 0; i < count; i++) {
		heap = table_get(&writer->heaps, places[i]);
		if (heap->seen == writer->interval)
			continue;
		writer_end_censuses(writer, places[i], heap);
		writer_add_heap(writer, places[i], NULL);
		heap_free(table_remove(&writer->heaps, places[i]));
	}
	free(places);
}

/* Sites */

static void cohort_append_age(struct buffer *blocks, uint32_t size_class, enum budget_ages age,
			      const struct budget_age *counts)
{
	struct budget_age copy = *counts;
	uint64_t *places[BUDGET_SCHEMA_COUNTS], row[BUDGET_SCHEMA_ROW], sum = 0;
	size_t i;

	budget_schema_counts(&copy, places);
	row[0] = budget_size_least(size_class);
	row[1] = budget_age_least_ns(age) / 1000000000;
	for (i = 0; i < BUDGET_SCHEMA_COUNTS; i++)
		sum |= row[2 + i] = *places[i];
	if (sum)
		number_rows_append(blocks, row, BUDGET_SCHEMA_ROW);
}

static void cohort_append_blocks(struct buffer *blocks, const struct budget_site *site)
{
	size_t i;
	int age;

	for (i = 0; i < site->cohort_count; i++)
		for (age = 0; age < BUDGET_AGES; age++)
			cohort_append_age(blocks, site->cohorts[i].size_class,
					  (enum budget_ages)age, &site->cohorts[i].ages[age]);
	number_rows_close(blocks);
}

/* `site` NULL: it has gone. */
static void writer_add_cohort(struct budget_writer *writer, uint64_t key,
			      const struct budget_site *site, const char *blocks)
{
	const struct budget_site none = { 0 };
	struct query *query = &writer->add_cohort;

	query_number(query, writer->interval);
	query_word(query, key);
	query_number(query, !site);
	site = site ? site : &none;
	query_number(query, site->target_id);
	query_number(query, site->allocated_blocks);
	query_number(query, site->allocated_bytes);
	query_number(query, site->freed_blocks);
	query_number(query, site->first_ns);
	query_number(query, site->last_ns);
	query_text(query, blocks);
	query_run(query);
}

static void writer_see_cohort(struct budget_writer *writer, bool whole,
			      const struct budget_site *site)
{
	struct written_cohort *written = table_get(&writer->cohorts, site->key);
	struct buffer blocks = { 0 };

	if (!written) {
		written = memory_alloc(1, sizeof(*written));
		table_put(&writer->cohorts, site->key, written);
	}
	written->seen = writer->interval;
	cohort_append_blocks(&blocks, site);
	if (text_changes(&written->text,
			 memory_format("%u %llu %llu %llu %llu %llu %s", site->target_id,
				       (unsigned long long)site->allocated_blocks,
				       (unsigned long long)site->allocated_bytes,
				       (unsigned long long)site->freed_blocks,
				       (unsigned long long)site->first_ns,
				       (unsigned long long)site->last_ns,
				       blocks.length ? blocks.data : "")) ||
	    whole)
		writer_add_cohort(writer, site->key, site, blocks.length ? blocks.data : NULL);
	buffer_free(&blocks);
}

static void writer_write_cohorts(struct budget_writer *writer, bool whole,
				 const struct budget_report *report)
{
	struct written_cohort *cohort;
	size_t i, count;
	uint64_t *keys;

	for (i = 0; i < report->site_count; i++)
		writer_see_cohort(writer, whole, &report->sites[i]);
	keys = writer_list_keys(&writer->cohorts, &count);
	for (i = 0; i < count; i++) {
		cohort = table_get(&writer->cohorts, keys[i]);
		if (cohort->seen == writer->interval)
			continue;
		writer_add_cohort(writer, keys[i], NULL, NULL);
		cohort_free(table_remove(&writer->cohorts, keys[i]));
	}
	free(keys);
}

void budget_writer_write(struct budget_writer *writer, uint64_t interval, bool whole,
			 const struct budget_report *report)
{
	if (!report)
		return;
	writer->interval = interval;
	writer_add_budget(writer, report);
	writer_write_marks(writer, report);
	writer_write_heaps(writer, whole, report);
	writer_write_cohorts(writer, whole, report);
}

/* Estimates */

static bool estimate_is_same(const struct estimate *a, const struct estimate *b)
{
	return a->value == b->value && a->low == b->low && a->high == b->high;
}

static bool site_estimate_is_same(const struct site_estimate *a, const struct site_estimate *b)
{
	return a->followed == b->followed && a->stays == b->stays &&
	       a->lower_bound == b->lower_bound && estimate_is_same(&a->rate, &b->rate) &&
	       estimate_is_same(&a->grown, &b->grown) &&
	       estimate_is_same(&a->written, &b->written) &&
	       (!a->stays || estimate_is_same(&a->never_freed, &b->never_freed));
}

static void writer_set_estimate(struct query *query, const struct estimate *estimate)
{
	query_real(query, estimate->value);
	query_real(query, estimate->low);
	query_real(query, estimate->high);
}

void budget_writer_estimate(struct budget_writer *writer, uint64_t interval, uint64_t site,
			    const struct site_estimate *estimate, struct site_estimate *written)
{
	const struct estimate unknown = { .value = INFINITY, .low = INFINITY, .high = INFINITY };
	struct query *query = &writer->add_estimate;

	if (site_estimate_is_same(estimate, written))
		return;
	*written = *estimate;
	query_number(query, interval);
	query_number(query, site);
	query_number(query, estimate->followed);
	query_number(query, estimate->lower_bound);
	writer_set_estimate(query, &estimate->rate);
	writer_set_estimate(query, &estimate->grown);
	writer_set_estimate(query, &estimate->written);
	writer_set_estimate(query, estimate->stays ? &estimate->never_freed : &unknown);
	query_run(query);
}
