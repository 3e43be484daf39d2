/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the arguments of a USDT probe are, from the text that its note has for them: for each its size, negative if it
 * has a sign, and an operand as the assembler writes it: "8@%rdi -4@$5 8@16(%rsp,%rax,8)".
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
 * Read the first `count` arguments; there may be more. Returns NULL, or why one of them cannot be had: a phrase, static.
 */
const char *usdt_arguments_parse(const char *text, enum usdt_machine machine,
				 struct sample_argument *ret_arguments, size_t count);

#endif
