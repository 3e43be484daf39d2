/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For programs that lose blocks: no old word leads to them. */
#ifndef SCRUB_H
#define SCRUB_H

#include <stddef.h>

/*
 * Pointers of functions that have returned are on the stack no more, nor in registers that a function need not preserve: the next
 * call that the dynamic linker binds would store those on the stack.
 */
static __attribute__((noinline, zero_call_used_regs("all"))) void scrub(void)
{
	volatile char gone[16384];
	size_t i;

	for (i = 0; i < sizeof(gone); i++)
		gone[i] = 0;
}

#endif
