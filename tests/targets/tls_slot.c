/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library with a pointer in thread-local storage, for leak_threads.c. */
static __thread void *volatile slot;

void *volatile *tls_slot(void)
{
	return &slot;
}
