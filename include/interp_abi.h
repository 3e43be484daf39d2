/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of interpreters: what the readers of Ruby and CPython frames in BPF and the loader must agree on, byte for
 * byte. Where things are in the interpreter's structures differs by version: the loader fills a table of offsets for
 * each process, and the programs follow it blindly, since a wrong one can only lead to unreadable or senseless words.
 *
 * Everything here has a fixed width. The file includes nothing; each side brings its own __u32 and friends.
 */
#ifndef INTERP_ABI_H
#define INTERP_ABI_H

enum interp_kind {
	INTERP_NONE = 0,
	INTERP_RUBY,
	INTERP_PYTHON,
};

/* Where the interpreter's state of the current thread is found: an execution context or a thread state. */
enum interp_anchor {
	INTERP_ANCHOR_THREAD =
		0, /* in the word at thread pointer + anchor, the same for all threads */
	INTERP_ANCHOR_MODULE, /* in the word at anchor in the thread-local block of module number `module` */
};

/* Which byte of a Python frame tells that it is the outermost one of a call of the interpreter's loop. */
enum interp_entry {
	INTERP_ENTRY_ALWAYS = 0, /* each frame has a loop of its own */
	INTERP_ENTRY_FLAG, /* the byte is not 0 */
	INTERP_ENTRY_SHIM, /* the byte is INTERP_OWNER_LOOP in a further frame, which is no Python frame itself */
};

/* How a Python frame tells its current instruction. */
enum interp_position {
	INTERP_POSITION_BYTES = 0, /* a 32-bit number of bytes */
	INTERP_POSITION_UNITS, /* a 32-bit number of units of two bytes */
	INTERP_POSITION_POINTER, /* an address in the code object */
};

#define INTERP_OWNER_LOOP 3

/* Offsets are in bytes; those of words that are read by frame are multiples of 8. */
struct interp_ruby {
	__u32 frame_size; /* of a control frame */
	__u32 lines; /* iseq body: table of instructions' lines */
	__u32 lines_index; /* iseq body: index of that table */
	__u32 line_count; /* iseq body: entries of that table, 32 bits */
	__u32 line_size; /* of an entry */
	__u32 wide_strings; /* 1 = strings have their length in a field, embedded ones too */
	__u32 unwatched; /* 1 = the programs are not told of all memory that is freed */
};

struct interp_python {
	__u32 state_frame; /* thread state: current frame, or the structure that has it */
	__u32 indirect; /* 1 = the latter: */
	__u32 indirect_frame; /* there: current frame */
	__u32 frame_size; /* what is read of a frame, at most INTERP_PYTHON_FRAME_MAX */
	__u32 code; /* frame: code object */
	__u32 previous; /* frame: its caller */
	__u32 position; /* frame: instruction */
	__u32 position_kind; /* enum interp_position */
	__u32 bytecode; /* code object: first instruction, for INTERP_POSITION_POINTER */
	__u32 entry; /* frame: byte of enum interp_entry */
	__u32 entry_kind; /* enum interp_entry */
	__u32 windowed; /* 1 = callers' frames mostly stand just below in memory */
	__u32 filename, name, lines; /* code object: str, str, bytes */
	__u32 first_line; /* code object: 32 bits */
	__u32 text, wide_text; /* str: characters, of an ASCII one and of another one */
	__u32 watched; /* 1 = the programs are told of code objects that end */
};

#define INTERP_PYTHON_FRAME_MAX 128

/* The interpreter of a process; kind INTERP_NONE: it has none whose frames can be read. */
struct interp_process {
	__u32 kind; /* enum interp_kind */
	__u32 anchor_kind; /* enum interp_anchor */
	__u64 anchor; /* what to add, modulo 2^64 */
	__u64 seed; /* what hashes of its code and frames begin with: a secret, different for each process */
	__u32 module;
	__u32 generation; /* below 2^16: no two interpreters of a process, one after the other, have the same */
	__u32 through; /* the word leads to a structure that has the state at this offset; 0 = to the state */
	struct interp_ruby ruby;
	struct interp_python python;
};

#define INTERP_FRAMES_MAX 128

/* In `flags`: outermost frame of one call of the interpreter's loop. */
#define INTERP_FRAME_ENTRY 1u

/*
 * One frame. `code` is the address of an iseq or a code object. `at` is the number of bytes from its first instruction to
 * the next one (Ruby) or the current one (Python: a signed number; negative = it has not begun). Code of a process with
 * the same content is the same for whoever looks at frames, wherever it stands. A Ruby frame without content has in `at` the address
 * of the next instruction.
 */
struct interp_frame {
	__u64 code;
	__u64 at;
	__u64 content; /* hash of all that names the code and its lines; 0 = it could not be read */
	__u32 flags;
	__u32 unused;
};

enum interp_end {
	INTERP_END_ROOT = 0, /* the outermost frame */
	INTERP_END_DEPTH, /* more frames than asked for */
	INTERP_END_UNREADABLE,
	INTERP_END_COUNT,
};

/* Innermost first. */
struct interp_record {
	__u32 kind;
	__u32 count;
	__u32 end; /* enum interp_end */
	__u32 unused;
	struct interp_frame frames[INTERP_FRAMES_MAX];
};

/*
 * What names the code of a frame, copied when it was first seen in a stack, since it may live no longer than the call.
 * Each part is the start of an object. Code is that of an iseq's body, or a code object.
 */
enum interp_part_kind {
	INTERP_PART_CODE = 0,
	INTERP_PART_FILENAME,
	INTERP_PART_NAME,
	INTERP_PART_LINES,
	/* Ruby only: */
	INTERP_PART_PATH, /* array whose first element is the file name, or the file name */
	INTERP_PART_FILENAME_TEXT, /* bytes of the strings, where they are not in them */
	INTERP_PART_NAME_TEXT,
	INTERP_PART_LINES_INDEX,
	/* Both: what follows the first part of the lines. */
	INTERP_PART_LINES_MORE,
	INTERP_PARTS = INTERP_PART_LINES_MORE + 4,
};

#define INTERP_PART_BYTES 288

/* All fields of a code object or body that are asked for lie in so many bytes. */
#define INTERP_CODE_FIELDS 144
#define INTERP_BODY_FIELDS 192

struct interp_part {
	__u64 address;
	__u32 size; /* bytes that could be read; 0 = nothing */
	__u32 unused;
	__u8 bytes[INTERP_PART_BYTES];
};

struct interp_code {
	struct interp_part parts[INTERP_PARTS];
};

/* A struct of another size on one side would be read wrongly on the other one. */
_Static_assert(sizeof(struct interp_ruby) == 28, "struct interp_ruby");
_Static_assert(sizeof(struct interp_python) == 76, "struct interp_python");
_Static_assert(sizeof(struct interp_process) == 144, "struct interp_process");
_Static_assert(sizeof(struct interp_frame) == 32, "struct interp_frame");
_Static_assert(sizeof(struct interp_record) == 4112, "struct interp_record");
_Static_assert(sizeof(struct interp_part) == 304, "struct interp_part");
_Static_assert(sizeof(struct interp_code) == 3648, "struct interp_code");

#endif
