/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording has of its run, its modules, and the names of their code: see reader.h. */
#include "recording/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "recording/reader_names.h"
#include "recording/schema.h"

/* Moments */

static bool moment_parse_time(const char *text, int64_t *ret_time)
{
	struct tm local = { .tm_isdst = -1 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &local);
	time_t result;

	if (!end)
		end = strptime(text, "%Y-%m-%d %H:%M:%S", &local);
	if (!end || (*end && strcmp(end, "Z") != 0))
		return false;
	result = *end ? timegm(&local) : mktime(&local);
	*ret_time = result;
	return true;
}

struct moment reader_parse_moment(const char *text)
{
	struct moment moment = { .kind = MOMENT_MARK, .mark = text };

	if (units_parse_time(text, &moment.after_ns))
		moment.kind = MOMENT_AFTER;
	else if (moment_parse_time(text, &moment.time))
		moment.kind = MOMENT_TIME;
	return moment;
}

static void moment_query(const struct moment *moment, struct database *database,
			 struct query *query)
{
	switch (moment->kind) {
	case MOMENT_LAST:
		query_open(query, database, "SELECT id FROM interval ORDER BY id DESC LIMIT 1");
		break;
	case MOMENT_AFTER:
		query_open(query, database,
			   "SELECT id FROM interval ORDER BY abs(time_ns - start_ns - ?), id"
			   " LIMIT 1");
		query_number(query, moment->after_ns);
		break;
	case MOMENT_TIME:
		query_open(query, database,
			   "SELECT id FROM interval ORDER BY abs(time - ?), id LIMIT 1");
		query_signed(query, moment->time);
		break;
	case MOMENT_MARK:
		query_open(query, database,
			   "SELECT interval FROM mark WHERE name = ? AND interval IS NOT NULL"
			   " ORDER BY id DESC LIMIT 1");
		query_text(query, moment->mark);
		break;
	}
}

/* Marks that an error names. */
#define MARKS_NAMED 10

/* Append "; its marks are 'a', 'b' and 3 more": a recording may have any number. */
static void reader_append_marks(struct reader *reader, struct buffer *out)
{
	struct query query;
	const char *name;
	uint64_t count = 0;

	query_open(&query, &reader->database,
		   "SELECT name FROM mark WHERE interval IS NOT NULL GROUP BY name"
		   " ORDER BY id");
	while (query_next(&query)) {
		name = query_take_text(&query);
		if (!name || ++count > MARKS_NAMED)
			continue;
		buffer_append_string(out, count == 1 ? "; its marks are '" : ", '");
		text_append_safe(out, name);
		buffer_append_string(out, "'");
	}
	query_close(&query);
	if (count > MARKS_NAMED)
		buffer_printf(out, " and %" PRIu64 " more", count - MARKS_NAMED);
}

static int reader_refuse_moment(struct reader *reader, const struct moment *moment,
				struct error *error)
{
	struct buffer path = { 0 }, mark = { 0 };

	text_append_safe(&path, reader->database.path);
	text_append_safe(&mark, moment->kind == MOMENT_MARK ? moment->mark : "");
	buffer_append_string(&mark, "'");
	if (moment->kind == MOMENT_MARK) {
		reader_append_marks(reader, &mark);
		error_set(error, ERROR_USAGE, -ENOENT,
			  "the recording '%s' has no mark '%s; a moment is such a name, a time "
			  "since the beginning as 5m, or one of day as 2026-01-31T12:00:00",
			  path.data, mark.data);
	} else {
		error_set(error, ERROR_USAGE, -ENOENT, "the recording '%s' has no interval yet",
			  path.data);
	}
	buffer_free(&path);
	buffer_free(&mark);
	return -ENOENT;
}

/*
 * Is a time after the last interval, by more than a step? It is not the nearest one's then. Times
 * are read and typed with few digits, so that a second is always allowed.
 */
static bool reader_is_beyond(struct reader *reader, const struct moment *moment,
			     uint64_t *ret_length_ns)
{
	const uint64_t step_ns = reader->interval_ns > 1000000000 ? reader->interval_ns
								  : 1000000000;
	struct query query;
	int64_t time = INT64_MAX;

	*ret_length_ns = INT64_MAX;
	query_open(&query, &reader->database,
		   "SELECT time_ns - start_ns, time FROM interval ORDER BY id DESC LIMIT 1");
	if (query_next(&query)) {
		*ret_length_ns = query_take_number(&query, INT64_MAX);
		time = query_take_signed(&query);
	}
	query_close(&query);
	if (moment->kind == MOMENT_AFTER)
		return moment->after_ns > *ret_length_ns &&
		       moment->after_ns - *ret_length_ns > step_ns;
	return moment->kind == MOMENT_TIME && moment->time > time &&
	       (uint64_t)moment->time - (uint64_t)time > step_ns / 1000000000 + 1;
}

static int reader_refuse_beyond(const struct reader *reader, uint64_t length_ns,
				struct error *error)
{
	struct buffer path = { 0 };
	char length[UNITS_TEXT_MAX];

	text_append_safe(&path, reader->database.path);
	error_set(error, ERROR_USAGE, -ERANGE,
		  "the moment is beyond the end of the recording '%s', which has %s", path.data,
		  units_format_time(length_ns, length));
	buffer_free(&path);
	return -ERANGE;
}

int reader_find(struct reader *reader, const struct moment *moment, uint64_t *ret_interval,
		struct error *error)
{
	struct query query;
	uint64_t interval = 0, length_ns;
	bool is_beyond;
	int code;

	moment_query(moment, &reader->database, &query);
	if (query_next(&query))
		interval = query_take_number(&query, INT64_MAX);
	query_close(&query);
	is_beyond = interval && reader_is_beyond(reader, moment, &length_ns);
	code = database_finish(&reader->database, error);
	if (code)
		return code;
	if (!interval)
		return reader_refuse_moment(reader, moment, error);
	if (is_beyond)
		return reader_refuse_beyond(reader, length_ns, error);
	*ret_interval = interval;
	return 0;
}

/* Life */

static void reader_read_values(struct reader *reader)
{
	struct query query;
	const char *name;

	query_open(&query, &reader->database,
		   "SELECT name, value FROM recording WHERE name IN"
		   " ('id_seed', 'min_age_ns', 'survived', 'interval_ns')");
	while (query_next(&query)) {
		name = query_take_text(&query);
		if (name && !strcmp(name, "id_seed"))
			reader->id_seed = query_take_word(&query);
		else if (name && !strcmp(name, "min_age_ns"))
			reader->min_age_ns = query_take_number(&query, INT64_MAX);
		else if (name && !strcmp(name, "interval_ns"))
			reader->interval_ns = query_take_number(&query, INT64_MAX);
		else if (name)
			reader->survived = query_take_number(&query, INT64_MAX);
	}
	query_close(&query);
}

static int reader_check(struct reader *reader, struct error *error)
{
	if (reader->database.application != SCHEMA_APPLICATION)
		database_damage(&reader->database, "it is no recording of tracer");
	else if (reader->database.version > SCHEMA_VERSION)
		database_damage(&reader->database,
				"it was made by a later version of tracer: use that one");
	else if (!reader->database.version)
		database_damage(&reader->database, "it has no version");
	return database_finish(&reader->database, error);
}

int reader_open(struct reader *reader, const char *path, struct error *error)
{
	int code;

	*reader = (struct reader){ 0 };
	code = database_open(&reader->database, path, error);
	if (!code)
		code = reader_check(reader, error);
	if (!code) {
		reader_read_values(reader);
		reader_names_open(reader);
		code = database_finish(&reader->database, error);
	}
	if (code)
		reader_close(reader);
	return code;
}

void reader_close(struct reader *reader)
{
	reader_names_close(reader);
	database_close(&reader->database);
	*reader = (struct reader){ 0 };
}
