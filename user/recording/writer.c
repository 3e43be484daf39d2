/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See writer.h. */
#include "recording/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/loss.h"
#include "model/source.h"
#include "recording/births.h"
#include "recording/budget_schema.h"
#include "recording/classes.h"
#include "recording/schema.h"

/* Names that could not be had in time are asked for again in so many intervals. */
#define NAMING_MAX 3

/* A site as it was last written. */
struct written_site {
	struct snapshot_site row; /* of its pointers only the stack is meant, which is held */
	struct births births;
	uint64_t ages_ns; /* CLOCK_MONOTONIC: the ages of its row are of then */
	struct generations born;
	uint64_t id, target, function, stack;
	uint64_t seen; /* the last interval that has it */
	const char *word; /* the last verdict; NULL = none; not owned */
	struct site_estimate estimate; /* the last one */
	unsigned int naming; /* how often its names were asked for */
	bool named;
	struct written_site *next; /* with the same key */
};

/* A process as it was last written. */
struct written_process {
	struct target target; /* its texts are not meant */
	size_t listed, late_files;
	uint64_t late_unlisted, late_child_ns, late_shared;
	uint64_t seen;
	bool is_written;
};

/* A snapshot on its way into the file. */
struct entry {
	struct writer *writer;
	const struct snapshot *snapshot;
	bool whole;
	struct table targets; /* ids by address */
};

/* Life */

static void writer_open_columns(struct query *query, struct database *database, const char *table,
				const char *names, const char *values,
				const struct schema_column *columns)
{
	struct buffer sql = { 0 };

	buffer_printf(&sql, "INSERT INTO %s(%s", table, names);
	schema_append_names(&sql, columns);
	buffer_printf(&sql, ") VALUES(%s", values);
	schema_append_values(&sql, columns);
	buffer_append_string(&sql, ")");
	query_open(query, database, sql.data);
	buffer_free(&sql);
}

static void writer_open_queries(struct writer *writer)
{
	struct database *database = &writer->database;

	query_open(&writer->begin, database, "BEGIN IMMEDIATE");
	query_open(&writer->commit, database, "COMMIT");
	query_open(&writer->add_value, database, "INSERT INTO recording VALUES(?, ?)");
	query_open(&writer->add_site, database,
		   "INSERT INTO site VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
	query_open(&writer->add_process, database,
		   "INSERT INTO process VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	query_open(&writer->add_late, database, "INSERT INTO late_file VALUES(?, ?, ?, ?)");
	query_open(&writer->add_verdict, database, "INSERT INTO verdict VALUES(?, ?, ?)");
	query_open(&writer->add_loss, database, "INSERT INTO loss VALUES(?, ?, ?)");
	query_open(&writer->add_mark, database, "INSERT INTO mark(name, interval) VALUES(?, ?)");
	query_open(&writer->find_marks, database,
		   "SELECT id FROM mark WHERE interval IS NULL ORDER BY id DESC LIMIT 1");
	query_open(&writer->set_marks, database,
		   "UPDATE mark SET interval = ? WHERE interval IS NULL AND id <= ?");
	writer_open_columns(&writer->add_interval, database, "interval",
			    "id, time, time_ns, start_ns, whole, price_counted, price_measured",
			    "?, ?, ?, ?, ?, ?, ?", schema_price);
	writer_open_columns(&writer->add_figures, database, "figures",
			    "interval, site, gone, oldest_born_ns, mean_born_ns, born_rest_ns,"
			    " gcs_known, lives, ages, ages_ns",
			    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?", schema_figures);
}

static void writer_add_value(struct writer *writer, const char *name, uint64_t value)
{
	query_text(&writer->add_value, name);
	query_word(&writer->add_value, value);
	query_run(&writer->add_value);
}

int writer_open(struct writer *writer, const char *path, const struct writer_options *options,
		struct error *error)
{
	struct buffer sql = { 0 };
	int code;

	*writer = (struct writer){ 0 };
	code = database_create(&writer->database, path, error);
	if (code)
		return code;
	schema_append_tables(&sql);
	if (options->budget)
		budget_schema_append_tables(&sql);
	database_run(&writer->database, "BEGIN IMMEDIATE");
	database_run(&writer->database, sql.data);
	buffer_free(&sql);
	writer->judge = options->judge;
	interner_open(&writer->interner, &writer->database, &options->names);
	writer_open_queries(writer);
	born_writer_open(&writer->born, &writer->database);
	if (options->budget)
		budget_writer_open(&writer->budget, &writer->database);
	thinner_open(&writer->thinner, &writer->database, options->limit, options->budget);
	query_text(&writer->add_value, "tracer");
	query_text(&writer->add_value, TRACER_VERSION);
	query_run(&writer->add_value);
	query_text(&writer->add_value, "host");
	query_text(&writer->add_value, options->host);
	query_run(&writer->add_value);
	writer_add_value(writer, "min_age_ns", options->min_age_ns);
	writer_add_value(writer, "survived", options->survived);
	writer_add_value(writer, "interval_ns", options->interval_ns);
	database_run(&writer->database, "COMMIT");
	code = database_finish(&writer->database, error);
	if (code)
		writer_close(writer, NULL);
	return code;
}

static void writer_free_site(struct written_site *site)
{
	stack_free((struct stack *)(uintptr_t)site->row.stack);
	generations_free(&site->born);
	free(site);
}

static void writer_free_all(struct writer *writer)
{
	const struct table_slot *slot;
	struct written_site *site, *next;
	size_t cursor;

	for (cursor = 0; (slot = table_next(&writer->sites, &cursor));)
		for (site = slot->value; site; site = next) {
			next = site->next;
			writer_free_site(site);
		}
	for (cursor = 0; (slot = table_next(&writer->processes, &cursor));)
		free(slot->value);
	table_free(&writer->sites);
	table_free(&writer->processes);
}

int writer_close(struct writer *writer, struct error *error)
{
	int code = 0;

	if (writer->database.handle)
		writer_add_value(writer, "ended", 1);
	query_close(&writer->begin);
	query_close(&writer->commit);
	query_close(&writer->add_value);
	query_close(&writer->add_site);
	query_close(&writer->add_process);
	query_close(&writer->add_late);
	query_close(&writer->add_verdict);
	query_close(&writer->add_loss);
	query_close(&writer->add_mark);
	query_close(&writer->find_marks);
	query_close(&writer->set_marks);
	query_close(&writer->add_interval);
	query_close(&writer->add_figures);
	born_writer_close(&writer->born);
	budget_writer_close(&writer->budget);
	interner_close(&writer->interner);
	thinner_close(&writer->thinner);
	writer_free_all(writer);
	if (writer->database.handle) {
		database_run(&writer->database, "PRAGMA wal_checkpoint(TRUNCATE)");
		code = database_finish(&writer->database, error);
	}
	database_close(&writer->database);
	return code;
}

/* Processes */

static struct written_process *writer_process(struct writer *writer, uint64_t id)
{
	struct written_process *process = table_get(&writer->processes, id);

	if (process)
		return process;
	process = memory_alloc(1, sizeof(*process));
	table_put(&writer->processes, id, process);
	return process;
}

static bool process_is_same(const struct written_process *written, const struct target *target,
			    size_t listed)
{
	const struct target *before = &written->target;
	const struct target_usage *a = &before->usage, *b = &target->usage;
	const struct lateness none = { 0 }, *late = target->late ? target->late : &none;

	return written->is_written && written->listed == listed &&
	       before->exited == target->exited && before->files_known == target->files_known &&
	       before->files_first == target->files_first && before->files == target->files &&
	       a->known == b->known && a->rss_bytes == b->rss_bytes &&
	       a->swap_bytes == b->swap_bytes && a->threads == b->threads &&
	       a->pss_known == b->pss_known && a->pss_bytes == b->pss_bytes &&
	       written->late_files == late->file_count &&
	       written->late_unlisted == late->files_unlisted &&
	       written->late_child_ns == late->child_ns &&
	       written->late_shared == late->memory_shared;
}

static void writer_write_late(struct writer *writer, uint64_t id, struct written_process *written,
			      const struct lateness *late)
{
	for (; written->late_files < late->file_count; written->late_files++) {
		const struct late_file *file = &late->files[written->late_files];

		query_number(&writer->add_late, id);
		query_number(&writer->add_late, written->late_files);
		query_text(&writer->add_late, file->path);
		query_number(&writer->add_late, file->ns);
		query_run(&writer->add_late);
	}
	written->late_unlisted = late->files_unlisted;
	written->late_child_ns = late->child_ns;
	written->late_shared = late->memory_shared;
}

static void writer_write_process(struct writer *writer, uint64_t id,
				 struct written_process *written, const struct target *target,
				 size_t listed)
{
	const struct lateness none = { 0 }, *late = target->late ? target->late : &none;
	const struct target_usage *usage = &target->usage;
	struct query *query = &writer->add_process;

	writer_write_late(writer, id, written, late);
	query_number(query, writer->interval);
	query_number(query, id);
	query_number(query, 0);
	query_number(query, listed);
	query_number(query, target->exited);
	query_number(query, target->files_known);
	query_number(query, target->files_first);
	query_number(query, target->files);
	query_number(query, usage->known);
	query_number(query, usage->rss_bytes);
	query_number(query, usage->swap_bytes);
	query_number(query, usage->threads);
	if (usage->pss_known)
		query_number(query, usage->pss_bytes);
	else
		query_null(query);
	query_number(query, late->file_count);
	query_number(query, late->files_unlisted);
	query_number(query, late->child_ns);
	query_number(query, late->memory_shared);
	query_run(query);
	written->target = *target;
	written->listed = listed;
	written->is_written = true;
}

/* The id of a process; `listed`: its place in the list of processes from 1, or 0. */
static uint64_t entry_add_target(struct entry *entry, const struct target *target, size_t listed)
{
	struct writer *writer = entry->writer;
	uint64_t id = (uintptr_t)table_get(&entry->targets, (uintptr_t)target), other = 0;
	struct written_process *written;

	if (id)
		return id;
	/* Several may look the same. */
	do {
		id = interner_target(&writer->interner, target, other++);
		written = writer_process(writer, id);
	} while (written->seen == writer->interval);
	written->seen = writer->interval;
	table_put(&entry->targets, (uintptr_t)target, (void *)(uintptr_t)id);
	if (entry->whole || !process_is_same(written, target, listed))
		writer_write_process(writer, id, written, target, listed);
	return id;
}

static void writer_forget_process(struct writer *writer, uint64_t id)
{
	struct query *query = &writer->add_process;
	int i;

	free(table_remove(&writer->processes, id));
	query_number(query, writer->interval);
	query_number(query, id);
	query_number(query, 1);
	for (i = 3; i < 17; i++)
		query_null(query);
	query_run(query);
}

/* Sites */

/* Are the ages about what a reader of the last row takes them for? */
static bool ages_are_same(const struct written_site *written, const struct snapshot_site *row,
			  uint64_t time_ns)
{
	uint64_t ages[LIFE_CLASSES];

	memcpy(ages, written->row.stats.ages, sizeof(ages));
	classes_grow_older(ages, time_ns - written->ages_ns, row->stats.oldest_ns);
	return !classes_differ(row->stats.ages, ages);
}

static bool site_is_same(const struct written_site *written, const struct snapshot_site *row,
			 const struct births *births)
{
	const struct site_stats *a = &written->row.stats, *b = &row->stats;
	const struct schema_column *column;
	bool same = a->gcs_known == b->gcs_known;

	for (column = schema_figures; column->name; column++)
		same &= *(const uint64_t *)((const char *)a + column->offset) ==
			*(const uint64_t *)((const char *)b + column->offset);
	same &= !memcmp(a->lives.classes, b->lives.classes, sizeof(a->lives.classes));
	return same && written->births.oldest_ns == births->oldest_ns &&
	       written->births.mean_ns == births->mean_ns &&
	       written->births.rest_ns == births->rest_ns;
}

static void writer_set_classes(struct query *query, const uint64_t classes[LIFE_CLASSES])
{
	struct buffer text = { 0 };

	classes_append(&text, classes);
	query_text(query, text.length ? text.data : NULL);
	buffer_free(&text);
}

/* What blocks have lived so far grows while nothing happens: it is written with the time that it is of. */
static void writer_set_lives(struct query *query, const struct written_site *site)
{
	writer_set_classes(query, site->row.stats.lives.classes);
	writer_set_classes(query, site->row.stats.ages);
	query_number(query, site->ages_ns);
}

static void writer_write_figures(struct writer *writer, const struct written_site *site, bool gone)
{
	const struct schema_column *column;
	struct query *query = &writer->add_figures;

	query_number(query, writer->interval);
	query_number(query, site->id);
	query_number(query, gone);
	query_number(query, site->births.oldest_ns);
	query_signed(query, site->births.mean_ns);
	query_number(query, site->births.rest_ns);
	query_number(query, site->row.stats.gcs_known);
	writer_set_lives(query, site);
	for (column = schema_figures; column->name; column++)
		query_number(query,
			     *(const uint64_t *)((const char *)&site->row.stats + column->offset));
	query_run(query);
}

static void writer_write_site(struct writer *writer, const struct written_site *site)
{
	const struct snapshot_site *row = &site->row;
	struct query *query = &writer->add_site;

	query_number(query, site->id);
	query_word(query, row->key);
	query_number(query, site->target);
	query_number(query, site->function);
	query_text(query, source_name(row->source));
	query_text(query, region_name(row->region));
	query_number(query, site->stack);
	query_number(query, row->ended);
	query_number(query, row->sampled);
	query_run(query);
}

/* The site that a row is of, or NULL if none has been written. */
static struct written_site *entry_find_site(struct entry *entry, const struct snapshot_site *row,
					    uint64_t target, uint64_t function)
{
	struct writer *writer = entry->writer;
	struct written_site *site = table_get(&writer->sites, row->key);

	for (; site; site = site->next) {
		if (site->target != target || site->function != function ||
		    site->row.source != row->source || site->row.region != row->region ||
		    site->row.ended != row->ended || site->row.sampled != row->sampled ||
		    site->seen == writer->interval)
			continue;
		if (site->row.stack == row->stack ||
		    site->stack == interner_stack(&writer->interner, entry->snapshot, row->stack))
			return site;
	}
	return NULL;
}

static struct written_site *entry_add_site(struct entry *entry, const struct snapshot_site *row,
					   uint64_t target, uint64_t function)
{
	struct writer *writer = entry->writer;
	struct written_site *site = memory_alloc(1, sizeof(*site));

	site->row = *row;
	site->target = target;
	site->function = function;
	site->row.stack = stack_share((struct stack *)(uintptr_t)row->stack);
	site->stack = interner_stack(&writer->interner, entry->snapshot, row->stack);
	site->id = ++writer->site_count;
	site->next = table_get(&writer->sites, row->key);
	table_put(&writer->sites, row->key, site);
	writer_write_site(writer, site);
	return site;
}

/* Only changes are written. */
static void entry_judge_site(const struct entry *entry, struct written_site *site,
			     const struct snapshot_site *row)
{
	struct writer *writer = entry->writer;
	const struct writer_judge *judge = &writer->judge;
	const char *word = judge->word ? judge->word(judge->context, entry->snapshot, row) : NULL;

	if (word == site->word || (word && site->word && !strcmp(word, site->word)))
		return;
	site->word = word;
	query_number(&writer->add_verdict, writer->interval);
	query_number(&writer->add_verdict, site->id);
	query_text(&writer->add_verdict, word);
	query_run(&writer->add_verdict);
}

static void entry_estimate_site(const struct entry *entry, struct written_site *site,
				const struct snapshot_site *row)
{
	struct writer *writer = entry->writer;
	const struct writer_judge *judge = &writer->judge;
	struct site_estimate estimate;

	if (judge->estimate && judge->estimate(judge->context, row, &estimate))
		budget_writer_estimate(&writer->budget, writer->interval, site->id, &estimate,
				       &site->estimate);
}

static void entry_see_site(struct entry *entry, const struct snapshot_site *seen)
{
	struct writer *writer = entry->writer;
	struct snapshot_site settled = *seen, *row = &settled;
	uint64_t target = entry_add_target(entry, row->target, 0);
	uint64_t function = interner_function(&writer->interner, row->function);
	struct written_site *site = entry_find_site(entry, row, target, function);
	bool is_new = !site;
	struct births births;

	site_stats_settle(&settled.stats);
	births = births_of(&row->stats, entry->snapshot->time_ns);

	if (is_new)
		site = entry_add_site(entry, row, target, function);
	site->seen = writer->interval;
	entry_judge_site(entry, site, row);
	entry_estimate_site(entry, site, row);
	if (!site->named && site->naming < NAMING_MAX) {
		site->naming++;
		site->named = interner_name_stack(&writer->interner, entry->snapshot, row->stack);
	}
	born_writer_write(&writer->born, (struct born_place){ writer->interval, site->id },
			  &row->births, entry->whole, &site->born);
	if (!is_new && !entry->whole && site_is_same(site, row, &births) &&
	    ages_are_same(site, row, entry->snapshot->time_ns))
		return;
	site->row.stats = row->stats;
	site->births = births;
	site->ages_ns = entry->snapshot->time_ns;
	writer_write_figures(writer, site, false);
}

/* Take the sites of a key that the snapshot lacks out of their chain. */
static void writer_forget_sites(struct writer *writer, uint64_t key)
{
	struct written_site *site = table_remove(&writer->sites, key), *next, *left = NULL;

	for (; site; site = next) {
		next = site->next;
		if (site->seen == writer->interval) {
			site->next = left;
			left = site;
			continue;
		}
		writer_write_figures(writer, site, true);
		writer_free_site(site);
	}
	if (left)
		table_put(&writer->sites, key, left);
}

static bool writer_lacks_site(const struct writer *writer, const struct written_site *site)
{
	for (; site; site = site->next)
		if (site->seen != writer->interval)
			return true;
	return false;
}

/* What the snapshot lacks is gone. */
static void writer_forget(struct writer *writer)
{
	uint64_t *keys =
		memory_alloc(writer->sites.count + writer->processes.count + 1, sizeof(*keys));
	const struct table_slot *slot;
	size_t cursor, count = 0, i;

	for (cursor = 0; (slot = table_next(&writer->sites, &cursor));)
		if (writer_lacks_site(writer, slot->value))
			keys[count++] = slot->key;
	for (i = 0; i < count; i++)
		writer_forget_sites(writer, keys[i]);
	count = 0;
	for (cursor = 0; (slot = table_next(&writer->processes, &cursor));)
		if (((const struct written_process *)slot->value)->seen != writer->interval)
			keys[count++] = slot->key;
	for (i = 0; i < count; i++)
		writer_forget_process(writer, keys[i]);
	free(keys);
}

/* Intervals */

static void entry_add_interval(const struct entry *entry)
{
	const struct snapshot *snapshot = entry->snapshot;
	const struct price *price = &snapshot->price;
	struct query *query = &entry->writer->add_interval;
	const struct schema_column *column;

	query_number(query, entry->writer->interval);
	query_signed(query, snapshot->wall_time);
	query_number(query, snapshot->time_ns);
	query_number(query, snapshot->start_ns);
	query_number(query, entry->whole);
	query_number(query, price->counted);
	query_number(query, price->measured);
	for (column = schema_price; column->name; column++)
		query_number(query, *(const uint64_t *)((const char *)price + column->offset));
	query_run(query);
}

static void entry_add_losses(const struct entry *entry)
{
	struct writer *writer = entry->writer;
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++) {
		uint64_t count = entry->snapshot->loss[loss];

		if (count == writer->loss[loss] && !(entry->whole && count))
			continue;
		query_number(&writer->add_loss, writer->interval);
		query_text(&writer->add_loss, loss_name((enum loss)loss));
		query_number(&writer->add_loss, count);
		query_run(&writer->add_loss);
		writer->loss[loss] = count;
	}
}

static void writer_set_marks(struct writer *writer, const char *mark)
{
	query_number(&writer->set_marks, writer->interval);
	query_number(&writer->set_marks, writer->asked);
	query_run(&writer->set_marks);
	if (!mark)
		return;
	query_text(&writer->add_mark, mark);
	query_number(&writer->add_mark, writer->interval);
	query_run(&writer->add_mark);
}

bool writer_sees_mark(struct writer *writer)
{
	bool found = query_next(&writer->find_marks);

	if (found)
		writer->asked = query_take_number(&writer->find_marks, INT64_MAX);
	query_stop(&writer->find_marks);
	return found;
}

int writer_add(struct writer *writer, const struct snapshot *snapshot, const char *mark,
	       struct error *error)
{
	struct entry entry = { .writer = writer, .snapshot = snapshot };
	size_t i;
	int code;

	entry.whole = !writer->interval ||
		      writer->interval - writer->last_whole + 1 >= SCHEMA_WHOLE_EVERY;
	query_run(&writer->begin);
	if (!writer->interval)
		writer_add_value(writer, "id_seed", snapshot->id_seed);
	writer->interval++;
	if (entry.whole)
		writer->last_whole = writer->interval;
	entry_add_interval(&entry);
	writer_set_marks(writer, mark);
	budget_writer_write(&writer->budget, writer->interval, entry.whole, snapshot->budget);
	entry_add_losses(&entry);
	for (i = 0; i < snapshot->target_count; i++)
		entry_add_target(&entry, snapshot->targets[i], i + 1);
	for (i = 0; i < snapshot->site_count; i++)
		entry_see_site(&entry, &snapshot->sites[i]);
	writer_forget(writer);
	query_run(&writer->commit);
	table_free(&entry.targets);
	code = database_finish(&writer->database, error);
	if (!code) {
		thinner_run(&writer->thinner);
		code = database_finish(&writer->database, error);
	}
	if (code)
		database_run(&writer->database, "ROLLBACK");
	return code;
}
