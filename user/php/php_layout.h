/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layout of PHP's structures by version: 8.0 to 8.4 on 64-bit machines, without thread safety
 * (ZTS). Offsets come from the headers of each version (Zend/zend_globals.h, zend_compile.h). The
 * module API number, which changes with the structures, identifies a file's version; debug builds
 * are refused by its suffix. A layout must pass its check on the live process before use.
 */
#ifndef PHP_PHP_LAYOUT_H
#define PHP_PHP_LAYOUT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp/target_memory.h"
#include "interp_abi.h"

struct frames_ops;
extern const struct frames_ops php_ops;

/* Offsets in bytes. */
struct php_layout {
	unsigned int minor; /* of version 8 */
	struct interp_php walk;
	uint16_t op_count, ops; /* op array: number of instructions, 32 bits; instructions */
};

/* Size of an instruction. */
#define PHP_OP_BYTES 32

/* The layout of a version such as "8.2"; NULL if it is unknown. */
const struct php_layout *php_layout_find(const char *version);

/* Are the executor's globals at `state`: is there a PHP stack, as at the start of a request? */
bool php_layout_is_state(const struct php_layout *layout, const struct target_memory *memory,
			 uint64_t state);

/*
 * Are the calls consistent: does each have an instruction and a file, or a name? There may be none
 * between requests. May be wrongly false while the thread runs.
 */
bool php_layout_check(const struct php_layout *layout, const struct target_memory *memory,
		      uint64_t state);

#endif
