/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a factory (factory.c) makes many of: a library, or with -DPROGRAM a program, whose one site has a number in its name,
 * which is another one in each copy. A wide gap between its functions gives it an unwind table with as many pages as a large
 * library has. The program leaks when it has read a line, and ends at the end of its standard input.
 */
#include <stdlib.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))

extern void part_work(void);
extern int part_far(int number);

SITE static void *site_part_000000(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : "+r"(block)::"memory");
	return block;
}

/* Leaves 24 bytes in use, of 124. */
SITE void part_work(void)
{
	site_part_000000(24);
	free(site_part_000000(100));
}

__asm__(".text\n\t.space 0x80000\n");

SITE int part_far(int number)
{
	return number + 1;
}

#ifdef PROGRAM
static void part_read(char until)
{
	char byte;

	while (read(0, &byte, 1) == 1 && byte != until)
		;
}

int main(void)
{
	part_read('\n');
	part_work();
	if (write(1, "done\n", 5) != 5)
		return 1;
	part_read('\0');
	return 0;
}
#endif
