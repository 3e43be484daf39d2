/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every fuzz target has. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A rule that holds whatever the input is. */
#define MUST(condition)           \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Memory of exactly this size, so that a byte read behind it is found. Free with free(). */
static inline void *fuzz_copy(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	MUST(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

#endif
