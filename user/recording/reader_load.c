/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot out of the rows of a recording: those of the last interval that has all figures, and those since then. See reader.h.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/frame_kind.h"
#include "model/loss.h"
#include "model/source.h"
#include "recording/births.h"
#include "recording/budget_reader.h"
#include "recording/born_reader.h"
#include "recording/classes.h"
#include "recording/figures_check.h"
#include "recording/reader.h"
#include "recording/schema.h"
#include "recording/verdict_reader.h"

/* More than any snapshot has: a recording with more is made to take memory. */
#define SITES_MAX READER_SITES_MAX
#define TARGETS_MAX (1 << 20)
#define FRAMES_MAX (1 << 24)
#define DEPTH_MAX 4096

/* The latest figures of a site. */
struct read_site {
	struct site_stats stats;
	struct births births;
	uint64_t ages_ns; /* CLOCK_MONOTONIC: its ages are of then */
};

/* The latest state of a process. */
struct read_process {
	struct target target;
	struct lateness late;
	uint64_t id, listed;
	bool gone;
};

struct read_frame {
	struct frame frame;
	uint64_t caller;
};

struct load {
	struct reader *reader;
	struct database *database;
	struct snapshot *snapshot;
	uint64_t first, last; /* of the intervals */
	struct name_pool *pool;
	struct table births; /* by the id of their site */
	struct table verdicts; /* the same: struct recorded_verdict */
	struct table sites, processes, functions, frames, stacks, names; /* by id */
	struct query find_frame, find_name, find_site, find_function;
	struct table keys; /* of sites that run; the value has no meaning */
	bool lives_known; /* the recording has lifespans and ages */
	size_t frame_count; /* of all stacks */
};

/* The interval itself */

/* Of the intervals whose rows are read. */
static void load_check_times(struct load *load)
{
	uint64_t before_ns = 0, id, time_ns;
	struct query query;

	query_open(&query, load->database,
		   "SELECT id, time_ns FROM interval WHERE id BETWEEN ? AND ? ORDER BY id");
	query_number(&query, load->first);
	query_number(&query, load->last);
	while (query_next(&query)) {
		id = query_take_number(&query, INT64_MAX);
		time_ns = query_take_number(&query, INT64_MAX / 2);
		figures_check_time(load->database, id, time_ns, before_ns);
		before_ns = time_ns;
	}
	query_close(&query);
	if (load->snapshot->start_ns > load->snapshot->time_ns)
		database_damage_at(load->database,
				   "interval %" PRIu64 ": start_ns is after its time_ns",
				   load->last);
}

static void load_interval(struct load *load)
{
	struct snapshot *snapshot = load->snapshot;
	const struct schema_column *column;
	struct buffer sql = { 0 };
	struct query query;

	buffer_append_string(&sql, "SELECT time, time_ns, start_ns, price_counted, price_measured");
	schema_append_names(&sql, schema_price);
	buffer_append_string(&sql, " FROM interval WHERE id = ?");
	query_open(&query, load->database, sql.data);
	buffer_free(&sql);
	query_number(&query, load->last);
	if (query_next(&query)) {
		snapshot->wall_time = query_take_signed(&query);
		snapshot->time_ns = query_take_number(&query, INT64_MAX / 2);
		snapshot->start_ns = query_take_number(&query, INT64_MAX / 2);
		snapshot->price.counted = query_take_bool(&query);
		snapshot->price.measured = query_take_bool(&query);
		for (column = schema_price; column->name; column++)
			*(uint64_t *)((char *)&snapshot->price + column->offset) =
				query_take_number(&query, INT64_MAX);
	} else {
		database_damage(load->database, "an interval is missing");
	}
	query_close(&query);
	query_open(&query, load->database,
		   "SELECT id FROM interval WHERE id <= ? AND whole ORDER BY id DESC LIMIT 1");
	query_number(&query, load->last);
	if (query_next(&query))
		load->first = query_take_number(&query, INT64_MAX);
	else
		database_damage(load->database, "no interval has all figures");
	query_close(&query);
	load_check_times(load);
	snapshot->id_seed = load->reader->id_seed;
	snapshot_set_modules(snapshot, &load->reader->modules);
}

/* Rows of these intervals, the oldest first. */
static void load_open_range(struct load *load, struct query *query, const char *sql)
{
	query_open(query, load->database, sql);
	query_number(query, load->first);
	query_number(query, load->last);
}

/* Losses that this version does not know are of no figure that it knows. */
static void load_losses(struct load *load)
{
	struct query query;
	const char *name;
	int loss;

	load_open_range(load, &query,
			"SELECT name, count FROM loss WHERE interval BETWEEN ? AND ?"
			" ORDER BY interval");
	while (query_next(&query)) {
		name = query_take_text(&query);
		for (loss = 0; name && loss < LOSS_COUNT; loss++)
			if (!strcmp(name, loss_name((enum loss)loss)))
				load->snapshot->loss[loss] = query_take_number(&query, INT64_MAX);
	}
	query_close(&query);
}

/* Processes */

static void load_process(struct load *load, struct query *query)
{
	uint64_t id = query_take_number(query, INT64_MAX);
	struct read_process *process = table_get(&load->processes, id);
	struct target *target;

	if (!process) {
		if (load->processes.count == TARGETS_MAX) {
			database_damage(load->database, "it has too many processes");
			return;
		}
		process = memory_alloc(1, sizeof(*process));
		process->id = id;
		table_put(&load->processes, id, process);
	}
	target = &process->target;
	process->gone = query_take_bool(query);
	if (process->gone)
		return;
	process->listed = query_take_number(query, TARGETS_MAX);
	target->exited = query_take_bool(query);
	target->files_known = query_take_bool(query);
	target->files_first = query_take_number(query, INT64_MAX);
	target->files = query_take_number(query, INT64_MAX);
	target->usage.known = query_take_bool(query);
	target->usage.rss_bytes = query_take_number(query, INT64_MAX);
	target->usage.swap_bytes = query_take_number(query, INT64_MAX);
	target->usage.threads = query_take_number(query, INT64_MAX);
	target->usage.pss_known = !query_take_null(query);
	target->usage.pss_bytes = target->usage.pss_known ? query_take_number(query, INT64_MAX) : 0;
	process->late.file_count = query_take_number(query, LATE_FILES_MAX);
	process->late.files_unlisted = query_take_number(query, INT64_MAX);
	process->late.child_ns = query_take_number(query, INT64_MAX);
	process->late.memory_shared = query_take_number(query, INT64_MAX);
}

static void load_late_files(struct load *load, struct read_process *process)
{
	struct query query;
	const char *path;
	size_t i;

	if (!process->late.file_count && !process->late.files_unlisted && !process->late.child_ns &&
	    !process->late.memory_shared)
		return;
	query_open(&query, load->database,
		   "SELECT path, ns FROM late_file WHERE target = ? ORDER BY position");
	query_number(&query, process->id);
	for (i = 0; i < process->late.file_count && query_next(&query); i++) {
		path = query_take_text(&query);
		process->late.files[i].path = memory_copy_string(path ? path : "");
		process->late.files[i].ns = query_take_number(&query, INT64_MAX);
	}
	if (i < process->late.file_count)
		database_damage(load->database, "a late file is missing");
	process->late.file_count = i;
	query_close(&query);
	process->target.late = lateness_copy(&process->late);
	for (i = 0; i < process->late.file_count; i++)
		free(process->late.files[i].path);
}

static void load_identity(struct load *load, struct query *query, struct read_process *process)
{
	struct target *target = &process->target;
	const char *comm;

	query_number(query, process->id);
	if (!query_next(query)) {
		database_damage(load->database, "a process is missing");
		return;
	}
	target->pidfd = -1;
	target->pid = (int)query_take_number(query, INT_MAX);
	target->parent = (int)query_take_number(query, INT_MAX);
	comm = query_take_text(query);
	if (comm)
		strncpy(target->comm, comm, COMM_MAX - 1);
	target->exe = memory_copy_string(query_take_text(query));
	target->directory = memory_copy_string(query_take_text(query));
	target->root = memory_copy_string(query_take_text(query));
	target->mount_namespace = query_take_word(query);
	target->exec_ns = query_take_number(query, INT64_MAX);
	query_stop(query);
	load_late_files(load, process);
}

static int load_compare_listed(const void *a, const void *b)
{
	const struct read_process *const *left = a, *const *right = b;

	return (*left)->listed < (*right)->listed ? -1 : (*left)->listed > (*right)->listed;
}

/* List processes in their order. */
static void load_list_processes(struct load *load)
{
	struct read_process **listed = memory_alloc(load->processes.count + 1, sizeof(*listed));
	const struct table_slot *slot;
	struct query query;
	size_t cursor, count = 0, i;

	query_open(&query, load->database,
		   "SELECT pid, parent, comm, exe, directory, root, mount_namespace, exec_ns"
		   " FROM target WHERE id = ?");
	for (cursor = 0; (slot = table_next(&load->processes, &cursor));) {
		struct read_process *process = slot->value;

		if (process->gone)
			continue;
		load_identity(load, &query, process);
		if (process->listed)
			listed[count++] = process;
	}
	query_close(&query);
	qsort(listed, count, sizeof(struct read_process *), load_compare_listed);
	for (i = 0; i < count; i++)
		snapshot_add_target(load->snapshot, &listed[i]->target);
	free(listed);
}

static void load_processes(struct load *load)
{
	struct query query;

	load_open_range(load, &query,
			"SELECT target, gone, listed, exited, files_known, files_first, files,"
			" usage_known, rss_bytes, swap_bytes, threads, pss_bytes, late_files,"
			" late_unlisted, late_child_ns, late_shared FROM process"
			" WHERE interval BETWEEN ? AND ? ORDER BY interval");
	while (query_next(&query))
		load_process(load, &query);
	query_close(&query);
	load_list_processes(load);
}

/* Figures */

/* The columns that this recording has; others are 0. */
static void load_open_figures(struct load *load, struct query *query, bool known[])
{
	const struct schema_column *column;
	struct buffer sql = { 0 };
	struct query all;

	query_open(&all, load->database, "SELECT * FROM figures");
	buffer_append_string(&sql, "SELECT interval, site, gone, oldest_born_ns, mean_born_ns,"
				   " born_rest_ns, gcs_known");
	for (column = schema_figures; column->name; column++) {
		*known = query_find_column(&all, column->name) >= 0;
		if (*known++)
			buffer_printf(&sql, ", %s", column->name);
	}
	load->lives_known = query_find_column(&all, "lives") >= 0;
	query_close(&all);
	if (load->lives_known)
		buffer_append_string(&sql, ", lives, ages, ages_ns");
	buffer_append_string(&sql, " FROM figures WHERE interval BETWEEN ? AND ?"
				   " ORDER BY interval");
	load_open_range(load, query, sql.data);
	buffer_free(&sql);
}

static void load_lives(struct load *load, struct query *query, struct figures_place place,
		       struct read_site *site)
{
	if (!classes_parse(query_take_text(query), site->stats.lives.classes) ||
	    !classes_parse(query_take_text(query), site->stats.ages))
		database_damage(load->database, "a histogram is none");
	site->ages_ns = query_take_number(query, INT64_MAX / 2);
	figures_check_ages(load->database, place, site->ages_ns, load->snapshot->start_ns,
			   load->snapshot->time_ns);
}

static void load_figures_row(struct load *load, struct query *query, const bool *known)
{
	const struct schema_column *column;
	const uint64_t interval = query_take_number(query, INT64_MAX);
	const uint64_t id = query_take_number(query, INT64_MAX);
	const struct figures_place place = { interval, id };
	struct read_site *site = table_get(&load->sites, id);

	if (!site) {
		if (load->sites.count == SITES_MAX) {
			database_damage(
				load->database,
				"it has more sites than a recorder writes: over 1048576 at a time");
			return;
		}
		site = memory_alloc(1, sizeof(*site));
		table_put(&load->sites, id, site);
	}
	/* Of the interval's sites there is a limit, not of those that came and went. */
	if (query_take_bool(query)) {
		free(table_remove(&load->sites, id));
		return;
	}
	site->births.oldest_ns = query_take_number(query, INT64_MAX);
	site->births.mean_ns = query_take_signed(query);
	site->births.rest_ns = query_take_number(query, INT64_MAX);
	site->stats.gcs_known = query_take_bool(query);
	for (column = schema_figures; column->name; column++)
		if (*known++)
			*(uint64_t *)((char *)&site->stats + column->offset) =
				query_take_number(query, INT64_MAX);
	if (load->lives_known)
		load_lives(load, query, place, site);
	figures_check(load->database, place, &site->stats);
}

static void load_figures(struct load *load)
{
	bool known[64] = { false };
	struct query query;

	load_open_figures(load, &query, known);
	while (query_next(&query))
		load_figures_row(load, &query, known);
	query_close(&query);
}

/* Stacks */

static bool load_parse_kind(const char *text, enum frame_kind *ret_kind)
{
	int kind;

	for (kind = 0; text && kind <= FRAME_THREAD; kind++)
		if (!strcmp(text, frame_kind_name((enum frame_kind)kind))) {
			*ret_kind = (enum frame_kind)kind;
			return true;
		}
	return false;
}

static const struct frame_name *load_name(struct load *load, uint64_t id)
{
	struct query *query = &load->find_name;
	const struct frame_name *kept = table_get(&load->names, id);
	struct frame_name name = { 0 };

	if (!id || kept)
		return kept;
	query_number(query, id);
	if (query_next(query)) {
		name.function = query_take_text(query);
		name.file = query_take_text(query);
		name.line = (uint32_t)query_take_number(query, UINT32_MAX);
		kept = name_pool_keep(load->pool, &name);
		table_put(&load->names, id, (void *)(uintptr_t)kept);
	} else {
		database_damage(load->database, "a name is missing");
	}
	query_stop(query);
	return kept;
}

static const struct read_frame *load_frame(struct load *load, uint64_t id)
{
	struct read_frame *read = table_get(&load->frames, id);
	struct query *query = &load->find_frame;
	struct frame *frame;
	uint64_t module, name;

	if (read)
		return read;
	query_number(query, id);
	if (!query_next(query)) {
		database_damage(load->database, "a frame is missing");
		return NULL;
	}
	read = memory_alloc(1, sizeof(*read));
	table_put(&load->frames, id, read);
	frame = &read->frame;
	/* Ids grow inwards, so that there is no circle. */
	read->caller = query_take_number(query, id - 1);
	if (!load_parse_kind(query_take_text(query), &frame->kind))
		database_damage(load->database, "a frame is of an unknown kind");
	module = query_take_number(query, INT64_MAX);
	frame->module = (uint32_t)((uintptr_t)table_get(&load->reader->module_indexes, module) - 1);
	if (module && frame->module == MODULE_NONE)
		database_damage(load->database, "a module is missing");
	frame->offset = query_take_word(query);
	frame->address = query_take_word(query);
	name = query_take_number(query, INT64_MAX);
	frame->reason = strings_keep(&load->snapshot->strings, query_take_text(query));
	if (frame->kind == FRAME_ERROR && !frame->reason)
		database_damage(load->database, "the end of a stack has no reason");
	frame->whole = query_take_bool(query);
	frame->internal = query_take_bool(query);
	query_stop(query);
	frame->name = load_name(load, name);
	return read;
}

/* The stack whose innermost frame has this id; load's. NULL if it is damaged. */
static const struct stack *load_stack(struct load *load, uint64_t id)
{
	struct stack *stack = table_get(&load->stacks, id);
	const struct read_frame *read;
	uint32_t depth = 0, i;
	uint64_t at;

	if (stack)
		return stack;
	for (at = id; at && depth <= DEPTH_MAX; at = read->caller, depth++) {
		read = load_frame(load, at);
		if (!read || !database_is_fine(load->database))
			return NULL;
	}
	load->frame_count += depth;
	if (depth > DEPTH_MAX || load->frame_count > FRAMES_MAX) {
		database_damage(load->database, "its stacks are too deep");
		return NULL;
	}
	stack = memory_alloc(1, sizeof(*stack) + depth * sizeof(stack->frames[0]));
	stack->count = depth;
	for (at = id, i = 0; i < depth; i++) {
		read = load_frame(load, at);
		stack->frames[i] = read->frame;
		at = read->caller;
	}
	table_put(&load->stacks, id, stack);
	return stack;
}

/* Sites */

static const struct function_name *load_function(struct load *load, uint64_t id)
{
	struct function_name *function = table_get(&load->functions, id);
	struct query *query = &load->find_function;
	struct strings *strings = &load->snapshot->strings;

	if (function)
		return function;
	query_number(query, id);
	if (!query_next(query)) {
		database_damage(load->database, "a function is missing");
		return NULL;
	}
	function = memory_alloc(1, sizeof(*function));
	table_put(&load->functions, id, function);
	function->allocator = strings_keep(strings, query_take_text(query));
	function->function = strings_keep(strings, query_take_text(query));
	function->sampled = query_take_bool(query);
	if (!function->allocator || !function->function)
		database_damage(load->database, "a function has no name");
	query_stop(query);
	return function;
}

static enum memory_source load_source(struct load *load, const char *text)
{
	int source;

	for (source = 0; text && source < SOURCE_COUNT; source++)
		if (!strcmp(text, source_name((enum memory_source)source)))
			return (enum memory_source)source;
	database_damage(load->database, "a source of memory is unknown");
	return SOURCE_HEAP;
}

static enum region load_region(struct load *load, const char *text)
{
	int region;

	if (!text)
		return REGION_NONE;
	for (region = REGION_NONE + 1; region < REGION_COUNT; region++)
		if (!strcmp(text, region_name((enum region)region)))
			return (enum region)region;
	database_damage(load->database, "a use of memory is unknown");
	return REGION_NONE;
}

/* A key is of one site at a time, but for those of programs that have ended. */
static void load_check_key(struct load *load, uint64_t id, const struct snapshot_site *row)
{
	static char mark;

	if (row->ended)
		return;
	if (table_get(&load->keys, row->key))
		database_damage_at(load->database,
				   "site %" PRIu64 ": its key %" PRIi64 " is another one's, too",
				   id, (int64_t)row->key);
	table_put(&load->keys, row->key, &mark);
}

static void load_site(struct load *load, uint64_t id, const struct read_site *site)
{
	struct query *query = &load->find_site;
	struct snapshot_site row = { .stats = site->stats };
	const struct read_process *process;
	const struct recorded_verdict *verdict;
	const struct generations *births;
	uint64_t function, stack;

	query_number(query, id);
	if (!query_next(query)) {
		database_damage(load->database, "a site is missing");
		return;
	}
	row.key = query_take_word(query);
	process = table_get(&load->processes, query_take_number(query, INT64_MAX));
	function = query_take_number(query, INT64_MAX);
	row.source = load_source(load, query_take_text(query));
	row.region = load_region(load, query_take_text(query));
	stack = query_take_number(query, INT64_MAX);
	row.ended = query_take_bool(query);
	row.sampled = query_take_bool(query);
	query_stop(query);
	load_check_key(load, id, &row);
	if (!process || process->gone)
		database_damage(load->database, "a site is of no process");
	row.function = load_function(load, function);
	row.stack = load_stack(load, stack);
	if (!database_is_fine(load->database))
		return;
	row.target = &process->target;
	births_restore(&site->births, load->snapshot->time_ns, &row.stats);
	if (load->snapshot->time_ns > site->ages_ns)
		classes_grow_older(row.stats.ages, load->snapshot->time_ns - site->ages_ns,
				   row.stats.oldest_ns);
	verdict = table_get(&load->verdicts, id);
	row.word = verdict ? verdict->word : NULL;
	row.word_ns = verdict ? verdict->since_ns : 0;
	births = table_get(&load->births, id);
	if (births)
		row.births = *births;
	snapshot_add_site(load->snapshot, &row);
}

static void load_sites(struct load *load)
{
	const struct table_slot *slot;
	size_t cursor;

	/* Each is freed as soon as the snapshot has it: there may be very many. */
	for (cursor = 0; (slot = table_next(&load->sites, &cursor));) {
		if (database_is_fine(load->database))
			load_site(load, slot->key, slot->value);
		free(slot->value);
	}
	table_free(&load->sites);
}

/* All of it */

static void load_open(struct load *load)
{
	load->snapshot = snapshot_new();
	load->pool = name_pool_new();
	snapshot_hold_names(load->snapshot, load->pool);
	query_open(&load->find_frame, load->database,
		   "SELECT caller, kind, module, offset, address, name, reason, whole, internal"
		   " FROM frame WHERE id = ?");
	query_open(&load->find_name, load->database,
		   "SELECT function, file, line FROM name WHERE id = ?");
	query_open(&load->find_site, load->database,
		   "SELECT key, target, function, source, region, stack, ended, sampled"
		   " FROM site WHERE id = ?");
	query_open(&load->find_function, load->database,
		   "SELECT allocator, function, sampled FROM function WHERE id = ?");
}

static void load_free_values(struct table *table)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(table, &cursor));)
		free(slot->value);
	table_free(table);
}

static void load_close(struct load *load)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(&load->stacks, &cursor));)
		stack_free(slot->value);
	for (cursor = 0; (slot = table_next(&load->processes, &cursor));)
		target_clear(&((struct read_process *)slot->value)->target);
	table_free(&load->stacks);
	load_free_values(&load->processes);
	born_reader_free(&load->births);
	verdict_reader_free(&load->verdicts);
	load_free_values(&load->frames);
	load_free_values(&load->functions);
	table_free(&load->names);
	table_free(&load->keys);
	name_pool_free(load->pool);
	query_close(&load->find_frame);
	query_close(&load->find_name);
	query_close(&load->find_site);
	query_close(&load->find_function);
}

int reader_load(struct reader *reader, uint64_t interval, struct snapshot **ret_snapshot,
		struct error *error)
{
	struct load load = { .reader = reader, .database = &reader->database, .last = interval };
	int code;

	load_open(&load);
	load_interval(&load);
	budget_reader_load(&reader->database, (struct budget_range){ load.first, interval },
			   load.snapshot);
	load_losses(&load);
	load_processes(&load);
	load_figures(&load);
	/* Windows see some blocks only: births of these are not those of all. */
	if (!load.snapshot->budget)
		born_reader_load(&reader->database, load.first, interval, load.snapshot,
				 &load.births);
	verdict_reader_load(&reader->database, interval, &load.snapshot->strings, &load.verdicts);
	load_sites(&load);
	code = database_finish(&reader->database, error);
	if (code)
		snapshot_free(load.snapshot);
	else
		*ret_snapshot = load.snapshot;
	load_close(&load);
	return code;
}
