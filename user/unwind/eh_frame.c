/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CIEs and FDEs: see eh_frame.h. */
#include "unwind/eh_frame.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "unwind/eh_pointer.h"

/* libLLVM has 95,000 functions. */
#define FDES_MAX (2u << 20)
#define CIES_MAX (1u << 16)
#define LENGTH_64BIT 0xffffffffu

/* The bytes that the augmentation text of a CIE announces. The text is known to begin with 'z'. */
static void eh_read_augmentation(struct eh_cie *cie, const char *text, struct cursor data)
{
	for (text++; *text; text++) {
		switch (*text) {
		case 'R':
			cie->pointer_encoding = cursor_u8(&data);
			break;
		case 'P':
			eh_pointer_skip(&data, cursor_u8(&data));
			break;
		case 'L':
			cursor_u8(&data);
			break;
		case 'S':
			cie->signal = true;
			break;
		default:
			/* What a letter that is not known here takes is not known either. */
			return;
		}
	}
	cie->unusable = data.bad;
}

/* The part of a CIE behind its id. */
static void eh_read_cie(struct eh_cie *cie, struct cursor body)
{
	uint8_t version = cursor_u8(&body);
	const char *augmentation = cursor_string(&body);

	if (version == 4 && cursor_fixed(&body, 2) != 8)
		cie->unusable = true;
	cie->code_factor = cursor_uleb(&body);
	cie->data_factor = cursor_sleb(&body);
	cie->return_register = version == 1 ? cursor_u8(&body) : cursor_uleb(&body);
	cie->pointer_encoding = DW_EH_PE_absptr;
	cie->augmented = *augmentation == 'z';
	if (cie->augmented)
		eh_read_augmentation(cie, augmentation, cursor_take(&body, cursor_uleb(&body)));
	else if (*augmentation)
		cie->unusable = true;
	if ((version != 1 && version != 3 && version != 4) || body.bad)
		cie->unusable = true;
	cie->program = body;
}

static int eh_compare_cie(const void *key, const void *item)
{
	uint64_t offset = *(const uint64_t *)key;
	const struct eh_cie *cie = item;

	return offset < cie->offset ? -1 : offset > cie->offset;
}

/*
 * The CIE that starts at `offset`, or NULL. Only entries that were met on the way count, so that no bytes are
 * read as many CIEs; they were met in ascending order.
 */
static const struct eh_cie *eh_find_cie(const struct eh_frame *frame, uint64_t offset)
{
	const struct eh_cie *last;

	if (!frame->cie_count)
		return NULL;
	last = &frame->cies[frame->cie_count - 1];
	if (offset == last->offset)
		return last;
	return bsearch(&offset, frame->cies, frame->cie_count, sizeof(*frame->cies),
		       eh_compare_cie);
}

/* The part of an FDE behind the pointer to its CIE. False if it cannot be understood. */
static bool eh_read_fde(struct eh_fde *fde, const struct eh_cie *cie, struct cursor body,
			uint64_t data_base)
{
	uint64_t size;

	if (cie->unusable)
		return false;
	fde->start = eh_pointer_read(&body, cie->pointer_encoding, data_base);
	size = eh_pointer_read(&body, cie->pointer_encoding & 0x0f, 0);
	fde->end = fde->start + size;
	if (cie->augmented)
		cursor_skip(&body, cursor_uleb(&body));
	fde->program = body;
	return !body.bad && fde->end >= fde->start;
}

static void eh_add_cie(struct eh_frame *frame, uint64_t offset, struct cursor body)
{
	struct eh_cie cie = { .offset = offset };

	eh_read_cie(&cie, body);
	frame->skipped += cie.unusable;
	frame->cies = memory_grow(frame->cies, frame->cie_count, &frame->cie_capacity,
				  sizeof(*frame->cies));
	frame->cies[frame->cie_count++] = cie;
}

static void eh_add_fde(struct eh_frame *frame, const struct eh_cie *cie, struct cursor body,
		       uint64_t data_base)
{
	struct eh_fde fde = { 0 };

	if (!cie || !eh_read_fde(&fde, cie, body, data_base)) {
		frame->skipped++;
		return;
	}
	if (fde.start == fde.end)
		return;
	fde.cie = (uint32_t)(cie - frame->cies);
	frame->fdes = memory_grow(frame->fdes, frame->fde_count, &frame->fde_capacity,
				  sizeof(*frame->fdes));
	frame->fdes[frame->fde_count++] = fde;
}

/* One entry, its length already taken off. */
static void eh_read_entry(struct eh_frame *frame, uint64_t offset, uint64_t id_offset,
			  struct cursor body, uint64_t data_base)
{
	uint32_t id = cursor_u32(&body);

	if (body.bad)
		frame->skipped++;
	else if (!id)
		eh_add_cie(frame, offset, body);
	else
		eh_add_fde(frame, id <= id_offset ? eh_find_cie(frame, id_offset - id) : NULL, body,
			   data_base);
}

static int eh_compare_fde(const void *left, const void *right)
{
	const struct eh_fde *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->program.at < b->program.at ? -1 : a->program.at > b->program.at;
}

/* Linkers write most files in order already. */
static void eh_sort_fdes(struct eh_frame *frame)
{
	size_t i;

	for (i = 1; i < frame->fde_count; i++)
		if (frame->fdes[i].start < frame->fdes[i - 1].start)
			break;
	if (i < frame->fde_count)
		qsort(frame->fdes, frame->fde_count, sizeof(*frame->fdes), eh_compare_fde);
}

int eh_frame_read(const struct elf_eh_frame *section, struct eh_frame *ret_frame)
{
	struct cursor cursor = section->entries;
	const uint8_t *start = cursor.at;
	struct eh_frame frame = { 0 };
	uint64_t offset, id_offset, length;

	while (cursor_left(&cursor) >= 4) {
		if (frame.fde_count >= FDES_MAX || frame.cie_count >= CIES_MAX) {
			eh_frame_free(&frame);
			return -E2BIG;
		}
		offset = (uint64_t)(cursor.at - start);
		length = cursor_u32(&cursor);
		if (length == LENGTH_64BIT)
			length = cursor_fixed(&cursor, 8);
		if (!length && !section->bounded)
			break;
		if (!length)
			continue;
		id_offset = (uint64_t)(cursor.at - start);
		eh_read_entry(&frame, offset, id_offset, cursor_take(&cursor, length),
			      section->data_base);
	}
	eh_sort_fdes(&frame);
	*ret_frame = frame;
	return 0;
}

void eh_frame_free(struct eh_frame *frame)
{
	free(frame->cies);
	free(frame->fdes);
	*frame = (struct eh_frame){ 0 };
}
