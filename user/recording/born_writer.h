/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes changes of the births of blocks in use. */
#ifndef RECORDING_BORN_WRITER_H
#define RECORDING_BORN_WRITER_H

#include "model/generations.h"
#include "recording/database.h"

struct born_writer {
	struct query add;
};

/* The database must outlive it, and have its tables. Close with born_writer_close. */
void born_writer_open(struct born_writer *writer, struct database *database);
/* Accepts {0}. */
void born_writer_close(struct born_writer *writer);

/* The interval and site that they belong to. */
struct born_place {
	uint64_t interval, site;
};

/*
 * Write the difference between `births` and `written`, or all with `whole`; then updates `written`.
 */
void born_writer_write(struct born_writer *writer, struct born_place place,
		       const struct generations *births, bool whole, struct generations *written);

#endif
