/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effect of an instruction on the stack pointer and the result register, as needed to find the
 * instruction behind a system call. Internal to this folder.
 */
#ifndef PROBE_EFFECT_H
#define PROBE_EFFECT_H

#include "probe/flow.h"

struct effect {
	bool stack_known; /* the stack pointer changes by `stack` only */
	int32_t stack; /* bytes by which the stack grows */
	bool writes_result; /* the register of results is written */
	bool has_number; /* the value written is `number` */
	uint32_t number;
	bool is_system_call;
};

/* The effect of the last instruction decoded by flow_decode. Unknown on arm64. */
struct effect effect_of(const struct flow_decoder *decoder);

#endif
