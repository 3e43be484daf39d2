/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of SQLite, and queries of it. What goes wrong is kept until database_finish asks for it: after the first failure
 * queries do nothing and have no rows, so a caller need not look at each. A file that is read is never trusted: its values
 * are checked where they are taken, its schema has no code, and nothing is written, not even beside it where that can be helped.
 */
#ifndef RECORDING_DATABASE_H
#define RECORDING_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

struct database {
	struct sqlite3 *handle; /* NULL = closed */
	char *path; /* as the user has it; owned */
	bool reads; /* it is not written to */
	/* Of a file that is read: what its header has of who made it. */
	uint32_t application, version;
	int failure; /* 0, or what SQLite gave first */
	char *damage; /* what is wrong with a value; owned; NULL = nothing */
};

/* A statement. Values are bound, and columns taken, from left to right. */
struct query {
	struct database *database;
	struct sqlite3_stmt *statement;
	int bound, taken; /* so many */
};

/*
 * A new file that only its owner may read, and that is written ahead (WAL): what is committed stays, however the program ends. Nothing is
 * overwritten. Returns 0 or a negative errno with `error` filled (ERROR_USAGE). Close with database_close.
 */
int database_create(struct database *database, const char *path, struct error *error);

/* A file that is there, for reading. As database_create. */
int database_open(struct database *database, const char *path, struct error *error);

/* The same for a file that is written to, also by another program just now. */
int database_join(struct database *database, const char *path, struct error *error);

/* Accepts what is closed, or was never opened ({0}). Queries must be closed before. */
void database_close(struct database *database);

/* Run statements without values. */
void database_run(struct database *database, const char *sql);

/* Note that a value of the file cannot be: `what`, a phrase. The first one counts. */
void database_damage(struct database *database, const char *what);
/* The same with values: where it is, and what. */
void database_damage_at(struct database *database, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Has nothing gone wrong so far? */
bool database_is_fine(const struct database *database);

/*
 * 0 if nothing has gone wrong since the last call, or a negative errno with `error` filled: ERROR_PERMISSION if the file cannot be
 * written, ERROR_USAGE if it cannot be read.
 */
int database_finish(struct database *database, struct error *error);

void query_open(struct query *query, struct database *database, const char *sql);
/* Accepts one that was never opened ({0}). */
void query_close(struct query *query);

/* Values for the next run. A word is any 64 bits, a number at most INT64_MAX: larger ones are lowered to that. */
void query_number(struct query *query, uint64_t number);
void query_signed(struct query *query, int64_t number);
void query_word(struct query *query, uint64_t word);
void query_text(struct query *query, const char *text); /* copied; NULL = no value */
void query_null(struct query *query);
void query_real(struct query *query, double number); /* one that is not finite: no value */

/* Run it to its end, and make it ready for other values. */
void query_run(struct query *query);

/* Is there another row? If not, it is ready for other values. */
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
