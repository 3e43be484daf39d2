/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long blocks have lived, in the counters of their sites. */
#ifndef LIVES_BPF_H
#define LIVES_BPF_H

#include "compiler.bpf.h"
#include "tracer_abi.h"

/* The class of a lifespan, which is not 0. Without branches, each of which the verifier would follow both ways. */
static __always_inline __u64 life_class(__u64 units)
{
	__u64 class = 1, more;

	more = (0xffff - units) >> 63 << 4;
	units >>= more;
	class += more;
	more = (0xff - units) >> 63 << 3;
	units >>= more;
	class += more;
	more = (0xf - units) >> 63 << 2;
	units >>= more;
	class += more;
	more = (0x3 - units) >> 63 << 1;
	units >>= more;
	class += more;
	class += (0x1 - units) >> 63;
	return class < LIFE_CLASSES ? class : LIFE_CLASSES - 1;
}

/* Blocks with this life, which have ended by a free, have ended now. */
static __always_inline void site_count_lives(struct site *site, __u64 objects, __u64 life)
{
	__u64 units, class;

	if (life & (LIFE_UNKNOWN | LIFE_ADDED)) {
		__sync_fetch_and_add(&site->untimed_objects, objects);
		return;
	}
	units = (bpf_ktime_get_ns() >> LIFE_UNIT_BITS) - (life >> LIFE_UNIT_BITS);
	/* Clocks of two CPUs may differ by a little. */
	if ((__s64)units <= 0)
		return;
	class = life_class(units) - 1;
	HIDE(class);
	if (class < LIFE_CLASSES - 1)
		__sync_fetch_and_add(&site->lives[class], objects);
	__sync_fetch_and_add(&site->life_units, units * objects);
	if (units > site->life_longest)
		site->life_longest = units;
}

#endif
