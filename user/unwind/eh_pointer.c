/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encoded pointers: see eh_pointer.h. */
#include "unwind/eh_pointer.h"

#include <dwarf.h>

#define FORMAT_MASK 0x0f
#define BASE_MASK 0xf0

static uint64_t eh_pointer_value(struct cursor *cursor, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_fixed(cursor, 8);
	case DW_EH_PE_uleb128:
		return cursor_uleb(cursor);
	case DW_EH_PE_sleb128:
		return (uint64_t)cursor_sleb(cursor);
	case DW_EH_PE_udata2:
		return cursor_fixed(cursor, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)cursor_fixed(cursor, 2);
	case DW_EH_PE_udata4:
		return cursor_fixed(cursor, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)cursor_fixed(cursor, 4);
	default:
		cursor_fail(cursor);
		return 0;
	}
}

uint64_t eh_pointer_read(struct cursor *cursor, uint8_t encoding, uint64_t data_base)
{
	uint64_t address = cursor->address;
	uint64_t value = eh_pointer_value(cursor, encoding & FORMAT_MASK);

	switch (encoding & BASE_MASK) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + address;
	case DW_EH_PE_datarel:
		if (data_base)
			return value + data_base;
		break;
	default:
		break;
	}
	cursor_fail(cursor);
	return 0;
}

void eh_pointer_skip(struct cursor *cursor, uint8_t encoding)
{
	if ((encoding & BASE_MASK) == DW_EH_PE_aligned)
		cursor_fail(cursor);
	else if (encoding != DW_EH_PE_omit)
		eh_pointer_value(cursor, encoding & FORMAT_MASK);
}
