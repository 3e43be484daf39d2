/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a process's memory by purpose: claims for modules and files, and the sum of all parts, without a remainder. */
#ifndef MEMORY_MEMORY_PARTS_H
#define MEMORY_MEMORY_PARTS_H

#include "heap/claims.h"
#include "heap/image.h"
#include "model/memory_report.h"

/* Code, constants, data and bss of programs and libraries, by their headers. */
void memory_parts_claim_modules(struct image *image, struct claims *claims);

/* Files of a tmpfs: modules and shared memory that lie there are what they are. */
void memory_parts_claim_files(struct image *image, struct claims *claims);

/* Fill the parts of `report` and their PSS. What is not known before `until_ns` (CLOCK_MONOTONIC) is remarked. */
void memory_parts_sum(struct image *image, uint64_t until_ns, struct claims *claims,
		      struct memory_report *report);

#endif
