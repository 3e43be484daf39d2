/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the locations of a USDT probe's arguments from the text of its note: for each its size,
 * negative if signed, and an operand in assembler syntax: "8@%rdi -4@$5 8@16(%rsp,%rax,8)".
 */
#ifndef PROBE_USDT_ARGUMENT_H
#define PROBE_USDT_ARGUMENT_H

#include <linux/types.h>
#include <stddef.h>

#include "tracer_abi.h"

enum usdt_machine {
	USDT_X86_64,
	USDT_ARM64,
};

#if defined(__aarch64__)
#define USDT_MACHINE_NATIVE USDT_ARM64
#else
#define USDT_MACHINE_NATIVE USDT_X86_64
#endif

/*
 * Parse the first `count` arguments; there may be more. Returns NULL, or why one of them is
 * unusable: a static phrase.
 */
const char *usdt_arguments_parse(const char *text, enum usdt_machine machine,
				 struct sample_argument *ret_arguments, size_t count);

#endif
