/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See meter.h. */
#include "windows/meter.h"

#include <stdlib.h>

#include "base/memory.h"

/* What was counted under one key. */
struct row {
	struct hit_key key;
	struct hits hits;
};

struct rows {
	struct row *items;
	size_t count, capacity;
};

static void rows_visit(void *context, const void *key, const void *value)
{
	struct rows *rows = context;
	struct row *row;

	rows->items = memory_grow(rows->items, rows->count, &rows->capacity, sizeof(*rows->items));
	row = &rows->items[rows->count++];
	row->key = *(const struct hit_key *)key;
	row->hits = *(const struct hits *)value;
}

static int row_compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return a->key.thread < b->key.thread ? -1 : a->key.thread > b->key.thread;
}

/* What a trap costs at an instruction of this class. */
static uint32_t meter_trap_ns(const struct trap_costs *costs, enum probe_cost cost)
{
	if (cost == COST_EMULATED)
		return costs->emulated_ns;
	if (cost == COST_OPTIMIZED && costs->optimized_ns)
		return costs->optimized_ns;
	return costs->stepped_ns;
}

/* Is this the probe of a plan at which such a hit is counted? */
static bool probe_has_hits(const struct plan_probe *probe, enum hit_kind kind)
{
	enum call_op op = SHAPE_OP(probe->shape);

	switch (kind) {
	case HIT_CALL:
		return op == CALL_ALLOC || op == CALL_REALLOC || op == CALL_INSIDE ||
		       (op >= CALL_MMAP && op <= CALL_MREMAP);
	case HIT_FREE:
		return op == CALL_FREE;
	case HIT_LEAVE:
		return op == CALL_LEAVE;
	case HIT_SAMPLE:
		return op == CALL_SAMPLE || op == CALL_SAMPLE_END;
	default:
		return op == CALL_THROW;
	}
}

/* A function may be in several files, and have several exits: the mean. */
static uint64_t meter_hit_ns(const struct meter *meter, const struct hit_key *key,
			     const struct trap_costs *costs)
{
	const struct plan *plan = meter->plan;
	uint64_t sum = 0;
	size_t i, count = 0;

	if (key->kind == HIT_RETURN)
		return costs->return_ns;
	for (i = 0; i < plan->count; i++) {
		if ((key->function && plan->probes[i].function != key->function) ||
		    !probe_has_hits(&plan->probes[i], (enum hit_kind)key->kind))
			continue;
		sum += meter_trap_ns(costs, plan->probes[i].cost);
		count++;
	}
	return count ? sum / count : costs->stepped_ns;
}

static bool hit_is_call(const struct hit_key *key)
{
	return key->kind == HIT_CALL || key->kind == HIT_FREE || key->kind == HIT_SAMPLE;
}

static uint64_t meter_row_ns(const struct meter *meter, const struct row *row,
			     const struct trap_costs *costs)
{
	const struct hits *hits = &row->hits;
	uint64_t trap_ns = meter_hit_ns(meter, &row->key, costs) * hits->count;

	if (!hits->timed)
		return trap_ns;
	return trap_ns + (uint64_t)((unsigned __int128)hits->timed_ns * hits->count / hits->timed);
}

/* Rows are ordered by thread. */
static void meter_sum(struct meter *meter, const struct rows *rows, const struct trap_costs *costs)
{
	struct price *price = &meter->price;
	uint64_t thread_ns = 0, thread_calls = 0, row_ns;
	size_t i;

	for (i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];

		if (!i || row->key.thread != row[-1].key.thread)
			thread_ns = thread_calls = 0;
		row_ns = costs ? meter_row_ns(meter, row, costs) : 0;
		price->cost_ns += row_ns;
		thread_ns += row_ns;
		if (row->key.thread && thread_ns > price->busiest_ns) {
			price->busiest_ns = thread_ns;
			price->busiest_thread = row->key.thread;
		}
		if (!hit_is_call(&row->key) || !row->hits.count)
			continue;
		price->threads += !thread_calls;
		price->calls += row->hits.count;
		thread_calls += row->hits.count;
	}
}

/* The hits of a function are those of each of its probes: which of them that was is not known. */
static void meter_count_hits(struct meter *meter, const struct rows *rows)
{
	struct plan *plan = meter->plan;
	size_t i, j;

	for (i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];

		for (j = 0; j < plan->count && row->key.function; j++)
			if (plan->probes[j].function == row->key.function &&
			    probe_has_hits(&plan->probes[j], (enum hit_kind)row->key.kind))
				plan->probes[j].hits += row->hits.count;
	}
}

static void meter_finish(struct meter *meter, const struct trap_costs *costs)
{
	struct price *price = &meter->price;

	price->counted = true;
	price->measured = costs != NULL;
	if (!costs)
		return;
	if (price->calls)
		price->call_ns = (price->cost_ns + price->calls / 2) / price->calls;
	else
		price->call_ns = costs->emulated_ns + costs->return_ns / 2;
}

void meter_begin(struct meter *meter, uint64_t now_ns)
{
	const struct hits none = { 0 };
	struct hit_key key = { 0 };

	for (key.kind = 0; key.kind < HIT_KIND_COUNT; key.kind++)
		maps_set(meter->maps, MAPS_HITS, &key, &none);
	meter->begin_ns = now_ns;
}

void meter_restart(struct meter *meter, uint64_t now_ns)
{
	meter_end(meter, now_ns, NULL);
	meter->price = (struct price){ 0 };
	meter_begin(meter, now_ns);
}

void meter_end(struct meter *meter, uint64_t now_ns, const struct trap_costs *costs)
{
	struct rows rows = { 0 };
	size_t i;

	if (!meter->begin_ns)
		return;
	meter->price = (struct price){ .window_ns = now_ns - meter->begin_ns };
	meter->begin_ns = 0;
	maps_read(meter->maps, MAPS_HITS, rows_visit, &rows);
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), row_compare);
	meter_sum(meter, &rows, costs);
	meter_count_hits(meter, &rows);
	meter_finish(meter, costs);
	for (i = 0; i < rows.count; i++)
		maps_remove(meter->maps, MAPS_HITS, &rows.items[i].key);
	free(rows.items);
}
