/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record path in the walkable process of unwind_world.h: tables of blocks, sites and stacks, one thread, and calls that a
 * test makes at places of the stack. One word of the stack is one step of a place.
 */
#ifndef TESTS_HOST_BPF_RECORD_WORLD_H
#define TESTS_HOST_BPF_RECORD_WORLD_H

#include "unwind_world.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* In place of kernel_types.h. */
#define KERNEL_TYPES_H
#define __TARGET_ARCH_x86
#define MAP_FIXED 0x10
enum bpf_func_id { BPF_FUNC_get_current_task_btf = 158 };

struct task_struct {
	struct task_struct *group_leader;
	__u64 self_exec_id;
	unsigned long sas_ss_sp, sas_ss_size;
};

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

static struct task_struct current_task;
static uint64_t current_ns, mapping_events, site_events;

static inline unsigned long bpf_get_current_task(void)
{
	return (unsigned long)&current_task;
}

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return &current_task;
}

#define bpf_task_storage_get(map, task, value, flags) ((void)(task), (void)(flags), NULL)

static inline uint64_t bpf_ktime_get_ns(void)
{
	return current_ns;
}

/* As some kernels have it: what is behind the NUL stays as it is. */
static const char *current_comm = "";

static inline long bpf_get_current_comm(void *to, uint32_t size)
{
	assert_true(strlen(current_comm) < size);
	strcpy(to, current_comm);
	return 0;
}

static inline uint64_t bpf_jiffies64(void)
{
	return current_ns;
}

static inline long bpf_probe_read_kernel(void *to, uint32_t size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

static inline uint64_t interp_thread_pointer(void)
{
	return 0;
}

/* Somebody changes the mappings: the kernel cannot be asked for them. */
static bool areas_unknown;

/* The stack is two mappings: the upper half is another one. */
static inline uint64_t relation_area_of(uint64_t address)
{
	if (areas_unknown)
		return 0;
	return address >= WORLD_STACK + WORLD_STACK_WORDS * 4 ? 2 : 1;
}

static inline long bpf_ringbuf_output(void *map, void *record, uint64_t size, uint64_t flags)
{
	uint32_t kind;

	(void)map;
	(void)size;
	(void)flags;
	memcpy(&kind, record, sizeof(kind));
	*(kind == 1 ? &site_events : &mapping_events) += 1;
	return 0;
}

#define SETTING
#include "call.bpf.h"
#include "sample.bpf.h"

#define THREAD_ID 77u
#define TRAMPOLINE 0x7fffffffe000ULL
#define RECORD_SITES 64
#define RECORD_BLOCKS 256

/* Functions of the world's file. */
enum { MALLOC, CALLBACK, CALLER, MAIN };

static const uint32_t record_rules[] = {
	[MALLOC] = SP(1), [CALLBACK] = SP(2), [CALLER] = SP(2), [MAIN] = ROOT
};

static struct world *record;
static uint64_t record_losses[LOSS_COUNT];
static struct thread record_thread_zero;
static struct inner_callers record_inner[INNER_CALLERS_MAX];
static struct share record_shares[SHARES_MAX];
static unsigned char record_code[WORLD_FUNCTIONS_MAX * WORLD_FUNCTION];

static inline void record_add_maps(void)
{
	memset(record_losses, 0, sizeof(record_losses));
	shim_add_map(&losses, record_losses, sizeof(record_losses[0]), LOSS_COUNT, NULL);
	shim_add_map(&thread_zero, &record_thread_zero, sizeof(record_thread_zero), 1, NULL);
	shim_add_map(&inner_callers, record_inner, sizeof(record_inner[0]), INNER_CALLERS_MAX,
		     NULL);
	memset(record_shares, 0, sizeof(record_shares));
	shim_add_map(&shares, record_shares, sizeof(record_shares[0]), SHARES_MAX, NULL);
	shim_add_hash(&threads_by_id, sizeof(__u32), sizeof(struct thread), 1);
	shim_add_hash(&blocks, sizeof(struct block_key), sizeof(struct block), RECORD_BLOCKS);
	shim_add_hash(&samples, sizeof(struct block_key), sizeof(struct sampled_block),
		      RECORD_BLOCKS);
	shim_add_hash(&sites, sizeof(__u64), sizeof(struct site), RECORD_SITES);
	shim_add_hash(&site_threads, sizeof(__u64), sizeof(struct site_thread), RECORD_SITES);
	shim_add_hash(&stacks, sizeof(__u64), sizeof(struct stack_record), RECORD_SITES);
	shim_add_hash(&sample_sites, sizeof(__u32), sizeof(struct sample_site), 4);
	shim_add_hash(&allocator_files, sizeof(__u32), sizeof(__u32), 4);
}

static inline void record_start(void)
{
	record = world_create(record_rules, 4);
	record_add_maps();
	shim.pid_tgid = (uint64_t)WORLD_TARGET << 32 | THREAD_ID;
	memset(record_code, 0xe8, sizeof(record_code));
	shim_add_region(WORLD_BIAS + WORLD_TEXT, record_code, sizeof(record_code), false);
	memset(&hijacked, 0, sizeof(hijacked));
	hijacked.trampoline = TRAMPOLINE;
	memset(&current_task, 0, sizeof(current_task));
	current_ns = 1 << 30;
	recording = 1;
	setting_task_storage = false;
	setting_declines = areas_unknown = false;
	setting_max_stacks = RECORD_SITES;
	shared = 0;
}

static inline void record_stop(void)
{
	shim_free_hashes();
	world_free(record);
}

/* Let functions of the world's file be an allocator's. */
static inline void record_is_allocator(void)
{
	__u32 pages = record->place.pages, value = 1;

	bpf_map_update_elem(&allocator_files, &pages, &value, BPF_ANY);
}

/* A program's function calls from the place `word`, where the return address stands. */
static inline void record_frame(uint64_t word)
{
	record->stack[word] = world_pc(CALLER, 16);
	record->stack[word + 2] = world_pc(MAIN, 16);
}

/* MALLOC, which was called from `word`, has called CALLBACK, and that calls from the place that is returned. */
static inline uint64_t record_callback(uint64_t word)
{
	record->stack[word - 1] = world_pc(MALLOC, 32);
	record->stack[word - 3] = world_pc(CALLBACK, 16);
	return word - 3;
}

/* A function with this shape begins, called from `word`. Returns whether its return is wanted. */
static inline bool record_call(uint64_t word, uint64_t shape, uint64_t one, uint64_t two)
{
	struct pt_regs registers = {
		.ip = world_pc(MALLOC, 0), .sp = world_address(word), .di = one, .si = two
	};
	bool wanted = call_enter(&registers, shape);

	if (wanted && !(shape & SHAPE_BY_EXITS)) {
		hijacked.slot = world_address(word);
		hijacked.original = record->stack[word];
		record->stack[word] = TRAMPOLINE;
	}
	return wanted;
}

/* It returns. */
static inline void record_return(uint64_t word, uint64_t result)
{
	struct pt_regs registers = { .sp = world_address(word + 1), .ax = result };

	if (record->stack[word] == TRAMPOLINE)
		record->stack[word] = hijacked.original;
	registers.ip = record->stack[word];
	call_return(&registers);
}

/* It comes to its exit. */
static inline void record_leave(uint64_t word, uint64_t result)
{
	struct pt_regs registers = { .ip = world_pc(MALLOC, 64),
				     .sp = world_address(word),
				     .ax = result };

	call_leave(&registers, SHAPE(CALL_LEAVE, 0, 0, 0, 0, 0));
}

static inline void record_end(uint64_t word, uint64_t address)
{
	struct pt_regs registers = { .ip = world_pc(MALLOC, 0), .sp = world_address(word) };

	record_free(SHAPE_WITH_TARGET(SHAPE(CALL_FREE, 0, 0, 1, 0, SOURCE_HEAP), WORLD_TARGET),
		    &registers, address);
}

/* All sites together, and what is in the table of blocks. */
struct record_totals {
	uint64_t alloc_bytes, alloc_objects, free_bytes, free_objects;
	uint64_t sites, blocks, block_bytes;
};

static inline struct record_totals record_sum(void)
{
	const struct shim_hash *hash = shim_hash_of(&sites);
	struct record_totals totals = { .sites = hash->count };
	struct site site;
	struct block block;
	uint32_t i;

	for (i = 0; i < hash->count; i++) {
		memcpy(&site, hash->values + i * sizeof(site), sizeof(site));
		totals.alloc_bytes += site.alloc_bytes;
		totals.alloc_objects += site.alloc_objects;
		totals.free_bytes += site.free_bytes;
		totals.free_objects += site.free_objects;
	}
	hash = shim_hash_of(&blocks);
	totals.blocks = hash->count;
	for (i = 0; i < hash->count; i++) {
		memcpy(&block, hash->values + i * sizeof(block), sizeof(block));
		totals.block_bytes += block.size;
	}
	return totals;
}

#endif
