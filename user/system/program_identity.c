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

/* With memory that was opened before the vector is read: a vector of the old program never goes with bytes of the new one. */
static int identity_read(pid_t pid, struct process_pages *pages, struct program_identity *identity)
{
	struct buffer vector = { 0 };
	uint64_t random;
	size_t length;
	int code = proc_read_text("/proc", pid, "auxv", &vector);

	if (!code && !identity_find_entries(&vector, &length, &random))
		code = -ESRCH;
	if (!code) {
		identity->vector = hash_bytes(HASH_BEGIN, vector.data, length);
		/* That page may not be in memory; none is brought in. */
		identity->has_random = random && pages->memory >= 0 &&
				       process_pages_read(pages, random, identity->random,
							  sizeof(identity->random));
	}
	buffer_free(&vector);
	return code;
}

int program_identity_read(pid_t pid, struct program_identity *ret_identity)
{
	struct program_identity identity = { 0 };
	struct process_pages pages = { .map = -1, .memory = -1 };
	int code = proc_read_start_time("/proc", pid, &identity.start_time);

	if (code)
		return code;
	if (process_pages_open(&pages, pid))
		pages.map = pages.memory = -1;
	code = identity_read(pid, &pages, &identity);
	process_pages_close(&pages);
	if (!code)
		*ret_identity = identity;
	return code;
}

bool program_identity_is_same(const struct program_identity *a, const struct program_identity *b)
{
	if (a->start_time != b->start_time || a->vector != b->vector)
		return false;
	return !a->has_random || !b->has_random || !memcmp(a->random, b->random, sizeof(a->random));
}
