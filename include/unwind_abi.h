/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables: what the compiler in user space and the walker in BPF must agree on, byte for byte.
 *
 * Everything here has a fixed width. The file includes nothing; each side brings its own __u32 and
 * friends (<linux/types.h> in user space, bpf/kernel_types.h in BPF). On x86-64 "sp" is rsp, "bp" is rbp, and
 * the return address is just below the call frame address (CFA). On arm64 "bp" is x29, and the return address is in
 * "lr", x30, until a function saves it: see enum unwind_pair.
 */
#ifndef UNWIND_ABI_H
#define UNWIND_ABI_H

/*
 * A row is the rule for leaving a frame whose pc is at or above the row's pc and below the next row's:
 *   bits  0..31  pc, an address as the ELF file sees it
 *   bits 32..63  rule
 * A rule:
 *   bits  0..2   enum unwind_cfa
 *   bits  3..4   enum unwind_bp
 *   bits  5..21  offset of the CFA, unsigned, in units of 8 bytes
 *   bits 22..31  offset of the saved bp, signed, in units of 8 bytes
 * On arm64:
 *   bits  3..4   enum unwind_pair
 *   bits 22..31  offset of what is saved, signed, in units of 8 bytes: if it is negative, from the CFA, otherwise from the
 *                register that the CFA is counted from. Functions save at the lower end of their frames, however large.
 */
enum unwind_cfa {
	UNWIND_CFA_END = 0, /* no code here that any row describes */
	UNWIND_CFA_SP, /* sp + offset */
	UNWIND_CFA_BP, /* bp + offset */
	UNWIND_CFA_BP_DEREF, /* the word at bp - offset: a function that realigned its stack */
	UNWIND_CFA_PLT, /* sp + 8, and 8 more if (pc & 15) >= the offset field (no unit) */
	UNWIND_CFA_SIGNAL, /* sp points at the kernel's ucontext, which holds all registers */
	UNWIND_CFA_ROOT, /* the return address is undefined: outermost frame */
	UNWIND_CFA_UNSUPPORTED, /* there is a rule, but none of the above */
};

enum unwind_bp {
	UNWIND_BP_SAME = 0, /* not changed by this frame */
	UNWIND_BP_AT_CFA, /* saved at CFA + offset */
	UNWIND_BP_AT_BP, /* saved at bp + offset */
	UNWIND_BP_UNKNOWN, /* lost, or saved where no rule can express */
};

/* arm64: where the return address is, and bp. Compilers save bp in the word below it, or do not save it. */
enum unwind_pair {
	UNWIND_PAIR_NONE = 0, /* in lr; bp is not changed */
	UNWIND_PAIR_BOTH, /* saved behind bp, at the offset */
	UNWIND_PAIR_LR, /* saved at the offset; bp is not changed */
	UNWIND_PAIR_LR_ONLY, /* saved at the offset; bp is lost, or saved where no rule can express */
};

#define UNWIND_CFA_OFFSET_MAX 0x1ffff /* units of 8 bytes */
#define UNWIND_BP_OFFSET_MAX 511 /* likewise; the smallest is -512 */

#define UNWIND_RULE(cfa, bp, cfa_offset, bp_offset)                                           \
	((__u32)(cfa) | (__u32)(bp) << 3 | ((__u32)(cfa_offset)&UNWIND_CFA_OFFSET_MAX) << 5 | \
	 (__u32)(bp_offset) << 22)
#define UNWIND_RULE_CFA(rule) ((rule)&7)
#define UNWIND_RULE_BP(rule) ((rule) >> 3 & 3)
#define UNWIND_RULE_CFA_OFFSET(rule) ((rule) >> 5 & UNWIND_CFA_OFFSET_MAX)
/* Sign extension without an arithmetic shift, which some verifiers cannot bound. */
#define UNWIND_RULE_BP_OFFSET(rule) ((__s32)((rule) >> 22 ^ 512) - 512)

#define UNWIND_ROW(pc, rule) ((__u64)(rule) << 32 | (__u32)(pc))
#define UNWIND_ROW_PC(row) ((__u32)(row))
#define UNWIND_ROW_RULE(row) ((__u32)((row) >> 32))

/*
 * The rows of one ELF file ascend by pc and start with a row for pc 0 with UNWIND_CFA_END. A page
 * index holds, for each page of addresses, the position of its first row, and one closing entry. So the
 * row of a pc is the last one at or below it among those of its page, or the one before them.
 */
#define UNWIND_PAGE_SHIFT 12
#define UNWIND_PAGE_ROWS_MAX 4095 /* found by UNWIND_SEARCH_STEPS halvings */
#define UNWIND_SEARCH_STEPS 12

/* Where an executable mapping of a process finds its rows. */
struct unwind_mapping {
	__u64 end; /* address after the last byte */
	__u64 bias; /* address in the process minus address in the file */
	__u32 pages; /* position of the entry of first_page in the page index */
	__u32 first_page; /* number of the first indexed page of the file */
	__u32 page_count; /* without the closing entry; 0 = no rows */
	__u32 flags; /* UNWIND_MAPPING_* */
};

#define UNWIND_MAPPING_ANONYMOUS 1u /* no file: code made at run time */

#define UNWIND_MAPPINGS_MAX 1024
#define UNWIND_MAPPING_STEPS 10
#define UNWIND_MAPPING_UNUSED (1ULL << 62)

/* The executable mappings of a process in address order; unused starts are UNWIND_MAPPING_UNUSED. */
struct unwind_mappings {
	__u64 starts[UNWIND_MAPPINGS_MAX];
	struct unwind_mapping mappings[UNWIND_MAPPINGS_MAX];
};

/* A file by its identity in the kernel, for mappings that the lists do not have yet. */
struct unwind_file_key {
	__u64 device; /* major << 20 | minor */
	__u64 inode;
};

/* Where its rows are, and its first executable segment. */
struct unwind_file_rows {
	__u64 offset; /* of the segment in the file */
	__u64 size; /* bytes in the file */
	__u64 address; /* of the segment as the file sees it */
	__u32 pages, first_page, page_count; /* as in struct unwind_mapping */
	__u32 unused;
};

/* A file's mapping as the kernel describes it. */
struct unwind_vma {
	__u64 start, end;
	__u64 offset; /* of its start in the file, bytes */
	struct unwind_file_key file;
};

/* Part of the addresses of one program. */
struct unwind_block {
	__u32 process; /* index */
	__u32 exec_id; /* number of execs of the process */
	__u64 number; /* address >> UNWIND_BLOCK_SHIFT */
};

#define UNWIND_BLOCK_SHIFT 16

/*
 * A rule in 24 bits: its low 15 bits, and nine bits of the offset of the saved bp. One that does not fit, and any of
 * kind UNWIND_CFA_UNSUPPORTED, is written as that kind and the position of its row, if that is below UNWIND_SHORT_ROWS.
 */
#define UNWIND_SHORT_ROWS (1u << 21)
#define UNWIND_SHORT_FITS(rule)                                                                    \
	(UNWIND_RULE_CFA(rule) != UNWIND_CFA_UNSUPPORTED && UNWIND_RULE_CFA_OFFSET(rule) < 1024 && \
	 ((((rule) >> 22) + 256) & 1023) < 512)
#define UNWIND_SHORT(rule) (((rule)&0x7fff) | ((rule) >> 22 & 511) << 15)
#define UNWIND_SHORT_OF_ROW(position) (UNWIND_CFA_UNSUPPORTED | (position) << 3)
#define UNWIND_SHORT_ROW(brief) ((brief) >> 3 & (UNWIND_SHORT_ROWS - 1))
#define UNWIND_SHORT_RULE(brief) \
	(((brief)&0x7fff) | ((((__u32)(brief) >> 15 & 511) ^ 256) - 256) << 22)

/*
 * A cache from pc to rule, one per process. Slot and tag together determine the pc, so a hit is exact; a
 * word is written by one store, so it cannot be torn.
 *   bits  0..23  the rule, short
 *   bits 24..29  low bits of the generation of the mappings; all words are zeroed when these wrap
 *   bits 30..63  pc >> 13
 */
#define UNWIND_CACHE_WORDS 8192
#define UNWIND_CACHE_GENERATIONS 64
#define UNWIND_CACHE_SLOT(pc) ((__u32)((pc) ^ (pc) >> 13) & (UNWIND_CACHE_WORDS - 1))
#define UNWIND_CACHE_TAG(pc, generation) \
	((pc) >> 13 << 30 | (__u64)((generation) & (UNWIND_CACHE_GENERATIONS - 1)) << 24)
#define UNWIND_CACHE_RULE(word) ((__u32)(word)&0xffffff)
#define UNWIND_ROWS_MAX (1u << 22)

/* Why a walk ended. */
enum unwind_end {
	UNWIND_END_ROOT = 0, /* the outermost frame */
	UNWIND_END_DEPTH, /* more frames than asked for */
	UNWIND_END_UNREADABLE, /* memory of the next frame could not be read */
	UNWIND_END_NO_ROWS, /* code without rows, and no sane frame pointer either */
	UNWIND_END_NO_MAPPING, /* the return address is in no known executable mapping */
	UNWIND_END_ANONYMOUS, /* code made at run time */
	UNWIND_END_UNSUPPORTED, /* the rule is one that rows cannot express */
	UNWIND_END_NO_BP, /* the rule needs a bp that an inner frame has lost */
	UNWIND_END_BROKEN, /* the next frame is not above this one, or not aligned */
	UNWIND_END_NO_TABLE, /* the process has no table of mappings */
	UNWIND_END_COUNT,
	UNWIND_END_GUESSED = 0x100, /* besides: frames behind code without rows are guessed */
};

/* A struct of another size on one side would be read wrongly on the other one. */
_Static_assert(sizeof(struct unwind_mapping) == 32, "struct unwind_mapping");
_Static_assert(sizeof(struct unwind_mappings) == 40960, "struct unwind_mappings");
_Static_assert(sizeof(struct unwind_file_key) == 16, "struct unwind_file_key");
_Static_assert(sizeof(struct unwind_file_rows) == 40, "struct unwind_file_rows");
_Static_assert(sizeof(struct unwind_vma) == 40, "struct unwind_vma");
_Static_assert(sizeof(struct unwind_block) == 16, "struct unwind_block");

#endif
