/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program without a C library: there is nothing in it to probe. It waits until it is ended. */
extern void _start(void);

void _start(void)
{
	for (;;)
#if defined(__aarch64__)
		__asm__ volatile("yield");
#else
		__asm__ volatile("pause");
#endif
}
