/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finishes a new recording, whose writer has given up its privileges by then: removes the files
 * that SQLite has made beside it, and gives it to the user that has run sudo.
 */
#ifndef RECORDING_FINISHER_H
#define RECORDING_FINISHER_H

#include "base/error.h"
#include "system/helper.h"

/*
 * Create the recording `path`, empty and readable by its owner only, as output_file_create does,
 * and start the process that finishes it. Returns 0 or a negative errno with `error` filled.
 */
int finisher_open(struct helper *finisher, const char *path, struct error *error);

/*
 * The database is closed: finish it. Files beside it that have data, or that another program has
 * open, stay. So they do where this is not called, since the writer was killed.
 */
void finisher_close(struct helper *finisher);

#endif
