/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording; docs/recordings.md describes them for users of sqlite3. A version that
 * adds columns stays readable: a missing column is 0. A version that changes existing ones gets
 * another number.
 */
#ifndef RECORDING_SCHEMA_H
#define RECORDING_SCHEMA_H

#include <stddef.h>

#include "base/buffer.h"

/* In the file's header, where file(1) and sqlite3 show them. */
#define SCHEMA_APPLICATION 0x74726372 /* "trcr" */
#define SCHEMA_VERSION 1

/* Every so many intervals, one has all figures, not only changed ones. */
#define SCHEMA_WHOLE_EVERY 100

/* A column of unsigned numbers, and the offset of the uint64_t that it stores. */
struct schema_column {
	const char *name;
	size_t offset;
};

/*
 * Columns of `figures`, in struct site_stats, and of `interval`, in struct price; the last has no
 * name.
 */
extern const struct schema_column schema_figures[];
extern const struct schema_column schema_price[];

/* Append the statements that create the tables. */
void schema_append_tables(struct buffer *sql);

/* ", a, b" or ", ?, ?" for each of `columns`. */
void schema_append_names(struct buffer *sql, const struct schema_column *columns);
void schema_append_values(struct buffer *sql, const struct schema_column *columns);

#endif
