/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writer and reader together: what is read is what was written, whatever ended the writer, and whoever wrote the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorded_run.h"
#include "recording/budget_schema.h"
#include "recording/marker.h"
#include "recording/reader.h"
#include "recording/schema.h"

#define HOUR 3600
#define STEP 5
#define KILLS 100

static char folder[64], path[80];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test_recording-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/%%x#?.db", folder);
	return 0;
}

static void remove_file(const char *end)
{
	char name[96];

	snprintf(name, sizeof(name), "%s%s", path, end);
	unlink(name);
}

static void remove_files(void)
{
	remove_file("");
	remove_file("-wal");
	remove_file("-shm");
}

static int remove_folder(void **state)
{
	(void)state;
	remove_files();
	return rmdir(folder);
}

static void open_limited(struct run *run, struct writer *writer, uint64_t limit)
{
	const struct writer_options options = { .names = run_names(run),
						.min_age_ns = 12,
						.survived = 1,
						.limit = limit,
						.host = "here" };
	struct error error = { 0 };

	assert_int_equal(writer_open(writer, path, &options, &error), 0);
}

static void open_writer(struct run *run, struct writer *writer)
{
	open_limited(run, writer, 0);
}

static void write_seconds(struct run *run, struct writer *writer, uint64_t from, uint64_t to,
			  uint64_t step)
{
	struct error error = { 0 };
	uint64_t second;

	for (second = from; second <= to; second += step) {
		struct snapshot *snapshot = run_snapshot(run, second);

		assert_int_equal(writer_add(writer, snapshot, second == 30 ? "m1" : NULL, &error),
				 0);
		snapshot_free(snapshot);
	}
}

static void close_writer(struct writer *writer)
{
	struct error error = { 0 };

	assert_int_equal(writer_close(writer, &error), 0);
}

static void open_reader(struct reader *reader)
{
	struct error error = { 0 };

	if (reader_open(reader, path, &error))
		fail_msg("%s", error.text);
}

static const struct symbol_list *lookup(void *context, const struct frame *frame)
{
	return reader_lookup(context, frame);
}

static const char *hint(void *context, const struct frame *frame)
{
	return reader_hint(context, frame);
}

/* Is what the recording has of a second what the run had then, to the last figure and name? */
static void check_second(struct run *run, struct reader *reader, uint64_t interval, uint64_t second,
			 const char *format)
{
	const struct report_names live = { run_lookup, run, run_hint };
	const struct report_names recorded = { lookup, reader, hint };
	struct snapshot *wanted = run_snapshot(run, second), *loaded;
	struct error error = { 0 };
	char *wanted_text, *loaded_text;

	if (reader_load(reader, interval, &loaded, &error))
		fail_msg("%s", error.text);
	assert_int_equal(loaded->id_seed, wanted->id_seed);
	wanted_text = run_render(wanted, &live, format);
	loaded_text = run_render(loaded, &recorded, format);
	assert_string_equal(loaded_text, wanted_text);
	assert_true(strlen(wanted_text) > 200);
	free(wanted_text);
	free(loaded_text);
	snapshot_free(wanted);
	snapshot_free(loaded);
}

/* NULL = the last one. */
static uint64_t find(struct reader *reader, const char *text)
{
	struct moment moment = { .kind = MOMENT_LAST };
	struct error error = { 0 };
	uint64_t interval = 0;

	if (text)
		moment = reader_parse_moment(text);
	if (reader_find(reader, &moment, &interval, &error))
		fail_msg("%s", error.text);
	return interval;
}

/* Every interval of an hour, of which most sites are quiet. */
static void test_an_hour(void **state)
{
	struct run *run = run_new();
	struct writer writer;
	struct reader reader;
	uint64_t second;

	(void)state;
	open_writer(run, &writer);
	write_seconds(run, &writer, STEP, HOUR, STEP);
	close_writer(&writer);
	open_reader(&reader);
	assert_int_equal(reader.min_age_ns, 12);
	assert_int_equal(reader.survived, 1);
	for (second = STEP; second <= HOUR; second += STEP)
		check_second(run, &reader, second / STEP, second, "json");
	check_second(run, &reader, 3, 3 * STEP, "text");
	check_second(run, &reader, 300, 300 * STEP, "folded");
	assert_int_equal(find(&reader, "0"), 1);
	assert_int_equal(find(&reader, "10m"), 120);
	assert_int_equal(find(&reader, "m1"), 6);
	assert_int_equal(find(&reader, "1h"), HOUR / STEP);
	assert_int_equal(find(&reader, "2026-01-01T00:01:01Z"), 12);
	reader_close(&reader);
	run_free(run);
	remove_files();
}

static sqlite3 *open_raw(void)
{
	sqlite3 *handle;

	assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	return handle;
}

static int64_t ask_raw(sqlite3 *handle, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t number;

	assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

/* A site in which nothing happens has a row where all have one, and no other. */
static void test_quiet_sites_take_nothing(void **state)
{
	struct run *run = run_new();
	struct writer writer;
	sqlite3 *handle;

	(void)state;
	open_writer(run, &writer);
	write_seconds(run, &writer, 60, 60 + 10 * SCHEMA_WHOLE_EVERY - 1, 1);
	close_writer(&writer);
	handle = open_raw();
	assert_int_equal(ask_raw(handle, "SELECT count(*) FROM interval WHERE whole"), 10);
	/* Site 7 rests: its blocks only get older. */
	assert_int_equal(ask_raw(handle, "SELECT count(*) FROM figures JOIN site ON site = id"
					 " WHERE key = 1007"),
			 10);
	assert_int_equal(ask_raw(handle, "SELECT count(*) FROM figures JOIN site ON site = id"
					 " WHERE key = 1000 AND NOT ended"),
			 10 * SCHEMA_WHOLE_EVERY);
	sqlite3_close(handle);
	run_free(run);
	remove_files();
}

/*
 * Where the file is too large, old intervals are taken out: those that are left are exact, the first, the last and the marked one
 * among them, and there are more of what was lately.
 */
static void test_limit(void **state)
{
	const uint64_t limit = 160 << 10;
	struct run *run = run_new();
	struct writer writer;
	struct reader reader;
	struct stat status;
	sqlite3 *handle;
	int64_t seconds[HOUR], count = 0, i;

	(void)state;
	open_limited(run, &writer, limit);
	write_seconds(run, &writer, STEP, HOUR, STEP);
	close_writer(&writer);
	assert_int_equal(stat(path, &status), 0);
	/* It may be too large by what one interval has. */
	assert_true((uint64_t)status.st_size <= limit + (16 << 10));
	handle = open_raw();
	for (i = 1; i <= HOUR / STEP; i++) {
		char sql[80];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM interval WHERE id = %d", (int)i);
		if (ask_raw(handle, sql))
			seconds[count++] = i;
	}
	assert_in_range(ask_raw(handle, "SELECT count(*) FROM interval WHERE id > 600"),
			1 + ask_raw(handle, "SELECT count(*) FROM interval WHERE id <= 120"), 120);
	sqlite3_close(handle);
	assert_in_range(count, 20, 600);
	assert_int_equal(seconds[0], 1);
	assert_int_equal(seconds[count - 1], HOUR / STEP);
	open_reader(&reader);
	assert_int_equal(find(&reader, "m1"), 6);
	for (i = 0; i < count; i++)
		check_second(run, &reader, (uint64_t)seconds[i], (uint64_t)seconds[i] * STEP,
			     "json");
	reader_close(&reader);
	run_free(run);
	remove_files();
}

/* Write until killed, and write to `pipe` the number of each interval that is committed. */
static void write_until_killed(int pipe)
{
	const struct writer_options options = { .host = "here" };
	struct run *run = run_new();
	struct writer writer;
	struct error error = { 0 };
	uint64_t second;

	if (writer_open(&writer, path, &options, &error))
		_exit(1);
	for (second = 1;; second++) {
		struct snapshot *snapshot = run_snapshot(run, second);

		if (writer_add(&writer, snapshot, NULL, &error) ||
		    write(pipe, &second, sizeof(second)) != sizeof(second))
			_exit(1);
		snapshot_free(snapshot);
	}
}

/* Start a writer, and kill it when it has committed `count` intervals and `ns` have passed. Returns the last that it named. */
static uint64_t kill_writer(uint64_t count, long ns)
{
	const struct timespec rest = { .tv_nsec = ns };
	uint64_t last = 0, next;
	int pipes[2], status;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(pipes[0]);
		write_until_killed(pipes[1]);
	}
	close(pipes[1]);
	while (last < count && read(pipes[0], &next, sizeof(next)) == sizeof(next))
		last = next;
	nanosleep(&rest, NULL);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	while (read(pipes[0], &next, sizeof(next)) == sizeof(next))
		last = next;
	close(pipes[0]);
	return last;
}

static void check_integrity(void)
{
	sqlite3 *handle = open_raw();
	sqlite3_stmt *statement;

	assert_int_equal(sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	assert_string_equal(sqlite3_column_text(statement, 0), "ok");
	sqlite3_finalize(statement);
	sqlite3_close(handle);
}

/* At any moment: no interval that was committed is lost, and none is half there. */
static void test_killed(void **state)
{
	uint64_t random = 88172645463325252ull, committed, last;
	struct run *run = run_new();
	struct reader reader;
	int i;

	(void)state;
	for (i = 0; i < KILLS; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		committed = kill_writer(1 + random % 12, (long)(random >> 32) % 2000000);
		/* As it was left, and once more when another program has cleaned up. */
		open_reader(&reader);
		reader_close(&reader);
		check_integrity();
		open_reader(&reader);
		last = find(&reader, NULL);
		/* The last one may be committed before its number is written. */
		assert_in_range(last, committed, committed + 1);
		assert_int_equal(reader_lookup(&reader, &(struct frame){ 0 })->count, 1);
		reader_close(&reader);
		remove_files();
	}
	run_free(run);
}

/* A mark that another program asks for is of the next interval, unless there is none. */
static void test_marker(void **state)
{
	struct run *run = run_new();
	struct writer writer;
	struct marker marker, late;
	struct error error = { 0 };
	uint64_t after = 0;
	struct reader reader;

	(void)state;
	open_writer(run, &writer);
	write_seconds(run, &writer, 1, 2, 1);
	assert_false(writer_sees_mark(&writer));
	assert_int_equal(marker_open(&marker, path, "here", &error), 0);
	/* It is asked for, but the snapshot may be older. */
	write_seconds(run, &writer, 3, 3, 1);
	assert_int_equal(marker_look(&marker, &after, &error), 0);
	assert_true(writer_sees_mark(&writer));
	write_seconds(run, &writer, 4, 4, 1);
	assert_false(writer_sees_mark(&writer));
	assert_int_equal(marker_look(&marker, &after, &error), 1);
	assert_int_equal(after, 4 * RUN_SECOND);
	marker_close(&marker);
	assert_int_equal(marker_open(&late, path, "late", &error), 0);
	close_writer(&writer);
	assert_int_equal(marker_look(&late, &after, &error), -ESRCH);
	assert_int_equal(error.kind, ERROR_TARGET);
	marker_close(&late);
	assert_int_equal(marker_open(&late, path, "later", &error), -ESRCH);
	open_reader(&reader);
	assert_int_equal(find(&reader, "here"), 4);
	reader_close(&reader);
	run_free(run);
	remove_files();
}

/* Nothing is overwritten, and no link is followed. */
static void test_create(void **state)
{
	const struct writer_options options = { .host = "here" };
	struct error error = { 0 }, linked = { 0 };
	struct writer writer;
	struct run *run = run_new();
	struct stat status;
	char other[96];

	(void)state;
	open_writer(run, &writer);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	close_writer(&writer);
	assert_int_equal(writer_open(&writer, path, &options, &error), -EEXIST);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_non_null(strstr(error.text, "will not overwrite"));
	remove_files();
	snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(symlink(other, path), 0);
	assert_true(writer_open(&writer, path, &options, &linked) < 0);
	assert_int_equal(access(other, F_OK), -1);
	remove_files();
	run_free(run);
}

static void refuse(const char *expected)
{
	struct error error = { 0 };
	struct reader reader;
	struct snapshot *snapshot;
	int code = reader_open(&reader, path, &error);

	if (!code) {
		code = reader_load(&reader, 2, &snapshot, &error);
		if (!code)
			fail_msg("taken in spite of '%s'", expected);
	}
	/* What could not be opened may be closed, too. */
	reader_close(&reader);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_null(strchr(error.text, '\x1b'));
	if (!strstr(error.text, expected))
		fail_msg("'%s' in place of '%s'", error.text, expected);
}

/* What is done to a good recording, and with what it is refused then; NULL = it is read as before. */
static const char *const attacks[][2] = {
	{ "UPDATE frame SET caller = id", "a number is out of its range" },
	{ "UPDATE frame SET caller = 99999", "out of its range" },
	{ "UPDATE frame SET kind = 'x'", "unknown kind" },
	{ "UPDATE frame SET kind = NULL", "unknown kind" },
	{ "UPDATE frame SET module = 9", "module is missing" },
	{ "UPDATE frame SET reason = NULL", "no reason" },
	{ "UPDATE frame SET whole = 2", "out of its range" },
	{ "DELETE FROM frame", "frame is missing" },
	{ "UPDATE module SET build_id = 'zz'", "a build ID is none" },
	{ "UPDATE module SET path = x'00ff'", "a text is no text" },
	{ "UPDATE module SET path = 'a' || char(0) || 'b'", "a text is no text" },
	{ "UPDATE module SET device = 'x'", "a number is missing" },
	{ "UPDATE recording SET value = 'x' WHERE name = 'min_age_ns'", "a number is missing" },
	{ "UPDATE figures SET alloc_bytes = -1", "out of its range" },
	{ "UPDATE figures SET alloc_bytes = 'many'", "a number is missing" },
	{ "UPDATE figures SET free_objects = 1.5", "a number is missing" },
	{ "UPDATE figures SET gone = 7", "out of its range" },
	{ "UPDATE site SET target = 77", "of no process" },
	{ "UPDATE site SET function = 77", "function is missing" },
	{ "UPDATE site SET source = 'x'", "unknown" },
	{ "UPDATE site SET region = 'x'", "unknown" },
	{ "UPDATE site SET stack = 12345", "frame is missing" },
	{ "DELETE FROM site", "site is missing" },
	{ "UPDATE function SET function = ''", "has no name" },
	{ "DELETE FROM target", "process is missing" },
	{ "UPDATE target SET pid = 99999999999", "out of its range" },
	{ "UPDATE process SET late_files = 17", "out of its range" },
	{ "UPDATE process SET late_files = 16", "late file is missing" },
	{ "UPDATE interval SET time_ns = 9223372036854775807", "out of its range" },
	{ "UPDATE interval SET whole = 0", "no interval has all figures" },
	{ "DELETE FROM interval", "an interval is missing" },
	{ "ALTER TABLE figures RENAME TO f; CREATE VIEW figures AS SELECT * FROM f", "views" },
	{ "CREATE TRIGGER t AFTER INSERT ON mark BEGIN SELECT 1; END", "triggers" },
	{ "ALTER TABLE name ADD x AS (zeroblob(1000000000))", NULL },
	{ "DROP TABLE figures", "cannot read the recording" },
	{ "ALTER TABLE site DROP COLUMN stack", "cannot read the recording" },
	{ "PRAGMA user_version = 2", "later version" },
	{ "PRAGMA user_version = 0", "no version" },
	{ "PRAGMA application_id = 0", "no recording of tracer" },
};

static void test_hostile(void **state)
{
	struct run *run = run_new();
	struct writer writer;
	struct reader reader;
	sqlite3 *handle;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		open_writer(run, &writer);
		write_seconds(run, &writer, 1, 3, 1);
		close_writer(&writer);
		handle = open_raw();
		if (sqlite3_exec(handle, attacks[i][0], NULL, NULL, NULL))
			fail_msg("%s: %s", attacks[i][0], sqlite3_errmsg(handle));
		sqlite3_close(handle);
		if (attacks[i][1]) {
			refuse(attacks[i][1]);
		} else {
			open_reader(&reader);
			check_second(run, &reader, 2, 2, "json");
			reader_close(&reader);
		}
		remove_files();
	}
	run_free(run);
}

/* Files that are no database at all, or not all of one. */
static void test_other_files(void **state)
{
	struct run *run = run_new();
	struct writer writer;
	FILE *file;

	(void)state;
	refuse("No such file");
	assert_int_equal(mkdir(path, 0700), 0);
	refuse("it is no file");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuse("it is no file");
	remove_files();
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	refuse("no recording of tracer");
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("This is a text, and longer than the header of a database is, which has one "
	      "hundred bytes.\n",
	      file);
	fclose(file);
	refuse("cannot read the recording");
	remove_files();
	open_writer(run, &writer);
	write_seconds(run, &writer, 1, 50, 1);
	close_writer(&writer);
	assert_int_equal(truncate(path, 3 * 4096), 0);
	refuse("cannot read the recording");
	remove_files();
	run_free(run);
}

/* Users of sqlite3 find each column in the page about recordings. */
static void test_documented(void **state)
{
	struct buffer sql = { 0 };
	char text[65536], *word, *place;
	FILE *file = fopen("docs/recordings.md", "r");
	size_t size, count = 0;

	(void)state;
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	fclose(file);
	schema_append_tables(&sql);
	budget_schema_append_tables(&sql);
	for (word = strtok_r(sql.data, " (,;)?", &place); word;
	     word = strtok_r(NULL, " (,;)?", &place)) {
		char code[80];

		if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz_")])
			continue;
		snprintf(code, sizeof(code), "`%s`", word);
		if (!strstr(text, code))
			fail_msg("docs/recordings.md lacks %s", code);
		count++;
	}
	assert_true(count > 150);
	buffer_free(&sql);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_hour),	   cmocka_unit_test(test_quiet_sites_take_nothing),
		cmocka_unit_test(test_limit),	   cmocka_unit_test(test_marker),
		cmocka_unit_test(test_killed),	   cmocka_unit_test(test_create),
		cmocka_unit_test(test_hostile),	   cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_documented),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
