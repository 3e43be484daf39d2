/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interpreter of call frame instructions: see cfi_program.h. */
#include "unwind/cfi_program.h"

#include <dwarf.h>

#include "unwind/eh_pointer.h"

/* Compilers nest DW_CFA_remember_state once or twice. */
#define REMEMBER_MAX 32

/* Not in every <dwarf.h>. */
#define CFA_MIPS_ADVANCE_LOC8 0x1d
#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c
#define CFA_GNU_WINDOW_SAVE 0x2d /* arm64: the return address is signed from here on, or no more */
#define CFA_GNU_ARGS_SIZE 0x2e
#define CFA_GNU_NEGATIVE_OFFSET_EXTENDED 0x2f

/* The upper two bits of an instruction that has an operand in its lower six. */
#define PRIMARY_MASK 0xc0
#define OPERAND_MASK 0x3f

struct cfi_machine {
	const struct eh_cie *cie;
	struct cursor code;
	const struct cfi_registers *registers;
	struct cfi_rows *rows; /* NULL while a CIE's program runs: it has no pc */
	uint64_t pc, end;
	struct cfi_frame frame;
	struct cfi_frame remembered[REMEMBER_MAX];
	unsigned int remembered_count;
	bool lost; /* an instruction was not understood: nothing after it can be trusted */
};

static __u32 cfi_machine_rule(const struct cfi_machine *machine)
{
	if (machine->lost)
		return UNWIND_RULE(UNWIND_CFA_UNSUPPORTED, 0, 0, 0);
	return cfi_frame_rule(&machine->frame, machine->registers, machine->cie->signal);
}

/* The row of the code up to a new pc is complete. */
static void cfi_move_to(struct cfi_machine *machine, uint64_t pc)
{
	if (!machine->rows || pc == machine->pc)
		return;
	if (pc < machine->pc) {
		machine->lost = true;
		return;
	}
	if (pc > machine->rows->floor)
		cfi_rows_add(machine->rows, (uint32_t)machine->pc, cfi_machine_rule(machine));
	machine->pc = pc < machine->end ? pc : machine->end;
}

/* A step may be any 64-bit number; one that wraps leaves the function. */
static void cfi_advance(struct cfi_machine *machine, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, machine->cie->code_factor, &bytes) ||
	    bytes > machine->end - machine->pc)
		bytes = machine->end - machine->pc;
	cfi_move_to(machine, machine->pc + bytes);
}

static int64_t cfi_scale(const struct cfi_machine *machine, int64_t factored)
{
	int64_t bytes;

	/* No row can hold what does not fit in 64 bits. */
	if (__builtin_mul_overflow(factored, machine->cie->data_factor, &bytes))
		return INT64_MAX;
	return bytes;
}

static struct cfi_place *cfi_place_of(const struct cfi_machine *machine, struct cfi_frame *frame,
				      uint64_t number)
{
	if (number == machine->registers->bp)
		return &frame->bp;
	return number == machine->registers->ra ? &frame->ra : NULL;
}

static void cfi_set(struct cfi_machine *machine, uint64_t number, enum cfi_place_kind kind,
		    int64_t offset)
{
	struct cfi_place *place = cfi_place_of(machine, &machine->frame, number);

	if (place)
		*place = (struct cfi_place){ .kind = kind, .offset = offset };
}

static void cfi_set_scaled(struct cfi_machine *machine, uint64_t number, int64_t factored)
{
	cfi_set(machine, number, CFI_PLACE_CFA, cfi_scale(machine, factored));
}

static void cfi_restore(struct cfi_machine *machine, uint64_t number)
{
	struct cfi_frame initial = machine->cie->initial;
	struct cfi_place *place = cfi_place_of(machine, &initial, number);

	if (place)
		cfi_set(machine, number, place->kind, place->offset);
}

/*
 * The register and the offset of the CFA are set one by one. As libgcc and gdb have it, an expression in
 * between hides them but changes neither, and only naming a register ends its reign.
 */
static void cfi_define_register(struct cfi_machine *machine, uint64_t number)
{
	machine->frame.cfa.kind = CFI_CFA_REGISTER;
	machine->frame.cfa.number = number;
	machine->frame.by_expression = false;
}

static struct cursor cfi_take_expression(struct cfi_machine *machine)
{
	return cursor_take(&machine->code, cursor_uleb(&machine->code));
}

static void cfi_remember(struct cfi_machine *machine)
{
	if (machine->remembered_count < REMEMBER_MAX)
		machine->remembered[machine->remembered_count++] = machine->frame;
	else
		machine->lost = true;
}

static void cfi_recall(struct cfi_machine *machine)
{
	if (machine->remembered_count)
		machine->frame = machine->remembered[--machine->remembered_count];
	else
		machine->lost = true;
}

/* Instructions that move to another pc, or do not change the frame. False: it is none of them. */
static bool cfi_run_location(struct cfi_machine *machine, uint8_t operation)
{
	struct cursor *code = &machine->code;

	switch (operation) {
	case DW_CFA_nop:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
	case CFA_GNU_WINDOW_SAVE:
		return true;
	case CFA_GNU_ARGS_SIZE:
		cursor_uleb(code);
		return true;
	case DW_CFA_set_loc:
		cfi_move_to(machine, eh_pointer_read(code, machine->cie->pointer_encoding, 0));
		return true;
	case DW_CFA_advance_loc1:
		cfi_advance(machine, cursor_fixed(code, 1));
		return true;
	case DW_CFA_advance_loc2:
		cfi_advance(machine, cursor_fixed(code, 2));
		return true;
	case DW_CFA_advance_loc4:
		cfi_advance(machine, cursor_fixed(code, 4));
		return true;
	case CFA_MIPS_ADVANCE_LOC8:
		cfi_advance(machine, cursor_fixed(code, 8));
		return true;
	default:
		return false;
	}
}

/* Instructions that define the CFA or the whole frame. False: it is none of them. */
static bool cfi_run_cfa(struct cfi_machine *machine, uint8_t operation)
{
	struct cfi_cfa *cfa = &machine->frame.cfa;
	struct cursor *code = &machine->code;

	switch (operation) {
	case DW_CFA_def_cfa:
		cfi_define_register(machine, cursor_uleb(code));
		cfa->offset = (int64_t)cursor_uleb(code);
		return true;
	case DW_CFA_def_cfa_sf:
		cfi_define_register(machine, cursor_uleb(code));
		cfa->offset = cfi_scale(machine, cursor_sleb(code));
		return true;
	case DW_CFA_def_cfa_register:
		cfi_define_register(machine, cursor_uleb(code));
		return true;
	case DW_CFA_def_cfa_offset:
		cfa->offset = (int64_t)cursor_uleb(code);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		cfa->offset = cfi_scale(machine, cursor_sleb(code));
		return true;
	case DW_CFA_def_cfa_expression:
		machine->frame.expression = cfi_cfa_from_expression(cfi_take_expression(machine));
		machine->frame.by_expression = true;
		return true;
	case DW_CFA_remember_state:
		cfi_remember(machine);
		return true;
	case DW_CFA_restore_state:
		cfi_recall(machine);
		return true;
	default:
		return false;
	}
}

/* Instructions that define where one register is saved. False: it is none of them. */
static bool cfi_run_register(struct cfi_machine *machine, uint8_t operation)
{
	struct cursor *code = &machine->code;
	struct cfi_place place;
	uint64_t number;

	if (operation < DW_CFA_offset_extended ||
	    (operation > DW_CFA_val_expression && operation != CFA_GNU_NEGATIVE_OFFSET_EXTENDED))
		return false;
	number = cursor_uleb(code);
	switch (operation) {
	case DW_CFA_offset_extended:
		cfi_set_scaled(machine, number, (int64_t)cursor_uleb(code));
		return true;
	case DW_CFA_offset_extended_sf:
		cfi_set_scaled(machine, number, cursor_sleb(code));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		cfi_set(machine, number, CFI_PLACE_CFA,
			(int64_t) - (uint64_t)cfi_scale(machine, (int64_t)cursor_uleb(code)));
		return true;
	case DW_CFA_restore_extended:
		cfi_restore(machine, number);
		return true;
	case DW_CFA_undefined:
		cfi_set(machine, number, CFI_PLACE_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		cfi_set(machine, number, CFI_PLACE_SAME, 0);
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		cursor_uleb(code);
		cfi_set(machine, number, CFI_PLACE_OTHER, 0);
		return true;
	case DW_CFA_expression:
		place = cfi_place_from_expression(cfi_take_expression(machine), machine->registers);
		cfi_set(machine, number, place.kind, place.offset);
		return true;
	case DW_CFA_val_expression:
		cfi_take_expression(machine);
		cfi_set(machine, number, CFI_PLACE_OTHER, 0);
		return true;
	default:
		return false;
	}
}

static void cfi_run_instruction(struct cfi_machine *machine)
{
	uint8_t operation = cursor_u8(&machine->code);
	uint8_t operand = operation & OPERAND_MASK;

	switch (operation & PRIMARY_MASK) {
	case DW_CFA_advance_loc:
		cfi_advance(machine, operand);
		return;
	case DW_CFA_offset:
		cfi_set_scaled(machine, operand, (int64_t)cursor_uleb(&machine->code));
		return;
	case DW_CFA_restore:
		cfi_restore(machine, operand);
		return;
	default:
		if (!cfi_run_location(machine, operation) && !cfi_run_cfa(machine, operation) &&
		    !cfi_run_register(machine, operation))
			machine->lost = true;
	}
}

static void cfi_run(struct cfi_machine *machine)
{
	while (cursor_left(&machine->code) && !machine->lost && machine->pc < machine->end)
		cfi_run_instruction(machine);
	if (machine->code.bad)
		machine->lost = true;
}

void cfi_program_start(struct eh_cie *cie)
{
	struct cfi_machine machine;

	machine.cie = cie;
	machine.registers = cfi_registers_of(cie->return_register);
	if (!machine.registers) {
		cie->unusable = true;
		return;
	}
	machine.code = cie->program;
	machine.rows = NULL;
	machine.pc = 0;
	machine.end = UINT64_MAX;
	machine.frame = (struct cfi_frame){ 0 };
	machine.remembered_count = 0;
	machine.lost = false;
	cfi_run(&machine);
	cie->initial = machine.frame;
	cie->unusable = cie->unusable || machine.lost;
}

void cfi_program_run(const struct eh_cie *cie, const struct eh_fde *fde, struct cfi_rows *rows)
{
	struct cfi_machine machine;

	if (fde->end <= rows->floor)
		return;
	/* Not by an initializer, which would clear the remembered frames of each of 100,000 functions. */
	machine.cie = cie;
	machine.registers = cfi_registers_of(cie->return_register);
	machine.code = fde->program;
	machine.rows = rows;
	machine.pc = fde->start;
	machine.end = fde->end;
	machine.frame = cie->initial;
	machine.remembered_count = 0;
	machine.lost = cie->unusable || !machine.registers;
	cfi_run(&machine);
	if (machine.pc < machine.end)
		cfi_rows_add(rows, (uint32_t)machine.pc, cfi_machine_rule(&machine));
	cfi_rows_end(rows, (uint32_t)machine.end);
}
