/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the compiler must not do to code that the verifier looks at; and how words are mixed into hashes. */
#ifndef COMPILER_BPF_H
#define COMPILER_BPF_H

/* The compiler must not know where a value came from, or it makes branches or drops masks. */
#ifdef __bpf__
#define HIDE(value) asm volatile("" : "+r"(value))
#define UNROLL _Pragma("unroll")
#else
#define HIDE(value) ((void)(value))
#define UNROLL
#endif

/* Mix a word into a hash: multiplication spreads to the upper bits, the shift brings them back. */
static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

#endif
