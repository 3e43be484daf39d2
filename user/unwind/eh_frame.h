/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of .eh_frame: which functions it describes (FDE), and what they have in common (CIE). Their
 * call frame instructions are only located here; cfi_program.h runs them.
 */
#ifndef UNWIND_EH_FRAME_H
#define UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi_frame.h"
#include "unwind/cursor.h"
#include "unwind/elf_image.h"

struct eh_cie {
	uint64_t offset; /* of the entry in the section */
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_register;
	uint8_t pointer_encoding; /* of the addresses in its FDEs */
	bool augmented; /* its FDEs have augmentation data to step over */
	bool signal; /* its frames are made by the kernel */
	bool unusable; /* of an unknown form: nothing of its FDEs can be understood */
	struct cursor program;
	struct cfi_frame initial; /* after its program; the reader leaves it empty */
};

struct eh_fde {
	uint64_t start, end; /* addresses as the file sees them; start < end */
	uint32_t cie; /* index */
	struct cursor program;
};

struct eh_frame {
	struct eh_cie *cies;
	size_t cie_count, cie_capacity;
	struct eh_fde *fdes; /* by start */
	size_t fde_count, fde_capacity;
	size_t skipped; /* entries that could not be understood */
};

/*
 * List the entries of a section, which must outlive the list. Damaged ones are skipped and counted. Returns 0, or
 * -E2BIG, with `*ret_frame` untouched, if there are more than any real file has.
 */
int eh_frame_read(const struct elf_eh_frame *section, struct eh_frame *ret_frame);
void eh_frame_free(struct eh_frame *frame);

#endif
