/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_offsets.h. */
#include "objects/python_offsets.h"

#include <stddef.h>

#define MANAGED_WEAKREF (1ull << 3)
#define MANAGED_DICT (1ull << 4)

#define TEXT_OLD .text = 48, .wide_text = 72
#define TEXT_NEW .text = 40, .wide_text = 56

#define CODE_OLD .code_file = 104, .code_lines = 120, .code_instructions = 48
#define CODE_NEW .code_file = 112, .code_lines = 136

static const struct python_offsets rows[] = {
	{ .minor = 9,
	  CODE_OLD,
	  .tuple_items = 24,
	  .function_name = 104,
	  .function_closure = 48,
	  .function_defaults = 32,
	  .pool_size = 0x1000,
	  TEXT_OLD,
	  .qualname = 856,
	  .cached_keys = 864 },
	{ .minor = 10,
	  CODE_OLD,
	  .tuple_items = 24,
	  .function_name = 40,
	  .function_closure = 72,
	  .function_defaults = 56,
	  .pool_size = 0x4000,
	  TEXT_OLD,
	  .qualname = 864,
	  .cached_keys = 872 },
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
	  .dict = -24 },
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
	  .values_tag = 1 },
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
	  .dict = -24 },
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

const struct python_offsets *python_offsets_find(unsigned int minor)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].minor == minor)
			return &rows[i];
	return NULL;
}
