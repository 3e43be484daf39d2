/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control flow of machine instructions. Internal to this folder. */
#ifndef PROBE_FLOW_H
#define PROBE_FLOW_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow_kind {
	FLOW_ON = 0, /* continues behind it */
	FLOW_CALL, /* continues behind it after the call returns */
	FLOW_JUMP, /* continues elsewhere */
	FLOW_BRANCH, /* continues behind it or elsewhere */
	FLOW_RETURN, /* continues in the caller */
	FLOW_RETURN_UNPROBED, /* the same, but the kernel cannot probe it */
	FLOW_STOP, /* ends */
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

/* The assembler mnemonic of FLOW_RETURN on this machine. */
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

/*
 * Decode the instruction at the start of some bytes, located at `address`. False if they do not
 * decode.
 */
bool flow_decode(struct flow_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		 struct flow *ret_flow);

/* The same for an instruction of arm64, on any machine. */
struct flow flow_arm64(uint32_t instruction, uint64_t address);

#endif
