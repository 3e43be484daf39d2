/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An SQLite file and queries on it. Errors are kept until database_finish: after the first failure
 * queries do nothing and return no rows, so callers need not check each. A file that is read is
 * untrusted: values are checked where they are used, its schema has no code, and nothing is
 * written, not even beside it if that can be avoided.
 */
#ifndef RECORDING_DATABASE_H
#define RECORDING_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "system/helper.h"

struct sqlite3;
struct sqlite3_stmt;

struct database {
	struct sqlite3 *handle; /* NULL = closed */
	char *path; /* as the user typed it; owned */
	struct helper finisher; /* of a new file */
	bool reads; /* open for reading only */
	/* When reading: application and version in its header. */
	uint32_t application, version;
	int failure; /* 0, or SQLite's first error */
	int system; /* the errno of an open that has failed; 0 = none */
	char *damage; /* description of an invalid value; owned; NULL = none */
};

/* A prepared statement. Values are bound, and columns read, from left to right. */
struct query {
	struct database *database;
	struct sqlite3_stmt *statement;
	int bound, taken; /* number of values bound and columns read */
};

/*
 * Create a new file, readable by its owner only, with a write-ahead log: committed data survives
 * however the program ends. Overwrites nothing. Returns 0 or a negative errno with `error` filled
 * (ERROR_USAGE). Close with database_close.
 */
int database_create(struct database *database, const char *path, struct error *error);

/* Open an existing file for reading. Results as database_create. */
int database_open(struct database *database, const char *path, struct error *error);

/* Open an existing file for writing, even while another program writes to it. */
int database_join(struct database *database, const char *path, struct error *error);

/* Accepts one that is closed or was never opened ({0}). Close queries first. */
void database_close(struct database *database);

/* Run statements without values. */
void database_run(struct database *database, const char *sql);

/* Record that a value of the file is invalid: `what`, a phrase. Only the first one is kept. */
void database_damage(struct database *database, const char *what);
/* The same, formatted: where it is, and what. */
void database_damage_at(struct database *database, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Has nothing gone wrong so far? */
bool database_is_fine(const struct database *database);

/*
 * Returns 0 if there was no error since the last call, or a negative errno with `error` filled:
 * ERROR_PERMISSION if the file cannot be written, ERROR_USAGE if it cannot be read.
 */
int database_finish(struct database *database, struct error *error);

void query_open(struct query *query, struct database *database, const char *sql);
/* Accepts one that was never opened ({0}). */
void query_close(struct query *query);

/*
 * Bind values for the next run. A word is any 64 bits, a number at most INT64_MAX: larger ones are
 * clamped.
 */
void query_number(struct query *query, uint64_t number);
void query_signed(struct query *query, int64_t number);
void query_word(struct query *query, uint64_t word);
void query_text(struct query *query, const char *text); /* copied; NULL = no value */
void query_null(struct query *query);
void query_real(struct query *query, double number); /* if not finite: no value */

/* Run to the end, and reset for other values. */
void query_run(struct query *query);

/* Is there another row? If not, resets for other values. */
bool query_next(struct query *query);
/* No more rows are wanted: it is ready for other values. */
void query_stop(struct query *query);

/* The next column of the row: a whole number from 0 to `max`; 0 where there is none, which is damage. */
uint64_t query_take_number(struct query *query, uint64_t max);
int64_t query_take_signed(struct query *query);
uint64_t query_take_word(struct query *query);
bool query_take_bool(struct query *query);
/* Valid until the next row. NULL where there is none; bytes of any kind, without NUL. */
const char *query_take_text(struct query *query);
/* Is there no value? Takes the column if so. */
bool query_take_null(struct query *query);
/* Does the query have a column of this name? Its position from 0, or -1. */
int query_find_column(const struct query *query, const char *name);

#endif
