/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's structures by release, 3.8 to 3.14, on 64-bit machines: one row per minor version has
 * all that frames, the clock of the collector and the census of objects need, constants are for
 * the rest; a new release is a row. Offsets are bytes from the start of the object, which is its
 * reference count. Sources: Include/cpython/code.h, frameobject.h, Include/internal/pycore_frame.h,
 * pycore_interp.h, pycore_gc.h, pycore_dict.h, Objects/obmalloc.c of each release.
 */
#ifndef PYTHON_PYTHON_RELEASE_H
#define PYTHON_PYTHON_RELEASE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp_abi.h"
#include "python/python_lines.h"

#define PYTHON_GC_IN_RUNTIME UINT16_MAX
#define PYTHON_GC_PLACES 3

struct python_release {
	unsigned int minor; /* of version 3 */
	/*
	 * Frames: `walk` lacks what other members have (text, file and lines of code);
	 * `walk.position_kind` 0 = the frames of this release are unknown.
	 */
	bool describes_itself; /* _PyRuntime begins with the offsets of `walk` and `identity` */
	struct interp_python walk;
	uint32_t identity; /* thread state: pthread_t */
	enum python_lines lines;
	/*
	 * Collector. Runtime: the first interpreter; 0 = by the offsets that are in the runtime;
	 * PYTHON_GC_IN_RUNTIME = the runtime has the lists.
	 */
	uint16_t gc_interpreter;
	/* Interpreter: the lists of objects; builds differ by what precedes them. 0 = unknown. */
	uint16_t gc_lists[PYTHON_GC_PLACES];
	/* Objects, from here on; pool_size 0 = unknown for this release. */
	uint32_t pool_size;
	/* Type flags of objects preceded by two more words. */
	uint64_t managed;
	bool narrow_references; /* the count is 32 bits wide, with other bits or none above */
	/* A str: */
	uint32_t text, wide_text; /* first character where all are ASCII, and otherwise */
	bool moved_state; /* its state may be 14 bits higher, as in some builds of 3.14 */
	uint32_t tuple_items; /* a tuple: its first item; behind a hash since 3.14 */
	/* A class defined by the program: */
	uint32_t qualname, cached_keys;
	/* A dict's keys are smaller since 3.11, which has several kinds of them. */
	bool small_keys;
	/* A function: its name, which follows that of its qualified one in 3.9; what it has closed over; its default arguments. */
	uint32_t function_name, function_closure, function_defaults;
	/* Code: the str of its file, and the bytes of its lines and, where they are not in it, instructions; 0 = they are. */
	uint32_t code_file, code_lines, code_instructions;
	/*
	 * Objects of a class: offset of their attribute values from the object's start, negative; 0
	 * = none.
	 */
	int32_t values, dict;
	uint32_t values_tag; /* bits of that word: set = values, and no dict */
};

#define PYTHON_OBJECT_TYPE 8
#define PYTHON_OBJECT_SIZE 16 /* ob_size: number of items */
#define PYTHON_OBJECT_HEAD 16

#define PYTHON_TYPE_NAME 24
#define PYTHON_TYPE_BASICSIZE 32
#define PYTHON_TYPE_ITEMSIZE 40
#define PYTHON_TYPE_FLAGS 168
#define PYTHON_TYPE_DICT 264
#define PYTHON_TYPE_BASE 256
#define PYTHON_TYPE_WEAKLIST 208
#define PYTHON_TYPE_DICTOFFSET 288
#define PYTHON_TYPE_BYTES 296 /* bytes read of a type */

#define PYTHON_FLAG_HEAP_TYPE (1ull << 9) /* defined by the program */
#define PYTHON_FLAG_READY (1ull << 12)
#define PYTHON_FLAG_GC (1ull << 14)
#define PYTHON_FLAG_LONG (1ull << 24)
#define PYTHON_FLAG_LIST (1ull << 25)
#define PYTHON_FLAG_TUPLE (1ull << 26)
#define PYTHON_FLAG_BYTES (1ull << 27)
#define PYTHON_FLAG_STR (1ull << 28)
#define PYTHON_FLAG_DICT (1ull << 29)
#define PYTHON_FLAG_TYPE (1ull << 31)

#define PYTHON_LIST_ITEMS 24
#define PYTHON_LIST_ALLOCATED 32
#define PYTHON_SET_MASK 32
#define PYTHON_SET_TABLE 40
#define PYTHON_DICT_USED 16
#define PYTHON_DICT_KEYS 32
#define PYTHON_DICT_VALUES 40
#define PYTHON_BYTEARRAY_ALLOCATED 24
#define PYTHON_MODULE_DICT 16
#define PYTHON_MODULE_NAME 48
#define PYTHON_WEAKREF_OBJECT 16
/* The previous and next weak reference to the same object. */
#define PYTHON_WEAKREF_BEFORE 40
#define PYTHON_WEAKREF_BEHIND 48
#define PYTHON_DEQUE_LEFT 24
#define PYTHON_INT_SIZE 16
#define PYTHON_INT_DIGITS 24
#define PYTHON_STR_LENGTH 16
#define PYTHON_STR_STATE 32

/* The row of version 3.`minor`, or NULL. */
const struct python_release *python_release_find(unsigned int minor);

/* The same if its objects are known, or NULL. */
const struct python_release *python_release_with_objects(unsigned int minor);

#endif
