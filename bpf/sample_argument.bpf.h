/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arguments of a USDT probe that publishes a sample. The file's note gives the location of each: a constant, a
 * register or memory.
 */
#ifndef SAMPLE_ARGUMENT_BPF_H
#define SAMPLE_ARGUMENT_BPF_H

#include "compiler.bpf.h"
#include "tracer_abi.h"

/*
 * A register. The verifier lets programs read theirs at fixed offsets only, but they may be copied from any. The number is
 * user space's.
 */
static __always_inline __u64 sample_register(const __u64 *registers, __u32 number)
{
	__u64 word = 0;

	if (number >= SAMPLE_REGISTERS ||
	    bpf_probe_read_kernel(&word, sizeof(word), registers + number))
		return 0;
	return word;
}

static __always_inline __u64 sample_address(const __u64 *registers,
					    const struct sample_argument *argument)
{
	__u64 address = (__u64)argument->value + sample_register(registers, argument->base);

	return address + (sample_register(registers, argument->index) << (argument->shift & 3));
}

/* The low `size` bytes of a word, which may have a sign. */
static __always_inline __u64 sample_extend(__u64 word, const struct sample_argument *argument)
{
	__u32 rest = 64 - argument->size * 8;

	word <<= rest & 63;
	return argument->is_signed ? (__u64)((__s64)word >> (rest & 63)) : word >> (rest & 63);
}

static __noinline bool sample_argument_read(const __u64 *registers,
					    const struct sample_argument *argument,
					    __u64 *ret_value)
{
	__u64 word = 0;
	__u64 more = argument->size - 1; /* bytes beyond one */

	if (argument->place == SAMPLE_CONSTANT) {
		word = (__u64)argument->value;
	} else if (argument->place == SAMPLE_REGISTER) {
		word = sample_register(registers, argument->base) >> (argument->skip & 63);
	} else {
		HIDE(more);
		if (bpf_probe_read_user(&word, (more & 7) + 1,
					(void *)sample_address(registers, argument)))
			return false;
	}
	*ret_value = sample_extend(word, argument);
	return true;
}

#endif
