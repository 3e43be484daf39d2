/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether probes inside of functions that allocate see what these return. At first both are probed, and returns record. When enough calls
 * were the same, the probes inside record, and entries and returns are not probed any more. When one was not, it is the other way
 * round.
 */
#ifndef SESSION_LIGHT_VERIFY_H
#define SESSION_LIGHT_VERIFY_H

#include <stdint.h>

#include "base/log.h"
#include "session/probe_set.h"

struct bpf_programs;

enum light_reading {
	LIGHT_RETURNS = 0, /* results are read at returns: nothing is probed inside */
	LIGHT_VERIFYING, /* likewise, and compared with what is seen inside */
	LIGHT_SWITCHING, /* inside; it waits for the returns of calls that were on their way */
	LIGHT_INSIDE,
	LIGHT_GIVEN_UP, /* at returns again: what was seen inside was something else */
};

struct light_verify {
	struct bpf_programs *programs;
	struct probe_set *probes;
	const struct log *log;
	bool on;
	size_t planned; /* probes of the plan, when it was asked whether any are inside */
	enum light_reading reading;
	uint64_t next_ns; /* when it is to be looked at again; 0 = never */
	uint64_t until_ns; /* it waits for returns until then */
	uint64_t begun_ns, settled_ns; /* when it began, and was decided; 0 = it was not */
};

/* Begin, as soon as there are probes inside of functions. */
void light_verify_start(struct light_verify *verify);
void light_verify_stop(struct light_verify *verify);

/* Was nothing verified since then, or has that taken too long already to wait for it? */
bool light_verify_is_settled(const struct light_verify *verify, uint64_t since_ns);

/* Look, if it is time to. */
void light_verify_poll(struct light_verify *verify);

#endif
