/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of BPF programs and user space: layouts that must be equal on both sides, byte for byte.
 *
 * Everything here has a fixed width. The file includes nothing; each side brings its own __u32 and
 * friends (<linux/types.h> in user space, bpf/kernel_types.h in BPF).
 */
#ifndef TRACER_ABI_H
#define TRACER_ABI_H

/* Most frames of one stack. Also the limit of --stack-depth. */
#define STACK_FRAMES_MAX 127

/*
 * What a probed function does to memory. BPF programs know only these verbs: an allocator function
 * is a verb plus the positions of its arguments (a "call shape").
 */
enum call_op {
	CALL_NONE = 0,
	CALL_ALLOC, /* returns a new block */
	CALL_REALLOC, /* ends the block at ptr_arg and returns a new one */
	CALL_FREE, /* ends the block at ptr_arg */
	CALL_MMAP, /* mmap(addr, length, prot, flags, fd, offset) */
	CALL_MUNMAP, /* munmap(addr, length) */
	CALL_MREMAP, /* mremap(old, old_length, new_length, flags[, new]) */
	CALL_THROW, /* an exception begins */
	CALL_LEAVE, /* an exit of a function whose return is not probed: the result is in its register */
	CALL_CODE_END, /* an interpreter's code object at ptr_arg ends; no memory is counted */
	CALL_SAMPLE, /* the program publishes a sample: a struct sample_site */
	CALL_SAMPLE_END, /* the program publishes that the sample was freed */
	CALL_INSIDE, /* inside an allocating function: its result, if any, is in a register */
	CALL_INSIDE_SIZE, /* likewise: the requested bytes are in a register */
	CALL_PROCESS_END, /* the process is about to end itself; no memory is counted */
};

/* How a function returns a block, or how it ends one. */
enum call_result {
	RESULT_POINTER = 0, /* in the return register; NULL is failure */
	RESULT_OUT_STATUS, /* in *ptr_arg, valid only when the return register is 0 (posix_memalign) */
	/* As RESULT_POINTER, but an exception could not pass a return probe */
	RESULT_POINTER_OR_THROWS,
	RESULT_IN_PLACE, /* the block stays where it is; a result below the size is failure (xallocx) */
	/* Of CALL_REALLOC: the old block ends even if there is no new one */
	RESULT_POINTER_OR_FREED,
	RESULT_FREES_INSIDE, /* of CALL_FREE: may end the block by calling another free function */
	RESULT_INSIDE =
		RESULT_FREES_INSIDE, /* of CALL_ALLOC: as RESULT_POINTER, and CALL_INSIDE sees it, too */
	RESULT_RETRIED, /* of CALL_LEAVE: after a failure the function may try again */
	RESULT_CHUNK, /* of CALL_REALLOC: as RESULT_POINTER; blocks are glibc's, with their sizes before them */
};

/*
 * The call shape travels in the attach cookie of a probe:
 *   bits  0..3   enum call_op
 *   bits  4..7   position of the size argument, 1..5, or that and ARG_IS_INT; 0 = none, 15 = the size is fixed
 *   bits  8..11  position of a count argument the size is multiplied by, in the same way; 0 = none
 *   bits 12..15  position of the pointer argument; 0 = none
 *   bits 16..18  enum call_result
 *   bit  19      no return probe: the result is read at the function's exits (CALL_LEAVE)
 *   bits 20..22  enum memory_source
 *   bit  23      the function was named on the command line
 *   bits 24..31  bytes by which the stack pointer at the probed instruction is below that at the entry
 *   bits 32..47  function id: the index of the function in user space's table
 *   bits 48..63  target_id of the traced process; 0 = BPF programs look it up (-a)
 * At an exit, the pointer argument is 1 where the first argument of the next function is the result; 0 = it is in its register.
 * Inside of a function, bits 4..7 are the register with the size (INSIDE_NOTED: it was noted before), 8..11 the words from the return
 * address down to where the frame pointer was saved (0 = it was not), 12..15 the register with the result.
 * Where a program publishes samples, bits 4..19 are the key of the site in the table of struct sample_site instead.
 */
#define SHAPE(op, size_arg, count_arg, ptr_arg, result, source)                                    \
	((__u64)(op) | (__u64)(size_arg) << 4 | (__u64)(count_arg) << 8 | (__u64)(ptr_arg) << 12 | \
	 (__u64)(result) << 16 | (__u64)(source) << 20)
#define SHAPE_OF_SAMPLE(op, key) ((__u64)(op) | (__u64)(key) << 4)
#define SHAPE_SAMPLE_KEY(shape) ((__u32)((shape) >> 4 & 0xffff))
#define SHAPE_WITH_STACK(shape, bytes) ((shape) | (__u64)(bytes) << 24)
#define SHAPE_WITH_FUNCTION(shape, id) ((shape) | (__u64)(id) << 32)
#define SHAPE_WITH_TARGET(shape, target_id) ((shape) | (__u64)(target_id) << 48)
#define SHAPE_THAT_FREES_INSIDE(shape) ((shape) | (__u64)RESULT_FREES_INSIDE << 16)
#define SHAPE_OF_CHUNKS(shape) ((shape) | (__u64)RESULT_CHUNK << 16)
#define SHAPE_OP(shape) ((__u32)((shape)&15))
#define SHAPE_SIZE_ARG(shape) ((__u32)((shape) >> 4 & 15))
#define SHAPE_COUNT_ARG(shape) ((__u32)((shape) >> 8 & 15))
#define SHAPE_PTR_ARG(shape) ((__u32)((shape) >> 12 & 15))
#define SHAPE_RESULT(shape) ((__u32)((shape) >> 16 & 7))
#define SHAPE_SOURCE(shape) ((__u32)((shape) >> 20 & 7))
#define SHAPE_STACK(shape) ((__u32)((shape) >> 24 & 0xff))
#define SHAPE_FUNCTION(shape) ((__u32)((shape) >> 32 & 0xffff))
#define SHAPE_TARGET(shape) ((__u32)((shape) >> 48))

/* In place of a register number; it is the stack pointer's. */
#define INSIDE_NOTED 4

/* What records calls whose result is seen inside. */
enum inside_mode {
	INSIDE_VERIFY = 0, /* their returns, which compare */
	INSIDE_RECORD, /* the probes inside */
};

/* Flag of a position: the argument has 32 bits, and the rest of its register is undefined. */
#define ARG_IS_INT 8
#define ARG_POSITION(position) ((position)&7)

/* In place of the position of the size argument: all blocks of the function have one size. */
#define SIZE_ARG_FIXED 15

#define SHAPE_BY_EXITS ((__u64)1 << 19)

/*
 * Set for functions that were named on the command line. The first block of a pool may have the address of the memory
 * that the pool has from malloc, so the addresses of named functions are kept apart by this bit.
 */
#define SHAPE_NAMED ((__u64)1 << 23)
#define NAMED_ADDRESS ((__u64)1 << 63)

/*
 * Kernels without cookies get for each probe a copy of a small program, in which user space has replaced this number
 * by the shape. It tail-calls one of the BPF programs.
 */
#define COOKIE_PLACEHOLDER 0x6b6f6f636570616bULL

enum program {
	PROGRAM_CALL_ENTRY = 0,
	PROGRAM_FREE_ENTRY,
	PROGRAM_SAMPLE_ENTRY,
	PROGRAM_LEAVE_ENTRY,
	PROGRAM_COUNT,
};

/* The location of an argument at a sample's probe. */
enum sample_place {
	SAMPLE_CONSTANT = 0, /* it is `value` */
	SAMPLE_REGISTER, /* in `base` */
	SAMPLE_MEMORY, /* at value + base + index * 2^shift */
};

/* Registers are numbered as the words of the kernel's struct pt_regs. */
#define SAMPLE_REGISTERS 32
#define SAMPLE_NO_REGISTER 0xff

struct sample_argument {
	__s64 value;
	__u8 place; /* enum sample_place */
	__u8 base, index; /* registers, or SAMPLE_NO_REGISTER */
	__u8 shift;
	__u8 size; /* bytes: 1, 2, 4 or 8 */
	__u8 is_signed;
	__u8 skip; /* bits of a register below the argument */
	__u8 unused;
};

/* The arguments by position. The end of a sample has only the first. */
enum sample_position {
	SAMPLE_POINTER = 0,
	SAMPLE_SIZE, /* bytes asked for */
	SAMPLE_WEIGHT, /* bytes that the sample represents */
	SAMPLE_ARGUMENTS,
};

struct sample_site {
	struct sample_argument arguments[SAMPLE_ARGUMENTS];
};

#define SAMPLE_SITES_MAX 0x3fff
/* Upper bound of a sample's weight: more than an address space has. */
#define SAMPLE_WEIGHT_MAX ((__u64)1 << 48)

/*
 * When the allocator itself frees what it cached for a thread (glibc at a thread's end), that is no
 * free by the program. Such frees are identified by their caller: allocator code in [low, high), in
 * bytes from the probed instruction. By function id.
 */
struct inner_callers {
	__s64 low, high;
};

/* Entries of `allocator_files`: files with functions that allocate or free. */
#define ALLOCATOR_FILES_MAX 4096

/* Upper bound of function ids with inner callers or a fixed size. */
#define INNER_CALLERS_MAX 1024

/* Where memory comes from. Totals of different sources are never mixed within a site. */
enum memory_source {
	SOURCE_HEAP = 0,
	SOURCE_MMAP,
	/* Of the kernel's own memory (--kernel). */
	SOURCE_KMALLOC,
	SOURCE_KMEM_CACHE,
	SOURCE_PAGES,
	SOURCE_PERCPU,
	SOURCE_COUNT,
};

/*
 * Key of a live block. `target_id` is the target that the probe's shape names: a child that shares the memory
 * of its parent (vfork) has the parent's blocks. `exec_id` is the low half of
 * the kernel's self_exec_id: it changes when the process execs, so a block of an old program is never
 * taken for one of the new program.
 */
struct block_key {
	__u64 address;
	__u32 target_id;
	__u32 exec_id;
};

/*
 * The life of a block is one word: its birth, CLOCK_MONOTONIC in units of 65 us, and in the low
 * bits what realloc has done with it since. A block keeps its birth when realloc resizes or moves
 * it.
 */
#define LIFE_GROWN_MAX 0x3fff /* times that realloc has made it larger: as often, or more often */
#define LIFE_UNKNOWN \
	0x4000 /* realloc made it from an unrecorded block: it is older than its birth */
#define LIFE_ADDED 0x8000 /* only what realloc added to such a block is counted */
#define LIFE_OF(born_ns) ((born_ns) & ~(__u64)0xffff)
/* The latest possible birth: no block counts as older than it is. */
#define LIFE_BORN_NS(life) ((life) | (__u64)0xffff)
#define LIFE_GROWN(life) ((__u32)((life)&LIFE_GROWN_MAX))

/* A live block. */
struct block {
	__u64 site; /* key of the site that owns it */
	__u64 size; /* bytes requested */
	__u64 life;
};

/* A live block that the program published as a sample; `block.size` is its weight. */
struct sampled_block {
	struct block block;
	__u64 objects; /* blocks that it represents, including itself */
};

/*
 * A live block of the kernel's own memory. Its key is its address, with the type in the low bits,
 * which are 0 in all addresses. The address of pages is that of their struct page; that of percpu
 * memory is no real address.
 */
struct kernel_block {
	/* Its size excludes pages that were freed before the rest of the block. */
	struct block block;
	__u32 order; /* for pages: initially 2^order */
	__u32 unused;
};

#define KERNEL_KEY_SLAB 0
#define KERNEL_KEY_PAGES 1
#define KERNEL_KEY_PERCPU 2

/* The name of the slab cache of a site's blocks; terminated. */
struct kernel_cache {
	char name[32];
};

/*
 * Lifespans of freed blocks, in units of 65,536 ns, as births are stored. Class 0 is below one
 * unit, class n from 2^(n-1) units on, and the last class everything longer than 19.5 hours. BPF
 * programs count all classes but the first, which is the rest of the freed blocks; so most blocks
 * cost nothing.
 */
#define LIFE_UNIT_BITS 16
#define LIFE_CLASSES 32

/*
 * One call site: a stack, in one program of a process, through one function. The counters only
 * grow. The freed ones come first, so that an ascending copy never sees a free without its
 * allocation.
 */
struct site {
	__u64 free_bytes;
	__u64 free_objects;
	__u64 alloc_bytes;
	__u64 alloc_objects;
	/* Freed blocks without a lifespan: moved on by realloc, or their free was not seen */
	__u64 untimed_objects;
	__u64 temporary_objects; /* freed blocks that the next call of their thread freed */
	__u64 life_units; /* sum of lifespans */
	/*
	 * The longest lifespan. If two blocks end at the same time on two CPUs, it may be that of
	 * the shorter-lived one.
	 */
	__u64 life_longest;
	__u64 stack; /* key in the stack table; 0 = the stack could not be stored */
	__u64 first_ns; /* CLOCK_MONOTONIC time of its first allocation */
	__u64 samples; /* samples behind alloc_bytes and alloc_objects; 0 = these are exact */
	__u32 target_id;
	__u32 exec_id;
	__u32 function; /* id in user space's function table */
	__u32 source; /* enum memory_source */
	__u64 lives[LIFE_CLASSES - 1]; /* blocks by lifespan, from class 1 on */
};

/* The name of a site's threads, as in the kernel: NUL-padded. */
struct site_thread {
	char name[16];
};

/*
 * Entries for sites without a stack: for allocations whose stack finds no room, a few functions in
 * a few programs.
 */
#define SITES_RESERVE 1024

/*
 * A target's entries in the tables of sites and stacks. Briefly negative if an entry is removed
 * before it was counted.
 */
struct share {
	__s32 stacks; /* sites with a stack */
	__s32 plain; /* sites without one */
};

/* target_ids have 16 bits; 0 is none. */
#define SHARES_MAX 65536
#define SHARE_OF_ALL 0

struct stack_record {
	__u32 count;
	__u32 end; /* enum unwind_end of unwind_abi.h */
	/* The first one is the return address into the caller of the function. */
	__u64 pcs[STACK_FRAMES_MAX];
};

/* Records of the ring buffer. Each starts with its kind. */
enum event_kind {
	EVENT_SITE = 1, /* struct event_site */
	EVENT_MAPPING, /* struct event_mapping */
	EVENT_PROCESS_END, /* struct event_process_end */
};

/* A site was seen for the first time: resolve its stack while the target still lives. */
struct event_site {
	__u32 kind;
	__u32 target_id;
	__u64 site;
};

/* The process of setting_stop_process was stopped before its end. */
struct event_process_end {
	__u32 kind;
	__u32 target_id;
};

/*
 * One mapping call. An unmapping call is reported twice, before and after: its range is free for
 * other threads before it returns. The order of these records is the order of their effects.
 */
enum mapping_phase {
	MAPPING_ENTER =
		0, /* munmap, mremap, and mmap with MAP_FIXED: about to change old_address.. */
	MAPPING_RETURN, /* result is known */
};

struct event_mapping {
	__u32 kind;
	__u32 target_id;
	__u32 exec_id;
	__u32 thread;
	__u32 op; /* CALL_MMAP, CALL_MUNMAP, CALL_MREMAP */
	__u32 phase; /* enum mapping_phase */
	__u64 old_address;
	__u64 old_length;
	__u64 new_length;
	__u64 flags; /* MAP_* or MREMAP_* */
	__u64 result; /* address, status, or MAP_FAILED; in MAPPING_RETURN only */
	__u64 site; /* 0 = none */
	__u64 time_ns;
};

/*
 * Every way to lose something. X(symbol, name in the outputs, enum loss_kind, is a defect of the numbers, sentence).
 * A defect means that a figure of the report may be short; the others are facts a reader may expect.
 */
#define LOSS_LIST(X)                                                                               \
	X(FREE_UNTRACKED, free_untracked, FACT, 0,                                                 \
	  "frees of unknown blocks: from before the attach, filtered out or lost")                 \
	X(BLOCKS_FULL, blocks_full, CALL, 1,                                                       \
	  "blocks not recorded: the block table is full (--max-blocks)")                           \
	X(BLOCKS_REFUSED, blocks_refused, CALL, 1,                                                 \
	  "blocks not recorded: kernel allocation failed (ENOMEM)")                                \
	X(STACKS_FULL, stacks_full, FACT, 1,                                                       \
	  "blocks without a stack: the stack table is full (--max-stacks)")                        \
	X(SITES_FULL, sites_full, CALL, 1,                                                         \
	  "blocks not recorded: the site table is full (--max-stacks)")                            \
	X(STACKS_OVER_SHARE, stacks_over_share, FACT, 1,                                           \
	  "blocks without a stack: their process has its share of the stack table")                \
	X(SITES_OVER_SHARE, sites_over_share, CALL, 1,                                             \
	  "blocks not recorded: their process has its share of the site table")                    \
	X(SITES_CLASHED, sites_clashed, FACT, 1,                                                   \
	  "blocks without a stack: its key is another stack's")                                    \
	X(STACK_UNREADABLE, stack_unreadable, STACK, 0,                                            \
	  "stacks cut short: memory could not be read")                                            \
	X(STACK_UNMAPPED, stack_unmapped, STACK, 0,                                                \
	  "stacks cut short in code mapped moments before")                                        \
	X(STACK_JIT, stack_jit, STACK, 0, "stacks cut short in code generated at run time")        \
	X(STACK_NO_ROWS, stack_no_rows, STACK, 0,                                                  \
	  "stacks cut short in code without unwind tables")                                        \
	X(STACK_GUESSED, stack_guessed, STACK, 0,                                                  \
	  "stacks guessed behind code without unwind tables, by its frame pointer")                \
	X(STACK_BROKEN, stack_broken, STACK, 0,                                                    \
	  "stacks cut short where unwind tables could not be followed")                            \
	X(STACK_NO_TABLE, stack_no_table, STACK, 0,                                                \
	  "stacks guessed by frame pointers: their process has no unwind tables")                  \
	X(STACK_TRUNCATED, stack_truncated, STACK, 0, "stacks cut at --stack-depth")               \
	X(ADDRESS_REUSED, address_reused, FACT, 1,                                                 \
	  "blocks closed because their address was handed out again")                              \
	X(RETURNS_UNMATCHED, returns_unmatched, CALL, 1, "calls whose return was never seen")      \
	X(RETURNS_DECLINED, returns_declined, FACT, 1,                                             \
	  "calls not counted: a return probe would have harmed one pending on another stack")      \
	X(CALLS_TOO_DEEP, calls_too_deep, FACT, 1,                                                 \
	  "calls not counted: too many others were pending in their thread")                       \
	X(CALLS_UNCLEAR, calls_unclear, FACT, 0,                                                   \
	  "calls during others taken for the allocator's own: their stacks were unclear")          \
	X(CALLS_THROWN, calls_thrown, FACT, 0, "allocations that ended with an exception")         \
	X(RESULTS_UNREADABLE, results_unreadable, CALL, 1, "calls whose result could not be read") \
	X(SAMPLES_SENSELESS, samples_senseless, CALL, 1,                                           \
	  "samples dropped: no address, or a weight that cannot be")                               \
	X(THREADS_REFUSED, threads_refused, CALL, 1,                                               \
	  "calls not followed: no room for the thread's state")                                    \
	X(THREADS_UNNAMED, threads_unnamed, FACT, 0,                                               \
	  "sites without their thread's name: no room for it (--by thread)")                       \
	X(EVENTS_DROPPED, events_dropped, FACT, 1, "events dropped: the ring buffer was full")     \
	X(PROGRAMS_MISSED, programs_missed, CALL, 1, "probe hits the kernel did not deliver")      \
	X(PROBES_MISSING, probes_missing, FACT, 1,                                                 \
	  "probes removed by others, and put back if possible: calls were missed")                 \
	X(PROBES_REFUSED, probes_refused, FACT, 1,                                                 \
	  "probes that could not be attached: calls of their functions are missed")                \
	X(EXECS_LATE, execs_late, FACT, 1,                                                         \
	  "first calls missed after exec() by a thread that is not the first")                     \
	X(FILES_LATE, files_late, FACT, 1,                                                         \
	  "allocator files probed after they were mapped: earlier calls are missed")               \
	X(FILES_MISSED, files_missed, FACT, 1,                                                     \
	  "files of programs that ended before they were read: an allocator may be missed")        \
	X(CHILDREN_LATE, children_late, FACT, 1,                                                   \
	  "new processes that ran before they were probed: those calls are missed")                \
	X(MEMORY_SHARED, memory_shared, FACT, 1,                                                   \
	  "processes in the memory of a traced one (vfork), whose calls are not seen")             \
	X(CHILDREN_MISSED, children_missed, FACT, 0,                                               \
	  "children not traced: they ended, or came too fast to be probed")                        \
	X(RECORDS_DROPPED, records_dropped, FACT, 0,                                               \
	  "records of processes dropped by the kernel: short-lived children may be missed")        \
	X(FILES_UNOPENED, files_unopened, FACT, 0,                                                 \
	  "mapped files not read or probed: too many, too large, on a server that may not "        \
	  "answer, or the tracer had to end")                                                      \
	X(FILES_WITHOUT_ROWS, files_without_rows, FACT, 0,                                         \
	  "files in which stacks end: the unwind tables are full, or their process has its share") \
	X(FILES_WITHOUT_NAMES, files_without_names, FACT, 0,                                       \
	  "files whose functions have no names: reading them failed or took too long")             \
	X(FREES_UNSEEN, frees_unseen, FACT, 0,                                                     \
	  "ways to free in bulk that this kernel does not show: what they free stays in use "      \
	  "until "                                                                                 \
	  "its address is handed out again")                                                       \
	X(BYTES_UNATTRIBUTED, bytes_unattributed, BYTES, 1, "bytes of blocks not recorded")

enum loss {
#define X(symbol, name, kind, defect, sentence) LOSS_##symbol,
	LOSS_LIST(X)
#undef X
		LOSS_COUNT,
};

/* What BPF programs record. */
enum recording {
	RECORD_NOTHING = 0,
	RECORD_ALL,
	RECORD_ENDS, /* of blocks only: nothing new */
};

/* What ran at a probe. */
enum hit_kind {
	HIT_CALL, /* the entry of a call with a result */
	HIT_RETURN, /* its return */
	HIT_FREE, /* the entry of a call that only frees */
	HIT_LEAVE, /* an exit of a function whose return is not probed */
	HIT_SAMPLE, /* a place where samples are published */
	HIT_OTHER, /* where an exception sets out, or an interpreter's code or a process ends */
	HIT_KIND_COUNT,
};

/* Whose hits are counted: thread 0 has those of threads for which there was no room. */
struct hit_key {
	__u32 thread; /* its id in the kernel's own pid namespace */
	__u16 function; /* function id; 0 = unknown */
	__u16 kind; /* enum hit_kind */
};

struct hits {
	__u64 count;
	__u64 timed, timed_ns; /* of how many the time is known, and their times */
};

#define HITS_MAX 16384

/* Whatever takes longer was preempted on the way. */
#define HIT_NS_MAX 100000

/* What a loss counts. */
enum loss_kind {
	LOSS_KIND_FACT = 0, /* something else than: */
	LOSS_KIND_CALL, /* calls that were seen and not recorded */
	LOSS_KIND_STACK, /* stacks that are not whole */
	LOSS_KIND_BYTES, /* bytes */
};

/* A struct of another size on one side would be read wrongly on the other one. */
_Static_assert(sizeof(struct sample_argument) == 16, "struct sample_argument");
_Static_assert(sizeof(struct sample_site) == 48, "struct sample_site");
_Static_assert(sizeof(struct inner_callers) == 16, "struct inner_callers");
_Static_assert(sizeof(struct block_key) == 16, "struct block_key");
_Static_assert(sizeof(struct block) == 24, "struct block");
_Static_assert(sizeof(struct kernel_block) == 32, "struct kernel_block");
_Static_assert(sizeof(struct sampled_block) == 32, "struct sampled_block");
_Static_assert(sizeof(struct site) == 352, "struct site");
_Static_assert(sizeof(struct site_thread) == 16, "struct site_thread");
_Static_assert(sizeof(struct share) == 8, "struct share");
_Static_assert(sizeof(struct stack_record) == 1024, "struct stack_record");
_Static_assert(sizeof(struct hit_key) == 8, "struct hit_key");
_Static_assert(sizeof(struct hits) == 24, "struct hits");
_Static_assert(sizeof(struct event_site) == 16, "struct event_site");
_Static_assert(sizeof(struct event_process_end) == 8, "struct event_process_end");
_Static_assert(sizeof(struct event_mapping) == 80, "struct event_mapping");

#endif
