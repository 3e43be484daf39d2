/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of a file that a process has mapped. Only the parts of the file that matter are read, however large
 * the rest is, and nothing is mapped: a file that shrinks meanwhile must not kill the tracer.
 */
#ifndef UNWIND_UNWIND_FILE_H
#define UNWIND_UNWIND_FILE_H

#include <stddef.h>

#include "unwind/cfi_table.h"
#include "unwind/elf_image.h"

struct unwind_file {
	struct cfi_table table;
	struct elf_code codes[ELF_CODES_MAX];
	unsigned int code_count;
};

/*
 * Read and compile the file behind a descriptor, which stays the caller's. Returns 0; -ENOEXEC, -ENODATA (nothing
 * describes its frames), -E2BIG or another negative errno, with `*ret_file` untouched. Free with unwind_file_free.
 */
int unwind_file_read(int fd, struct unwind_file *ret_file);

/* The same for an image that was copied from a process's memory (the vdso). */
int unwind_file_read_memory(const void *bytes, size_t size, struct unwind_file *ret_file);

void unwind_file_free(struct unwind_file *file);

#endif
