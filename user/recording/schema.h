/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording, as docs/recordings.md describes them to users of sqlite3. A version that adds columns stays readable: a
 * column that a recording lacks is 0. One that changes what is there has another number.
 */
#ifndef RECORDING_SCHEMA_H
#define RECORDING_SCHEMA_H

#include <stddef.h>

#include "base/buffer.h"

/* In the file's header, where file(1) and sqlite3 show them. */
#define SCHEMA_APPLICATION 0x74726372 /* "trcr" */
#define SCHEMA_VERSION 1

/* After so many intervals one has all figures, and not only those that have changed. */
#define SCHEMA_WHOLE_EVERY 100

/* A column of whole numbers from 0, and the uint64_t of a struct that it has. */
struct schema_column {
	const char *name;
	size_t offset;
};

/* Of the table `figures`, in struct site_stats; of `interval`, in struct price; ended by one without a name. */
extern const struct schema_column schema_figures[];
extern const struct schema_column schema_price[];

/* The statements that make the tables. */
void schema_append_tables(struct buffer *sql);

/* ", a, b" or ", ?, ?" for each of `columns`. */
void schema_append_names(struct buffer *sql, const struct schema_column *columns);
void schema_append_values(struct buffer *sql, const struct schema_column *columns);

#endif
