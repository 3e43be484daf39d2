/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the births of blocks in use, and their marks. Recordings of earlier versions have none. */
#ifndef RECORDING_BORN_READER_H
#define RECORDING_BORN_READER_H

#include "base/table.h"
#include "model/snapshot.h"
#include "recording/database.h"

/*
 * Set the marks of `snapshot`, up to interval `last`, and `ret_births`, the births as of then:
 * struct generations by site id. `first` is the last complete interval before. Free with
 * born_reader_free. Errors are kept in the database.
 */
void born_reader_load(struct database *database, uint64_t first, uint64_t last,
		      struct snapshot *snapshot, struct table *ret_births);
void born_reader_free(struct table *births);

#endif
