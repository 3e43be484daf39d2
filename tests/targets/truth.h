/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a test program keeps its own account: what each of its sites has allocated and freed, in its own words. The tracer
 * must come to the same. A site is a function that is not inlined, so that its name is the innermost frame.
 *
 * truth_begin waits for a line on standard input if the program was called with "wait", so that a tracer can attach
 * before anything happens; truth_end prints the account as JSON and, if so called, waits until standard input is closed.
 * With "stay" it waits at the end only.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))
#define SITES_MAX 64

struct truth_site {
	const char *name;
	unsigned long alloc_bytes, alloc_objects, free_bytes, free_objects;
};

static struct truth_site truth_sites[SITES_MAX];
static int truth_waits;

static inline struct truth_site *truth_site(const char *name)
{
	struct truth_site *site = truth_sites;

	while (site->name && strcmp(site->name, name) != 0)
		site++;
	site->name = name;
	return site;
}

/* Atomic, because threads count too; the sites themselves are registered by the first of them. */
static inline void truth_alloc(const char *name, unsigned long bytes)
{
	struct truth_site *site = truth_site(name);

	__atomic_fetch_add(&site->alloc_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&site->alloc_objects, 1, __ATOMIC_RELAXED);
}

/* Part of an object: the object itself counts with `objects` 1, once. */
static inline void truth_free_part(const char *name, unsigned long bytes, unsigned long objects)
{
	struct truth_site *site = truth_site(name);

	__atomic_fetch_add(&site->free_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&site->free_objects, objects, __ATOMIC_RELAXED);
}

static inline void truth_free(const char *name, unsigned long bytes)
{
	truth_free_part(name, bytes, 1);
}

static inline void truth_begin(const char *mode)
{
	char byte;

	truth_waits = mode && (!strcmp(mode, "wait") || !strcmp(mode, "stay"));
	if (mode && !strcmp(mode, "wait"))
		while (read(0, &byte, 1) == 1 && byte != '\n')
			;
}

static inline void truth_end(void)
{
	const struct truth_site *site;
	char byte;

	printf("{");
	for (site = truth_sites; site->name; site++)
		printf("%s\"%s\": [%lu, %lu, %lu, %lu]", site == truth_sites ? "" : ", ",
		       site->name, site->alloc_bytes, site->alloc_objects, site->free_bytes,
		       site->free_objects);
	printf("}\n");
	fflush(stdout);
	if (truth_waits)
		while (read(0, &byte, 1) == 1)
			;
}

/* Keeps the compiler from knowing a value, and from dropping what makes it. */
#define HIDE(value) __asm__ volatile("" : "+r"(value)::"memory")

#endif
