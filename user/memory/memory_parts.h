/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divides a process's memory by purpose: claims modules and files, and sums up all parts without a
 * remainder.
 */
#ifndef MEMORY_MEMORY_PARTS_H
#define MEMORY_MEMORY_PARTS_H

#include "image/claims.h"
#include "image/image.h"
#include "model/memory_report.h"

/* Claim code, constants, data and bss of programs and libraries, by their headers. */
void memory_parts_claim_modules(struct image *image, struct claims *claims);

/* Claim files of a tmpfs, except modules and shared memory on it. */
void memory_parts_claim_files(struct image *image, struct claims *claims);

/*
 * Fill in the parts of `report` and their PSS. Adds a remark on what is unknown at the time limit
 * `until_ns` (CLOCK_MONOTONIC).
 */
void memory_parts_sum(struct image *image, uint64_t until_ns, struct claims *claims,
		      struct memory_report *report);

#endif
