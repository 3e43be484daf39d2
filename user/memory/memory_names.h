/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of places and types that a report shows: files are opened here, and decoded by a worker. */
#ifndef MEMORY_MEMORY_NAMES_H
#define MEMORY_MEMORY_NAMES_H

#include "decode/name_reader.h"
#include "heap/kind.h"

/* The context of a kind_namer. */
struct memory_names {
	struct name_reader *reader;
	struct image *image;
	struct memory_report *report; /* for remarks */
};

/* Of a live process's image; `names` must outlive it. */
struct kind_namer memory_names_namer(struct memory_names *names);

#endif
