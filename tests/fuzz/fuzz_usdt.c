/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of USDT probes, and the texts in them: the input is what a file has in its section .note.stapsdt, and is also
 * read as a text of arguments. Whatever it is, a probe that is not refused must be one that can be put in without harm:
 * on code of the file, its semaphore in the file's data, its arguments in registers that there are.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/usdt_image.h"
#include "base/memory.h"
#include "fuzz.h"
#include "probe/usdt_argument.h"
#include "elf/elf_usdt.h"

static void check_register(uint8_t number)
{
	MUST(number < SAMPLE_REGISTERS || number == SAMPLE_NO_REGISTER);
}

static void check_arguments(const char *text, enum usdt_machine machine)
{
	struct sample_argument arguments[SAMPLE_ARGUMENTS];
	size_t i;

	if (usdt_arguments_parse(text, machine, arguments, SAMPLE_ARGUMENTS))
		return;
	for (i = 0; i < SAMPLE_ARGUMENTS; i++) {
		const struct sample_argument *argument = &arguments[i];

		MUST(argument->place <= SAMPLE_MEMORY && argument->shift <= 3);
		MUST(argument->size == 1 || argument->size == 2 || argument->size == 4 ||
		     argument->size == 8);
		check_register(argument->base);
		check_register(argument->index);
		MUST(argument->place != SAMPLE_REGISTER || argument->base < SAMPLE_REGISTERS);
		MUST(argument->place != SAMPLE_MEMORY || argument->base < SAMPLE_REGISTERS ||
		     argument->index < SAMPLE_REGISTERS);
	}
}

static bool check_probe(void *context, const struct elf_usdt *probe)
{
	(void)context;
	check_arguments(probe->arguments, USDT_X86_64);
	check_arguments(probe->arguments, USDT_ARM64);
	if (probe->refusal) {
		MUST(!probe->offset && !probe->semaphore);
		return true;
	}
	MUST(probe->offset >= USDT_CODE - USDT_DISTANCE &&
	     probe->offset < USDT_CODE - USDT_DISTANCE + USDT_PAGE);
	MUST(!probe->semaphore ||
	     (probe->semaphore >= USDT_DATA - USDT_DISTANCE && probe->semaphore % 2 == 0 &&
	      probe->semaphore + 2 <= USDT_DATA - USDT_DISTANCE + USDT_PAGE));
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = memory_alloc(size + 1, 1);
	struct elf_file *file;
	int fd;

	memcpy(text, data, size);
	check_arguments(text, USDT_X86_64);
	check_arguments(text, USDT_ARM64);
	free(text);
	fd = usdt_image(data, size);
	MUST(fd >= 0);
	file = elf_file_open(fd, NULL);
	MUST(file);
	elf_usdt_visit(file, check_probe, NULL);
	elf_file_close(file);
	close(fd);
	return 0;
}
