/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the births of blocks in use, as far as they have changed. */
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

/* Whose they are. */
struct born_place {
	uint64_t interval, site;
};

/* Write what of `births` differs from `written`, or with `whole` all of it; `written` is as `births` then. */
void born_writer_write(struct born_writer *writer, struct born_place place,
		       const struct generations *births, bool whole, struct generations *written);

#endif
