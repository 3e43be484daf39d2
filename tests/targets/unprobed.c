/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes probes out of its own C library. Each line on standard input is done and answered by a line:
 *   allocate  SITE_BLOCKS blocks of SITE_BYTES bytes, at site_blocks, which are not freed
 *   drop      the kernel drops the library's code pages, and what was written into them; the file's come back
 *   page      the page of malloc is replaced by a copy of what is in the file
 *   all       all of the library's code is
 *   fork      a child does what follows, and the parent ends when the child does
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))
#define SITE_BLOCKS 100
#define SITE_BYTES 1000

/* The code of the C library: where it is, where in the file, and the file. */
static struct {
	char *start, *page;
	size_t size;
	off_t offset;
	int file;
} code;

static void *blocks[SITE_BLOCKS];

SITE static void site_blocks(void)
{
	size_t i;

	for (i = 0; i < SITE_BLOCKS; i++)
		blocks[i] = malloc(SITE_BYTES);
}

static int find_code(struct dl_phdr_info *info, size_t size, void *address)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start, end;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		start = info->dlpi_addr + part->p_vaddr;
		end = start + part->p_memsz;
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) ||
		    (uintptr_t)address < start || (uintptr_t)address >= end)
			continue;
		code.offset = (off_t)(part->p_offset & ~(page - 1));
		code.start = (char *)(start & ~(page - 1));
		code.size = (end - (uintptr_t)code.start + page - 1) & ~(page - 1);
		code.page = (char *)((uintptr_t)address & ~(page - 1));
		code.file = open(info->dlpi_name, O_RDONLY);
		return 1;
	}
	return 0;
}

/* The file may be shorter than its last page. */
static int replace(char *from, size_t size)
{
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED ||
	    pread(code.file, copy, size, code.offset + (from - code.start)) <= 0 ||
	    mprotect(copy, size, PROT_READ | PROT_EXEC))
		return 1;
	return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED;
}

static int obey(const char *line)
{
	pid_t child;
	int status;

	if (!strncmp(line, "allocate", 8))
		site_blocks();
	else if (!strncmp(line, "drop", 4))
		return madvise(code.start, code.size, MADV_DONTNEED);
	else if (!strncmp(line, "page", 4))
		return replace(code.page, 2 * (size_t)sysconf(_SC_PAGESIZE));
	else if (!strncmp(line, "all", 3))
		return replace(code.start, code.size);
	else if (!strncmp(line, "fork", 4) && (child = fork()) > 0)
		_exit(waitpid(child, &status, 0) != child || status);
	return 0;
}

int main(void)
{
	char line[64];
	ssize_t size;

	if (!dl_iterate_phdr(find_code, dlsym(RTLD_DEFAULT, "malloc")) || code.file < 0)
		return 1;
	while ((size = read(0, line, sizeof(line) - 1)) > 0) {
		line[size] = 0;
		if (obey(line))
			return 1;
		dprintf(1, "%d\n", getpid());
	}
	return 0;
}
