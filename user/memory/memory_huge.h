/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Huge pages of a process's anonymous memory, and how much of it is in memory only since a huge page covers it. */
#ifndef MEMORY_MEMORY_HUGE_H
#define MEMORY_MEMORY_HUGE_H

#include "heap/image.h"
#include "model/memory_report.h"

/* Fill the process's figures of `report`; with `reads`, all huge pages are read for the pages in them that have only zeroes. */
void memory_huge_look(struct image *image, bool reads, struct memory_report *report);

#endif
