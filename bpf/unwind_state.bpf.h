/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a walk: where it starts, where it is, what it has kept. */
#ifndef UNWIND_STATE_BPF_H
#define UNWIND_STATE_BPF_H

#include "compiler.bpf.h"
#include "tracer_abi.h"
#include "unwind_abi.h"

#define UNWIND_PAGE_SIZE 4096
/*
 * Bits of user addresses. On arm64 a return address may be signed in those above; and instructions are four bytes long, so
 * that the cache needs no bits for the places in them.
 */
#if defined(__TARGET_ARCH_arm64)
#define UNWIND_HAS_LR 1
#define UNWIND_ADDRESS_BITS 48
#define UNWIND_PC_SHIFT 2
#define UNWIND_WITHOUT_SIGNATURE(ip) ((ip) & ((1ULL << UNWIND_ADDRESS_BITS) - 1))
#else
#define UNWIND_HAS_LR 0
#define UNWIND_ADDRESS_BITS 47
#define UNWIND_PC_SHIFT 0
#define UNWIND_WITHOUT_SIGNATURE(ip) (ip)
#endif
#define UNWIND_WINDOW_WORDS 512
#define UNWIND_WINDOW_BYTES (UNWIND_WINDOW_WORDS * 8)

/* Callee-saved registers are in the 64 bytes below the CFA: a window starts there to cover them. */
#define UNWIND_WINDOW_LEAD 64

/*
 * A walk ends after the square of this number of turns: more than there are frames, for repaired return addresses and
 * mappings that change under the walk. Two loops, one in the other, are less to verify than one.
 */
#define UNWIND_TURNS 15

/* Parts of a new mapping that are remembered: 4 MB. */
#define UNWIND_BLOCKS_KEPT 64

/* In bp_address: the frame pointer is in `bp`; it is lost. Addresses of the first page are neither. */
#define UNWIND_BP_HERE 0
#define UNWIND_BP_LOST 1

/* A stack frame may be this large before a frame pointer that points so far is not believed. */
#define UNWIND_GUESS_MAX (1ULL << 20)

/* What unwind_find answers besides positions of rows; enum unwind_end is below these. */
#define UNWIND_FOUND_NOTHING 0x40000000u /* plus an enum unwind_end */
#define UNWIND_RETRY 0x7fffffffu /* the mappings changed meanwhile: ask again */

/* How often a caller that cannot come back later tries while the mappings change. */
#define UNWIND_FIND_TRIES 4

enum unwind_flags {
	UNWIND_EXACT = 1, /* ip is the next instruction; otherwise it is a return address */
	UNWIND_BY_BP = 2, /* follow frame pointers only, no tables */
	UNWIND_GUESSED =
		4, /* a frame without rows was left, or taken for the last one, by its bp */
	UNWIND_GUESSED_ON = 8, /* and there are frames behind it, which may be wrong */
	UNWIND_SIGNAL = 32, /* a signal frame was left */
	UNWIND_ZERO = 64, /* it ended at a return address of 0, not by a rule */
	UNWIND_RETURNING = 128, /* it has come here from code that a return probe returns to */
	/* sp is only known to be at or above `sp`; never on x86-64 */
	UNWIND_SP_LOST = UNWIND_HAS_LR * 16,
	UNWIND_SIGNALS = 256, /* from here on, the number of signal frames that were left */
};

/* A signal frame may lead to itself, and to leave one takes long. No program interrupts so many handlers. */
#define UNWIND_SIGNALS_MAX 8

/* State of one walk. */
struct unwind {
	__u64 ip;
	__u64 sp;
	__u64 bp; /* valid if bp_address is UNWIND_BP_HERE */
	__u64 lr; /* arm64: the register with the return address, valid with UNWIND_EXACT */
	__u64 bp_address; /* where bp is saved, or UNWIND_BP_HERE, UNWIND_BP_LOST */
	__u64 window_start; /* user address of window[0] */
	__u64 window_bytes; /* valid bytes of the window */
	__u64 extent; /* of the stack at the thread's last walk, bytes; anything else if it changed stacks */
	__u64 hash; /* of the frames; what it begins with is the caller's */
	__u32 process; /* index of the process */
	__u32 generation; /* of its mappings */
	__u32 exec_id;
	__u32 flags; /* enum unwind_flags */
	__u32 depth;
	__u32 rule; /* of the row that was found last */
	struct unwind_vma vma; /* that unwind_find_new found last */
	struct stack_record record; /* end is an enum unwind_end */
	__u64 window[UNWIND_WINDOW_WORDS];
};

/* Where a walk is: the same as there, in registers. */
struct unwind_spot {
	__u64 ip, sp, bp, bp_address;
};

/* Where a walk starts: between two instructions of the current thread. */
struct unwind_from {
	__u64 ip, sp, bp; /* the registers there */
	__u64 lr; /* arm64: another one, if ip is no return address */
	__u32 target_id; /* key of the process in unwind_processes */
	__u32 exec_id; /* number of its execs */
	__u32 depth; /* frames to keep, from the innermost */
	__u32 flags; /* UNWIND_EXACT unless ip is a return address; UNWIND_BY_BP */
};

#endif
