/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See marker.h. */
#include "recording/marker.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "recording/schema.h"

bool marker_is_name(const char *text)
{
	struct buffer safe = { 0 };
	bool same;

	text_append_safe(&safe, text);
	same = safe.data && !strcmp(safe.data, text);
	buffer_free(&safe);
	return same && !isdigit((unsigned char)*text) && strlen(text) <= MARKER_NAME_MAX;
}

/* What the query asks for: its first column of the first row; 0 = there is none. */
static uint64_t marker_ask(struct marker *marker, const char *sql, uint64_t value)
{
	struct query query;
	uint64_t number = 0;

	query_open(&query, &marker->database, sql);
	query_number(&query, value);
	if (query_next(&query))
		number = query_take_number(&query, INT64_MAX);
	query_close(&query);
	return number;
}

static bool marker_has_ended(struct marker *marker)
{
	return marker_ask(marker,
			  "SELECT count(*) FROM recording WHERE name = 'ended' AND value = ?", 1);
}

static int marker_refuse_ended(const struct marker *marker, struct error *error)
{
	return error_set(error, ERROR_TARGET, -ESRCH,
			 "the recording '%s' has ended: only one that goes on can be marked",
			 marker->database.path);
}

static void marker_check(struct marker *marker)
{
	if (marker->database.application != SCHEMA_APPLICATION ||
	    marker->database.version != SCHEMA_VERSION)
		database_damage(&marker->database, "no tracer of this version writes it");
}

int marker_open(struct marker *marker, const char *path, const char *name, struct error *error)
{
	struct query query;
	int code;

	*marker = (struct marker){ 0 };
	code = database_join(&marker->database, path, error);
	if (code)
		return code;
	marker_check(marker);
	if (database_is_fine(&marker->database) && marker_has_ended(marker)) {
		code = marker_refuse_ended(marker, error);
	} else {
		query_open(&query, &marker->database,
			   "INSERT INTO mark(name) VALUES(?) RETURNING id");
		query_text(&query, name);
		while (query_next(&query))
			marker->id = query_take_number(&query, INT64_MAX);
		query_close(&query);
		code = database_finish(&marker->database, error);
		/* Who writes it watches for this. Writes come before what they write can be seen. */
		if (!code)
			utimensat(AT_FDCWD, path, NULL, 0);
	}
	if (code)
		marker_close(marker);
	return code;
}

int marker_look(struct marker *marker, uint64_t *ret_after_ns, struct error *error)
{
	/* In this order: the last interval comes before the end. */
	bool ended = marker_has_ended(marker);
	uint64_t interval = marker_ask(
		marker, "SELECT interval FROM mark WHERE id = ? AND interval IS NOT NULL",
		marker->id);
	uint64_t after =
		interval
			? marker_ask(marker, "SELECT time_ns - start_ns FROM interval WHERE id = ?",
				     interval)
			: 0;
	int code = database_finish(&marker->database, error);

	if (code)
		return code;
	if (!interval)
		return ended ? marker_refuse_ended(marker, error) : 0;
	*ret_after_ns = after;
	return 1;
}

void marker_close(struct marker *marker)
{
	database_close(&marker->database);
}
