/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of a process that ends since main() has returned. exit() and what it calls lie where main() and its callees had theirs, and leave
 * words of these where they write nothing. Nobody reads such words, and what the C library itself keeps there leads to no block of the program's.
 */
#ifndef REACH_REACH_ENDING_H
#define REACH_REACH_ENDING_H

#include "image/image.h"
#include "image/module_ranges.h"

/*
 * Of a thread that is stopped at the start of _exit() with this stack pointer: the end of such frames; 0 = main() has not returned, or that is
 * not known. A program that calls exit() or _exit() itself, or does so in a handler of its own, has frames between that are alive: 0.
 */
uint64_t reach_ending_frames(struct image *image, const struct module_ranges *modules,
			     uint64_t stack_pointer);

#endif
