/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction does to the stack pointer and to the register of results: as much as it takes to find the
 * instruction behind a system call. Internal to this folder.
 */
#ifndef PROBE_EFFECT_H
#define PROBE_EFFECT_H

#include "probe/flow.h"

struct effect {
	bool stack_known; /* the stack pointer changes by `stack` only */
	int32_t stack; /* bytes by which the stack grows */
	bool writes_result; /* the register of results is written */
	bool has_number; /* `number` is written to it */
	uint32_t number;
	bool is_system_call;
};

/* The effect of the instruction that flow_decode has decoded last. On arm64 nothing is known. */
struct effect effect_of(const struct flow_decoder *decoder);

#endif
