/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See program_identity.h. */
#include "system/program_identity.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "system/proc.h"
#include "system/proc_text.h"
#include "system/process_pages.h"

/* The process may have no page of it in memory; none is brought in. */
static void identity_read_random(pid_t pid, uint64_t address, struct program_identity *identity)
{
	struct process_pages pages;

	if (process_pages_open(&pages, pid))
		return;
	identity->has_random =
		pages.memory >= 0 &&
		process_pages_read(&pages, address, identity->random, sizeof(identity->random));
	process_pages_close(&pages);
}

/*
 * What of the vector tells programs apart: the entries before AT_EXECFN, and where AT_RANDOM is, 0 without one. execve() fills the
 * vector from its start while others may read it (create_elf_tables() in the kernel's fs/binfmt_elf.c): once AT_EXECFN has its
 * value, everything before is there. Returns false until then.
 */
static bool identity_find_entries(const struct buffer *vector, size_t *ret_length,
				  uint64_t *ret_random)
{
	Elf64_auxv_t entry;
	size_t at;

	*ret_random = 0;
	for (at = 0; at + sizeof(entry) <= vector->length; at += sizeof(entry)) {
		memcpy(&entry, vector->data + at, sizeof(entry));
		if (entry.a_type == AT_RANDOM)
			*ret_random = entry.a_un.a_val;
		if (entry.a_type == AT_EXECFN) {
			*ret_length = at;
			return entry.a_un.a_val != 0;
		}
	}
	return false;
}

int program_identity_read(pid_t pid, struct program_identity *ret_identity)
{
	struct program_identity identity = { 0 };
	struct buffer vector = { 0 };
	int code = proc_read_start_time("/proc", pid, &identity.start_time);
	uint64_t random;
	size_t length;

	if (!code)
		code = proc_read_text("/proc", pid, "auxv", &vector);
	if (!code && !identity_find_entries(&vector, &length, &random))
		code = -ESRCH;
	if (!code) {
		identity.vector = hash_bytes(HASH_BEGIN, vector.data, length);
		if (random)
			identity_read_random(pid, random, &identity);
		*ret_identity = identity;
	}
	buffer_free(&vector);
	return code;
}

bool program_identity_is_same(const struct program_identity *a, const struct program_identity *b)
{
	if (a->start_time != b->start_time || a->vector != b->vector)
		return false;
	return !a->has_random || !b->has_random || !memcmp(a->random, b->random, sizeof(a->random));
}
