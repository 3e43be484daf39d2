/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an ELF file reveals about the interpreter in it. Read in a sandbox and passed to the tracer
 * as bytes, so it has no pointers.
 */
#ifndef INTERP_FILE_H
#define INTERP_FILE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interp_abi.h"
#include "elf/elf_file.h"

#define INTERP_VERSION_MAX 24

/* Addresses are those in the file; 0 = unknown. */
struct interp_file {
	enum interp_kind kind;
	unsigned int minor; /* minor version, where that selects the layout */
	uint64_t base; /* of the file's first byte */
	char version[INTERP_VERSION_MAX]; /* printable */
	/* The interpreter's state: _PyRuntime, executor_globals, rb_cObject, before 3.1 ruby_current_vm_ptr. */
	uint64_t globals;
	uint64_t code_type; /* PyCode_Type */
	uint64_t loop, loop_size; /* the function that runs code: rb_vm_exec, execute_ex */
};

/* "Ruby 3.1.2", "Python 3.11": for messages. Returns `text`. */
const char *interp_file_describe(const struct interp_file *file, char text[64]);

/* For readers of one kind of interpreter: */

/* The address of an exported symbol; 0 = there is none. */
uint64_t interp_file_symbol(struct elf_file *file, const char *name);

/* Fill in the function that runs code, by its symbol. */
void interp_file_set_loop(struct elf_file *file, const char *name, struct interp_file *interp);

/* Fill in the version: the printable part of `text`, up to `size` bytes. */
void interp_file_set_version(struct interp_file *interp, const char *text, size_t size);

/* Read the file by address. Returns the number of bytes read. */
size_t interp_file_read_at(struct elf_file *file, uint64_t address, void *bytes, size_t size);

/*
 * Search the first 64 MB of the file for a text of at most INTERP_TEXT_MAX bytes. `find` searches
 * for one that begins before `count`, in bytes of which INTERP_TEXT_MAX more are readable, and
 * returns its number, 0 = none. Returns that number.
 */
#define INTERP_TEXT_MAX 32u
unsigned int interp_file_search(struct elf_file *file,
				unsigned int (*find)(const char *bytes, size_t count));

#endif
