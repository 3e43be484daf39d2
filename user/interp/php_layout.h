/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where things are in PHP's structures, by version: 8.0 to 8.4 on 64-bit machines, without thread safety (ZTS). Offsets
 * are those that the headers of each version give (Zend/zend_globals.h, zend_compile.h). The number of its module API,
 * which changes with the structures, identifies a file's version; debug builds are refused by its suffix. A layout must
 * still pass its check on the live process before it is used.
 */
#ifndef INTERP_PHP_LAYOUT_H
#define INTERP_PHP_LAYOUT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp/target_memory.h"
#include "interp_abi.h"

struct interp_ops;
extern const struct interp_ops php_ops;

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

/* Are executor's globals at `state`: is there a stack of PHP's, which a request begins with? */
bool php_layout_is_state(const struct php_layout *layout, const struct target_memory *memory,
			 uint64_t state);

/*
 * Do the calls make sense: has each of them an instruction and a file, or a name? There may be none, between requests. The
 * thread may run meanwhile, and then an answer of no can be wrong.
 */
bool php_layout_check(const struct php_layout *layout, const struct target_memory *memory,
		      uint64_t state);

#endif
