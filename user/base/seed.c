/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See seed.h. */
#include "base/seed.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

uint64_t seed_new(void)
{
	uint64_t seed = 0;

	/* It cannot fail but for a filter of system calls: better no tracer than one without a secret. */
	while (!seed)
		if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed) && errno != EINTR)
			abort();
	return seed;
}
