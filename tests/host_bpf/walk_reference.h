/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plain way to walk a stack by unwind tables, to compare the fast one with: no windows, no cache, no page
 * index, every saved register read at once, and every row looked at.
 */
#ifndef TESTS_HOST_BPF_WALK_REFERENCE_H
#define TESTS_HOST_BPF_WALK_REFERENCE_H

#include "shim.h"
#include "tracer_abi.h"
#include "unwind/cfi_table.h"
#include "unwind_abi.h"

struct reference_mapping {
	uint64_t start, end, bias;
	const struct cfi_table *table; /* NULL = none */
	bool anonymous;
};

struct reference {
	const struct reference_mapping *mappings;
	size_t mapping_count;
	uint64_t ip, sp, bp;
	bool bp_known, bp_unreadable, exact, guessed;
	uint64_t pcs[STACK_FRAMES_MAX];
	uint32_t count, depth;
};

static inline bool reference_read(uint64_t address, uint64_t *word)
{
	struct shim_region *region = shim_find(address, sizeof(*word));

	if (!region || region->absent)
		return false;
	memcpy(word, (const char *)region->bytes + (address - region->start), sizeof(*word));
	return true;
}

static inline const struct reference_mapping *reference_mapping(const struct reference *walk,
								uint64_t pc)
{
	size_t i;

	for (i = 0; i < walk->mapping_count; i++)
		if (pc >= walk->mappings[i].start && pc < walk->mappings[i].end)
			return &walk->mappings[i];
	return NULL;
}

static inline uint32_t reference_rule(const struct reference_mapping *mapping, uint64_t pc)
{
	uint32_t i, rule = 0;

	if (!mapping->table)
		return 0;
	for (i = 0; i < mapping->table->row_count; i++)
		if (UNWIND_ROW_PC(mapping->table->rows[i]) <= pc - mapping->bias)
			rule = UNWIND_ROW_RULE(mapping->table->rows[i]);
	return rule;
}

/* Why bp cannot be used; -1 = it can. */
static inline int reference_bp_error(const struct reference *walk)
{
	if (walk->bp_unreadable)
		return UNWIND_END_UNREADABLE;
	return walk->bp_known ? -1 : UNWIND_END_NO_BP;
}

static inline int reference_cfa(const struct reference *walk, uint32_t rule, uint64_t pc,
				uint64_t *cfa)
{
	uint64_t offset = UNWIND_RULE_CFA_OFFSET(rule);
	uint32_t kind = UNWIND_RULE_CFA(rule);

	if (kind == UNWIND_CFA_ROOT)
		return UNWIND_END_ROOT;
	if (kind == UNWIND_CFA_UNSUPPORTED)
		return UNWIND_END_UNSUPPORTED;
	if ((kind == UNWIND_CFA_BP || kind == UNWIND_CFA_BP_DEREF) && reference_bp_error(walk) >= 0)
		return reference_bp_error(walk);
	if (kind == UNWIND_CFA_SP)
		*cfa = walk->sp + offset * 8;
	else if (kind == UNWIND_CFA_PLT)
		*cfa = walk->sp + 8 + (pc % 16 >= offset ? 8 : 0);
	else if (kind == UNWIND_CFA_BP)
		*cfa = walk->bp + offset * 8;
	else if (!reference_read(walk->bp - offset * 8, cfa))
		return UNWIND_END_UNREADABLE;
	return *cfa <= walk->sp || *cfa % 8 ? UNWIND_END_BROKEN : -1;
}

static inline int reference_restore_bp(struct reference *walk, uint32_t rule, uint64_t cfa)
{
	uint64_t address = cfa + (uint64_t)(int64_t)UNWIND_RULE_BP_OFFSET(rule) * 8;

	if (UNWIND_RULE_BP(rule) == UNWIND_BP_SAME)
		return -1;
	if (UNWIND_RULE_BP(rule) == UNWIND_BP_AT_BP) {
		if (reference_bp_error(walk) >= 0)
			return reference_bp_error(walk);
		address = walk->bp + (uint64_t)(int64_t)UNWIND_RULE_BP_OFFSET(rule) * 8;
	}
	walk->bp_known = UNWIND_RULE_BP(rule) != UNWIND_BP_UNKNOWN && address >= 4096;
	walk->bp_unreadable = walk->bp_known && !reference_read(address, &walk->bp);
	return -1;
}

static inline int reference_signal(struct reference *walk)
{
	uint64_t context = walk->sp;

	if (!reference_read(context + 120, &walk->bp) ||
	    !reference_read(context + 160, &walk->sp) || !reference_read(context + 168, &walk->ip))
		return UNWIND_END_UNREADABLE;
	walk->bp_known = true;
	walk->bp_unreadable = false;
	walk->exact = true;
	return -1;
}

/* Code without a row. */
static inline int reference_guess(struct reference *walk, uint32_t rule_at_ip)
{
	const struct reference_mapping *mapping;
	uint64_t next, ip;

	if (!walk->exact && rule_at_ip)
		return UNWIND_END_ROOT;
	if (!walk->bp_known)
		return UNWIND_END_NO_ROWS;
	if (walk->bp_unreadable)
		return UNWIND_END_UNREADABLE;
	walk->guessed = true;
	if (!walk->bp)
		return UNWIND_END_ROOT;
	if (walk->bp < walk->sp || walk->bp % 8 || walk->bp - walk->sp > 1 << 20 ||
	    !reference_read(walk->bp, &next) || !reference_read(walk->bp + 8, &ip))
		return UNWIND_END_NO_ROWS;
	mapping = reference_mapping(walk, ip - 1);
	if (!ip || !mapping)
		return UNWIND_END_NO_ROWS;
	if (!reference_rule(mapping, ip - 1) && next && next <= walk->bp)
		return UNWIND_END_NO_ROWS;
	walk->sp = walk->bp + 16;
	walk->bp = next;
	walk->ip = ip;
	walk->exact = false;
	return -1;
}

/* One frame. Returns why the walk ends, or -1. */
static inline int reference_step(struct reference *walk)
{
	uint64_t pc = walk->ip - !walk->exact, cfa = 0, ip;
	const struct reference_mapping *mapping = reference_mapping(walk, pc);
	const struct reference_mapping *at_ip = reference_mapping(walk, walk->ip);
	uint32_t rule;
	int end;

	if (walk->count == walk->depth)
		return UNWIND_END_DEPTH;
	walk->pcs[walk->count++] = walk->ip;
	if (!mapping || mapping->anonymous)
		return mapping ? UNWIND_END_ANONYMOUS : UNWIND_END_NO_MAPPING;
	rule = reference_rule(mapping, pc);
	if (UNWIND_RULE_CFA(rule) == UNWIND_CFA_END)
		return reference_guess(
			walk, at_ip && !at_ip->anonymous ? reference_rule(at_ip, walk->ip) : 0);
	if (UNWIND_RULE_CFA(rule) == UNWIND_CFA_SIGNAL)
		return reference_signal(walk);
	end = reference_cfa(walk, rule, pc, &cfa);
	if (end < 0 && !reference_read(cfa - 8, &ip))
		end = UNWIND_END_UNREADABLE;
	if (end < 0)
		end = reference_restore_bp(walk, rule, cfa);
	if (end >= 0)
		return end;
	if (!ip)
		return UNWIND_END_ROOT;
	walk->ip = ip;
	walk->sp = cfa;
	walk->exact = false;
	return -1;
}

/* Walk to the end. Returns an enum unwind_end. */
static inline uint32_t reference_walk(struct reference *walk, uint64_t ip, uint64_t sp, uint64_t bp,
				      uint32_t depth)
{
	int end = -1, turn;

	walk->ip = ip;
	walk->sp = sp;
	walk->bp = bp;
	walk->bp_known = true;
	walk->bp_unreadable = false;
	walk->exact = true;
	walk->guessed = false;
	walk->count = 0;
	walk->depth = depth;
	for (turn = 0; turn < 2 * STACK_FRAMES_MAX && end < 0; turn++)
		end = reference_step(walk);
	return (uint32_t)end;
}

#endif
