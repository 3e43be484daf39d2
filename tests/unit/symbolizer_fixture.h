/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are built while the test runs, in a folder of their own, and looked up by a symbolizer. Names, lines and
 * addresses to compare with come from binutils (addr2line, nm), which share no code with elfutils.
 */
#ifndef TESTS_SYMBOLIZER_FIXTURE_H
#define TESTS_SYMBOLIZER_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "decode/fork_server.h"
#include "decode/worker.h"
#include "symbolize/symbolizer.h"

struct fixture {
	char folder[64];
	struct module_list modules;
	struct symbolizer *symbolizer;
};

/* Run a command in the folder of the fixture; it must succeed. */
static inline __attribute__((format(printf, 2, 3))) void fixture_run(struct fixture *fixture,
								     const char *format, ...)
{
	char command[2048];
	va_list arguments;
	int length = snprintf(command, sizeof(command), "cd %s && ", fixture->folder);

	va_start(arguments, format);
	vsnprintf(command + length, sizeof(command) - (size_t)length, format, arguments);
	va_end(arguments);
	if (system(command))
		fail_msg("failed: %s", command);
}

static inline char *fixture_path(struct fixture *fixture, const char *name)
{
	return memory_format("%s/%s", fixture->folder, name);
}

static inline void fixture_write(struct fixture *fixture, const char *name, const void *bytes,
				 size_t size)
{
	char *path = fixture_path(fixture, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	free(path);
}

/* The process that decodes files; 0 = none has been needed yet. */
static inline pid_t fixture_worker_pid(const struct fixture *fixture)
{
	int server = symbolizer_server_pid(fixture->symbolizer), worker = 0;
	char path[64];
	FILE *children;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", server, server);
	children = fopen(path, "r");
	if (!children)
		return 0;
	if (fscanf(children, "%d", &worker) != 1)
		worker = 0;
	fclose(children);
	return worker;
}

/* A folder with the sources; `options` may be NULL. */
static inline void fixture_begin(struct fixture *fixture, const struct symbolizer_options *options)
{
	const struct symbolizer_options none = { 0 };
	char command[128];

	*fixture = (struct fixture){ .folder = "/tmp/test_symbolizer.XXXXXX" };
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(command, sizeof(command), "cp tests/data/symbolizer/* %s", fixture->folder);
	assert_int_equal(system(command), 0);
	fixture->symbolizer = symbolizer_new(&fixture->modules, options ? options : &none);
}

static inline void fixture_end(struct fixture *fixture)
{
	char command[128];

	symbolizer_free(fixture->symbolizer);
	module_list_free(&fixture->modules);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->folder);
	assert_int_equal(system(command), 0);
}

/* Open a file of the folder as a module. */
static inline uint32_t fixture_module(struct fixture *fixture, const char *name)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = fixture_path(fixture, name);
	module->fd = open(module->path, O_RDONLY | O_CLOEXEC);
	assert_true(module->fd >= 0);
	return module_list_add(&fixture->modules, module);
}

/* The names of the instruction at a file offset: a frame has the return address, which is one further. */
static inline const struct symbol_list *fixture_lookup(struct fixture *fixture, uint32_t module,
						       uint64_t offset)
{
	const struct frame frame = { .kind = FRAME_NATIVE,
				     .module = module,
				     .address = 0x7f0000000000 + offset + 1,
				     .offset = offset + 1 };

	return symbolizer_lookup(fixture->symbolizer, &frame);
}

/* File offset of an address, by the program headers. */
static inline uint64_t fixture_offset(struct fixture *fixture, const char *name, uint64_t address)
{
	char *path = fixture_path(fixture, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t offset = UINT64_MAX;
	GElf_Phdr segment;
	Elf *elf;
	int i;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	for (i = 0; gelf_getphdr(elf, i, &segment); i++)
		if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) &&
		    address - segment.p_vaddr < segment.p_filesz)
			offset = address - segment.p_vaddr + segment.p_offset;
	elf_end(elf);
	close(fd);
	free(path);
	assert_true(offset != UINT64_MAX);
	return offset;
}

/* Address and size of a symbol according to nm, which must have it. */
static inline void fixture_symbol(struct fixture *fixture, const char *name, const char *symbol,
				  uint64_t *ret_address, uint64_t *ret_size)
{
	char command[256], line[1024], found[256];
	unsigned long address, size;
	bool seen = false;
	FILE *nm;

	snprintf(command, sizeof(command), "nm -S --defined-only %s/%s", fixture->folder, name);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm)) {
		if (sscanf(line, "%lx %lx %*c %255s", &address, &size, found) != 3 ||
		    strcmp(found, symbol))
			continue;
		*ret_address = address;
		*ret_size = size;
		seen = true;
	}
	pclose(nm);
	if (!seen)
		fail_msg("%s has no symbol %s", name, symbol);
}

/* The name that the symbolizer gives to the middle of a function; the program is `truth`, the module `module`. */
static inline const struct symbol_list *fixture_lookup_symbol(struct fixture *fixture,
							      uint32_t module, const char *truth,
							      const char *symbol)
{
	uint64_t address = 0, size = 0;

	fixture_symbol(fixture, truth, symbol, &address, &size);
	return fixture_lookup(fixture, module, fixture_offset(fixture, truth, address + size / 2));
}

#endif
