/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording in a temporary folder, for tests that write it, read it again, and change it by SQL in between. */
#ifndef TESTS_UNIT_RECORDED_FILE_H
#define TESTS_UNIT_RECORDED_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/report.h"
#include "recording/reader.h"

static char recorded_folder[64];
static char recorded_path[80]; /* of the recording, which the tests make and remove */

/* For setup and teardown of a group of tests. */
static inline int recorded_make_folder(void **state)
{
	(void)state;
	strcpy(recorded_folder, "/tmp/test_recorded-XXXXXX");
	if (!mkdtemp(recorded_folder))
		return -1;
	snprintf(recorded_path, sizeof(recorded_path), "%s/x.db", recorded_folder);
	return 0;
}

static inline int recorded_remove_folder(void **state)
{
	(void)state;
	unlink(recorded_path);
	return rmdir(recorded_folder);
}

static inline const struct symbol_list *recorded_lookup(void *context, const struct frame *frame)
{
	return reader_lookup(context, frame);
}

static inline const char *recorded_hint(void *context, const struct frame *frame)
{
	return reader_hint(context, frame);
}

/* The names in a recording. */
static inline struct report_names recorded_names(struct reader *reader)
{
	return (struct report_names){ recorded_lookup, reader, recorded_hint };
}

/* Open the recording as a database. Close with sqlite3_close. */
static inline sqlite3 *recorded_open(void)
{
	sqlite3 *handle;

	assert_int_equal(sqlite3_open_v2(recorded_path, &handle, SQLITE_OPEN_READWRITE, NULL),
			 SQLITE_OK);
	return handle;
}

/* Change the recording. */
static inline void recorded_change(const char *sql)
{
	sqlite3 *handle = recorded_open();

	if (sqlite3_exec(handle, sql, NULL, NULL, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
	sqlite3_close(handle);
}

/* The number that a query returns. */
static inline int64_t recorded_ask(const char *sql)
{
	sqlite3 *handle = recorded_open();
	sqlite3_stmt *statement;
	int64_t number;

	if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return number;
}

#endif
