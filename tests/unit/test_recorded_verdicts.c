/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts of a recording are those that a report of the running process had: the truth is a report of the same snapshots with a history
 * of the same moments, and what the made-up programs do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/recorded_file.h"
#include "unit/recorded_run.h"
#include "unit/verdict_sim.h"
#include "analyze/report_verdict.h"
#include "base/units.h"
#include "recording/classes.h"
#include "recording/past_reader.h"
#include "recording/reader.h"

#define TIME_S 120
#define PROGRAMS 5

/* Which site does what, by key. */
enum {
	LEAK = 1, /* one block in twenty is never freed, others live 0.2 s */
	CACHE, /* 200 entries, of which the oldest is replaced */
	REST, /* 30 blocks that are made at once */
	TEMPORARY, /* all are freed at once */
	LATE, /* leaks as the first one from the middle on */
};

struct world {
	struct run *run;
	struct sim sims[PROGRAMS + 1]; /* by key */
	struct history history; /* of a report that sees each moment */
};

static void world_add_blocks(struct sim *sim, int key)
{
	size_t i;

	for (i = 0; i < (key == REST ? 30 : TIME_S * 50); i++) {
		const double birth = key == REST ? 0.01 : (double)i / 50;
		const bool stays = i % 20 == 3 && (key == LEAK || birth > TIME_S / 2.0);

		if (key == LEAK || key == LATE)
			sim_add(sim, birth, stays ? SIM_NEVER : 0.2 + (double)(i % 7) / 100, 100);
		else if (key == CACHE)
			sim_add(sim, birth, 200.0 / 50, 200);
		else
			sim_add(sim, birth, key == REST ? SIM_NEVER : 0.0001, 300);
	}
}

static void world_open(struct world *world)
{
	int key;

	*world = (struct world){ .run = run_new() };
	for (key = LEAK; key <= PROGRAMS; key++) {
		world_add_blocks(&world->sims[key], key);
		sim_begin(&world->sims[key]);
	}
}

static void world_close(struct world *world)
{
	int key;

	for (key = LEAK; key <= PROGRAMS; key++)
		sim_end(&world->sims[key]);
	history_free(&world->history);
	run_free(world->run);
	unlink(recorded_path);
}

static void world_add_site(struct world *world, struct snapshot *snapshot, uint64_t key,
			   double time_s)
{
	struct sim *sim = &world->sims[key];
	struct snapshot_site row = { .key = key,
				     .target = &world->run->targets[0],
				     .function = &world->run->functions[0],
				     .source = SOURCE_HEAP,
				     .stack = world->run->stacks[key] };
	size_t i;

	sim_run(sim, time_s);
	row.stats = sim->stats;
	for (i = 0; i < sim->alive_count; i++)
		site_stats_add_blocks(
			&row.stats,
			&(struct site_blocks){ .age_ns = sim_ns(time_s - sim->alive[i].birth),
					       .bytes = sim->alive[i].size,
					       .objects = 1 },
			0);
	snapshot_add_site(snapshot, &row);
}

/* The next snapshot; times only grow. Free with snapshot_free. */
static struct snapshot *world_snapshot(struct world *world, double time_s)
{
	struct snapshot *snapshot = snapshot_new();
	uint64_t key;

	snapshot->start_ns = SIM_START;
	snapshot->time_ns = SIM_START + sim_ns(time_s);
	snapshot->wall_time = 1767225600;
	snapshot->id_seed = 1;
	snapshot_set_modules(snapshot, &world->run->modules);
	snapshot_hold_names(snapshot, world->run->names);
	snapshot_add_target(snapshot, &world->run->targets[0]);
	for (key = LEAK; key <= PROGRAMS; key++)
		world_add_site(world, snapshot, key, time_s);
	return snapshot;
}

/* As a live session keeps it: collect_keep. */
static void world_keep(struct world *world, const struct snapshot *snapshot)
{
	size_t i;

	if (!history_begin(&world->history, snapshot->time_ns))
		return;
	for (i = 0; i < snapshot->site_count; i++)
		history_set(&world->history, snapshot->sites[i].key, &snapshot->sites[i].stats);
	history_end(&world->history);
}

static char *render(const struct snapshot *snapshot, const struct history *history,
		    const struct report_names *names, const char *format)
{
	const struct report_options options = { .history = history, .sort = SORT_LEAK };

	return run_render_with(snapshot, &options, names, format);
}

static enum verdict_word word_of(const struct snapshot *snapshot, const struct history *history,
				 const struct report_names *names, uint64_t key)
{
	const struct report_options options = { .history = history };
	struct report *report = report_build(snapshot, &options, names);
	enum verdict_word word = VERDICT_NONE;
	size_t i;

	for (i = 0; i < report->site_count; i++)
		if (report->sites[i].origin->key == key)
			word = report->sites[i].verdict.word;
	report_free(report);
	return word;
}

static bool begin(void *context, uint64_t time_ns)
{
	return history_begin(context, time_ns);
}

static void set(void *context, uint64_t key, const struct site_stats *stats)
{
	history_set(context, key, stats);
}

static void end(void *context)
{
	history_end(context);
}

static int load(struct reader *reader, uint64_t interval, struct snapshot **ret_snapshot,
		struct history *ret_history, struct error *error)
{
	const struct past_sink sink = { begin, set, end, ret_history };
	int code = past_reader_read(reader, interval, &sink, error);

	return code ? code : reader_load(reader, interval, ret_snapshot, error);
}

/* As a recorder judges. */
static const char *judge(void *context, const struct snapshot *snapshot,
			 const struct snapshot_site *site)
{
	const struct world *world = context;
	const struct report_options options = { .history = &world->history };

	return verdict_name(report_verdict_of(snapshot, &options, site).word);
}

/* One interval each `step_s`, and at each of `marks`, which are in order. */
static void record_at(struct world *world, double step_s, const double *marks, size_t mark_count)
{
	const struct writer_options options = { .names = run_names(world->run),
						.host = "here",
						.interval_ns = sim_ns(step_s) };
	struct error error = { 0 };
	struct writer writer;
	double tick_s = step_s;
	size_t mark = 0;

	assert_int_equal(writer_open(&writer, recorded_path, &options, &error), 0);
	while (tick_s <= TIME_S) {
		const bool is_mark = mark < mark_count && marks[mark] < tick_s;
		struct snapshot *snapshot = world_snapshot(world, is_mark ? marks[mark] : tick_s);

		assert_int_equal(writer_add(&writer, snapshot, NULL, &error), 0);
		snapshot_free(snapshot);
		if (is_mark)
			mark++;
		else
			tick_s += step_s;
	}
	assert_int_equal(writer_close(&writer, &error), 0);
}

/* One interval each `step_s`; the texts that live reports of them had. */
static size_t record(struct world *world, double step_s, uint64_t limit, char **texts)
{
	const struct report_names live = { run_lookup, world->run, run_hint };
	const struct writer_options options = { .names = run_names(world->run),
						.judge = { .word = judge, .context = world },
						.host = "here",
						.limit = limit };
	struct error error = { 0 };
	struct writer writer;
	size_t count = 0;
	double time_s;

	assert_int_equal(writer_open(&writer, recorded_path, &options, &error), 0);
	for (time_s = step_s; time_s <= TIME_S; time_s += step_s) {
		struct snapshot *snapshot = world_snapshot(world, time_s);

		world_keep(world, snapshot);
		if (texts)
			texts[count] = render(snapshot, &world->history, &live, "json");
		count++;
		assert_int_equal(writer_add(&writer, snapshot, NULL, &error), 0);
		snapshot_free(snapshot);
	}
	assert_int_equal(writer_close(&writer, &error), 0);
	return count;
}

static void open_reader(struct reader *reader)
{
	struct error error = { 0 };

	if (reader_open(reader, recorded_path, &error))
		fail_msg("%s", error.text);
}

/* The report of an interval, which is to be freed. */
static char *recorded(struct reader *reader, uint64_t interval, const char *format)
{
	const struct report_names names = recorded_names(reader);
	struct history history = { 0 };
	struct error error = { 0 };
	struct snapshot *snapshot;
	char *text;

	if (load(reader, interval, &snapshot, &history, &error))
		fail_msg("%s", error.text);
	text = render(snapshot, &history, &names, format);
	snapshot_free(snapshot);
	history_free(&history);
	return text;
}

static void check_word(struct reader *reader, uint64_t interval, uint64_t key,
		       enum verdict_word wanted)
{
	const struct report_names names = recorded_names(reader);
	struct history history = { 0 };
	struct error error = { 0 };
	struct snapshot *snapshot;

	if (load(reader, interval, &snapshot, &history, &error))
		fail_msg("%s", error.text);
	assert_string_equal(verdict_name(word_of(snapshot, &history, &names, key)),
			    verdict_name(wanted));
	snapshot_free(snapshot);
	history_free(&history);
}

/* Texts are long: the place where they differ. */
static void check_texts(size_t interval, const char *text, const char *wanted)
{
	size_t same = 0;

	while (text[same] && text[same] == wanted[same])
		same++;
	if (text[same] != wanted[same])
		fail_msg("interval %zu: ...%.300s\nin place of ...%.300s", interval,
			 text + (same > 100 ? same - 100 : 0),
			 wanted + (same > 100 ? same - 100 : 0));
}

/* At each interval, all of the report is that of the live one, to the last number of a verdict. */
static void test_as_live(void **state)
{
	char *texts[2 * TIME_S] = { NULL }, *text;
	struct world world;
	struct reader reader;
	size_t count, i;

	(void)state;
	world_open(&world);
	count = record(&world, 1, 0, texts);
	assert_int_equal(count, TIME_S);
	open_reader(&reader);
	assert_true(past_reader_is_known(&reader));
	for (i = 0; i < count; i++) {
		text = recorded(&reader, i + 1, "json");
		check_texts(i + 1, text, texts[i]);
		assert_non_null(strstr(text, "\"verdict\""));
		free(text);
		free(texts[i]);
	}
	text = recorded(&reader, count, "text");
	assert_non_null(strstr(text, "never freed"));
	free(text);
	check_word(&reader, count, LEAK, VERDICT_LEAK);
	check_word(&reader, count, CACHE, VERDICT_CACHE);
	check_word(&reader, count, REST, VERDICT_WARM_UP);
	check_word(&reader, count, TEMPORARY, VERDICT_TEMPORARY);
	check_word(&reader, count, LATE, VERDICT_LEAK);
	/* It has not begun then. */
	check_word(&reader, 50, LEAK, VERDICT_LEAK);
	check_word(&reader, 50, LATE, VERDICT_TEMPORARY);
	check_word(&reader, 10, LEAK, VERDICT_UNKNOWN);
	reader_close(&reader);
	world_close(&world);
}

/* The verdict of the leak at an interval. */
static struct verdict leak_at(struct reader *reader, uint64_t interval)
{
	const struct report_names names = recorded_names(reader);
	struct history history = { .step_ns = reader->interval_ns };
	const struct report_options options = { .history = &history };
	struct error error = { 0 };
	struct snapshot *snapshot;
	struct verdict verdict = { 0 };
	struct report *report;
	size_t i;

	if (load(reader, interval, &snapshot, &history, &error))
		fail_msg("%s", error.text);
	report = report_build(snapshot, &options, &names);
	for (i = 0; i < report->site_count; i++)
		if (report->sites[i].origin->key == LEAK)
			verdict = report->sites[i].verdict;
	report_free(report);
	snapshot_free(snapshot);
	history_free(&history);
	return verdict;
}

/*
 * After the time to wait there is a verdict. The truth is the recording itself: what its later intervals have. With marks: at each of these
 * times there is an interval, too, which comes sooner than the next one of INTERVAL.
 */
static void check_wait(double step_s, const double *marks, size_t mark_count)
{
	const uint64_t step_ns = sim_ns(step_s);
	struct world world;
	struct reader reader;
	uint64_t i, time_ns, then;

	world_open(&world);
	record_at(&world, step_s, marks, mark_count);
	open_reader(&reader);
	assert_int_equal(reader.interval_ns, step_ns);
	for (i = 1; leak_at(&reader, i).word == VERDICT_UNKNOWN; i++) {
		const struct verdict verdict = leak_at(&reader, i);
		const struct moment later = { .kind = MOMENT_AFTER,
					      .after_ns = verdict.time_ns + verdict.wait_ns };

		time_ns = verdict.time_ns;
		assert_in_range(verdict.wait_ns, 1, 16 * step_ns);
		assert_int_equal(reader_find(&reader, &later, &then, &(struct error){ 0 }), 0);
		if (leak_at(&reader, then).word == VERDICT_UNKNOWN)
			fail_msg("at %g s of steps of %g s: not after %g s", (double)time_ns / 1e9,
				 step_s, (double)verdict.wait_ns / 1e9);
	}
	/* As docs/recordings.md has it; marks make it sooner. */
	assert_int_equal(i, 15);
	reader_close(&reader);
	world_close(&world);
}

static void test_wait(void **state)
{
	static const double marks[] = { 0.1, 0.4, 3.1 };

	(void)state;
	check_wait(1, NULL, 0);
	check_wait(2, NULL, 0);
	check_wait(5, NULL, 0);
	check_wait(2, marks, 3);
	check_wait(5, marks, 3);
}

static void check_recorded_word(sqlite3 *handle, uint64_t interval, uint64_t key,
				enum verdict_word wanted)
{
	sqlite3_stmt *statement;

	assert_int_equal(
		sqlite3_prepare_v2(handle,
				   "SELECT word FROM verdict v JOIN site s ON s.id = v.site"
				   " WHERE s.key = ? AND v.interval <= ?"
				   " ORDER BY v.interval DESC LIMIT 1",
				   -1, &statement, NULL),
		SQLITE_OK);
	sqlite3_bind_int64(statement, 1, (int64_t)key);
	sqlite3_bind_int64(statement, 2, (int64_t)interval);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	assert_string_equal(sqlite3_column_text(statement, 0), verdict_name(wanted));
	sqlite3_finalize(statement);
}

static int count_row(void *rows, int columns, char **values, char **names)
{
	(void)columns, (void)values, (void)names;
	++*(int *)rows;
	return 0;
}

/* The table has at each interval what a report of it has, in few rows. */
static void test_table(void **state)
{
	struct world world;
	struct reader reader;
	sqlite3 *handle;
	uint64_t i, count;
	int rows = 0;

	(void)state;
	world_open(&world);
	count = record(&world, 1, 0, NULL);
	open_reader(&reader);
	handle = recorded_open();
	for (i = 1; i <= count; i++) {
		const struct report_names names = recorded_names(&reader);
		struct history history = { 0 };
		struct error error = { 0 };
		struct snapshot *snapshot;
		uint64_t key;

		assert_int_equal(load(&reader, i, &snapshot, &history, &error), 0);
		for (key = LEAK; key <= PROGRAMS; key++)
			check_recorded_word(handle, i, key,
					    word_of(snapshot, &history, &names, key));
		snapshot_free(snapshot);
		history_free(&history);
	}
	check_recorded_word(handle, count, LATE, VERDICT_LEAK);
	check_recorded_word(handle, 50, LATE, VERDICT_TEMPORARY);
	assert_int_equal(sqlite3_exec(handle, "SELECT 1 FROM verdict", count_row, &rows, NULL), 0);
	assert_in_range(rows, 2 * PROGRAMS, 8 * PROGRAMS);
	sqlite3_close(handle);
	reader_close(&reader);
	world_close(&world);
}

/* With -v the text has since when a site leaks: the moment that SQL has. */
static void test_since(void **state)
{
	char wanted[80], time[UNITS_TEXT_MAX], *text;
	struct world world;
	struct reader reader;
	int64_t interval;

	(void)state;
	world_open(&world);
	record(&world, 1, 0, NULL);
	interval = recorded_ask("SELECT max(v.interval) FROM verdict v JOIN site s ON"
				" s.id = v.site WHERE s.key = 5 AND v.word = 'leak'");
	assert_in_range(interval, TIME_S / 2, TIME_S);
	snprintf(wanted, sizeof(wanted), "; since %s of tracing",
		 units_format_time((uint64_t)interval * 1000000000, time));
	open_reader(&reader);
	text = recorded(&reader, TIME_S, "text");
	if (!strstr(text, wanted))
		fail_msg("no '%s' in %s", wanted, text);
	free(text);
	text = recorded(&reader, (uint64_t)interval - 1, "text");
	assert_null(strstr(text, wanted));
	free(text);
	reader_close(&reader);
	world_close(&world);
}

/* What --limit has taken out makes verdicts less fine, and no cache a leak. */
static void test_thinned(void **state)
{
	struct world world;
	struct reader reader;
	struct stat status;
	size_t count;

	(void)state;
	world_open(&world);
	count = record(&world, 0.25, 150 << 10, NULL);
	assert_int_equal(stat(recorded_path, &status), 0);
	assert_in_range(status.st_size, 110 << 10, 166 << 10);
	open_reader(&reader);
	check_word(&reader, count, LEAK, VERDICT_LEAK);
	check_word(&reader, count, CACHE, VERDICT_CACHE);
	check_word(&reader, count, REST, VERDICT_WARM_UP);
	reader_close(&reader);
	world_close(&world);
}

/* A recording of a version before has no columns for lifespans. */
static void test_former_version(void **state)
{
	struct error error = { 0 };
	struct snapshot *snapshot;
	struct world world;
	struct reader reader;

	(void)state;
	world_open(&world);
	record(&world, 10, 0, NULL);
	recorded_change(
		"ALTER TABLE figures DROP COLUMN lives; ALTER TABLE figures DROP COLUMN ages;"
		"ALTER TABLE figures DROP COLUMN ages_ns;"
		"ALTER TABLE figures DROP COLUMN life_units;");
	open_reader(&reader);
	assert_false(past_reader_is_known(&reader));
	assert_int_equal(reader_load(&reader, 3, &snapshot, &error), 0);
	assert_int_equal(snapshot->site_count, PROGRAMS);
	snapshot_free(snapshot);
	reader_close(&reader);
	world_close(&world);
}

static const char *const attacks[] = {
	"lives = '[1,2'",
	"lives = '[]'",
	"lives = '[1,]'",
	"lives = '[-1]'",
	"lives = '[1] '",
	"lives = 'x'",
	"lives = ''",
	"lives = 7",
	"lives = x'5b315d00'",
	"ages = '[1e3]'",
	"ages = '[ 1]'",
	"ages = '[9223372036854775808]'",
	"ages_ns = -1",
	"ages_ns = NULL",
	"life_units = -1",
	"life_longest = 'x'",
	"lives = '[' || replace(hex(zeroblob(99)), '00', '1,') || '1]'",
};

static void test_hostile(void **state)
{
	char sql[160];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		struct history history = { 0 };
		struct error error = { 0 };
		struct snapshot *snapshot;
		struct world world;
		struct reader reader;

		world_open(&world);
		record(&world, 40, 0, NULL);
		snprintf(sql, sizeof(sql), "UPDATE figures SET %s", attacks[i]);
		recorded_change(sql);
		open_reader(&reader);
		if (!load(&reader, 3, &snapshot, &history, &error))
			fail_msg("taken in spite of %s", attacks[i]);
		assert_int_equal(error.kind, ERROR_USAGE);
		history_free(&history);
		reader_close(&reader);
		world_close(&world);
	}
}

/* Values that contradict each other, and what the message has: table, row and values. */
static const char *const contradictions[][2] = {
	{ "UPDATE figures SET free_bytes = alloc_bytes + 1",
	  "figures of site 1 at interval 1: free_bytes of" },
	{ "UPDATE figures SET free_objects = 99999999 WHERE site = 2",
	  "figures of site 2 at interval 1: free_objects of 99999999 is more than alloc_objects" },
	{ "UPDATE figures SET life_untimed = free_objects + 1 WHERE interval = 2",
	  "at interval 2: life_untimed of" },
	{ "UPDATE figures SET life_temporary = 8888888", "life_temporary of 8888888 is more than" },
	{ "UPDATE figures SET lives = '[7777777]'", "the sum of lives of 7777777 is more than" },
	{ "UPDATE figures SET lives = '[9223372036854775807,9223372036854775807,9]'",
	  "the sum of lives of 18446744073709551615 is more than free_objects" },
	{ "UPDATE figures SET ages = '[1,6666666]'",
	  "the sum of ages of 6666667 is more than the blocks in use" },
	{ "UPDATE figures SET ages_ns = 0", "ages_ns of 0 is not between" },
	{ "UPDATE figures SET ages_ns = 4000000000000000000",
	  "ages_ns of 4000000000000000000 is not between" },
	{ "UPDATE interval SET time_ns = 4000000000000000000 - id WHERE id < 3",
	  "is not after 3999999999999999999 of the one before" },
	{ "UPDATE interval SET time_ns = (SELECT time_ns FROM interval WHERE id = 3) WHERE id = 2",
	  "interval 3: time_ns of" },
	{ "UPDATE interval SET start_ns = time_ns + 1",
	  "interval 3: start_ns is after its time_ns" },
	{ "UPDATE site SET key = 1", "its key 1 is" },
};

static void test_contradictions(void **state)
{
	size_t i;
	int whole;

	(void)state;
	for (i = 0; i < 2 * sizeof(contradictions) / sizeof(contradictions[0]); i++) {
		const char *const *attack = contradictions[i / 2];
		struct history history = { 0 };
		struct error error = { 0 };
		struct snapshot *snapshot;
		struct world world;
		struct reader reader;
		int code;

		whole = i % 2;
		world_open(&world);
		record(&world, 40, 0, NULL);
		recorded_change(attack[0]);
		open_reader(&reader);
		/* As reports read it, with what was before, and as differences do. */
		code = whole ? load(&reader, 3, &snapshot, &history, &error)
			     : reader_load(&reader, 3, &snapshot, &error);
		if (!code)
			fail_msg("taken in spite of %s", attack[0]);
		assert_int_equal(error.kind, ERROR_USAGE);
		if (!strstr(error.text, attack[1]))
			fail_msg("%s: %s", attack[0], error.text);
		history_free(&history);
		reader_close(&reader);
		world_close(&world);
	}
}

/* Numbers that are as large as they can be, and agree, are read. */
static void test_extremes(void **state)
{
	struct world world;
	struct reader reader;
	char *text;

	(void)state;
	world_open(&world);
	record(&world, 40, 0, NULL);
	recorded_change("UPDATE figures SET alloc_bytes = 9223372036854775807, free_bytes = 0,"
			" alloc_objects = 9223372036854775807, free_objects = 4611686018427387903,"
			" ages = '[1,4611686018427387903]', lives = '[4611686018427387903]',"
			" life_units = 9223372036854775807, life_longest = 9223372036854775807");
	open_reader(&reader);
	text = recorded(&reader, 3, "json");
	assert_non_null(strstr(text, "\"verdict\""));
	free(text);
	reader_close(&reader);
	world_close(&world);
}

/* Counters that were read while they changed are made to agree before they are written. */
static void test_settled(void **state)
{
	struct world world;
	struct reader reader;
	struct site_stats *stats;
	struct snapshot *snapshot;
	struct error error = { 0 };
	struct writer writer;
	const struct writer_options options = { .host = "here" };

	(void)state;
	world_open(&world);
	snapshot = world_snapshot(&world, 40);
	assert_int_equal(snapshot->sites[0].key, LEAK);
	stats = &snapshot->sites[0].stats;
	stats->free_objects = stats->alloc_objects + 1;
	stats->free_bytes = stats->alloc_bytes + 100;
	stats->lives.temporary = stats->lives.untimed = stats->free_objects;
	stats->lives.classes[3] += stats->free_objects;
	stats->ages[0] = 2;
	assert_int_equal(writer_open(&writer, recorded_path, &options, &error), 0);
	assert_int_equal(writer_add(&writer, snapshot, NULL, &error), 0);
	assert_int_equal(writer_close(&writer, &error), 0);
	snapshot_free(snapshot);
	open_reader(&reader);
	if (reader_load(&reader, 1, &snapshot, &error))
		fail_msg("%s", error.text);
	snapshot_free(snapshot);
	reader_close(&reader);
	world_close(&world);
}

static uint64_t sum_of(const uint64_t classes[LIFE_CLASSES])
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < LIFE_CLASSES; i++)
		sum += classes[i];
	return sum;
}

/* Blocks of one class are as old as that, and so are they later: whatever the time, they are in the classes where such ages are. */
static void test_grow_older(void **state)
{
	uint64_t ages[LIFE_CLASSES] = { [5] = 1000, [0] = 3 }, ns;
	unsigned int from, to, i;

	(void)state;
	for (ns = 1; ns < 1ull << 45; ns *= 3) {
		uint64_t older[LIFE_CLASSES];

		memcpy(older, ages, sizeof(older));
		classes_grow_older(older, ns, 0);
		assert_int_equal(sum_of(older), 1003);
		from = lifespans_class(ns);
		to = lifespans_class(lifespans_class_end(5) + ns);
		for (i = 0; i < LIFE_CLASSES; i++)
			if (i < from || i > to)
				assert_int_equal(older[i], 0);
	}
	/* From 1,048,576 to 2,097,152 ns, and half a class later: half of them are in the next one. */
	classes_grow_older(ages, 524288, 0);
	assert_int_equal(ages[5], 500);
	assert_int_equal(ages[6], 500);
	assert_int_equal(ages[4], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_live),	       cmocka_unit_test(test_wait),
		cmocka_unit_test(test_thinned),	       cmocka_unit_test(test_table),
		cmocka_unit_test(test_former_version), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_settled),
		cmocka_unit_test(test_since),	       cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_grow_older),
	};

	return cmocka_run_group_tests(tests, recorded_make_folder, recorded_remove_folder);
}
