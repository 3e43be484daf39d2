/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files by libelf: see elf_file.h. The symbols are in elf_functions.c. */
#include "elf/elf_file_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#else
#error "no ELF machine is known for this architecture"
#endif

/* Notes are small and few; libelf keeps what it has read of them until the end. */
#define NOTES_MAX (1u << 20)
#define NOTE_AREAS_MAX 64

static size_t elf_file_read_memory(const struct elf_file *file, uint64_t offset, void *bytes,
				   size_t size)
{
	if (offset >= file->size)
		return 0;
	if (size > file->size - offset)
		size = file->size - offset;
	memcpy(bytes, file->bytes.data + offset, size);
	return size;
}

size_t elf_file_read(struct elf_file *file, uint64_t file_offset, void *bytes, size_t size)
{
	size_t done = 0;
	ssize_t got;

	if (file->fd < 0)
		return elf_file_read_memory(file, file_offset, bytes, size);
	while (done < size) {
		if (file_offset > INT64_MAX - size)
			break;
		got = pread(file->fd, (char *)bytes + done, size - done,
			    (off_t)(file_offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

void *elf_file_copy(struct elf_file *file, uint64_t offset, uint64_t size, uint64_t limit)
{
	char *bytes;

	if (size > limit || offset > file->size || size > file->size - offset)
		return NULL;
	bytes = memory_resize(NULL, size + 1, 1);
	if (elf_file_read(file, offset, bytes, size) != size) {
		free(bytes);
		return NULL;
	}
	bytes[size] = '\0';
	return bytes;
}

static int elf_file_refuse(struct error *error, const char *why)
{
	return error_set(error, ERROR_NOTHING, -ENOEXEC, "%s", why);
}

static int elf_file_check_ident(const unsigned char *ident, struct error *error)
{
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return elf_file_refuse(error, "not an ELF file");
	if (ident[EI_CLASS] == ELFCLASS32)
		return elf_file_refuse(error,
				       "a 32-bit ELF file: only 64-bit programs are supported");
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_VERSION] != EV_CURRENT)
		return elf_file_refuse(error, "an ELF file of an unknown kind");
	if (ident[EI_DATA] != NATIVE_DATA)
		return elf_file_refuse(error, "an ELF file for a machine of another byte order");
	return 0;
}

static bool elf_file_holds(const struct elf_file *file, uint64_t offset, uint64_t count,
			   uint64_t size)
{
	return offset <= file->size && count <= (file->size - offset) / size;
}

/*
 * Files with many sections or segments keep the counts in section header 0, where they have up to 64 bits. libelf
 * allocates by them, so that they are checked first.
 */
static bool elf_file_counts_are_sane(struct elf_file *file, const Elf64_Ehdr *header)
{
	uint64_t sections = header->e_shnum, segments = header->e_phnum;
	Elf64_Shdr first = { 0 };

	if (header->e_shoff &&
	    elf_file_read(file, header->e_shoff, &first, sizeof(first)) != sizeof(first))
		return false;
	if (header->e_shoff && !sections)
		sections = first.sh_size;
	if (segments == PN_XNUM)
		segments = first.sh_info;
	if (sections > ELF_SECTIONS_MAX || segments > ELF_SEGMENTS_MAX)
		return false;
	if (sections && (header->e_shentsize != sizeof(Elf64_Shdr) ||
			 !elf_file_holds(file, header->e_shoff, sections, sizeof(Elf64_Shdr))))
		return false;
	return !segments || (header->e_phentsize == sizeof(Elf64_Phdr) &&
			     elf_file_holds(file, header->e_phoff, segments, sizeof(Elf64_Phdr)));
}

/* Everything that is wrong with the headers is found here, before libelf sees them. */
static int elf_file_read_size(struct elf_file *file, struct error *error)
{
	struct stat status;

	if (fstat(file->fd, &status))
		return error_set(error, ERROR_NOTHING, -errno, "cannot read the file: %s",
				 strerror(errno));
	if (!S_ISREG(status.st_mode))
		return elf_file_refuse(error, "not a regular file");
	file->size = (uint64_t)status.st_size;
	return 0;
}

static int elf_file_check(struct elf_file *file, struct error *error)
{
	Elf64_Ehdr header = { 0 };
	size_t got;
	int result;

	got = elf_file_read(file, 0, &header, sizeof(header));
	result = elf_file_check_ident(header.e_ident, error);
	if (result)
		return result;
	if (got != sizeof(header))
		return elf_file_refuse(error, "a truncated ELF file");
	if (header.e_machine != NATIVE_MACHINE)
		return elf_file_refuse(error, "an ELF file for another machine");
	if (!elf_file_counts_are_sane(file, &header))
		return elf_file_refuse(error, "a damaged or truncated ELF file");
	return 0;
}

static int elf_file_read_segments(struct elf_file *file)
{
	const Elf64_Phdr *segments;
	size_t count;

	if (elf_getphdrnum(file->elf, &count) || count > ELF_SEGMENTS_MAX)
		return -ENOEXEC;
	segments = count ? elf64_getphdr(file->elf) : NULL;
	if (count && !segments)
		return -ENOEXEC;
	file->segments = memory_alloc(count, sizeof(*segments));
	if (count)
		memcpy(file->segments, segments, count * sizeof(*segments));
	file->segment_count = count;
	return 0;
}

static void elf_file_read_interpreter(struct elf_file *file)
{
	size_t i;

	for (i = 0; i < file->segment_count && !file->interpreter; i++)
		if (file->segments[i].p_type == PT_INTERP)
			file->interpreter = elf_file_copy(file, file->segments[i].p_offset,
							  file->segments[i].p_filesz, PATH_MAX);
	if (file->interpreter && !file->interpreter[0]) {
		free(file->interpreter);
		file->interpreter = NULL;
	}
}

static int elf_file_start(struct elf_file *file, struct error *error)
{
	int status = elf_file_check(file, error);

	if (status)
		return status;
	elf_version(EV_CURRENT);
	file->elf = file->fd < 0 ? elf_memory(file->bytes.data, file->size)
				 : elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || elf_file_read_segments(file))
		return elf_file_refuse(error, "a damaged ELF file");
	elf_file_read_interpreter(file);
	return 0;
}

struct elf_file *elf_file_open(int fd, struct error *error)
{
	struct elf_file *file = memory_alloc(1, sizeof(*file));
	int status;

	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0)
		status = error_set(error, ERROR_NOTHING, -errno, "cannot read the file: %s",
				   strerror(errno));
	else
		status = elf_file_read_size(file, error);
	if (!status)
		status = elf_file_start(file, error);
	if (status) {
		elf_file_close(file);
		return NULL;
	}
	return file;
}

struct elf_file *elf_file_open_memory(struct buffer *bytes)
{
	struct elf_file *file = memory_alloc(1, sizeof(*file));

	file->fd = -1;
	file->bytes = *bytes;
	file->size = bytes->length;
	*bytes = (struct buffer){ 0 };
	if (elf_file_start(file, NULL)) {
		elf_file_close(file);
		return NULL;
	}
	return file;
}

void elf_file_close(struct elf_file *file)
{
	size_t i;

	if (!file)
		return;
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	for (i = 0; i < file->string_count; i++)
		free(file->strings[i]);
	free(file->strings);
	free(file->functions);
	free(file->interpreter);
	free(file->segments);
	buffer_free(&file->bytes);
	free(file);
}

static bool elf_file_is_loaded(const Elf64_Phdr *segment, uint32_t flags)
{
	return segment->p_type == PT_LOAD && (segment->p_flags & flags) == flags;
}

static bool elf_file_to_offset(const struct elf_file *file, uint64_t address, uint32_t flags,
			       uint64_t *ret_offset)
{
	size_t i;

	for (i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (elf_file_is_loaded(segment, flags) && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz &&
		    !__builtin_add_overflow(segment->p_offset, address - segment->p_vaddr,
					    ret_offset))
			return true;
	}
	return false;
}

bool elf_file_address_to_offset(struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	uint64_t offset;

	if (!elf_file_to_offset(file, address, 0, &offset))
		return false;
	*ret_offset = offset;
	return true;
}

bool elf_file_code_offset(const struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	uint64_t offset;

	if (!elf_file_to_offset(file, address, PF_X, &offset) || offset >= file->size)
		return false;
	*ret_offset = offset;
	return true;
}

bool elf_file_data_offset(const struct elf_file *file, uint64_t address, uint64_t size,
			  uint64_t *ret_offset)
{
	uint64_t first, last;

	if (address > UINT64_MAX - size || !elf_file_to_offset(file, address, PF_W, &first) ||
	    !elf_file_to_offset(file, address + size - 1, PF_W, &last) ||
	    last - first != size - 1 || last >= file->size)
		return false;
	*ret_offset = first;
	return true;
}

bool elf_file_offset_to_address(struct elf_file *file, uint64_t file_offset, uint64_t *ret_address)
{
	uint64_t address;
	size_t i;

	for (i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (elf_file_is_loaded(segment, 0) && file_offset >= segment->p_offset &&
		    file_offset - segment->p_offset < segment->p_filesz &&
		    !__builtin_add_overflow(segment->p_vaddr, file_offset - segment->p_offset,
					    &address)) {
			*ret_address = address;
			return true;
		}
	}
	return false;
}

const char *elf_file_interpreter(struct elf_file *file)
{
	return file->interpreter;
}

static size_t elf_file_find_build_id(Elf_Data *notes, unsigned char *id, size_t capacity)
{
	size_t offset = 0, next, name_at, description_at;
	GElf_Nhdr note;

	while ((next = gelf_getnote(notes, offset, &note, &name_at, &description_at)) > 0) {
		offset = next;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp((char *)notes->d_buf + name_at, "GNU", sizeof("GNU")) != 0)
			continue;
		if (!note.n_descsz || note.n_descsz > capacity)
			continue;
		memcpy(id, (char *)notes->d_buf + description_at, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

static size_t elf_file_notes_build_id(struct elf_file *file, uint64_t offset, uint64_t size,
				      uint64_t alignment, unsigned char *id, size_t capacity)
{
	Elf_Data *notes;

	if (!size || size > NOTES_MAX || offset > file->size || size > file->size - offset)
		return 0;
	notes = elf_getdata_rawchunk(file->elf, (int64_t)offset, size,
				     alignment == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	return notes ? elf_file_find_build_id(notes, id, capacity) : 0;
}

static size_t elf_file_segments_build_id(struct elf_file *file, unsigned char *id, size_t capacity)
{
	size_t size = 0, areas = 0, i;

	for (i = 0; i < file->segment_count && !size && areas < NOTE_AREAS_MAX; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type != PT_NOTE)
			continue;
		size = elf_file_notes_build_id(file, segment->p_offset, segment->p_filesz,
					       segment->p_align, id, capacity);
		areas++;
	}
	return size;
}

static size_t elf_file_sections_build_id(struct elf_file *file, unsigned char *id, size_t capacity)
{
	Elf_Scn *section = NULL;
	size_t size = 0, areas = 0;

	while (!size && areas < NOTE_AREAS_MAX && (section = elf_nextscn(file->elf, section))) {
		const Elf64_Shdr *header = elf64_getshdr(section);

		if (!header || header->sh_type != SHT_NOTE)
			continue;
		size = elf_file_notes_build_id(file, header->sh_offset, header->sh_size,
					       header->sh_addralign, id, capacity);
		areas++;
	}
	return size;
}

size_t elf_file_build_id(struct elf_file *file, unsigned char *id, size_t capacity)
{
	size_t size = elf_file_segments_build_id(file, id, capacity);

	return size ? size : elf_file_sections_build_id(file, id, capacity);
}

bool elf_file_has_section(struct elf_file *file, const char *name)
{
	return elf_section_find(file, name);
}
