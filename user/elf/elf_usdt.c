/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See elf_usdt.h. libelf finds the notes, and what is in them is checked here. */
#include "elf/elf_usdt.h"

#include <string.h>

#include "elf/elf_file_private.h"

/* Some ten thousands of notes. */
#define NOTES_MAX (4u << 20)
#define NOTE_TYPE 3
#define NOTE_NAME "stapsdt"

/* Bytes of the count of those who listen. */
#define SEMAPHORE_BYTES 2

/* What a note begins with; three strings follow. */
struct note_head {
	uint64_t address;
	uint64_t base; /* where .stapsdt.base was when the note was written */
	uint64_t semaphore; /* address; 0 = none */
};

/* Cut the next string off. False if there is none. */
static bool note_take_string(const char **at, size_t *left, const char **ret_string)
{
	const char *end = memchr(*at, '\0', *left);

	if (!end)
		return false;
	*ret_string = *at;
	*left -= (size_t)(end + 1 - *at);
	*at = end + 1;
	return true;
}

static const char *usdt_locate(const struct elf_file *file, const struct note_head *head,
			       uint64_t moved, struct elf_usdt *probe)
{
	uint64_t offset, semaphore = 0;

	if (!elf_file_code_offset(file, head->address + moved, &offset))
		return "its place is not in the code of the file";
	probe->offset = offset;
	if (head->semaphore &&
	    (!elf_file_data_offset(file, head->semaphore + moved, SEMAPHORE_BYTES, &semaphore) ||
	     !semaphore || semaphore % SEMAPHORE_BYTES))
		return "its semaphore is not in the data of the file";
	probe->semaphore = semaphore;
	return NULL;
}

/* A note's content. False if it is damaged. */
static bool usdt_read(const struct elf_file *file, const char *note, size_t size,
		      const Elf64_Shdr *base, struct elf_usdt *ret_probe)
{
	struct elf_usdt probe = { 0 };
	struct note_head head;
	uint64_t moved;

	if (size < sizeof(head))
		return false;
	memcpy(&head, note, sizeof(head));
	note += sizeof(head);
	size -= sizeof(head);
	if (!note_take_string(&note, &size, &probe.provider) ||
	    !note_take_string(&note, &size, &probe.name) ||
	    !note_take_string(&note, &size, &probe.arguments))
		return false;
	/* Tools that move a file's addresses after the link leave the notes as they are. */
	moved = base ? base->sh_addr - head.base : 0;
	probe.refusal = usdt_locate(file, &head, moved, &probe);
	*ret_probe = probe;
	return true;
}

void elf_usdt_visit(struct elf_file *file,
		    bool (*visit)(void *context, const struct elf_usdt *probe), void *context)
{
	const Elf64_Shdr *section = elf_section_find(file, ".note.stapsdt");
	const Elf64_Shdr *base = elf_section_find(file, ".stapsdt.base");
	size_t offset = 0, name_at, content_at;
	struct elf_usdt probe;
	Elf_Data *notes = NULL;
	GElf_Nhdr note;

	if (section && section->sh_type == SHT_NOTE && section->sh_size <= NOTES_MAX &&
	    section->sh_offset <= file->size && section->sh_size <= file->size - section->sh_offset)
		notes = elf_getdata_rawchunk(file->elf, (int64_t)section->sh_offset,
					     section->sh_size, ELF_T_NHDR);
	if (!notes)
		return;
	while ((offset = gelf_getnote(notes, offset, &note, &name_at, &content_at)) > 0) {
		const char *content = (const char *)notes->d_buf + content_at;

		if (note.n_type != NOTE_TYPE || note.n_namesz != sizeof(NOTE_NAME) ||
		    memcmp((char *)notes->d_buf + name_at, NOTE_NAME, sizeof(NOTE_NAME)) != 0 ||
		    !usdt_read(file, content, note.n_descsz, base, &probe))
			continue;
		if (!visit(context, &probe))
			return;
	}
}
