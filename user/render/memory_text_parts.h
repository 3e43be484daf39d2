/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text parts of a memory report below the table of purposes. Each begins with an empty line, or
 * appends nothing.
 */
#ifndef RENDER_MEMORY_TEXT_PARTS_H
#define RENDER_MEMORY_TEXT_PARTS_H

#include "model/memory_report.h"
#include "render/text_style.h"

/* One row per process, if there are several. */
void memory_text_members(const struct text_writer *writer, const struct memory_report *report);
/* How malloc uses its memory. */
void memory_text_heaps(const struct text_writer *writer, const struct memory_report *report);
/* Objects of Ruby and Python; at most `top` classes of each, 0 = all. */
void memory_text_runtimes(const struct text_writer *writer, const struct memory_report *report,
			  size_t top);
/* Kinds of live blocks; at most `top`, 0 = all. */
void memory_text_kinds(const struct text_writer *writer, const struct memory_report *report,
		       size_t top);
/* Blocks with equal contents, if significant; at most `top`, 0 = all. */
void memory_text_copies(const struct text_writer *writer, const struct memory_report *report,
			size_t top);
/* What the kernel holds for the process, and the account of its control group. */
void memory_text_kernel(const struct text_writer *writer, const struct memory_report *report);

#endif
