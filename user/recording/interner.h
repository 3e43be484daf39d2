/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rows of intervals refer to: modules, frames, names, functions, processes. Each is written once, when it is first seen;
 * its id is what a row has from then on. What is equal is known by hashes that begin with a secret.
 */
#ifndef RECORDING_INTERNER_H
#define RECORDING_INTERNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "model/snapshot.h"
#include "model/symbols.h"
#include "recording/database.h"

/* What names frames while their files are still there; NULL = nothing does. */
struct interner_names {
	const struct symbol_list *(*lookup)(void *context, const struct frame *frame);
	const char *(*hint)(void *context, const struct frame *frame);
	void *context;
};

struct interner {
	struct database *database;
	struct interner_names names;
	uint64_t seed;
	/* Ids, as pointers, by what they are of. */
	struct table modules, build_ids, frames, frame_names, places, functions, targets;
	uint64_t module_count, frame_count, name_count, function_count, target_count;
	struct query add_module, set_build_id, add_frame, add_name, add_symbol, add_function,
		add_target;
};

/* The database must outlive it, and have its tables. Close with interner_close. */
void interner_open(struct interner *interner, struct database *database,
		   const struct interner_names *names);
/* Accepts {0}. */
void interner_close(struct interner *interner);

uint64_t interner_function(struct interner *interner, const struct function_name *function);
/* `other`: 0, or the number of processes of the snapshot before it that look the same. */
uint64_t interner_target(struct interner *interner, const struct target *target, uint64_t other);
/* The id of the innermost frame; 0 = the stack has none. */
uint64_t interner_stack(struct interner *interner, const struct snapshot *snapshot,
			const struct stack *stack);
/* Write names of the stack's frames that have none yet. Returns whether all of native code have one now. */
bool interner_name_stack(struct interner *interner, const struct snapshot *snapshot,
			 const struct stack *stack);

#endif
