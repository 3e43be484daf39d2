/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares of the tables of stacks and sites. While several processes are traced, none may hold more of a table than is free in
 * it: so whatever one does, there is room for the others. A site counts when it has been stored; user space subtracts those
 * that it removes. Sites of one process that are stored at the same time may exceed its share by one for each CPU.
 */
#ifndef SHARE_BPF_H
#define SHARE_BPF_H

#include "maps.bpf.h"

/* Several processes are traced. */
__u32 shared = 0;

/* What each target holds, by its target_id; at SHARE_OF_ALL, all of them together. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SHARES_MAX);
	__type(key, __u32);
	__type(value, struct share);
} shares SEC(".maps");

static __always_inline struct share *share_find(__u32 target_id)
{
	return bpf_map_lookup_elem(&shares, &target_id);
}

/* Global functions: the verifier looks at each only once. */
int share_has_room(__u32 target_id, __u32 with_stack);
int share_add(__u32 target_id, __u32 with_stack);

/* May a target store another site, with a stack or without one? */
__noinline int share_has_room(__u32 target_id, __u32 with_stack)
{
	struct share *own, *all;

	if (!shared)
		return 1;
	own = share_find(target_id);
	all = share_find(SHARE_OF_ALL);
	if (!own || !all)
		return 1;
	if (with_stack)
		return (__s64)own->stacks + all->stacks < setting_max_stacks;
	return (__s64)own->plain + all->plain < SITES_RESERVE;
}

static __always_inline void share_count_site(struct share *share, bool with_stack)
{
	if (!share)
		return;
	if (with_stack)
		__sync_fetch_and_add(&share->stacks, 1);
	else
		__sync_fetch_and_add(&share->plain, 1);
}

/* A target has stored a site. */
__noinline int share_add(__u32 target_id, __u32 with_stack)
{
	share_count_site(share_find(target_id), with_stack);
	share_count_site(share_find(SHARE_OF_ALL), with_stack);
	return 0;
}

#endif
