/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See database.h. The only file that knows SQLite. */
#include "recording/database.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "recording/finisher.h"

/* Of a file that is read: its longest text, its longest statement, and what SQLite may take for it. */
#define LENGTH_MAX (1 << 20)
#define SQL_MAX 20000
#define HEAP_MAX (256 << 20)

/* The most that SQLite writes at once: a page. */
#define PAGE_MAX 65536

/* Another program may hold the file for a moment: one that reads it, or `tracer mark`. */
#define BUSY_MS 30000

bool database_is_fine(const struct database *database)
{
	return !database->failure && !database->damage;
}

/* Keep the first failure. Returns whether there was none. */
static bool database_note(struct database *database, int code)
{
	if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
		return true;
	if (!database->failure)
		database->failure = code;
	return false;
}

void database_damage(struct database *database, const char *what)
{
	if (!database->damage)
		database->damage = memory_copy_string(what);
}

void database_damage_at(struct database *database, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	database_damage(database, text);
}

static int database_refuse(const struct database *database, const char *reason, int code,
			   struct error *error)
{
	struct buffer path = { 0 }, safe = { 0 };

	text_append_safe(&path, database->path);
	text_append_safe(&safe, reason);
	if (database->reads)
		error_set(error, ERROR_USAGE, code, "cannot read the recording '%s': %s", path.data,
			  safe.data);
	else
		error_set(error, ERROR_PERMISSION, code, "cannot write the recording '%s': %s",
			  path.data, safe.data);
	buffer_free(&path);
	buffer_free(&safe);
	return code;
}

/* For SQLite, a limit of file sizes (RLIMIT_FSIZE) is an I/O error as any other. */
static bool database_is_at_limit(const struct database *database, int failure)
{
	static const char *const suffixes[] = { "", "-wal" };
	struct rlimit limit;
	struct stat status;
	bool reached = false;
	char *path;
	size_t i;

	if ((failure & 0xff) != SQLITE_IOERR || getrlimit(RLIMIT_FSIZE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return false;
	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && !reached; i++) {
		path = memory_format("%s%s", database->path, suffixes[i]);
		reached = !stat(path, &status) &&
			  (uint64_t)status.st_size + PAGE_MAX > limit.rlim_cur;
		free(path);
	}
	return reached;
}

static const char *database_reason(const struct database *database, int failure)
{
	if (database_is_at_limit(database, failure))
		return strerror(EFBIG);
	return database->system ? strerror(database->system) : sqlite3_errstr(failure);
}

int database_finish(struct database *database, struct error *error)
{
	char *damage = database->damage;
	int failure = database->failure, code = 0;

	database->damage = NULL;
	database->failure = 0;
	if (failure)
		code = database_refuse(database, database_reason(database, failure), -EIO, error);
	else if (damage)
		code = database_refuse(database, damage, -EBADMSG, error);
	free(damage);
	return code;
}

/* "file:" and a path, of which no character has another meaning, with `options`. Free with free(). */
static char *database_uri(const char *path, const char *options)
{
	struct buffer uri = { 0 };

	buffer_append_string(&uri, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buffer_printf(&uri, "%%%02x", (unsigned char)*path);
		else
			buffer_append(&uri, path, 1);
	buffer_append_string(&uri, options);
	return uri.data;
}

/* Keep the errno of a failed open: the result code of SQLite has no reason. */
static void database_note_system(struct database *database, int code)
{
	database->system = code == SQLITE_CANTOPEN ? sqlite3_system_errno(database->handle) : 0;
}

static int database_connect(struct database *database, const char *path, const char *options,
			    int flags)
{
	char *uri = database_uri(path, options);
	int code = sqlite3_open_v2(uri, &database->handle,
				   flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

	free(uri);
	if (code == SQLITE_OK)
		sqlite3_busy_timeout(database->handle, BUSY_MS);
	database_note_system(database, code);
	return code;
}

static void database_disconnect(struct database *database)
{
	sqlite3_close_v2(database->handle);
	database->handle = NULL;
}

void database_close(struct database *database)
{
	database_disconnect(database);
	finisher_close(&database->finisher);
	free(database->damage);
	free(database->path);
	*database = (struct database){ 0 };
}

/* Writing */

/* The file and those beside it that SQLite has made: ours, and nobody else's. */
static bool database_is_ours(const char *path)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	struct stat status;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *name = memory_format("%s%s", path, ends[i]);
		int code = lstat(name, &status);

		free(name);
		if (code && errno == ENOENT && *ends[i])
			continue;
		if (code || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
		    status.st_nlink != 1)
			return false;
	}
	return true;
}

/* The path of a file that was just made, without links. Free with free(). NULL = it is gone. */
static char *database_resolve(const char *path)
{
	char resolved[PATH_MAX];

	return realpath(path, resolved) ? memory_copy_string(resolved) : NULL;
}

int database_create(struct database *database, const char *path, struct error *error)
{
	struct helper finisher;
	int code = finisher_open(&finisher, path, error);
	char *resolved;

	if (code)
		return code;
	code = SQLITE_CANTOPEN;
	*database = (struct database){ .path = memory_copy_string(path), .finisher = finisher };
	resolved = database_resolve(path);
	if (resolved)
		code = database_connect(database, resolved, "?mode=rw",
					SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW);
	database_note(database, code);
	/* All files are opened now: later no file may be. */
	database_run(database, "PRAGMA temp_store = MEMORY; PRAGMA auto_vacuum = INCREMENTAL;"
			       "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
	if (database_is_fine(database) && !database_is_ours(resolved))
		database_damage(database, "another user has files beside it");
	free(resolved);
	code = database_finish(database, error);
	if (code)
		database_close(database);
	return code;
}

/* Reading */

/* A statement reads tables, and runs no other code that the file may have in its schema. */
static int database_authorize(void *context, int action, const char *first, const char *second,
			      const char *third, const char *inner)
{
	(void)context, (void)first, (void)third;
	/* Of a view or trigger. */
	if (inner)
		return SQLITE_DENY;
	if (action == SQLITE_SELECT || action == SQLITE_READ)
		return SQLITE_OK;
	if (action == SQLITE_FUNCTION && second && !strcmp(second, "abs"))
		return SQLITE_OK;
	return SQLITE_DENY;
}

static void database_distrust(struct database *database)
{
	sqlite3 *handle = database->handle;

	sqlite3_hard_heap_limit64(HEAP_MAX);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
	sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
	sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
	database_run(database, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
			       "PRAGMA temp_store = MEMORY;");
}

/* Tables and their indexes, and nothing that runs. */
static void database_check_schema(struct database *database)
{
	struct query query;
	const char *type, *sql;

	query_open(&query, database, "SELECT type, sql FROM sqlite_schema");
	while (query_next(&query)) {
		type = query_take_text(&query);
		sql = query_take_text(&query);
		if (!type || (strcmp(type, "table") != 0 && strcmp(type, "index") != 0) ||
		    (sql && !strncasecmp(sql, "CREATE VIRTUAL", 14)))
			database_damage(database, "it has views, triggers or virtual tables, as no "
						  "recording has");
	}
	query_close(&query);
}

static void database_check_pages(struct database *database)
{
	struct query query;
	const char *answer;

	query_open(&query, database, "PRAGMA quick_check(1)");
	if (query_next(&query)) {
		answer = query_take_text(&query);
		if (!answer || strcmp(answer, "ok") != 0)
			database_damage(database, "it is damaged");
	}
	query_close(&query);
}

static uint32_t database_ask(struct database *database, const char *sql)
{
	struct query query;
	uint32_t number = 0;

	query_open(&query, database, sql);
	if (query_next(&query))
		number = (uint32_t)query_take_signed(&query);
	query_close(&query);
	return number;
}

/* Is nothing written ahead of the file? Then it does not change while it is read, since nobody writes it. */
static bool database_is_whole(const char *path)
{
	char *name = memory_format("%s-wal", path);
	struct stat status;
	bool whole = lstat(name, &status) || !status.st_size;

	free(name);
	return whole;
}

/* Read the first page: only now SQLite has opened all that it needs. */
static int database_try(struct database *database, const char *options)
{
	int code = database_connect(database, database->path, options, SQLITE_OPEN_READONLY);

	if (code == SQLITE_OK)
		code = sqlite3_exec(database->handle, "SELECT 1 FROM sqlite_schema", NULL, NULL,
				    NULL);
	database_note_system(database, code);
	if (code != SQLITE_OK)
		database_disconnect(database);
	return code;
}

/* Is there a file? The path is copied. */
static int database_look(struct database *database, const char *path, struct error *error)
{
	struct stat status;
	int code = stat(path, &status) ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;

	*database = (struct database){ .path = memory_copy_string(path), .reads = true };
	if (!code)
		return 0;
	database_refuse(database, code == -EINVAL ? "it is no file" : strerror(-code), code, error);
	database_close(database);
	return code;
}

/* SQLite gave `code` for the open. */
static int database_check(struct database *database, int code, struct error *error)
{
	if (database_note(database, code)) {
		database_distrust(database);
		database_check_schema(database);
		database_check_pages(database);
		database->application = database_ask(database, "PRAGMA application_id");
		database->version = database_ask(database, "PRAGMA user_version");
	}
	code = database_finish(database, error);
	if (code)
		database_close(database);
	return code;
}

int database_open(struct database *database, const char *path, struct error *error)
{
	int code = database_look(database, path, error);

	if (code)
		return code;
	if (database_is_whole(path))
		code = database_try(database, "?mode=ro&immutable=1");
	else
		code = database_try(database, "?mode=ro&readonly_shm=1");
	if (code == SQLITE_CANTOPEN)
		code = database_try(database, "?mode=ro");
	code = database_check(database, code, error);
	if (code)
		return code;
	database_run(database, "PRAGMA query_only = ON");
	sqlite3_set_authorizer(database->handle, database_authorize, NULL);
	return 0;
}

int database_join(struct database *database, const char *path, struct error *error)
{
	int code = database_look(database, path, error);

	if (!code)
		code = database_check(
			database,
			database_connect(database, path, "?mode=rw", SQLITE_OPEN_READWRITE), error);
	database->reads = false;
	return code;
}

void database_run(struct database *database, const char *sql)
{
	if (database_is_fine(database))
		database_note(database, sqlite3_exec(database->handle, sql, NULL, NULL, NULL));
}

/* Queries */

void query_open(struct query *query, struct database *database, const char *sql)
{
	*query = (struct query){ .database = database };
	if (database_is_fine(database))
		database_note(database, sqlite3_prepare_v3(database->handle, sql, -1,
							   SQLITE_PREPARE_PERSISTENT,
							   &query->statement, NULL));
}

void query_close(struct query *query)
{
	sqlite3_finalize(query->statement);
	*query = (struct query){ 0 };
}

void query_signed(struct query *query, int64_t number)
{
	if (query->statement)
		database_note(query->database,
			      sqlite3_bind_int64(query->statement, ++query->bound, number));
}

void query_number(struct query *query, uint64_t number)
{
	query_signed(query, number < INT64_MAX ? (int64_t)number : INT64_MAX);
}

void query_word(struct query *query, uint64_t word)
{
	query_signed(query, (int64_t)word);
}

void query_text(struct query *query, const char *text)
{
	if (query->statement)
		database_note(query->database, sqlite3_bind_text(query->statement, ++query->bound,
								 text, -1, SQLITE_TRANSIENT));
}

void query_null(struct query *query)
{
	query_text(query, NULL);
}

void query_real(struct query *query, double number)
{
	if (!isfinite(number))
		query_null(query);
	else if (query->statement)
		database_note(query->database,
			      sqlite3_bind_double(query->statement, ++query->bound, number));
}

void query_stop(struct query *query)
{
	/* What went wrong in it has been noted. */
	sqlite3_reset(query->statement);
	query->bound = query->taken = 0;
}

bool query_next(struct query *query)
{
	int code;

	query->taken = 0;
	if (!query->statement || !database_is_fine(query->database)) {
		query_stop(query);
		return false;
	}
	code = sqlite3_step(query->statement);
	database_note(query->database, code);
	if (code != SQLITE_ROW)
		query_stop(query);
	return code == SQLITE_ROW;
}

void query_run(struct query *query)
{
	while (query_next(query))
		;
}

int64_t query_take_signed(struct query *query)
{
	int column = query->taken++;

	if (sqlite3_column_type(query->statement, column) != SQLITE_INTEGER) {
		database_damage(query->database, "a number is missing");
		return 0;
	}
	return sqlite3_column_int64(query->statement, column);
}

uint64_t query_take_number(struct query *query, uint64_t max)
{
	int64_t number = query_take_signed(query);

	if (number >= 0 && (uint64_t)number <= max)
		return (uint64_t)number;
	database_damage(query->database, "a number is out of its range");
	return 0;
}

uint64_t query_take_word(struct query *query)
{
	return (uint64_t)query_take_signed(query);
}

bool query_take_bool(struct query *query)
{
	return query_take_number(query, 1);
}

const char *query_take_text(struct query *query)
{
	int column = query->taken++;
	int type = sqlite3_column_type(query->statement, column);
	const char *text;

	if (type == SQLITE_NULL)
		return NULL;
	text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(query->statement, column)
				   : NULL;
	if (text && strlen(text) == (size_t)sqlite3_column_bytes(query->statement, column))
		return text;
	database_damage(query->database, "a text is no text");
	return NULL;
}

bool query_take_null(struct query *query)
{
	if (sqlite3_column_type(query->statement, query->taken) != SQLITE_NULL)
		return false;
	query->taken++;
	return true;
}

int query_find_column(const struct query *query, const char *name)
{
	int i, count = query->statement ? sqlite3_column_count(query->statement) : 0;

	for (i = 0; i < count; i++)
		if (!strcmp(sqlite3_column_name(query->statement, i), name))
			return i;
	return -1;
}
