/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Direct calls of a function: see calls.h. */
#include "probe/calls.h"

#include "probe/flow.h"

static bool flow_goes_elsewhere(const struct flow *flow)
{
	return flow->direct &&
	       (flow->kind == FLOW_CALL || flow->kind == FLOW_JUMP || flow->kind == FLOW_BRANCH);
}

bool calls_any(const uint8_t *code, size_t size, bool (*wanted)(void *context, int64_t target),
	       void *context)
{
	struct flow_decoder decoder;
	const char *reason;
	bool found = false;
	struct flow flow;
	size_t at = 0;

	if (flow_open(&decoder, &reason))
		for (; !found && flow_decode(&decoder, code + at, size - at, at, &flow);
		     at += flow.size)
			if (flow_goes_elsewhere(&flow))
				found = wanted(context, (int64_t)flow.target);
	flow_close(&decoder);
	return found;
}
