/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of interpreters: layouts shared byte for byte by their readers in BPF and user space.
 * Field offsets in an interpreter's structures differ by version: user space fills in a table of
 * offsets for each process, and the BPF programs follow it blindly, since a wrong one can only lead
 * to unreadable or meaningless words. What is the same in all versions is a constant here, for both
 * sides.
 *
 * Everything here has a fixed width. The file includes nothing; each side brings its own __u32 and
 * friends.
 */
#ifndef INTERP_ABI_H
#define INTERP_ABI_H

/*
 * The interpreters: name in enumerators; word in functions, options and reports; name in messages. With a row here goes
 * one in the table of user/frames/frames_table.c; the walkers' dispatch in bpf/interp.bpf.h is made of these rows.
 */
#define INTERP_LIST(X)              \
	X(RUBY, ruby, "Ruby")       \
	X(PYTHON, python, "Python") \
	X(PHP, php, "PHP")

enum interp_kind {
	INTERP_NONE = 0,
#define INTERP_ENUMERATOR(NAME, word, title) INTERP_##NAME,
	INTERP_LIST(INTERP_ENUMERATOR)
#undef INTERP_ENUMERATOR
		INTERP_KINDS,
};

/*
 * Where to find the interpreter's state of the current thread: an execution context, a thread state
 * or globals.
 */
enum interp_anchor {
	/* Its address is in the word at thread pointer + anchor, the same for all threads. */
	INTERP_ANCHOR_THREAD = 0,
	/* Its address is in the word at anchor in the thread-local block of module number `module`. */
	INTERP_ANCHOR_MODULE,
	/* It is at the address `anchor`, and the process's first thread runs the interpreter. */
	INTERP_ANCHOR_PROCESS,
};

/* Which byte of a Python frame marks the outermost one of a call of the interpreter's loop. */
enum interp_entry {
	INTERP_ENTRY_ALWAYS = 0, /* each frame has a loop of its own */
	INTERP_ENTRY_FLAG, /* the byte is not 0 */
	INTERP_ENTRY_SHIM, /* the byte is INTERP_OWNER_LOOP in a further frame, which is no Python frame itself */
};

/* How a Python frame stores its current instruction. */
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
	__u32 windowed; /* 1 = callers' frames mostly are just below in memory */
	__u32 filename, name, lines; /* code object: str, str, bytes */
	__u32 first_line; /* code object: 32 bits */
	__u32 text, wide_text; /* str: characters, of an ASCII one and of another one */
};

#define INTERP_PYTHON_FRAME_MAX 128

/*
 * Ruby, in all versions. {vm_stack, vm_stack_size, cfp} is how an execution context begins, {pc, sp, iseq, self, ep} a
 * control frame.
 */
#define RUBY_FRAME_ISEQ 16
#define RUBY_FRAME_ENVIRONMENT 32
#define RUBY_FRAME_BYTES 40

/* Words of a VM stack, bytes of which environment variables set; the default is 2^17. */
#define RUBY_STACK_WORDS_MAX (1u << 28)

/* An iseq's body, and where in a body the rest is. */
#define RUBY_ISEQ_BODY 16
#define RUBY_BODY_TYPE 0
#define RUBY_BODY_SIZE 4
#define RUBY_BODY_CODE 8
#define RUBY_BODY_PATH 64
#define RUBY_BODY_LABEL 80
#define RUBY_BODY_FIRST_LINE 88

/* Objects: type in the low bits of the first word; a flag marks an array that is embedded, and a string that is not. */
#define RUBY_TYPE_MASK 0x1f
#define RUBY_TYPE_STRING 5
#define RUBY_TYPE_ARRAY 7
#define RUBY_FLAG (1u << 13)
#define RUBY_ARRAY_FIRST 16
#define RUBY_STRING_LENGTH 16
#define RUBY_STRING_TEXT 24
#define RUBY_STRING_BYTES 16
#define RUBY_STRING_WIDE_BYTES 24

/* The index of lines: ranks of the first positions, nine to a word, then blocks of 512 positions. */
#define RUBY_INDEX_DIRECT 54
#define RUBY_INDEX_HEAD 48
#define RUBY_INDEX_BLOCK 80

/* CPython, in all versions: a variable object's length, a str's state, and a bytes object's bytes. */
#define PYTHON_LENGTH 16
#define PYTHON_STATE 32
#define PYTHON_STATE_ASCII (1u << 6)
#define PYTHON_BYTES 32

/* Offsets in PHP's structures. */
struct interp_php {
	__u32 current; /* executor globals: execute data of the innermost call */
	__u32 filename; /* op array: string */
};

/* PHP, from 8.0 to 8.4. Execute data: a call, with 32 bits of call information; calls are a list. */
#define PHP_FRAME_OPLINE 0
#define PHP_FRAME_FUNCTION 24
#define PHP_FRAME_INFO 40
#define PHP_FRAME_PREVIOUS 48
#define PHP_FRAME_BYTES 56

/* In the call information: execute_ex() returns when this call does. */
#define PHP_CALL_TOP (1u << 17)

/* A function: its kind in the first byte, strings, class. Kinds of functions with op arrays are even. */
#define PHP_FUNCTION_NAME 8
#define PHP_FUNCTION_SCOPE 16
#define PHP_INTERNAL_FUNCTION 1
#define PHP_USER_FUNCTION 2
#define PHP_EVAL_CODE 4

#define PHP_OP_LINE 24 /* instruction: line, 32 bits */
#define PHP_CLASS_NAME 8

/* A string: hash of its bytes (0 = not computed yet), length, bytes. */
#define PHP_STRING_HASH 8
#define PHP_STRING_LENGTH 16
#define PHP_STRING_BYTES 24

/* The interpreter of a process; INTERP_NONE = none whose frames can be read. */
struct interp_process {
	__u32 kind; /* enum interp_kind */
	__u32 anchor_kind; /* enum interp_anchor */
	__u64 anchor; /* what to add, modulo 2^64 */
	__u64 seed; /* initial value of hashes of its code and frames: a secret per process */
	__u32 module;
	__u32 generation; /* below 2^16; differs between successive interpreters of a process */
	/* The word points to a structure with the state at this offset; 0 = to the state */
	__u32 through;
	__u32 memo; /* 1 = the end of code is seen, so its content may be cached by address */
	struct interp_ruby ruby;
	struct interp_python python;
	struct interp_php php;
};

#define INTERP_FRAMES_MAX 128

/* In `flags`: outermost frame of one call of the interpreter's loop. */
#define INTERP_FRAME_ENTRY 1u

/*
 * One frame. `code` is the address of an iseq, a code object or a function. `at` is the number of bytes from its first
 * instruction to the next one (Ruby) or the current one (Python: a signed number; negative = it has not begun), or a line
 * (PHP: in the low half, 0 = unknown; the high half is 1 for an entry). Code of a process with the same content is the
 * same for whoever looks at frames, wherever it is. A Ruby frame without content has in `at` the address of the next
 * instruction.
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
 * Data that names the code of a frame, copied when it was first seen in a stack, since it may live
 * no longer than the call. Each part is the start of an object. Code is that of an iseq's body, or
 * a code object.
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
	/* PHP has its lines in frames, and classes: */
	INTERP_PART_CLASS = INTERP_PART_LINES,
	INTERP_PART_CLASS_NAME = INTERP_PART_PATH,
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
_Static_assert(sizeof(struct interp_ruby) == 24, "struct interp_ruby");
_Static_assert(sizeof(struct interp_python) == 72, "struct interp_python");
_Static_assert(sizeof(struct interp_php) == 8, "struct interp_php");
_Static_assert(sizeof(struct interp_process) == 144, "struct interp_process");
_Static_assert(sizeof(struct interp_frame) == 32, "struct interp_frame");
_Static_assert(sizeof(struct interp_record) == 4112, "struct interp_record");
_Static_assert(sizeof(struct interp_part) == 304, "struct interp_part");
_Static_assert(sizeof(struct interp_code) == 3648, "struct interp_code");

#endif
