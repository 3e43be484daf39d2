/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where code goes on behind an instruction of this machine. Internal to this folder. */
#ifndef PROBE_FLOW_H
#define PROBE_FLOW_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow_kind {
	FLOW_ON = 0, /* behind it */
	FLOW_CALL, /* behind it, when what is called returns */
	FLOW_JUMP, /* elsewhere */
	FLOW_BRANCH, /* behind it or elsewhere */
	FLOW_RETURN, /* in the caller */
	FLOW_RETURN_UNPROBED, /* the same, but the kernel takes no probe there */
	FLOW_STOP, /* nowhere */
};

struct flow {
	enum flow_kind kind;
	bool direct; /* the target is known */
	uint64_t target; /* address of a call's, a jump's or a branch's */
	size_t size; /* of the instruction, bytes */
};

struct flow_decoder {
	csh handle;
	cs_insn *insn;
};

/* How this machine's assemblers call FLOW_RETURN. */
#if defined(__x86_64__)
#define FLOW_RETURN_NAME "retq"
#else
#define FLOW_RETURN_NAME "ret"
#endif

/* Bytes that the longest instruction has. */
#define FLOW_BYTES 16

/* False, with the reason, if there is no decoder. Close it in any case. */
bool flow_open(struct flow_decoder *decoder, const char **ret_reason);
void flow_close(struct flow_decoder *decoder);

/* Look at the instruction at the start of some bytes, which is at `address`. False if they do not decode. */
bool flow_decode(struct flow_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		 struct flow *ret_flow);

/* The same for an instruction of arm64, on any machine. */
struct flow flow_arm64(uint32_t instruction, uint64_t address);

#endif
