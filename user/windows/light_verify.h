/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifies that probes inside allocating functions see the values that the functions return. At
 * first both are probed, and the return records. After enough equal results the probes inside
 * record, and entries and returns are detached; after a single different one, the probes inside
 * are.
 */
#ifndef WINDOWS_LIGHT_VERIFY_H
#define WINDOWS_LIGHT_VERIFY_H

#include <stdint.h>

#include "base/log.h"
#include "follow/probe_set.h"

struct bpf_programs;

enum light_reading {
	LIGHT_RETURNS = 0, /* results are read at returns; nothing is probed inside */
	LIGHT_VERIFYING, /* likewise, and compared with the probes inside */
	LIGHT_SWITCHING, /* inside; waiting for calls in flight to return */
	LIGHT_INSIDE,
	LIGHT_GIVEN_UP, /* back to returns: a result inside differed */
};

struct light_verify {
	struct bpf_programs *programs;
	struct probe_set *probes;
	const struct log *log;
	bool on;
	size_t planned; /* number of planned probes at the last check for probes inside */
	enum light_reading reading;
	uint64_t next_ns; /* time of the next check; 0 = never */
	uint64_t until_ns; /* end of the wait for calls in flight */
	uint64_t begun_ns, settled_ns; /* start and end of the verification; 0 = not yet */
};

/* Start; verification begins once there are probes inside functions. */
void light_verify_start(struct light_verify *verify);
void light_verify_stop(struct light_verify *verify);

/* Was no verification under way since `since_ns`, or does it take too long to wait for? */
bool light_verify_is_settled(const struct light_verify *verify, uint64_t since_ns);

/* Check, if due. */
void light_verify_poll(struct light_verify *verify);

#endif
