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
 * A hash of the entries before AT_EXECFN, and where AT_RANDOM is, 0 without one. execve() fills the vector while others may read it
 * (create_elf_tables() in the kernel's fs/binfmt_elf.c), AT_EXECFN as one of the last: -ESRCH as long as that is missing.
 */
static int identity_read_vector(pid_t pid, uint64_t *ret_hash, uint64_t *ret_random)
{
	struct buffer vector = { 0 };
	Elf64_auxv_t entry = { 0 };
	int code = proc_read_text("/proc", pid, "auxv", &vector);
	size_t at;

	*ret_random = 0;
	for (at = 0; !code && at + sizeof(entry) <= vector.length; at += sizeof(entry)) {
		memcpy(&entry, vector.data + at, sizeof(entry));
		if (entry.a_type == AT_RANDOM)
			*ret_random = entry.a_un.a_val;
		if (entry.a_type == AT_EXECFN)
			break;
	}
	if (!code && (entry.a_type != AT_EXECFN || !entry.a_un.a_val))
		code = -ESRCH;
	if (!code)
		*ret_hash = hash_bytes(HASH_BEGIN, vector.data, at);
	buffer_free(&vector);
	return code;
}

/*
 * The memory was opened before: bytes of the new program never go with a vector of the old one. The vector is read twice, as the
 * kernel may write its entries in any order.
 */
static int identity_read(pid_t pid, struct process_pages *pages, struct program_identity *identity)
{
	uint64_t random, again;
	int code = identity_read_vector(pid, &identity->vector, &random);

	if (code)
		return code;
	/* That page may not be in memory; none is brought in. */
	identity->has_random =
		random && pages->memory >= 0 &&
		process_pages_read(pages, random, identity->random, sizeof(identity->random));
	code = identity_read_vector(pid, &again, &random);
	if (!code && again != identity->vector)
		code = -ESRCH;
	return code;
}

int program_identity_read(pid_t pid, struct program_identity *ret_identity)
{
	struct program_identity identity = { 0 };
	struct process_pages pages = { .map = -1, .memory = -1 };
	const pid_t thread = proc_memory_thread("/proc", pid);
	int code = proc_read_start_time("/proc", pid, &identity.start_time);

	if (code)
		return code;
	if (process_pages_open(&pages, thread))
		pages.map = pages.memory = -1;
	code = identity_read(thread, &pages, &identity);
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
