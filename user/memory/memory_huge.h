/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Huge pages of a process's anonymous memory, and how much of it is resident only because of them.
 */
#ifndef MEMORY_MEMORY_HUGE_H
#define MEMORY_MEMORY_HUGE_H

#include "image/image.h"
#include "model/memory_report.h"

/*
 * Fill in the process's figures of `report`. `reads`: read all huge pages to find all-zero pages in
 * them.
 */
void memory_huge_look(struct image *image, bool reads, struct memory_report *report);

#endif
