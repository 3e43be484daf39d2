/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_release.h. */
#include "python/python_release.h"

#include <stddef.h>

#define MANAGED_WEAKREF (1ull << 3)
#define MANAGED_DICT (1ull << 4)

#define TEXT_OLD .text = 48, .wide_text = 72
#define TEXT_NEW .text = 40, .wide_text = 56

#define CODE_OLD .code_file = 104, .code_lines = 120, .code_instructions = 48
#define CODE_NEW .code_file = 112, .code_lines = 136

/* Frames of 3.8 to 3.10: frame objects, linked from the thread state. */
#define WALK_OLD(at, kind)                                                                    \
	{                                                                                     \
		.state_frame = 24, .frame_size = 112, .code = 32, .previous = 24,             \
		.position = (at), .position_kind = (kind), .entry_kind = INTERP_ENTRY_ALWAYS, \
		.name = 112, .first_line = 40                                                 \
	}

#define IDENTITY_OLD 176

static const struct python_release rows[] = {
	{ .minor = 8,
	  CODE_OLD,
	  TEXT_OLD,
	  .walk = WALK_OLD(104, INTERP_POSITION_BYTES),
	  .identity = IDENTITY_OLD,
	  .lines = PYTHON_LINES_PAIRS,
	  .gc_interpreter = PYTHON_GC_IN_RUNTIME,
	  .gc_lists = { 368 } },
	{ .minor = 9,
	  CODE_OLD,
	  .tuple_items = 24,
	  .function_name = 104,
	  .function_closure = 48,
	  .function_defaults = 32,
	  .pool_size = 0x1000,
	  TEXT_OLD,
	  .qualname = 856,
	  .cached_keys = 864,
	  .walk = WALK_OLD(104, INTERP_POSITION_BYTES),
	  .identity = IDENTITY_OLD,
	  .lines = PYTHON_LINES_PAIRS,
	  .gc_interpreter = 32,
	  .gc_lists = { 640 } },
	{ .minor = 10,
	  CODE_OLD,
	  .tuple_items = 24,
	  .function_name = 40,
	  .function_closure = 72,
	  .function_defaults = 56,
	  .pool_size = 0x4000,
	  TEXT_OLD,
	  .qualname = 864,
	  .cached_keys = 872,
	  .walk = WALK_OLD(96, INTERP_POSITION_UNITS),
	  .identity = IDENTITY_OLD,
	  .lines = PYTHON_LINES_RANGES,
	  .gc_interpreter = 32,
	  .gc_lists = { 640 } },
	{ .minor = 11,
	  CODE_NEW,
	  .tuple_items = 24,
	  .function_name = 40,
	  .function_closure = 72,
	  .function_defaults = 56,
	  .pool_size = 0x4000,
	  .managed = MANAGED_DICT,
	  TEXT_OLD,
	  .qualname = 864,
	  .cached_keys = 872,
	  .small_keys = true,
	  .values = -32,
	  .dict = -24,
	  .walk = { .state_frame = 56,
		    .indirect = 1,
		    .indirect_frame = 8,
		    .frame_size = 80,
		    .code = 32,
		    .previous = 48,
		    .position = 56,
		    .position_kind = INTERP_POSITION_POINTER,
		    .bytecode = 184,
		    .entry = 68,
		    .entry_kind = INTERP_ENTRY_FLAG,
		    .windowed = 1,
		    .name = 128,
		    .first_line = 72 },
	  .identity = 152,
	  .lines = PYTHON_LINES_LOCATIONS,
	  .gc_interpreter = 40,
	  .gc_lists = { 672 } },
	{ .minor = 12,
	  CODE_NEW,
	  .tuple_items = 24,
	  .function_name = 40,
	  .function_closure = 72,
	  .function_defaults = 56,
	  .pool_size = 0x4000,
	  .managed = MANAGED_DICT | MANAGED_WEAKREF,
	  .narrow_references = true,
	  TEXT_NEW,
	  .qualname = 872,
	  .cached_keys = 880,
	  .small_keys = true,
	  .values = -24,
	  .dict = -24,
	  .values_tag = 1,
	  .walk = { .state_frame = 56,
		    .indirect = 1,
		    .indirect_frame = 0,
		    .frame_size = 80,
		    .code = 0,
		    .previous = 8,
		    .position = 56,
		    .position_kind = INTERP_POSITION_POINTER,
		    .bytecode = 192,
		    .entry = 70,
		    .entry_kind = INTERP_ENTRY_SHIM,
		    .windowed = 1,
		    .name = 128,
		    .first_line = 68 },
	  .identity = 136,
	  .lines = PYTHON_LINES_LOCATIONS,
	  .gc_interpreter = 40,
	  .gc_lists = { 136 } },
	{ .minor = 13,
	  CODE_NEW,
	  .tuple_items = 24,
	  .function_name = 40,
	  .function_closure = 72,
	  .function_defaults = 56,
	  .pool_size = 0x4000,
	  .managed = MANAGED_DICT | MANAGED_WEAKREF,
	  .narrow_references = true,
	  TEXT_NEW,
	  .qualname = 872,
	  .cached_keys = 880,
	  .small_keys = true,
	  .dict = -24,
	  .describes_itself = true,
	  .walk = { .position_kind = INTERP_POSITION_POINTER,
		    .entry_kind = INTERP_ENTRY_SHIM,
		    .windowed = 1 },
	  .lines = PYTHON_LINES_LOCATIONS,
	  .gc_lists = { 7424, 7420, 7432 } },
	{ .minor = 14,
	  CODE_NEW,
	  .tuple_items = 32,
	  .function_name = 40,
	  .function_closure = 72,
	  .function_defaults = 56,
	  .pool_size = 0x4000,
	  .managed = MANAGED_DICT | MANAGED_WEAKREF,
	  .narrow_references = true,
	  TEXT_NEW,
	  .moved_state = true,
	  .qualname = 872,
	  .cached_keys = 880,
	  .small_keys = true,
	  .dict = -24 },
};

const struct python_release *python_release_find(unsigned int minor)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].minor == minor)
			return &rows[i];
	return NULL;
}

const struct python_release *python_release_with_objects(unsigned int minor)
{
	const struct python_release *release = python_release_find(minor);

	return release && release->pool_size ? release : NULL;
}
