/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a descriptor to a table: see unwind_file.h. The image has the size of the file but is memory without content,
 * into which the parts are read that the decoder is going to look at: untouched pages cost nothing.
 */
#include "unwind/unwind_file.h"

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Address space for one file; and bytes that are read of it: ten times the .eh_frame of the largest programs. */
#define FILE_SIZE_MAX (64ULL << 30)
#define READ_MAX (512ULL << 20)

struct sparse_image {
	int fd;
	uint8_t *bytes;
	size_t size;
	uint64_t read; /* bytes so far */
};

static int sparse_open(struct sparse_image *sparse, int fd)
{
	struct stat status;
	void *bytes;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	if ((uint64_t)status.st_size > FILE_SIZE_MAX)
		return -E2BIG;
	/* What may be written to counts for RLIMIT_DATA, so that is only what is read. */
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	*sparse = (struct sparse_image){ .fd = fd, .bytes = bytes, .size = (size_t)status.st_size };
	return 0;
}

static int sparse_open_pages(const struct sparse_image *sparse, uint64_t offset, uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = offset & ~(page - 1);

	return mprotect(sparse->bytes + begin, offset + size - begin, PROT_READ | PROT_WRITE);
}

/* Have the content of a part of the file, as far as there is any. Returns 0 or a negative errno. */
static int sparse_read(struct sparse_image *sparse, uint64_t offset, uint64_t size)
{
	ssize_t got;

	if (offset >= sparse->size)
		return 0;
	if (size > sparse->size - offset)
		size = sparse->size - offset;
	if (size > READ_MAX - sparse->read)
		return -E2BIG;
	if (sparse_open_pages(sparse, offset, size))
		return -errno;
	sparse->read += size;
	while (size) {
		got = pread(sparse->fd, sparse->bytes + offset, size, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return 0;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}

/* The names of the sections. */
static int sparse_read_names(struct sparse_image *sparse, const Elf64_Ehdr *header)
{
	uint64_t offset = header->e_shoff + (uint64_t)header->e_shstrndx * sizeof(Elf64_Shdr);
	Elf64_Shdr names;

	if (header->e_shoff > sparse->size || offset > sparse->size ||
	    sparse->size - offset < sizeof(names))
		return 0;
	memcpy(&names, sparse->bytes + offset, sizeof(names));
	return sparse_read(sparse, names.sh_offset, names.sh_size);
}

/* The segments that lead to .eh_frame and to the global offset table. */
static int sparse_read_segments(struct sparse_image *sparse, const Elf64_Ehdr *header)
{
	uint64_t offset = header->e_phoff;
	Elf64_Phdr segment;
	unsigned int i;
	int error = 0;

	for (i = 0; i < header->e_phnum && !error; i++, offset += sizeof(segment)) {
		if (offset > sparse->size || sparse->size - offset < sizeof(segment))
			return 0;
		memcpy(&segment, sparse->bytes + offset, sizeof(segment));
		if (segment.p_type == PT_DYNAMIC || segment.p_type == PT_GNU_EH_FRAME)
			error = sparse_read(sparse, segment.p_offset, segment.p_filesz);
	}
	return error;
}

static int sparse_read_headers(struct sparse_image *sparse)
{
	Elf64_Ehdr header;
	int error;

	error = sparse_read(sparse, 0, sizeof(header));
	if (error)
		return error;
	memcpy(&header, sparse->bytes, sizeof(header));
	error = sparse_read(sparse, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
	if (!error)
		error = sparse_read(sparse, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
	if (!error)
		error = sparse_read_names(sparse, &header);
	return error ? error : sparse_read_segments(sparse, &header);
}

static int unwind_file_compile(const struct elf_image *image, struct unwind_file *ret_file)
{
	struct unwind_file file;
	int error = cfi_table_build(image, &file.table);

	if (error)
		return error;
	file.code_count = elf_image_codes(image, file.codes);
	*ret_file = file;
	return 0;
}

static int sparse_compile(struct sparse_image *sparse, struct unwind_file *ret_file)
{
	struct elf_eh_frame section;
	struct elf_image image;
	int error = sparse_read_headers(sparse);

	if (!error)
		error = elf_image_open(sparse->bytes, sparse->size, ELF_LAYOUT_FILE, &image);
	if (!error)
		error = elf_image_eh_frame(&image, &section);
	if (!error)
		error = sparse_read(sparse, (uint64_t)(section.entries.at - sparse->bytes),
				    cursor_left(&section.entries));
	return error ? error : unwind_file_compile(&image, ret_file);
}

int unwind_file_read(int fd, struct unwind_file *ret_file)
{
	struct sparse_image sparse;
	int error = sparse_open(&sparse, fd);

	if (error)
		return error;
	error = sparse_compile(&sparse, ret_file);
	munmap(sparse.bytes, sparse.size);
	return error;
}

int unwind_file_read_memory(const void *bytes, size_t size, struct unwind_file *ret_file)
{
	struct elf_image image;
	int error = elf_image_open(bytes, size, ELF_LAYOUT_MEMORY, &image);

	return error ? error : unwind_file_compile(&image, ret_file);
}

void unwind_file_free(struct unwind_file *file)
{
	if (file)
		cfi_table_free(&file->table);
}
