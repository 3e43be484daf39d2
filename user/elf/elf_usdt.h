/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The USDT probes of an ELF file, from the notes in .note.stapsdt: code locations, and the
 * locations of their arguments. Notes are untrusted.
 */
#ifndef ELF_ELF_USDT_H
#define ELF_ELF_USDT_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct elf_usdt {
	const char *provider, *name; /* any bytes; valid during the visit, like `arguments` */
	const char *arguments; /* their locations: "8@%rdi -4@16(%rsp)" */
	uint64_t offset; /* of the instruction in the file; 0 = not in its code */
	/* File offset of the probe's semaphore; 0 = none. */
	uint64_t semaphore;
	const char *refusal; /* why it cannot be probed: static phrase; NULL = it can be */
};

/* Calls `visit` for each note, in the order of the file; it returns false to stop. */
void elf_usdt_visit(struct elf_file *file,
		    bool (*visit)(void *context, const struct elf_usdt *probe), void *context);

#endif
