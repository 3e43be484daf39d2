/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modules of a recording and the names of their code, for reader.c. */
#ifndef RECORDING_READER_NAMES_H
#define RECORDING_READER_NAMES_H

#include "recording/reader.h"

/* Read the list of modules. Errors are kept in the database. */
void reader_names_open(struct reader *reader);
/* Accepts {0}. */
void reader_names_close(struct reader *reader);

#endif
