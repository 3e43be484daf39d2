/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of symbols and types in a report: opens files here, and has a worker decode them. */
#ifndef MEMORY_MEMORY_NAMES_H
#define MEMORY_MEMORY_NAMES_H

#include "decode/name_reader.h"
#include "kinds/kind.h"

/* The context of a kind_namer. */
struct memory_names {
	struct name_reader *reader;
	struct image *image;
	struct memory_report *report; /* for remarks */
};

/* For the image of a live process; `names` must outlive the result. */
struct kind_namer memory_names_namer(struct memory_names *names);

#endif
