/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See usdt_argument.h. The texts are those of any file, and everything that is not certainly understood is refused. */
#include "probe/usdt_argument.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Terms of a displacement such as 8+16. */
#define TERMS_MAX 4

static const char too_few[] = "it has too few arguments";
static const char unknown_operand[] = "an argument is not where it could be read";
static const char unknown_size[] = "an argument has an unknown size";

static bool take(const char **at, char wanted)
{
	if (**at != wanted)
		return false;
	(*at)++;
	return true;
}

static void take_blanks(const char **at)
{
	while (take(at, ' '))
		;
}

static bool is_digit(char character, bool hexadecimal)
{
	unsigned char byte = (unsigned char)character;

	return hexadecimal ? isxdigit(byte) : isdigit(byte);
}

static uint64_t digit_value(char digit)
{
	return (uint64_t)(digit <= '9' ? digit - '0' : tolower(digit) - 'a' + 10);
}

/* A number without a sign, decimal or with 0x. False if there is none, or it does not go into 64 bits. */
static bool take_digits(const char **at, uint64_t *ret_number)
{
	bool hexadecimal = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
	const char *start = *at + (hexadecimal ? 2 : 0), *next;
	uint64_t number = 0, base = hexadecimal ? 16 : 10;

	for (next = start; is_digit(*next, hexadecimal); next++)
		if (__builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, digit_value(*next), &number))
			return false;
	/* What begins with 0 may mean another number to the assembler. */
	if (next == start || (!hexadecimal && *start == '0' && next > start + 1))
		return false;
	*at = next;
	*ret_number = number;
	return true;
}

/* A number with a sign, or a sum of such. It may pass for one of 64 bits with or without a sign. */
static bool take_number(const char **at, int64_t *ret_number)
{
	uint64_t sum = 0, term;
	bool minus;
	int i;

	for (i = 0; i < TERMS_MAX; i++) {
		minus = take(at, '-');
		if (!minus && !take(at, '+') && i)
			break;
		if (!take_digits(at, &term))
			return false;
		sum = minus ? sum - term : sum + term;
	}
	*ret_number = (int64_t)sum;
	return true;
}

static bool is_end(const char *at)
{
	return !*at || *at == ' ';
}

/* The word at the cursor, of letters and digits; "" if it is too long to be a register. */
static void take_word(const char **at, char word[8])
{
	size_t length = 0;

	while (isalnum((unsigned char)(*at)[length]))
		length++;
	word[0] = '\0';
	if (length < 8) {
		memcpy(word, *at, length);
		word[length] = '\0';
	}
	*at += length;
}

/* x86-64 */

/* A register and its parts: of eight bytes, four, two, one. The number is that of its word in struct pt_regs. */
static const struct {
	const char *names[4];
	uint8_t number;
} registers_x86[] = {
	{ { "rax", "eax", "ax", "al" }, 10 },	  { { "rbx", "ebx", "bx", "bl" }, 5 },
	{ { "rcx", "ecx", "cx", "cl" }, 11 },	  { { "rdx", "edx", "dx", "dl" }, 12 },
	{ { "rsi", "esi", "si", "sil" }, 13 },	  { { "rdi", "edi", "di", "dil" }, 14 },
	{ { "rbp", "ebp", "bp", "bpl" }, 4 },	  { { "rsp", "esp", "sp", "spl" }, 19 },
	{ { "r8", "r8d", "r8w", "r8b" }, 9 },	  { { "r9", "r9d", "r9w", "r9b" }, 8 },
	{ { "r10", "r10d", "r10w", "r10b" }, 7 }, { { "r11", "r11d", "r11w", "r11b" }, 6 },
	{ { "r12", "r12d", "r12w", "r12b" }, 3 }, { { "r13", "r13d", "r13w", "r13b" }, 2 },
	{ { "r14", "r14d", "r14w", "r14b" }, 1 }, { { "r15", "r15d", "r15w", "r15b" }, 0 },
};

/* The second byte of some. */
static const struct {
	const char *name;
	uint8_t number;
} registers_high[] = { { "ah", 10 }, { "bh", 5 }, { "ch", 11 }, { "dh", 12 } };

/* A register behind its percent sign, in any of its widths. */
static bool x86_take_register(const char **at, struct sample_argument *argument)
{
	char word[8];
	size_t i, part;

	take_word(at, word);
	for (i = 0; i < sizeof(registers_x86) / sizeof(registers_x86[0]); i++)
		for (part = 0; part < 4; part++)
			if (!strcmp(word, registers_x86[i].names[part])) {
				argument->base = registers_x86[i].number;
				return true;
			}
	for (i = 0; i < sizeof(registers_high) / sizeof(registers_high[0]); i++)
		if (!strcmp(word, registers_high[i].name)) {
			argument->base = registers_high[i].number;
			argument->skip = 8;
			return true;
		}
	return false;
}

/* A register that is part of an address: all of it. */
static bool x86_take_address_register(const char **at, uint8_t *ret_number)
{
	char word[8];
	size_t i;

	if (!take(at, '%'))
		return false;
	take_word(at, word);
	for (i = 0; i < sizeof(registers_x86) / sizeof(registers_x86[0]); i++)
		if (!strcmp(word, registers_x86[i].names[0])) {
			*ret_number = registers_x86[i].number;
			return true;
		}
	return false;
}

static bool x86_take_scale(const char **at, uint8_t *ret_shift)
{
	static const char scales[] = "1248";
	const char *found = **at ? strchr(scales, **at) : NULL;

	if (!found)
		return false;
	(*at)++;
	*ret_shift = (uint8_t)(found - scales);
	return true;
}

/* "(%base)", "(%base,%index)", "(%base,%index,scale)", "(,%index,scale)" */
static bool x86_take_address(const char **at, struct sample_argument *argument)
{
	if (!take(at, '('))
		return false;
	if (**at != ',' && !x86_take_address_register(at, &argument->base))
		return false;
	if (take(at, ',')) {
		if (!x86_take_address_register(at, &argument->index))
			return false;
		if (take(at, ',') && !x86_take_scale(at, &argument->shift))
			return false;
	}
	return take(at, ')');
}

static const char *x86_take_operand(const char **at, struct sample_argument *argument)
{
	int64_t number = 0;

	if (take(at, '$')) {
		argument->place = SAMPLE_CONSTANT;
		if (!take_number(at, &number))
			return "an argument is a constant that the file does not have";
		argument->value = number;
		return NULL;
	}
	if (take(at, '%')) {
		argument->place = SAMPLE_REGISTER;
		return x86_take_register(at, argument) ? NULL : unknown_operand;
	}
	argument->place = SAMPLE_MEMORY;
	if (isalpha((unsigned char)**at) || **at == '_' || **at == '.')
		return "an argument is a variable of the file's";
	if (**at != '(' && !take_number(at, &number))
		return unknown_operand;
	argument->value = number;
	return x86_take_address(at, argument) ? NULL : unknown_operand;
}

/* arm64 */

/* "x0" to "x30", "w0" to "w30", "sp": the number of its word in struct pt_regs. */
static bool arm_register(const char *word, bool narrow, uint8_t *ret_number)
{
	const char *at = word + 1;
	uint64_t number;

	if (!strcmp(word, "sp")) {
		*ret_number = 31;
		return true;
	}
	if ((*word != 'x' && !(narrow && *word == 'w')) || !take_digits(&at, &number) || *at ||
	    number > 30)
		return false;
	*ret_number = (uint8_t)number;
	return true;
}

/* What follows the base: ", 16", ", #16", ", x1", ", x1, lsl 3". */
static bool arm_take_offset(const char **at, struct sample_argument *argument)
{
	uint64_t shift;
	int64_t number;
	char word[8];

	take_blanks(at);
	if (take(at, '#') || !isalpha((unsigned char)**at)) {
		if (!take_number(at, &number))
			return false;
		argument->value = number;
		return true;
	}
	take_word(at, word);
	if (!arm_register(word, false, &argument->index))
		return false;
	if (!take(at, ','))
		return true;
	take_blanks(at);
	take_word(at, word);
	take_blanks(at);
	take(at, '#');
	if (strcmp(word, "lsl") != 0 || !take_digits(at, &shift) || shift > 3)
		return false;
	argument->shift = (uint8_t)shift;
	return true;
}

static bool arm_take_address(const char **at, struct sample_argument *argument)
{
	char word[8];

	take_word(at, word);
	if (!arm_register(word, false, &argument->base))
		return false;
	if (take(at, ',') && !arm_take_offset(at, argument))
		return false;
	return take(at, ']');
}

static const char *arm_take_operand(const char **at, struct sample_argument *argument)
{
	int64_t number;
	char word[8];

	if (take(at, '[')) {
		argument->place = SAMPLE_MEMORY;
		return arm_take_address(at, argument) ? NULL : unknown_operand;
	}
	argument->place = SAMPLE_CONSTANT;
	if (!isalpha((unsigned char)**at)) {
		take(at, '#');
		if (!take_number(at, &number))
			return unknown_operand;
		argument->value = number;
		return NULL;
	}
	take_word(at, word);
	if (!strcmp(word, "xzr") || !strcmp(word, "wzr"))
		return NULL;
	argument->place = SAMPLE_REGISTER;
	return arm_register(word, true, &argument->base) ? NULL : unknown_operand;
}

/* Both */

/* "8@", "-4@" */
static const char *take_size(const char **at, struct sample_argument *argument)
{
	uint64_t size;

	argument->is_signed = take(at, '-');
	if (!take_digits(at, &size))
		return unknown_size;
	if (take(at, 'f'))
		return "an argument is no whole number";
	if (!take(at, '@') || size > 8 || !size || size & (size - 1))
		return unknown_size;
	argument->size = (uint8_t)size;
	return NULL;
}

const char *usdt_arguments_parse(const char *text, enum usdt_machine machine,
				 struct sample_argument *ret_arguments, size_t count)
{
	const char *refusal;
	size_t i;

	for (i = 0; i < count; i++) {
		struct sample_argument argument = { .base = SAMPLE_NO_REGISTER,
						    .index = SAMPLE_NO_REGISTER };

		take_blanks(&text);
		if (!*text)
			return too_few;
		refusal = take_size(&text, &argument);
		if (!refusal && machine == USDT_X86_64)
			refusal = x86_take_operand(&text, &argument);
		else if (!refusal)
			refusal = arm_take_operand(&text, &argument);
		if (refusal)
			return refusal;
		if (!is_end(text))
			return unknown_operand;
		ret_arguments[i] = argument;
	}
	return NULL;
}
